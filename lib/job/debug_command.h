// One command of the debugger's shell, and the words behind it. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_DEBUG_COMMAND_H_
#define GRAPNEL_LIB_JOB_DEBUG_COMMAND_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/debug_shell.h"

namespace grapnel {

// The words after a command. A word is cut at blanks outside of brackets and quotes; quotes go.
class DebugWords {
 public:
  // Errors: a quote or a bracket without its other one.
  static Expected<DebugWords> Parse(llvm::StringRef text);

  llvm::StringRef rest() const { return rest_; }  // as it was typed
  // Takes a flag: "-a"; one with a value: "-n 3". Errors: the value is missing.
  bool TakeFlag(llvm::StringRef flag, llvm::StringRef other = {});
  Expected<std::optional<std::string>> TakeOption(llvm::StringRef flag, llvm::StringRef other = {});
  // One whose value is an expression, with blanks: all words up to the next flag.
  Expected<std::optional<std::string>> TakeExpression(llvm::StringRef flag,
                                                      llvm::StringRef other = {});
  Expected<std::optional<int64_t>> TakeNumber(llvm::StringRef flag, llvm::StringRef other = {});
  // The words that are left, at most `most` and at least `least`. Errors: a flag that nobody took;
  // too many or too few, with `what` was expected.
  Expected<std::vector<std::string>> Names(size_t least, size_t most, const char* what) const;

 private:
  std::string rest_;
  std::vector<std::string> words_;
  size_t taken_at_ = 0;  // where the option stood that was taken last
};

using DebugAnswer = Expected<std::optional<DebugOrder>>;

struct DebugCommand {
  std::vector<const char*> names;  // the first is its name
  const char* usage;               // after the name
  const char* help;                // lines
  DebugAnswer (*run)(DebugShell& shell, DebugWords& words);
};

// By kind; a file each.
llvm::ArrayRef<DebugCommand> SteppingCommands();
llvm::ArrayRef<DebugCommand> ListingCommands();
llvm::ArrayRef<DebugCommand> TensorCommands();

// "function/node" of a body's, "node" of main's.
std::string NameIn(const Graph& graph, NodeId node);
// "of 3 tensors there was no answer: max: there are no elements"; "" where there were none.
std::string UnansweredText(const Breakpoint& breakpoint);
// "float32 (2, 3)".
std::string TypeText(const Tensor& tensor);
// Whether a word is a flag: "-a", "--all", but not "-1".
bool IsFlag(llvm::StringRef word);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUG_COMMAND_H_
