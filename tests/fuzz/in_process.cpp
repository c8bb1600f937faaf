#include "tests/fuzz/in_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "lib/support/memory_budget.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatVariadic.h"
#include "tools/program.h"

namespace grapnel {
namespace {

#if __has_feature(address_sanitizer)
constexpr double kSlowness = 6;
#else
constexpr double kSlowness = 1;
#endif
constexpr double kMostMemory = kSlowness * (2ll << 30);  // resident
constexpr double kPatience = kSlowness * 10;             // seconds

// Returns the peak memory of the process since the last call, in bytes.
int64_t PeakOfMemory() {
  std::ifstream status("/proc/self/status");
  int64_t kilobytes = 0;
  for (std::string line; std::getline(status, line);) {
    if (llvm::StringRef(line).starts_with("VmHWM:"))
      kilobytes = std::strtoll(line.c_str() + 6, nullptr, 10);
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  return kilobytes << 10;
}

std::string FaultOf(const CommandRunner::Outcome& outcome) {
  if (outcome.code < 0 || outcome.code > 2) return "exit " + std::to_string(outcome.code);
  if (outcome.code == 2 && outcome.said.empty()) return "exit 2 without a word";
  if (llvm::StringRef(outcome.said).contains("bug in grapnel")) return outcome.said;
  if (outcome.seconds > kPatience) return llvm::formatv("{0} s", outcome.seconds);
  if (static_cast<double>(outcome.peak) > kMostMemory)
    return llvm::formatv("{0} MB", outcome.peak >> 20);
  return "";
}

}  // namespace

CommandRunner::CommandRunner(int64_t budget) : at_(std::getenv("FUZZ_AT")) {
  report_ = fdopen(dup(STDOUT_FILENO), "w");
  errors_ = at_ ? std::string(at_) + ".err" : (std::filesystem::current_path() / "stderr").string();
  int out = open("/dev/null", O_WRONLY);
  int err = open(errors_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  close(out);
  close(err);
  MemoryBudget::Get().SetLimit(budget);
}

void CommandRunner::Announce(uint64_t number, const std::string& what) const {
  if (at_) std::ofstream(at_) << number << " " << what << "\n";
}

CommandRunner::Outcome CommandRunner::Run(const std::vector<std::string>& arguments) const {
  std::vector<const char*> argv;
  argv.reserve(arguments.size());
  for (const std::string& argument : arguments) argv.push_back(argument.c_str());
  PeakOfMemory();
  alarm(static_cast<unsigned>(3 * kPatience));
  auto begin = std::chrono::steady_clock::now();
  std::clock_t busy = std::clock();
  Outcome outcome;
  outcome.code = RunProgram(static_cast<int>(argv.size()), argv.data());
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // If other processes use the CPU, counts only this process's share.
  double taken = static_cast<double>(std::clock() - busy) / CLOCKS_PER_SEC;
  outcome.seconds = std::min(outcome.seconds, taken);
  alarm(0);
  outcome.peak = PeakOfMemory();
  std::ifstream file(errors_, std::ios::binary);
  outcome.said.assign(std::istreambuf_iterator<char>(file), {});
  if (ftruncate(STDERR_FILENO, 0) != 0) std::abort();
  outcome.fault = FaultOf(outcome);
  return outcome;
}

}  // namespace grapnel
