// Ctrl-C while a command runs a graph: the run ends, and what it has is kept.
#ifndef GRAPNEL_TOOLS_INTERRUPTION_H_
#define GRAPNEL_TOOLS_INTERRUPTION_H_

#include <csignal>

#include "lib/support/cancel.h"

namespace grapnel {

// While it lives, Ctrl-C is asked for and not obeyed. Of several runs the first press lets the one
// that goes on end, the second sets the flag; of one run the first sets it. One more ends the
// process as ever. Each says on stderr what it does. Where SIGINT was ignored it stays so. One at a
// time; made after the files that are kept, so that nobody takes the signal from it.
class Interruption {
 public:
  // `cancel` outlives it.
  Interruption(CancelFlag& cancel, bool has_several_runs);
  ~Interruption();
  bool is_asked() const;
  // Ends the process as Ctrl-C does, so that a script that started it ends too.
  [[noreturn]] static void Obey();

 private:
  struct sigaction before_ = {};
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INTERRUPTION_H_
