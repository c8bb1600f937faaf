#include "lib/pass/node_order.h"

#include <algorithm>
#include <utility>

#include "lib/ir/module.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

uint32_t RankOf(llvm::ArrayRef<uint32_t> rank, NodeId id) {
  return id < rank.size() ? rank[id] : ~0u;
}

// Sorts `ids`, which are in order of id, by rank.
std::vector<NodeId> ByRank(std::vector<NodeId> ids, llvm::ArrayRef<uint32_t> rank) {
  if (rank.empty()) return ids;
  std::vector<NodeId> at_rank(rank.size(), kNoNode), others;
  for (NodeId id : ids) {
    uint32_t place = RankOf(rank, id);
    if (place < at_rank.size() && at_rank[place] == kNoNode)
      at_rank[place] = id;
    else
      others.push_back(id);
  }
  at_rank.erase(std::remove(at_rank.begin(), at_rank.end(), kNoNode), at_rank.end());
  at_rank.insert(at_rank.end(), others.begin(), others.end());
  return at_rank;
}

// Recognizes the back edges of loops, from NextIteration to Merge, which do not count in the order.
class BackEdges {
 public:
  explicit BackEdges(const StringTable& strings)
      : next_(strings.Find("NextIteration")),
        ref_next_(strings.Find("RefNextIteration")),
        merges_{strings.Find("Merge"), strings.Find("RefMerge"), strings.Find("_XlaMerge")} {}
  bool any() const { return next_ != kNoString || ref_next_ != kNoString; }
  bool Closes(const Node& from, const Node& to) const {
    StringId op = from.op_id();
    return (op == next_ || op == ref_next_) && llvm::is_contained(merges_, to.op_id());
  }

 private:
  StringId next_, ref_next_, merges_[3];
};

}  // namespace

std::vector<NodeId> GrapplerOrder(const Graph& graph, llvm::ArrayRef<uint32_t> rank) {
  BackEdges back_edges(graph.module().strings);
  bool has_loops = back_edges.any();
  auto is_back_edge = [&](const Node& from, const Node& to) {
    return has_loops && back_edges.Closes(from, to);
  };
  std::vector<uint32_t> waiting(graph.end_id(), 0);
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) {
    uint32_t count = 0;
    for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot) {
      NodeId input = node.input(slot).node;
      count += input != kNoNode && !is_back_edge(graph.node(input), node);
    }
    waiting[node.id()] = count;
    if (count == 0) order.push_back(node.id());
  }
  order = ByRank(std::move(order), rank);
  order.reserve(graph.num_nodes());
  llvm::SmallVector<uint64_t, 16> readers;  // rank in the high half, id in the low half
  for (size_t next = 0; next < order.size(); ++next) {
    Node node = graph.node(order[next]);
    graph.Prefetch(node.id() + Graph::kAhead);  // in most files its readers follow it
    if (node.uses().size() == 1) {              // the common case
      NodeId reader = node.uses()[0].node;
      if (!is_back_edge(node, graph.node(reader)) && --waiting[reader] == 0)
        order.push_back(reader);
      continue;
    }
    readers.clear();
    for (const Use& use : node.uses()) {
      if (!is_back_edge(node, graph.node(use.node)))
        readers.push_back(uint64_t{RankOf(rank, use.node)} << 32 | use.node);
    }
    if (!std::is_sorted(readers.begin(), readers.end()))
      std::sort(readers.begin(), readers.end());  // llvm::sort would use qsort
    for (uint64_t reader : readers) {
      NodeId id = static_cast<NodeId>(reader);
      if (--waiting[id] == 0) order.push_back(id);
    }
  }
  return order;
}

std::vector<NodeId> RankedNodes(const Graph& graph, llvm::ArrayRef<uint32_t> rank) {
  std::vector<NodeId> order;
  order.reserve(graph.num_nodes());
  for (Node node : graph.nodes()) order.push_back(node.id());
  return ByRank(std::move(order), rank);
}

void EraseDeadNodes(const Graph& graph, std::vector<NodeId>* order) {
  for (size_t i = order->size(); i-- > 0;) {
    if (graph.IsAlive((*order)[i])) continue;
    (*order)[i] = order->back();
    order->pop_back();
  }
}

}  // namespace grapnel
