// What a run costs: arithmetic, bytes and memory of each body, calls included.
#ifndef GRAPNEL_LIB_SHAPE_BODY_COSTS_H_
#define GRAPNEL_LIB_SHAPE_BODY_COSTS_H_

#include <map>
#include <optional>
#include <vector>

#include "lib/shape/module_shapes.h"

namespace grapnel {

// Of one run of a node or of a body. Sums stop at the largest int64.
struct RunCost {
  int64_t flops = 0;  // as EstimateFlops
  int64_t bytes = 0;  // of the tensors that are made; what is handed on as it is counts nothing
  // The most bytes of tensors that a run made and holds at one moment; of a node: while it runs,
  // beside what it reads. Arguments, constants and variables are not a run's.
  int64_t peak_bytes = 0;
  // What is left out: nodes with an open shape, and functions that run nobody knows how often: of a
  // loop one turn is counted, of a data set's function nothing. Not 0: the three are at least so
  // much.
  int64_t open = 0;
};

// The order in which the executor runs the nodes of a body that needs all of them: what became
// ready last goes first. Constants, arguments and what else is there before come at its beginning.
// Nodes on a cycle that is no v1 loop are left out. n log n in the edges.
std::vector<NodeId> RunOrder(const Graph& graph);

// Worked out when first asked for, linear in the body and in what it calls, each once. For one
// thread at a time.
class ModuleCosts {
 public:
  // Both are borrowed.
  ModuleCosts(const Module& module, const ModuleShapes& shapes)
      : module_(module), shapes_(shapes) {}

  // Of a call what the function costs; of a branch the dearest; of a loop one turn of its body and
  // its condition.
  RunCost OfNode(const Node& node);
  // Memory is taken when a node runs and given back after its last reader; a function keeps its
  // results to its end, the main graph what nobody reads. That a buffer may be overwritten in place
  // is not counted on.
  const RunCost& OfBody(const Graph& body);
  // How often each body runs in one run of the main graph; nullopt where a branch, a loop or what
  // is no call decides it.
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
