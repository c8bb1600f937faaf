// Runs the debugger's commands, one line of text each, from a terminal or a script.
#ifndef GRAPNEL_LIB_DEBUGGER_DEBUG_SHELL_H_
#define GRAPNEL_LIB_DEBUGGER_DEBUG_SHELL_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/debugger/debugger.h"
#include "lib/watch/array_text.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct DebugCommand;

// Command names and flags are those of TensorFlow's command-line debugger; of the commands that it
// lacks, many have gdb's names.
class DebugShell {
 public:
  // `debugger` and `os` outlive the shell. `color`: highlights are in color.
  DebugShell(Debugger& debugger, llvm::raw_ostream& os, bool color)
      : debugger_(debugger), os_(os), color_(color) {}

  // Writes where the run has stopped (the node, its calls, and its inputs or outputs) or how it
  // ended.
  void ShowStop(const DebugStop& stop);
  // Runs one line. Returns an order if the command continues, restarts or ends the run. Errors: an
  // unknown command, with the nearest one; those of the command, such as an unknown name.
  Expected<std::optional<DebugOrder>> Do(llvm::StringRef line);
  // Returns the completions of the last word of `line`: commands for the first word, else names of
  // nodes (in the body where the run has stopped, and in the main graph), of functions, of filters,
  // and of the functions of expressions.
  std::vector<std::string> Complete(llvm::StringRef line) const;

  Debugger& debugger() { return debugger_; }
  llvm::raw_ostream& os() { return os_; }
  bool color() const { return color_; }
  ArrayTextOptions print;  // set by `config`
  // Whether commands may read and write files on this machine.
  bool uses_files = true;

 private:
  Debugger& debugger_;
  llvm::raw_ostream& os_;
  bool color_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_DEBUG_SHELL_H_
