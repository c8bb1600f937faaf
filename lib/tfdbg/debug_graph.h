// The ops of a debug run as a graph: what Python ran as main, each function that was traced as a
// function of the library.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_

#include <memory>
#include <vector>

#include "lib/ir/module.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// Where a record is drawn: bodies are numbered as Bodies() lists them.
struct DebugPlace {
  int body = -1;
  NodeId node = kNoNode;
};

// A node of main is an execution and has its index as id; a node of a function is an op and has its
// index in DebugGraph::ops. After those come calls that were not recorded but whose results are
// read. Control edges and attributes are not recorded: attributes are the functions that control
// flow calls, and types where tensors were recorded.
struct DebugModule {
  std::unique_ptr<Module> module;
  std::vector<int> body_of;   // by DebugRun::graphs; -1: it has no ops
  std::vector<int> graph_of;  // by body; -1: main
};

// Inputs that name nothing stay as dangling ones, cycles as cycles; of names that come twice the
// later one is numbered. Cost: linear in ops, executions and traces.
DebugModule MakeDebugModule(const DebugRun& run);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_GRAPH_H_
