// Tells by layer what differs between two graphs: a line or two where a list of nodes has hundreds.
#ifndef GRAPNEL_LIB_DIFF_LAYER_STORY_H_
#define GRAPNEL_LIB_DIFF_LAYER_STORY_H_

#include <string>
#include <vector>

#include "lib/diff/layer_changes.h"
#include "lib/diff/value_diff.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// The changes of one layer.
struct LayerEvent {
  std::string layer;  // the path; "": nodes outside of layers
  std::string was;    // the path before, if the layer was renamed
  LayerChange::Kind kind = LayerChange::kChanged;
  // "Conv2D + BiasAdd + Relu fused", "12 constants folded", "half instead of float", "on GPU:0".
  std::vector<std::string> what;
};

struct LayerStory {
  std::vector<LayerEvent> events;      // in the order of computation
  std::vector<std::string> unchanged;  // the other layers of the second graph
};

// `values`: those of the graphs' variables and constants, if they were compared; else null. Returns
// an empty story if no layer changed. In graphs without layers, scopes take their place.
LayerStory StoryOf(const DiffOfLayers& graphs, const ValueReport* values = nullptr);

// Writes the story under a title, and an empty line; nothing if it is empty. Layers of which the
// same is told share a line. Unless `all`, writes at most 12 lines of events.
//   layers
//     block1 to block4: Conv2D + BiasAdd + Relu fused; 12 constants folded
//     head: Relu -> Tanh
//     3 layers unchanged
void WriteLayerStory(const LayerStory& story, llvm::StringRef title, bool all,
                     llvm::raw_ostream& os);

// Writes the members "layers" and "unchanged_layers" of the JSON object that `json` has begun.
void WriteLayerStoryJson(const LayerStory& story, llvm::json::OStream& json);

// The text about one layer. A text that begins with "on " follows the name without a colon.
struct LayerText {
  std::string layer, text;
};
// Writes the lines of a story, each with an indent of two spaces. `flag`: the
// flag that makes the command write all lines, for a hint.
void WriteLayerTexts(llvm::ArrayRef<LayerText> texts, bool all, llvm::StringRef flag,
                     llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_LAYER_STORY_H_
