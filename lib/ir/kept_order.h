// A topological order of nodes that is maintained while the graph changes. Private to lib/ir.
#ifndef GRAPNEL_LIB_IR_KEPT_ORDER_H_
#define GRAPNEL_LIB_IR_KEPT_ORDER_H_

#include <cstdint>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {

// A topological order that is maintained while the graph changes, which proves that the graph has
// no cycle. Node ids serve as positions while they are a valid order, as in most files; after that
// it uses eight bytes a node.
class KeptOrder {
 public:
  // True if the graph has no cycle at all, not even a loop's. `changed`: the nodes that changed
  // since the last call, including new ones, in order of id; null: any may have changed. The cost
  // is that of the changes if there are free positions between a node's inputs and its readers;
  // otherwise linear.
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
  std::vector<Place> places_;  // by node, unless ids serve as positions
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_KEPT_ORDER_H_
