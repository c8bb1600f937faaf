#include "lib/render/costs.h"

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "lib/shape/flops.h"

namespace grapnel {
namespace {

uint64_t Known(std::optional<int64_t> amount) { return static_cast<uint64_t>(amount.value_or(0)); }

// Returns the bytes of the constant or variable of the main graph that an argument receives.
uint64_t BytesFromMain(const SignatureBody& signature, const Node& argument,
                       const ShapeMap& shapes) {
  Node given = signature.GivenByMain(argument);
  if (given && IsVariable(given)) return CostOf(given, shapes).bytes;
  if (!given || !IsConstant(given)) return 0;
  return Known(BytesOf(given.GetType("dtype"), shapes.OfPort({argument.id(), 0})));
}

}  // namespace

Cost CostOf(const Node& node, const ShapeMap& shapes) {
  Cost cost;
  cost.flops = Known(EstimateFlops(node, shapes));
  if (IsConstant(node)) {
    cost.bytes = Known(BytesOf(node.GetType("dtype"), shapes.OfPort({node.id(), 0})));
  } else if (IsVariable(node)) {
    auto attr = node.Attr("shape");
    std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
    if (shape) cost.bytes = Known(BytesOf(node.GetType("dtype"), *shape));
  }
  return cost;
}

ScopeCosts::ScopeCosts(const Graph& graph, const ScopeTree& tree, const ShapeMap& shapes,
                       const SignatureBody* signature)
    : costs_(tree.size()), of_nodes_(graph.end_id()) {
  for (Node node : graph.nodes()) {
    Cost& cost = of_nodes_[node.id()] = CostOf(node, shapes);
    NodeId counts_at = node.id();
    if (signature && IsArgument(node)) {
      cost.bytes = BytesFromMain(*signature, node, shapes);
      if (cost.bytes > 0 && !node.uses().empty()) counts_at = node.uses()[0].node;
    }
    ScopeId scope = tree.ScopeOf(counts_at);
    if (scope != kNoScope) costs_[scope] += cost;
  }
  for (ScopeId id = static_cast<ScopeId>(tree.size()); id-- > 1;)
    costs_[tree.scope(id).parent] += costs_[id];
}

}  // namespace grapnel
