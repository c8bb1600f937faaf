// The layers that differ between two graphs, and how. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_LAYER_CHANGES_H_
#define GRAPNEL_LIB_POLICY_LAYER_CHANGES_H_

#include <string>
#include <vector>

#include "lib/diff/diff.h"
#include "lib/policy/layer_names.h"

namespace grapnel {

// A layer that computes something else than before; "": nodes outside of layers.
struct LayerChange {
  enum Kind { kChanged, kGone, kNew };
  std::string layer;
  Kind kind = kChanged;
  // "kernel float[8,16] -> float[8,32]", "Relu -> Tanh", the most telling first; of a layer that is
  // gone or new its ops.
  std::vector<std::string> details;
  std::string dtypes;   // "float -> half" if its nodes compute in another dtype
  double position = 0;  // in its graph, from 0 to 1
};

// Returns what the diff for LayerChangesOf ignores: attributes with names, and dtypes, which
// LayerChangesOf compares itself.
IgnoreRules IgnoredByLayers();

// Returns the layers whose structure `diff`, the diff of two graphs, changes, in the order in which
// they compute. Does not count values of constants unless they are shapes, axes or sizes, ops that
// only forward values, control edges, and devices' spelling. `has_interface`: the types of
// placeholders do not count, as those of signatures are compared elsewhere.
std::vector<LayerChange> LayerChangesOf(const Diff& diff, const Module& a, const Module& b,
                                        bool has_interface);

// Returns "layer 'a': Relu -> Tanh; layer 'b' is gone (Mul); and 2 more layers": at most three
// parts. Layers that only compute in another dtype are one part.
std::string LayersText(llvm::ArrayRef<LayerChange> layers);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_LAYER_CHANGES_H_
