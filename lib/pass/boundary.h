// What a body gives and takes, which a pass must leave as it is.
#ifndef GRAPNEL_LIB_PASS_BOUNDARY_H_
#define GRAPNEL_LIB_PASS_BOUNDARY_H_

#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/module.h"
#include "lib/support/public.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// What the user wants of the graph; ids are of the body that is optimized.
struct GRAPNEL_PUBLIC Boundary {
  // Their values are the result.
  llvm::DenseSet<NodeId> fetched;
  // Which outputs of theirs those are. Empty for a function's body, whose results have none.
  std::vector<Port> fetched_ports;
  // Their values come from outside: no shape, no constant is trusted.
  llvm::DenseSet<NodeId> fed;
  // Must stay for another reason: function results, initializers, keep_ops.
  llvm::DenseSet<NodeId> kept;
  // Nodes with state or effects stay even when nobody reads them (function bodies).
  bool keep_stateful = false;
  // A gradient is taken through the body: ops that have none must not come in.
  bool differentiable = false;
  // Whether passes imitate TensorFlow with oneDNN, which fuses more.
  bool onednn = true;
  bool keep_nan = false;         // a NaN must come out where one comes out of the graph as it is
  bool keep_functional = false;  // If, Case and While stay nodes that call functions
  std::string assumed_device;    // where nodes that name no device are taken to be; may be empty
  bool has_fetches() const { return !fetched.empty() || !kept.empty(); }
};

// What is fetched of a graph that says nothing of its results: all outputs of unread nodes; the
// first of a Switch, which gives one of them. Of a function's graph (lib/ir/function_ends.h): its
// results in their order, and "^x" of what stands for its effects.
GRAPNEL_PUBLIC std::vector<std::string> DefaultFetches(const Graph& graph);
// What must be fed of it: its placeholders; of a function's graph its arguments, in their order.
GRAPNEL_PUBLIC std::vector<std::string> DefaultFeeds(const Graph& graph);

// Of a main graph, by names of nodes and tensors ("x", "x:1", "^x" for one that must run).
// Placeholders are fed in any case. The error is that of a name that is not there.
GRAPNEL_PUBLIC Expected<Boundary> BoundaryOf(const Graph& graph, llvm::ArrayRef<std::string> feeds,
                                             llvm::ArrayRef<std::string> fetches);
// Of a body: arguments are fed, results fetched.
GRAPNEL_PUBLIC Boundary BoundaryOf(const Function& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BOUNDARY_H_
