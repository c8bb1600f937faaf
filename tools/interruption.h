// Handles Ctrl-C while a command runs a graph: the run ends, and its results so far are kept.
#ifndef GRAPNEL_TOOLS_INTERRUPTION_H_
#define GRAPNEL_TOOLS_INTERRUPTION_H_

#include <csignal>

#include "lib/support/cancel.h"

namespace grapnel {

// While an object of this class exists, Ctrl-C does not end the process at once. With several runs,
// the first press requests a stop after the current run, and the second sets `cancel`; with one
// run, the first press sets `cancel`. One more press ends the process as usual. The presses
// before that print what they do on stderr. If SIGINT was ignored, it stays ignored. At most one
// object may exist at a time. Create it after the output files: AtomicFile installs a signal
// handler, which would replace this one.
class Interruption {
 public:
  // `cancel` outlives this object.
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
