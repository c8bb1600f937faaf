#include "tools/check_command.h"

#include "lib/io/write.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Program.h"
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
  RETURN_IF_ERROR(WriteFile(output_, ""));  // redirecting does not truncate
  std::string line = command_;
  if (llvm::StringRef(line).contains("{}")) {
    for (size_t at; (at = line.find("{}")) != std::string::npos;)
      line.replace(at, 2, Quoted(graph_));
  } else {
    line += " " + Quoted(graph_);
  }
  std::string message;
  bool failed_to_start = false;
  Outcome outcome;
  outcome.exit_code = llvm::sys::ExecuteAndWait(
      "/bin/sh", {"sh", "-c", line}, {},
      {llvm::StringRef(""), llvm::StringRef(output_), llvm::StringRef(output_)}, timeout_s_,
      /*MemoryLimit=*/0, &message, &failed_to_start);
  if (failed_to_start) return MakeError("the check cannot be run: {0}", message);
  // There is no such command: no verdict on the graph.
  if (outcome.exit_code == -1) return MakeError("the check cannot be run: {0}", line);
  if (outcome.exit_code < 0) outcome.exit_code = -1;
  ASSIGN_OR_RETURN(auto output, FileBytes::Open(output_));
  outcome.text = outcome.exit_code == -1 && !message.empty() ? message : LastLine(output->bytes());
  outcome.kind = KindOf(outcome.text);
  return outcome;
}

}  // namespace grapnel
