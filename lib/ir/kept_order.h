// A topological order of nodes that is maintained while the graph changes. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_KEPT_ORDER_H_
#define GRAPNEL_LIB_IR_KEPT_ORDER_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// A topological order that is maintained while the graph changes; its existence proves that the
// graph has no cycle. Node ids serve as positions while they are a valid order, as in most files;
// after that the class stores eight bytes a node.
class KeptOrder {
 public:
  // True if the graph has no cycle at all, not even that of a TF1 loop. `changed`: the nodes that
  // changed since the last call, including new nodes, in order of id; null: any node may have
  // changed. The cost is proportional to the changes if there are free positions between a node's
  // inputs and its readers; otherwise the call is linear in the graph.
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
  NodeId end_ = 0;             // nodes with this id and later ones are new
  std::vector<Place> places_;  // by node id, unless ids serve as positions
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_KEPT_ORDER_H_
