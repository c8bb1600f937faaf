// Handles Ctrl-C while a command runs a graph: the run ends, and its results so far are kept.
#ifndef GRAPNEL_TOOLS_INTERRUPTION_H_
#define GRAPNEL_TOOLS_INTERRUPTION_H_

#include <csignal>

#include "lib/support/cancel.h"

namespace grapnel {

// While it lives, Ctrl-C is a request. With several runs, the first press stops after the current
// run, and the second sets the flag; with one run, the first sets the flag. One more press ends the
// process as usual. Each press prints what it does on stderr. If SIGINT was ignored it stays
// ignored. At most one at a time; must be created after the files that are kept, whose own signal
// handlers would replace this one.
class Interruption {
 public:
  // `cancel` outlives it.
  Interruption(CancelFlag& cancel, bool has_several_runs);
  ~Interruption();
  bool is_asked() const;
  // Ends the process as Ctrl-C does by default, so that a calling script ends too.
  [[noreturn]] static void Obey();

 private:
  struct sigaction before_ = {};
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INTERRUPTION_H_
