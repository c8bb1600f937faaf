// What is large and what is much work: sums over scopes.
#ifndef GRAPNEL_LIB_RENDER_COSTS_H_
#define GRAPNEL_LIB_RENDER_COSTS_H_

#include <cstdint>
#include <vector>

#include "lib/render/scope_tree.h"
#include "lib/shape/inference.h"

namespace grapnel {

struct Cost {
  uint64_t flops = 0;  // of one run, as EstimateFlops has it; 0 where shapes are not known
  uint64_t bytes = 0;  // of constants and of variables, in memory, strings left out

  Cost& operator+=(const Cost& other) {
    flops += other.flops;
    bytes += other.bytes;
    return *this;
  }
};

// Of the node itself, without what it calls.
Cost CostOf(const Node& node, const ShapeMap& shapes);

class ScopeCosts {
 public:
  // Linear in the graph, the folded nodes included; nothing is kept of the arguments.
  ScopeCosts(const Graph& graph, const ScopeTree& tree, const ShapeMap& shapes);
  // Of all nodes in a scope, at any depth; of the root: of the whole body.
  const Cost& Of(ScopeId scope) const { return costs_[scope]; }

 private:
  std::vector<Cost> costs_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_COSTS_H_
