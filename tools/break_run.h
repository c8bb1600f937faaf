// `run --break`: a run that ends, or is given to a person, where a filter holds.
#ifndef GRAPNEL_TOOLS_BREAK_RUN_H_
#define GRAPNEL_TOOLS_BREAK_RUN_H_

#include <string>
#include <vector>

#include "lib/job/debugger.h"
#include "tools/command.h"

namespace grapnel {

struct BreakRun {
  bool has_stopped = false;               // a filter held, and that was said
  std::vector<std::string> fetches;       // else what was computed,
  std::vector<std::string> fetch_names;   // what a person calls that, and
  std::vector<std::vector<Tensor>> runs;  // what came of each run
};

// Runs `opened` until one of the breakpoints (lib/job/breakpoint.h) is hit: says where, with the
// node, its output, the calls and a summary of the value; at a terminal the debugger's prompt opens
// there. Of a run in which none is hit, it says which never were. Errors: a filter that cannot be
// read; the run's.
Expected<BreakRun> RunToBreak(const OpenedGraph& opened, const RunRequest& request,
                              llvm::ArrayRef<std::string> filters, int repeat,
                              Invocation& invocation);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_BREAK_RUN_H_
