// Keeps a topological order of nodes up to date while the graph changes. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_KEPT_ORDER_H_
#define GRAPNEL_LIB_IR_KEPT_ORDER_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// A topological order of a graph's nodes, kept up to date while the graph changes: as long as there
// is one, the graph has no cycle. If the ids of the nodes are such an order, as in most files, they
// serve as positions; otherwise the class stores a position for each node, eight bytes.
class KeptOrder {
 public:
  // True if the graph has no cycle at all; the back edge of a TF1 while loop makes one, too.
  // `changed`: the nodes that changed or were added since the last call, in order of id; null: any
  // node may have changed. The cost is proportional to the changes, except that the call is linear
  // in the graph if it is the first one, if a node has no place between its inputs and its readers
  // for the first time, so that ids stop serving as positions, or if a new order must be computed.
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
