// The devices of a model's layers.
#ifndef GRAPNEL_LIB_JOB_LAYER_PLACEMENT_H_
#define GRAPNEL_LIB_JOB_LAYER_PLACEMENT_H_

#include <map>
#include <string>
#include <vector>

#include "lib/io/layers/layer_names.h"
#include "lib/job/place.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

struct LayerPlacement {
  std::string layer;                                             // the path
  std::map<std::string, std::map<std::string, size_t>> devices;  // "GPU:0": nodes by op
};

// Adds the nodes of a placed graph, except Const and NoOp, to those of their layers, which keep
// their order. `function`: the function whose body the graph was; empty: the main graph, with
// inlined calls. Adds nothing if the model has no layers, or if placing failed.
void AddPlacement(const PlacementContext& context, llvm::StringRef function,
                  const LayerNames& layers, std::vector<LayerPlacement>* placements);

// Writes "  conv1 to conv3 on GPU:0" and "  text on GPU:0, AsString on CPU:0" under the title
// "layers", and an empty line. Writes nothing for an empty list, and at most 12 lines unless `all`.
void WriteLayerPlacements(llvm::ArrayRef<LayerPlacement> placements, bool all,
                          llvm::raw_ostream& os);

// Writes the member "layers" of the JSON object that `json` has begun: [{"layer", "devices":
// {device: number of nodes}}]; nothing if there are none.
void WriteLayerPlacementsJson(llvm::ArrayRef<LayerPlacement> placements, llvm::json::OStream& json);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_LAYER_PLACEMENT_H_
