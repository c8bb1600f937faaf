// Estimates the cost of a run: floating-point operations, bytes and memory of each body, including
// calls.
#ifndef GRAPNEL_LIB_SHAPE_BODY_COSTS_H_
#define GRAPNEL_LIB_SHAPE_BODY_COSTS_H_

#include <map>
#include <optional>
#include <vector>

#include "lib/shape/module_shapes.h"

namespace grapnel {

// The cost of one run of a node or a body. Sums saturate at the largest int64.
struct RunCost {
  int64_t flops = 0;  // as EstimateFlops counts them
  int64_t bytes = 0;  // of the tensors created; forwarded tensors do not count
  // The most bytes that the run holds at one time in tensors that it creates; for a node: while the
  // node runs, in addition to its inputs. Does not count arguments, constants and variables.
  int64_t peak_bytes = 0;
  // The number of nodes whose cost is not fully known: those with an unknown shape, and those with
  // functions that run an unknown number of times (of such a loop, one iteration counts; of a
  // dataset's functions, nothing). If not 0, the other fields are lower bounds.
  int64_t open = 0;
};

// Returns the order in which the executor runs the nodes of a body if all nodes are needed: of the
// nodes whose inputs are available, the one that became ready last runs first. Constants, arguments
// and other nodes that are available before the run come first. Omits nodes on a cycle that is not
// a v1 loop. n log n in the edges.
std::vector<NodeId> RunOrder(const Graph& graph);

// Computes costs on demand. Takes n log n time in the body and the functions that it calls, each of
// which is computed once. Not thread-safe.
class ModuleCosts {
 public:
  // `module` and `shapes` must outlive the ModuleCosts. `outputs`: the nodes of the main graph that
  // a run computes; empty: all.
  ModuleCosts(const Module& module, const ModuleShapes& shapes, std::vector<NodeId> outputs = {})
      : module_(module), shapes_(shapes), outputs_(std::move(outputs)) {}

  // Returns the cost of one run of a node: of a call, that of the function; of a conditional, the
  // largest of each number over its branches; of a loop, that of all iterations of body and
  // condition (TripsOf, lib/shape/loop_trips.h).
  RunCost OfNode(const Node& node);
  // Returns the nodes of a body that run: those that its results or outputs need. A node that needs
  // only the shape of a tensor does not need the tensor, if the shape is known.
  std::vector<NodeId> NodesThatRun(const Graph& body) const;
  // Returns the cost of one run of a body: of NodesThatRun. A tensor takes memory from the run of
  // its node to the run of its last reader; a function keeps its results until its end, the main
  // graph keeps outputs that no node reads. Assumes that no op reuses the buffer of an input.
  const RunCost& OfBody(const Graph& body);
  // Returns how often each body runs in one run of the main graph; nullopt if a conditional, a loop
  // that may stop at any iteration, a cycle of calls or an op that is not a call determines the
  // number.
  std::map<const Graph*, std::optional<int64_t>> Runs() const;

 private:
  RunCost OfCall(const Node& node);
  int64_t PeakOf(const Graph& body);

  const Module& module_;
  const ModuleShapes& shapes_;
  const std::vector<NodeId> outputs_;
  std::map<const Graph*, RunCost> bodies_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_BODY_COSTS_H_
