// A command of the debugger's shell and its arguments. Private to lib/debugger.
#ifndef GRAPNEL_LIB_DEBUGGER_DEBUG_COMMAND_H_
#define GRAPNEL_LIB_DEBUGGER_DEBUG_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/debugger/debug_shell.h"

namespace grapnel {

// The arguments of a command. Blanks separate them, except inside brackets and quotes and between a
// name and its slice ("x:0 [0, :]"); quotes outside brackets are removed.
class DebugWords {
 public:
  // Errors: a quote or bracket is not closed.
  static Expected<DebugWords> Parse(llvm::StringRef text);

  llvm::StringRef rest() const { return rest_; }  // as typed
  // TakeFlag removes a flag such as "-a" from the arguments, TakeOption and TakeNumber a flag with
  // a value such as "-n 3". Errors: the value is missing or, for TakeNumber, not a number.
  bool TakeFlag(llvm::StringRef flag, llvm::StringRef other = {});
  Expected<std::optional<std::string>> TakeOption(llvm::StringRef flag, llvm::StringRef other = {});
  // Removes a flag and its value, an expression that may contain blanks: all arguments up to the
  // next flag. Returns the value.
  Expected<std::optional<std::string>> TakeExpression(llvm::StringRef flag,
                                                      llvm::StringRef other = {});
  Expected<std::optional<int64_t>> TakeNumber(llvm::StringRef flag, llvm::StringRef other = {});
  // Returns the remaining arguments, at most `most` and at least `least`. Errors: an unknown flag;
  // too many or too few arguments (the message contains `what`, the expected arguments).
  Expected<std::vector<std::string>> Names(size_t least, size_t most, const char* what) const;

 private:
  std::string rest_;
  std::vector<std::string> words_;
  size_t taken_at_ = 0;  // position of the option that was taken last
};

using DebugAnswer = Expected<std::optional<DebugOrder>>;

struct DebugCommand {
  std::vector<const char*> names;  // the first is the command's name, the rest are aliases
  const char* usage;               // shown after the name
  const char* help;                // may have several lines
  DebugAnswer (*run)(DebugShell& shell, DebugWords& words);
};

// The commands by kind; each kind has its own file.
llvm::ArrayRef<DebugCommand> SteppingCommands();
llvm::ArrayRef<DebugCommand> ListingCommands();
llvm::ArrayRef<DebugCommand> TensorCommands();

// Returns "function/node" for a node of a function, "node" in the main graph.
std::string NameIn(const Graph& graph, NodeId node);
// Returns "for 3 tensors the condition had no answer: max: the array has no elements"; "" if the
// condition could be evaluated on all tensors.
std::string UnansweredText(const Breakpoint& breakpoint);
// Returns "float32 (2, 3)".
std::string TypeText(const Tensor& tensor);
// True if a word is a flag: "-a", "--all", but not "-1".
bool IsFlag(llvm::StringRef word);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_DEBUG_COMMAND_H_
