#include "tools/check_command.h"

#include <sys/wait.h>

#include <cstdlib>

#include "lib/io/write.h"
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

// As one word for sh.
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

}  // namespace

CheckCommand::CheckCommand(std::string command, int timeout_s)
    : command_(std::move(command)),
      graph_(TemporaryFile("pb")),
      output_(TemporaryFile("log")),
      timeout_s_(timeout_s) {}

CheckCommand::~CheckCommand() {
  for (const std::string& path : {graph_, output_}) {
    if (path.empty()) continue;
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }
}

Expected<CheckCommand::Outcome> CheckCommand::Run(const Module& module) {
  if (graph_.empty() || output_.empty()) return MakeError("no temporary file can be made");
  RETURN_IF_ERROR(WriteGraph(module, graph_));
  std::string line = command_;
  if (llvm::StringRef(line).contains("{}")) {
    for (size_t at; (at = line.find("{}")) != std::string::npos;)
      line.replace(at, 2, Quoted(graph_));
  } else {
    line += " " + Quoted(graph_);
  }
  // Of LLVM's own way to start programs asan says what is not so: LLVM is built without it.
  std::string shell = "sh -c " + Quoted(line);
  if (timeout_s_ > 0) shell = "timeout " + std::to_string(timeout_s_) + " " + shell;
  int status = std::system((shell + " </dev/null >" + Quoted(output_) + " 2>&1").c_str());
  constexpr int kTimedOut = 124, kNoSuchCommand = 127;
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  // There is no such command: no verdict on the graph.
  if (status == -1 || outcome.exit_code == kNoSuchCommand)
    return MakeError("the check cannot be run: {0}", line);
  bool timed_out = timeout_s_ > 0 && outcome.exit_code == kTimedOut;
  if (timed_out || outcome.exit_code > 128) outcome.exit_code = -1;
  ASSIGN_OR_RETURN(auto output, FileBytes::Open(output_));
  outcome.text = timed_out ? "it took too long" : LastLine(output->bytes());
  outcome.kind = KindOf(outcome.text);
  return outcome;
}

}  // namespace grapnel
