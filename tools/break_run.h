// `run --break`: ends a run, or opens the debugger, when a breakpoint is hit.
#ifndef GRAPNEL_TOOLS_BREAK_RUN_H_
#define GRAPNEL_TOOLS_BREAK_RUN_H_

#include <string>
#include <vector>

#include "lib/debugger/debugger.h"
#include "tools/command.h"

namespace grapnel {

struct BreakRun {
  bool has_stopped = false;               // a breakpoint was hit and reported
  std::vector<std::string> fetches;       // else: the fetched tensors,
  std::vector<std::string> fetch_names;   // their display names, and
  std::vector<std::vector<Tensor>> runs;  // their values in each run
};

// Runs `opened` until one of the breakpoints (lib/debugger/breakpoint.h) is hit; reports the node,
// its output, the calls and a summary of the value. On a terminal, without --json and --quiet,
// opens the debugger's prompt at that node instead of the summary. If all runs end without a hit,
// reports which breakpoints were never reached. Errors: a breakpoint that cannot be parsed; those
// of the run.
Expected<BreakRun> RunToBreak(const OpenedGraph& opened, const RunRequest& request,
                              llvm::ArrayRef<std::string> filters, int repeat,
                              Invocation& invocation);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_BREAK_RUN_H_
