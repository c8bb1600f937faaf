// `grapnel trace --eager`: runs a function op by op instead of tracing a graph.
#ifndef GRAPNEL_TOOLS_TRACE_EAGER_H_
#define GRAPNEL_TOOLS_TRACE_EAGER_H_

#include <string>
#include <vector>

#include "tools/run_outputs.h"
#include "tools/tap_flags.h"
#include "tools/traced_functions.h"

namespace grapnel {

struct EagerFlags {
  bool is_set = false, log_placement = false, check_numerics = false;
  PrintFlags print;
  std::vector<std::string> feeds;    // NAME=FILE
  std::vector<std::string> fetches;  // NAME[=FILE]
  TapFlags tap;

  void AddTo(CommandLine& line);
  // Errors: a flag that requires --eager, without --eager; --taps-report, which requires a graph;
  // those of TapFlags::CheckCombination.
  Error CheckCombination() const;
};

// Runs the function and prints or saves its results, under the names that they have in the traced
// graph. Exit code 1: --check-numerics found something.
Expected<int> RunProgram(const TracedChoice& choice, const EagerFlags& flags,
                         Invocation& invocation);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TRACE_EAGER_H_
