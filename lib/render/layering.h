// Layers and order: the part of drawing a graph top-down that does not depend on how large boxes
// are.
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

// Items 0 .. n-1 are the caller's; higher ones are bends, where an edge crosses a layer. Edges of
// one source share their bends.
struct Layering {
  std::vector<std::vector<uint32_t>> layers;  // from the top; each from the left
  // By edge: the items that it passes, from the upper end to the lower one, ends left out. Of an
  // edge that runs upwards the upper end is its target. Empty for one from an item to itself.
  std::vector<std::vector<uint32_t>> bends;
  std::vector<bool> upwards;  // by edge
  uint32_t num_items = 0;     // bends included
};

// Sugiyama's method: loops are broken where edges say so and else where a walk from the top meets
// itself; layers by longest path, then items move towards the edges that pull hardest; crossings
// are removed by barycentres, a few sweeps down and up, the best one kept. The items of `top` are
// alone in the first layer, those of `bottom` in the last, both in the order in which they are
// given. Deterministic. For up to some hundred items: milliseconds.
Layering MakeLayers(uint32_t num_items, llvm::ArrayRef<LayerEdge> edges,
                    llvm::ArrayRef<uint32_t> top, llvm::ArrayRef<uint32_t> bottom);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_LAYERING_H_
