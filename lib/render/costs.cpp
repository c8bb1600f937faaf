#include "lib/render/costs.h"

#include "lib/ir/node_types.h"
#include "lib/shape/flops.h"

namespace grapnel {
namespace {

uint64_t Known(std::optional<int64_t> amount) { return static_cast<uint64_t>(amount.value_or(0)); }

}  // namespace

Cost CostOf(const Node& node, const ShapeMap& shapes) {
  Cost cost;
  cost.flops = Known(EstimateFlops(node, shapes));
  llvm::StringRef op = node.op();
  if (op == "Const" || op == "HostConst") {
    cost.bytes = Known(BytesOf(node.GetType("dtype"), shapes.OfPort({node.id(), 0})));
  } else if (IsVariable(node)) {
    auto attr = node.Attr("shape");
    std::optional<Shape> shape = attr ? attr->AsShape() : std::nullopt;
    if (shape) cost.bytes = Known(BytesOf(node.GetType("dtype"), *shape));
  }
  return cost;
}

ScopeCosts::ScopeCosts(const Graph& graph, const ScopeTree& tree, const ShapeMap& shapes)
    : costs_(tree.size()), of_nodes_(graph.end_id()) {
  for (Node node : graph.nodes()) {
    of_nodes_[node.id()] = CostOf(node, shapes);
    ScopeId scope = tree.ScopeOf(node.id());
    if (scope != kNoScope) costs_[scope] += of_nodes_[node.id()];
  }
  for (ScopeId id = static_cast<ScopeId>(tree.size()); id-- > 1;)
    costs_[tree.scope(id).parent] += costs_[id];
}

}  // namespace grapnel
