// Assigns the items of a top-down drawing to layers, and orders each layer. This part of the layout
// does not depend on the sizes of boxes.
#ifndef GRAPNEL_LIB_RENDER_LAYERING_H_
#define GRAPNEL_LIB_RENDER_LAYERING_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

struct LayerEdge {
  uint32_t from = 0, to = 0;
  uint32_t weight = 1;  // how strongly the edge pulls its ends together
  bool back = false;    // the edge closes a loop: it runs upwards
};

// The result of MakeLayers. Items 0 .. n-1 are the caller's; higher numbers are bends, the points
// at which edges cross a layer. Edges with the same source share their bends.
struct Layering {
  // The layers from top to bottom, each with its items from left to right.
  std::vector<std::vector<uint32_t>> layers;
  // By edge: the bends of the edge from its upper to its lower end. For an edge that runs upwards,
  // the upper end is the target. Empty for an edge from an item to itself.
  std::vector<std::vector<uint32_t>> bends;
  std::vector<bool> upwards;  // by edge: true if it runs upwards
  uint32_t num_items = 0;     // including bends
};

// Marks as `back` each edge from an item to one of `above` that leads to this item, unless the item
// is in `above` too. So the items of `above` are drawn above the others on their cycles: replicas
// above the sums of their gradients. Takes time linear in the edges, for each item of `above`.
void PutAbove(llvm::ArrayRef<uint32_t> above, uint32_t num_items, std::vector<LayerEdge>* edges);

// Assigns layers by Sugiyama's method: breaks cycles at back edges, else at edges that weigh less
// than others, else at the edge that closes the cycle in a depth-first walk from the top; assigns
// layers by longest path, then moves items
// down to their readers where edges pull them down at least as strongly as up; reduces crossings by
// barycenters in a few sweeps down and up, and keeps the order with the fewest crossings. The items
// of `top` are alone in the first layer, those of `bottom` in the last, both in the given order.
// The result is deterministic. Takes milliseconds for up to some hundred items.
Layering MakeLayers(uint32_t num_items, llvm::ArrayRef<LayerEdge> edges,
                    llvm::ArrayRef<uint32_t> top, llvm::ArrayRef<uint32_t> bottom);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LAYERING_H_
