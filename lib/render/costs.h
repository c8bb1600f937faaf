// Sums sizes and FLOPs over scopes.
#ifndef GRAPNEL_LIB_RENDER_COSTS_H_
#define GRAPNEL_LIB_RENDER_COSTS_H_

#include <cstdint>
#include <vector>

#include "lib/io/signature.h"
#include "lib/render/scope_tree.h"
#include "lib/shape/inference.h"

namespace grapnel {

struct Cost {
  uint64_t flops = 0;  // in one run, from EstimateFlops; 0 if that is unknown
  uint64_t bytes = 0;  // of constants and variables in memory, without strings

  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// Returns the cost of the node itself, without the functions it calls.
Cost CostOf(const Node& node, const ShapeMap& shapes);

class ScopeCosts {
 public:
  // Sums over all nodes, folded ones too, in time linear in the graph. If the graph is the body of
  // `signature`, which may be null, a constant or variable that the main graph passes to it counts
  // where it is first read. Keeps no reference to the arguments.
  ScopeCosts(const Graph& graph, const ScopeTree& tree, const ShapeMap& shapes,
             const SignatureBody* signature);
  // The summed cost of all nodes in a scope at any depth; for the root scope, of all nodes in the
  // tree.
  const Cost& Of(ScopeId scope) const { return costs_[scope]; }
  // As CostOf; an argument has the bytes of the constant or variable that the main graph passes.
  const Cost& OfNode(NodeId node) const { return of_nodes_[node]; }

 private:
  std::vector<Cost> costs_, of_nodes_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_COSTS_H_
