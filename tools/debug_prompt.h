// The debugger's prompt, at a terminal and for scripts.
#ifndef GRAPNEL_TOOLS_DEBUG_PROMPT_H_
#define GRAPNEL_TOOLS_DEBUG_PROMPT_H_

#include <csignal>
#include <memory>
#include <string>

#include "lib/job/debug_shell.h"
#include "tools/line_editor.h"

namespace grapnel {

// Says where the run has stopped and asks for commands until one makes it go on.
class DebugPrompt {
 public:
  // Both outlive it.
  DebugPrompt(DebugShell& shell, LineSource& lines) : shell_(shell), lines_(lines) {}

  DebugOrder operator()(const DebugStop& stop);
  bool has_failed() const { return has_failed_; }  // whether a command had an error

 private:
  DebugShell& shell_;
  LineSource& lines_;
  std::string last_;  // what an empty line says again
  bool has_failed_ = false;
};

// Lines typed at this terminal, completed by the shell, which outlives it.
std::unique_ptr<LineSource> TypedLines(const DebugShell& shell);

// While it lives, Ctrl-C stops the run, and not the program. One at a time.
class OnInterrupt {
 public:
  explicit OnInterrupt(Debugger& debugger);
  ~OnInterrupt();

 private:
  struct sigaction before_ = {};
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_DEBUG_PROMPT_H_
