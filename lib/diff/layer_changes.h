// The layers that differ between two graphs, and how.
#ifndef GRAPNEL_LIB_DIFF_LAYER_CHANGES_H_
#define GRAPNEL_LIB_DIFF_LAYER_CHANGES_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/io/layers/layer_names.h"

namespace grapnel {

// Two graphs, their diff, and their layers.
struct DiffOfLayers {
  const Module& before;
  const Module& now;
  const Diff& diff;
  const LayerNames& layers_before;
  const LayerNames& layers_now;
  bool of_signatures = false;  // placeholders are the inputs of signatures
  bool of_stages = false;      // nodes were matched by name, so Diff::fates is complete
};

// A layer that computes something else than before; "": nodes outside of layers.
struct LayerChange {
  enum Kind { kChanged, kGone, kNew };
  std::string layer;
  Kind kind = kChanged;
  // "kernel float[8,16] -> float[8,32]", "Relu -> Tanh", "Conv2D + Relu fused", the most telling
  // first; of a layer that is gone or new its ops.
  std::vector<std::string> details;
  std::string dtypes;   // "float -> half" if its nodes compute in another dtype
  double position = 0;  // in its graph, from 0 to 1
};

// Returns what the diff for LayerChangesOf ignores: attributes with names, and dtypes, which
// LayerChangesOf compares itself.
IgnoreRules IgnoredByLayers();

// Returns the layers whose structure the diff of the two graphs changes, in the order in which
// they compute. Does not count values of constants unless they are shapes, axes or sizes, ops that
// only forward values, and control edges. In graphs of signatures, the types of placeholders do not
// count: they are compared with the interface.
std::vector<LayerChange> LayerChangesOf(const DiffOfLayers& graphs);

// Returns the layers that have another name in the second graph, apart from the numbers that make
// names unique: their paths before and after.
std::vector<std::pair<std::string, std::string>> RenamedLayers(const DiffOfLayers& graphs);

// Returns "layer 'a': Relu -> Tanh; layer 'b' is gone (Mul); and 2 more layers": at most three
// parts. Layers that only compute in another dtype are one part.
std::string LayersText(llvm::ArrayRef<LayerChange> layers);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_LAYER_CHANGES_H_
