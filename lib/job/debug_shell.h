// The debugger's commands, a line of text each: what a terminal and a script type.
#ifndef GRAPNEL_LIB_JOB_DEBUG_SHELL_H_
#define GRAPNEL_LIB_JOB_DEBUG_SHELL_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/debugger.h"
#include "lib/watch/array_text.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct DebugCommand;

// Names and flags are those of TensorFlow's command-line debugger where that has the command, else
// gdb's.
class DebugShell {
 public:
  // Both outlive it. `color`: marks are in color.
  DebugShell(Debugger& debugger, llvm::raw_ostream& os, bool color)
      : debugger_(debugger), os_(os), color_(color) {}

  // Writes where the run has stopped: the node, the calls it is in, what it reads or made.
  void ShowStop(const DebugStop& stop);
  // Does one line. An order: the run goes on. Errors are the person's: a command or a name that is
  // not there, with the nearest; an argument that does not fit.
  Expected<std::optional<DebugOrder>> Do(llvm::StringRef line);
  // What the last word of a line that is being typed may be: commands, then names of nodes of this
  // body and of main, functions, filters.
  std::vector<std::string> Complete(llvm::StringRef line) const;

  Debugger& debugger() { return debugger_; }
  llvm::raw_ostream& os() { return os_; }
  bool color() const { return color_; }
  ArrayTextOptions print;  // of `config`
  // Whether a line may read and write files of this machine.
  bool uses_files = true;

 private:
  Debugger& debugger_;
  llvm::raw_ostream& os_;
  bool color_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUG_SHELL_H_
