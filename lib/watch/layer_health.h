// The health of the tensors of each layer, summed over a run.
#ifndef GRAPNEL_LIB_WATCH_LAYER_HEALTH_H_
#define GRAPNEL_LIB_WATCH_LAYER_HEALTH_H_

#include <map>
#include <string>

#include "lib/io/layers/layer_names.h"
#include "lib/watch/tap_event.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Not thread-safe.
class LayerHealth {
 public:
  explicit LayerHealth(LayerNames layers) : layers_(std::move(layers)) {}

  // Adds an event with a health and, for the extremes, statistics.
  void Add(const TapEvent& event);
  // Writes a table, in the order of the layers, of those with tensors; nothing if the graph has no
  // layers.
  void Write(llvm::raw_ostream& os) const;

 private:
  struct Sum {
    int64_t tensors = 0;
    bool has_extremes = false;
    double min = 0, max = 0;  // of finite elements
    Health health;
  };
  const LayerNames layers_;
  std::map<int, Sum> sums_;  // by layer
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_LAYER_HEALTH_H_
