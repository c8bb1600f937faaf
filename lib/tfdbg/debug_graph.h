// The ops of a debug run as a graph: Python's executions form main, and each traced function is a
// function of the library.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// The position of a record in the module, with the body's index in Bodies().
struct DebugPlace {
  int body = -1;
  NodeId node = kNoNode;
};

// In main, a node's id is the index of its execution; in a function, a node's id is the index of
// its op in DebugGraph::ops. Nodes with higher ids are calls that were not recorded, but whose
// results are read. Control edges and attributes are not recorded, so the only attributes are the
// functions that control flow and calls use, and the dtypes of recorded tensors.
struct DebugModule {
  std::unique_ptr<Module> module;
  std::vector<int> body_of;   // by graph of DebugRun::graphs; -1: the graph has no ops
  std::vector<int> graph_of;  // by body: index in DebugRun::graphs; -1: main
};

// Makes the module of a run. Dangling inputs and cycles are kept; a number is appended to repeated
// names. Cost: linear in ops, executions and traces.
DebugModule MakeDebugModule(const DebugRun& run);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_
