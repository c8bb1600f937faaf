// Layers and order: the part of drawing a graph top-down that does not depend on the sizes of
// boxes.
#ifndef GRAPNEL_LIB_RENDER_LAYERING_H_
#define GRAPNEL_LIB_RENDER_LAYERING_H_

#include <cstdint>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

struct LayerEdge {
  uint32_t from = 0, to = 0;
  uint32_t weight = 1;  // how strongly it pulls its ends together
  bool back = false;    // closes a loop: runs upwards
};

// Items 0 .. n-1 are the caller's; higher ones are bends, where an edge crosses a layer. Edges with
// the same source share their bends.
struct Layering {
  std::vector<std::vector<uint32_t>> layers;  // from the top; each from the left
  // By edge: the items that it passes, from the upper end to the lower one, without the ends. For
  // an edge that runs upwards, the upper end is its target. Empty for an edge from an item to
  // itself.
  std::vector<std::vector<uint32_t>> bends;
  std::vector<bool> upwards;  // by edge
  uint32_t num_items = 0;     // bends included
};

// Sugiyama's method: breaks cycles at back edges, or else where a depth-first walk from the top
// closes them; assigns layers by longest path, then moves items towards the strongest edges;
// reduces crossings by barycenters in a few sweeps down and up, keeping the best order. The items
// of `top` are alone in the first layer, those of `bottom` in the last, both in the given order.
// Deterministic. Takes milliseconds for up to some hundred items.
Layering MakeLayers(uint32_t num_items, llvm::ArrayRef<LayerEdge> edges,
                    llvm::ArrayRef<uint32_t> top, llvm::ArrayRef<uint32_t> bottom);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LAYERING_H_
