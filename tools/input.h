// What commands share when they go through the graphs of a MODEL.
#ifndef GRAPNEL_TOOLS_INPUT_H_
#define GRAPNEL_TOOLS_INPUT_H_

#include "lib/job/opened_graph.h"
#include "tools/command.h"

namespace grapnel {

// Runs `command` on the graph of that `title`; without one on the only graph, or on each graph of a
// text in turn, a line of dashes with its title printed before each. The result is the worst of
// all.
Expected<int> OnEachGraph(llvm::StringRef path, llvm::StringRef title, Invocation& invocation,
                          llvm::function_ref<Expected<int>(OpenedGraph&)> command);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_INPUT_H_
