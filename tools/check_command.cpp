#include "tools/check_command.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>

#include "lib/io/write.h"
#include "lib/support/start_program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"

namespace grapnel {
namespace {

std::string TemporaryFile(llvm::StringRef suffix) {
  llvm::SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("grapnel", suffix, path)) return "";
  llvm::sys::RemoveFileOnSignal(path);
  return path.str().str();
}

// Quotes one word for sh.
std::string Quoted(llvm::StringRef text) {
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string LastLine(llvm::StringRef text) {
  text = text.rtrim();
  size_t end = text.rfind('\n');
  return (end == llvm::StringRef::npos ? text : text.drop_front(end + 1)).trim().str();
}

std::string KindOf(llvm::StringRef line) {
  std::string kind;
  bool quoted = false;
  for (char c : line) {
    if (c == '\'' || c == '"') quoted = !quoted;
    if (!quoted && !llvm::isDigit(c)) kind += c;
  }
  return kind;
}

// The process group of the running check: on a timeout, every process of the group ends.
std::atomic<pid_t> running{0};
// `starting` is true from before the fork until `running` has the process. A Ctrl-C in between only
// sets `interrupted`, and the code that starts the process then ends the program.
std::atomic<bool> starting{false}, interrupted{false};

// Ends the check on Ctrl-C, which reaches only the terminal's process group and not the check's.
// Runs in a signal handler.
void EndCheckToo() {
  interrupted = true;
  if (starting) return;
  if (pid_t group = running.load()) kill(-group, SIGKILL);
  raise(SIGINT);        // ends this program, since LLVM has removed its handlers ...
  _exit(128 + SIGINT);  // ... unless SIGINT is ignored
}

struct Ended {
  int status = 0;  // from waitpid
  bool timed_out = false;
};

// Waits for the process, and ends its whole group after `timeout_s` seconds (0: never).
Ended WaitFor(pid_t pid, int timeout_s) {
  using Clock = std::chrono::steady_clock;
  constexpr int kAskAgain = 10, kLongest = 3600000;  // milliseconds
  auto end = Clock::now() + std::chrono::seconds(timeout_s);
  int handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));  // -1 on old kernels
  Ended ended;
  while (waitpid(pid, &ended.status, WNOHANG) == 0) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (timeout_s > 0 && left <= 0) {
      kill(-pid, SIGKILL);
      waitpid(pid, &ended.status, 0);
      ended.timed_out = true;
      break;
    }
    int64_t patience = handle < 0 ? kAskAgain : kLongest;
    if (timeout_s > 0) patience = std::min<int64_t>(patience, left);
    pollfd over = {handle, POLLIN, 0};
    poll(&over, 1, static_cast<int>(patience));  // poll ignores a negative handle and just waits
  }
  if (handle >= 0) close(handle);
  return ended;
}

}  // namespace

CheckCommand::CheckCommand(std::string command, int timeout_s)
    : command_(std::move(command)),
      graph_(TemporaryFile("pb")),
      output_(TemporaryFile("log")),
      timeout_s_(timeout_s) {
  llvm::sys::SetInterruptFunction(EndCheckToo);
}

CheckCommand::~CheckCommand() {
  llvm::sys::SetInterruptFunction(nullptr);
  for (const std::string& path : {graph_, output_}) {
    if (path.empty()) continue;
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }
}

Expected<CheckCommand::Outcome> CheckCommand::Run(const Module& module) {
  if (graph_.empty() || output_.empty()) return MakeError("cannot create a temporary file");
  RETURN_IF_ERROR(WriteGraph(module, graph_));
  std::string line = command_;
  if (llvm::StringRef(line).contains("{}")) {
    for (size_t at; (at = line.find("{}")) != std::string::npos;)
      line.replace(at, 2, Quoted(graph_));
  } else {
    line += " " + Quoted(graph_);
  }
  starting = true;
  Expected<pid_t> started = StartProgram({"sh", "-c", line}, output_, /*own_group=*/true);
  pid_t pid = started ? *started : 0;
  running = pid;
  starting = false;
  if (interrupted) EndCheckToo();
  if (!started) return started.takeError();
  Ended ended = WaitFor(pid, timeout_s_);
  running = 0;
  constexpr int kNoSuchCommand = 127;
  Outcome outcome;
  outcome.exit_code = WIFEXITED(ended.status) ? WEXITSTATUS(ended.status) : -1;
  // If the shell does not find the command, its exit code says nothing about the graph, so this is
  // an error.
  if (outcome.exit_code == kNoSuchCommand)
    return MakeError("the check exits 127 (command not found): {0}", line);
  if (outcome.exit_code > 128) outcome.exit_code = -1;
  ASSIGN_OR_RETURN(auto output, FileBytes::Open(output_));
  outcome.text = ended.timed_out ? "it took too long" : LastLine(output->bytes());
  outcome.kind = KindOf(outcome.text);
  return outcome;
}

}  // namespace grapnel
