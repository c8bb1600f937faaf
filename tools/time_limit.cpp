#include "tools/time_limit.h"

#include <cstdlib>

#include "lib/support/text.h"
#include "llvm/Support/Signals.h"

namespace grapnel {

void TimeLimit::AddTo(CommandLine& line, const char* help) {
  line.Option("--timeout", seconds, help).NotNegative().ShownAs("SECONDS");
}

std::string TimeLimit::Text() const { return NotDoneText(seconds) + " (--timeout)"; }

Deadline TimeLimit::Begin(CancelFlag& cancel, const std::string& what,
                          Invocation& invocation) const {
  return Deadline(seconds, cancel, [this, &what, &invocation] {
    if (const Caller* caller = invocation.caller()) return caller->give_up(what + ": " + Text());
    invocation.out().flush();
    invocation.err() << "grapnel: " << what << ": " << Text() << "\n";
    invocation.err().flush();
    llvm::sys::RunInterruptHandlers();  // removes unfinished files
    std::_Exit(kExitBadInput);
  });
}

}  // namespace grapnel
