// An order of nodes that is kept up while the graph changes. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_KEPT_ORDER_H_
#define GRAPNEL_LIB_IR_KEPT_ORDER_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// Places of nodes in which each comes after all that it reads: with it stands that a graph has no
// cycle. Ids serve as places while they can, as in most files; later eight bytes a node.
class KeptOrder {
 public:
  // Whether the graph has no cycle at all, loops' own included. `changed`: the nodes that changed
  // since the last call, in order of id, new ones among them; null: any may have. Of the cost of
  // what changed where places are left between what nodes read and what reads them, else linear.
  bool IsAcyclic(const Graph& graph, const std::vector<NodeId>* changed);

 private:
  using Place = uint64_t;
  static Place OfId(NodeId id) { return Place{id + 1} << 32; }
  Place PlaceOf(NodeId id) const { return are_ids_ ? OfId(id) : places_[id]; }
  bool KeepUp(const Graph& graph, const std::vector<NodeId>& changed);
  bool PlaceNew(const Graph& graph);
  bool ComesAfterInputs(const Node& node) const;
  bool Find(const Graph& graph);

  bool is_known_ = false;
  bool are_ids_ = true;
  NodeId end_ = 0;             // nodes from here on are new
  std::vector<Place> places_;  // by node, unless they are ids
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_KEPT_ORDER_H_
