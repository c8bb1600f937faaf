#include "lib/pass/node_order.h"

#include <utility>

#include "lib/pass/op_kinds.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

struct ByRank {
  llvm::ArrayRef<uint32_t> rank;
  bool operator()(NodeId a, NodeId b) const {
    return std::pair(RankOf(a), a) < std::pair(RankOf(b), b);
  }
  uint32_t RankOf(NodeId id) const { return id < rank.size() ? rank[id] : ~0u; }
};

}  // namespace

std::vector<NodeId> GrapplerOrder(const Graph& graph, llvm::ArrayRef<uint32_t> rank) {
  OpKinds kinds(graph.module());
  auto is_back_edge = [&](Node from, Node to) {
    return kinds.Is(from, kNextIterationOp) && kinds.Is(to, kMergeOp);
  };
  ByRank before{rank};
  std::vector<uint32_t> waiting(graph.end_id(), 0);
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) {
    int slots = node.num_inputs() + node.num_controls();
    for (int slot = 0; slot < slots; ++slot) {
      NodeId input = node.input(slot).node;
      waiting[node.id()] += input != kNoNode && !is_back_edge(graph.node(input), node);
    }
    if (waiting[node.id()] == 0) order.push_back(node.id());
  }
  llvm::sort(order, before);
  llvm::SmallVector<NodeId, 16> readers;
  for (size_t next = 0; next < order.size(); ++next) {
    Node node = graph.node(order[next]);
    readers.clear();
    for (const Use& use : node.uses()) {
      if (!is_back_edge(node, graph.node(use.node))) readers.push_back(use.node);
    }
    llvm::sort(readers, before);
    for (NodeId reader : readers) {
      if (--waiting[reader] == 0) order.push_back(reader);
    }
  }
  return order;
}

std::vector<NodeId> RankedNodes(const Graph& graph, llvm::ArrayRef<uint32_t> rank) {
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) order.push_back(node.id());
  if (!rank.empty()) llvm::sort(order, ByRank{rank});
  return order;
}

void EraseDeadNodes(const Graph& graph, std::vector<NodeId>* order) {
  for (size_t i = order->size(); i-- > 0;) {
    if (graph.IsAlive((*order)[i])) continue;
    (*order)[i] = order->back();
    order->pop_back();
  }
}

}  // namespace grapnel
