// The inputs and results of a body (the main graph or a function), both of which a pass must
// preserve.
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

// The inputs and results of the body that is optimized (the main graph or a function), as ids of
// the body's nodes.
struct GRAPNEL_PUBLIC Boundary {
  // The nodes that give the body's results or, for a main graph, are fetched as "^x"; for a
  // function, its _Retval nodes.
  llvm::DenseSet<NodeId> fetched;
  // Which outputs of the nodes in `fetched` are results. Empty for a function, since _Retval nodes
  // have no outputs.
  std::vector<Port> fetched_ports;
  // Nodes whose values the caller supplies: a pass can trust neither their shapes nor, for a Const,
  // its value.
  llvm::DenseSet<NodeId> fed;
  // Further nodes that must stay: _Retval nodes of a main graph, nodes that must run for a
  // function's effects.
  llvm::DenseSet<NodeId> kept;
  // Whether nodes with state or effects stay even if they are unread, as in function bodies.
  bool keep_stateful = false;
  // Whether a gradient is taken through the body: passes must not add ops that have no gradient.
  bool differentiable = false;
  // Whether passes imitate TensorFlow with oneDNN, which fuses more.
  bool onednn = true;
  bool keep_nan = false;         // NaNs of the original graph must be preserved
  bool keep_functional = false;  // If, Case and While keep calling functions
  std::string assumed_device;    // the device of nodes that name none; may be empty
  bool has_fetches() const { return !fetched.empty() || !kept.empty(); }
};

// The default fetches of a graph: each node that no other node reads or waits for, with all its
// outputs; but no NoOp or Const, and only the first output of a Switch, because one of its outputs
// is dead. For a GraphDef that is a function's body, with _Arg and _Retval nodes
// (lib/ir/function_ends.h): its results in order, then "^x" for each node x that must run so that
// all ops with state or effects run.
GRAPNEL_PUBLIC std::vector<std::string> DefaultFetches(const Graph& graph);
// The default feeds: the placeholders of a graph that have no default value; or, for a function's
// body, its arguments in order.
GRAPNEL_PUBLIC std::vector<std::string> DefaultFeeds(const Graph& graph);

// The boundary of a main graph, by names of nodes and tensors ("x", "x:1", "^x" for a node that
// must run). Placeholders without a default value, and arguments, are always fed. Errors: a name
// that does not exist.
GRAPNEL_PUBLIC Expected<Boundary> BoundaryOf(const Graph& graph, llvm::ArrayRef<std::string> feeds,
                                             llvm::ArrayRef<std::string> fetches);
// The boundary of a function's body: arguments are fed, results fetched, and nodes that must run
// (control_results) kept; nodes with state or effects stay.
GRAPNEL_PUBLIC Boundary BoundaryOf(const Function& function);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_BOUNDARY_H_
