// Subcommands: how one registers itself, and the flags that mean the same everywhere.
#ifndef GRAPNEL_TOOLS_COMMAND_H_
#define GRAPNEL_TOOLS_COMMAND_H_

#include <functional>
#include <string>
#include <vector>

#include "lib/support/cancel.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"
#include "tools/command_line.h"

namespace grapnel {

class PassRegistry;
class Tensor;

enum ExitCode { kExitOk = 0, kExitNo = 1, kExitBadInput = 2 };

// Flags of every command.
struct CommonFlags {
  bool json = false, quiet = false, verbose = false;
  int threads = 0;  // 0: one per core
  std::string color = "auto", log_level, output, memory;
  std::vector<std::string> plugins;  // files
};
void AddCommonFlags(CommandLine& line, CommonFlags& flags);

// A program that has commands work in its own process, several at a time (CallCommand). It stands
// for the process's streams, for its end, and for who presses Ctrl-C. What is here is called on the
// threads of the work.
struct Caller {
  llvm::raw_ostream& out;  // in the place of standard output
  llvm::raw_ostream& err;  // of stderr, but for messages
  MessageSink sink;        // messages of each severity
  CancelFlag cancel;       // ends the work where it looks at it: with an error, of whatever text
  std::function<void(std::string)> give_up;  // --timeout is over, and no kernel heard of it
  std::function<void(const std::string& name, const Tensor& value)>
      take_value;                        // what `run` fetched
  const PassRegistry* passes = nullptr;  // with those of the caller's own; null: the program's
  // As Invocation::ReportProgress; null: nobody looks.
  std::function<void(llvm::StringRef what, int64_t done, int64_t total)> progress = nullptr;
};

// One invocation of a command: its flags and where its words go.
class Invocation {
 public:
  explicit Invocation(Caller* caller = nullptr) : caller_(caller) {}
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  CommonFlags flags;
  // The command reads files again that change, and says itself which were cut short.
  bool follows_files = false;

  // Standard output and the other, for words and JSON: what a graph's names hold that a terminal
  // would obey is written as escapes (lib/support/printable.h). Files that go to standard output,
  // as `-o -`, are written as they are.
  llvm::raw_ostream& out();
  llvm::raw_ostream& err();
  // Messages of libraries and tools, on stderr, as --log-level, --quiet, -v and
  // TF_CPP_MIN_LOG_LEVEL allow.
  MessageSink sink();
  bool UseColor() const;  // on standard output
  // Ends the command's work: --timeout sets it, and a caller.
  CancelFlag& cancel() { return caller_ ? caller_->cancel : cancel_; }
  // To who waits, from any thread: what is being done, "constant_folding", and which of how many;
  // total 0: not said.
  void ReportProgress(llvm::StringRef what, int64_t done = 0, int64_t total = 0);
  // The passes and rules that there are; null: the program's.
  const PassRegistry* passes() const { return caller_ ? caller_->passes : nullptr; }
  // Null: the command was typed, and the process is its own.
  Caller* caller() { return caller_; }

 private:
  Caller* caller_;
  CancelFlag cancel_;
};

// What a command does when its flags are read: an exit code, or an error that main prints as
// `grapnel: ...` before exiting with kExitBadInput.
using RunCommand = std::function<Expected<int>(Invocation&)>;

// A command: `set_up` adds its flags to `line` and returns what runs it; flags' variables live in
// shared state that the returned function holds.
struct Command {
  const char* name;
  const char* help;
  const char* example;  // shown under --help, "grapnel " left out
  RunCommand (*set_up)(CommandLine& line);
};

std::vector<Command>& Commands();
inline bool RegisterCommand(Command command) {
  Commands().push_back(command);
  return true;
}

// The arguments of a command, those of every command too, as its --help lists them.
std::vector<ArgumentInfo> ArgumentsOf(const Command& command);

// At namespace scope of tools/<name>.cpp:
#define GRAPNEL_COMMAND(name, help, example, set_up)       \
  [[maybe_unused]] static const bool command_registered_ = \
      ::grapnel::RegisterCommand({name, help, example, set_up})

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_COMMAND_H_
