// Estimated cost of a run: arithmetic, bytes and memory of each body, including calls.
#ifndef GRAPNEL_LIB_SHAPE_BODY_COSTS_H_
#define GRAPNEL_LIB_SHAPE_BODY_COSTS_H_

#include <map>
#include <optional>
#include <vector>

#include "lib/shape/module_shapes.h"

namespace grapnel {

// The cost of one run of a node or a body. Sums saturate at the largest int64.
struct RunCost {
  int64_t flops = 0;  // as EstimateFlops
  int64_t bytes = 0;  // of the tensors that it creates; forwarded tensors do not count
  // The largest number of bytes that a run holds at one time in tensors that it creates; for a
  // node: while it runs, beside its inputs. Excludes arguments, constants and variables.
  int64_t peak_bytes = 0;
  // The number of nodes that are not counted in full: those with an unknown shape, and those with
  // functions that run an unknown number of times (of a loop one iteration counts, of a dataset's
  // function nothing). If not 0, the other three are lower bounds.
  int64_t open = 0;
};

// Returns the order in which the executor runs the nodes of a body if all are needed: the node that
// became ready last runs first. Constants, arguments and other nodes that are available beforehand
// come first. Omits nodes on a cycle other than a v1 loop. n log n in the edges.
std::vector<NodeId> RunOrder(const Graph& graph);

// Computes costs on demand, in time linear in the body and its callees, each once. Not thread-safe.
class ModuleCosts {
 public:
  // Both must outlive it.
  ModuleCosts(const Module& module, const ModuleShapes& shapes)
      : module_(module), shapes_(shapes) {}

  // For a call, the cost of the function; for a branch, that of the most expensive one; for a loop,
  // one iteration of its body and its condition.
  RunCost OfNode(const Node& node);
  // Memory is allocated when a node runs and freed after its last reader; a function keeps its
  // results until its end, the main graph keeps unread outputs. Assumes that buffers are never
  // reused in place.
  const RunCost& OfBody(const Graph& body);
  // Returns how often each body runs in one run of the main graph; nullopt if a branch, a loop or
  // an op that is not a call decides that.
  std::map<const Graph*, std::optional<int64_t>> Runs() const;

 private:
  RunCost OfCall(const Node& node);
  int64_t PeakOf(const Graph& body);

  const Module& module_;
  const ModuleShapes& shapes_;
  std::map<const Graph*, RunCost> bodies_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_BODY_COSTS_H_
