// Subcommands: their registration, and the flags that they share.
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

// The values of the flags that commands share. Some commands lack --json or --plugin.
struct CommonFlags {
  bool json = false, quiet = false, verbose = false;
  int threads = 0;  // 0: one per core
  std::string color = "auto", log_level, output, memory;
  std::vector<std::string> plugins;  // paths of plugins to load
};
// Adds the shared flags to the line of a command that has set up its own.
void AddCommonFlags(CommandLine& line, CommonFlags& flags);

// The caller of CallCommand: a program that runs commands in its own process, several at a time.
// Replaces the process's streams, exit and Ctrl-C. The functions are called on the threads that run
// the command.
struct Caller {
  llvm::raw_ostream& out;  // replaces standard output
  llvm::raw_ostream& err;  // replaces standard error, except for messages
  MessageSink sink;        // receives all messages
  CancelFlag cancel;       // stops the command with some error, where the command checks the flag
  std::function<void(std::string)> give_up;  // --timeout has expired, and a kernel ignores the
                                             // cancel flag
  std::function<void(const std::string& name, const Tensor& value)>
      take_value;                        // receives what `run` fetched
  const PassRegistry* passes = nullptr;  // with the caller's passes; null: the program's
  // Like Invocation::ReportProgress; may be null.
  std::function<void(llvm::StringRef what, int64_t done, int64_t total)> progress = nullptr;
};

// One invocation of a command: its common flags and its output streams.
class Invocation {
 public:
  explicit Invocation(Caller* caller = nullptr) : caller_(caller) {}
  Invocation(const Invocation&) = delete;
  Invocation& operator=(const Invocation&) = delete;

  CommonFlags flags;
  std::string program = "grapnel";  // argv[0]
  // True if the command rereads files that change, and itself reports truncated files.
  bool follows_files = false;

  // Standard output and standard error, for text and JSON: control characters in a graph's names
  // are escaped (lib/support/printable.h). Files that go to standard output, such as `-o -`, are
  // written unchanged.
  llvm::raw_ostream& out();
  llvm::raw_ostream& err();
  // Receives messages of libraries and tools; prints them on stderr, as --log-level, --quiet, -v
  // and TF_CPP_MIN_LOG_LEVEL allow.
  MessageSink sink();
  bool UseColor() const;  // on standard output
  // The flag that stops the command; --timeout, Ctrl-C or the caller may set it.
  CancelFlag& cancel() { return caller_ ? caller_->cancel : cancel_; }
  // Reports progress, from any thread: the current activity, such as "constant_folding", and how
  // many of its `total` steps are done; total 0: unknown.
  void ReportProgress(llvm::StringRef what, int64_t done = 0, int64_t total = 0);
  // Says on stderr that the file or folder `path`, which a flag names, is complete: "wrote
  // lenet.html (64 nodes)"; `content` may be empty. Says nothing if `path` is empty, standard
  // output or another device, with --quiet, or if a program called the command, which named the
  // file itself.
  void Wrote(llvm::StringRef path, llvm::StringRef content = "");
  // The available passes and rules; null: those registered in the program.
  const PassRegistry* passes() const { return caller_ ? caller_->passes : nullptr; }
  // Null if the command was typed in a shell and has the process to itself.
  Caller* caller() { return caller_; }

 private:
  Caller* caller_;
  CancelFlag cancel_;
};

// Runs a command after its flags are parsed. Returns an exit code, or an error that main prints as
// `grapnel: ...` before exiting with kExitBadInput.
using RunCommand = std::function<Expected<int>(Invocation&)>;

// A command: `set_up` adds its flags to `line` and returns the function that runs it, which shares
// ownership of the flags' variables.
struct Command {
  const char* name;
  const char* help;
  const char* example;  // shown under --help, without "grapnel "
  RunCommand (*set_up)(CommandLine& line);
};

std::vector<Command>& Commands();
inline bool RegisterCommand(Command command) {
  Commands().push_back(command);
  return true;
}

// Returns the arguments of a command, including the shared ones, in the order of its --help.
std::vector<ArgumentInfo> ArgumentsOf(const Command& command);

// Registers a command. Use it at namespace scope of tools/<name>.cpp.
#define GRAPNEL_COMMAND(name, help, example, set_up)       \
  [[maybe_unused]] static const bool command_registered_ = \
      ::grapnel::RegisterCommand({name, help, example, set_up})

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_COMMAND_H_
