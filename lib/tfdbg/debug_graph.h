// The ops of a debug run as a graph: Python's executions form main, and each traced function is a
// function of the library.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// The place of a record in the graph: bodies are numbered as in Bodies().
struct DebugPlace {
  int body = -1;
  NodeId node = kNoNode;
};

// A node of main is an execution, and its id is the execution's index; a node of a function is an
// op, and its id is the index in DebugGraph::ops. After those come unrecorded calls whose results
// are read. Control edges and attributes are not recorded: the only attributes are the functions
// that control flow calls, and types where tensors were recorded.
struct DebugModule {
  std::unique_ptr<Module> module;
  std::vector<int> body_of;   // by DebugRun::graphs; -1: the graph has no ops
  std::vector<int> graph_of;  // by body; -1: main
};

// Dangling inputs and cycles are kept; a repeated name gets a number. Cost: linear in ops,
// executions and traces.
DebugModule MakeDebugModule(const DebugRun& run);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_
