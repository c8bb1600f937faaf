// The debugger's prompt, for terminals and scripts.
#ifndef GRAPNEL_TOOLS_DEBUG_PROMPT_H_
#define GRAPNEL_TOOLS_DEBUG_PROMPT_H_

#include <csignal>
#include <memory>
#include <string>

#include "lib/debugger/debug_shell.h"
#include "tools/line_editor.h"

namespace grapnel {

// Shows where the run has stopped and reads commands until one makes the run continue.
class DebugPrompt {
 public:
  // `shell` and `lines` must outlive the prompt.
  DebugPrompt(DebugShell& shell, LineSource& lines) : shell_(shell), lines_(lines) {}

  DebugOrder operator()(const DebugStop& stop);
  bool has_failed() const { return has_failed_; }  // true if a command failed

 private:
  DebugShell& shell_;
  LineSource& lines_;
  std::string last_;  // the command that an empty line repeats
  bool has_failed_ = false;
};

// Returns a source of lines typed at the terminal, with completions from `shell`, which outlives
// the source.
std::unique_ptr<LineSource> TypedLines(const DebugShell& shell);

// While an object of this class exists, Ctrl-C stops the run instead of the program. At most one
// object may exist at a time.
class OnInterrupt {
 public:
  explicit OnInterrupt(Debugger& debugger);
  ~OnInterrupt();

 private:
  struct sigaction before_ = {};
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_DEBUG_PROMPT_H_
