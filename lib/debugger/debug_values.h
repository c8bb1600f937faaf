// Facts that the debugger shows about a value besides its elements: the composite (sparse or
// ragged) tensor that it is a component of, and which axes form an image.
#ifndef GRAPNEL_LIB_DEBUGGER_DEBUG_VALUES_H_
#define GRAPNEL_LIB_DEBUGGER_DEBUG_VALUES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/debugger/debugger.h"
#include "lib/watch/composite_value.h"
#include "lib/watch/heat_map.h"

namespace grapnel {

// A composite tensor: a sparse or ragged tensor whose components all have values.
struct WholeValue {
  std::string name;  // "a" of a_indices, a_values, a_shape; "" if the op has no name for it
  std::string text;  // CompositeText's result, or why the components do not form one
  std::vector<int> ports;
  bool is_read = true;  // true: an input of the node; false: an output
};

// Returns the composite inputs of the stop's node and, after it has run, its composite outputs.
std::vector<WholeValue> WholeValuesAt(const DebugStop& stop, int64_t limit);

// A composite tensor that has `port` as a component. `reader`: the node whose op definition shows
// this, because the components are its outputs or inputs: the port's node or a reader of the port.
// PartsOf returns the composite tensors whose components all have values; of those with the same
// text only the first.
struct PartOf {
  Node reader;
  WholeValue value;
};
std::vector<PartOf> PartsOf(const Debugger& debugger, const WatchedPort& port, int64_t limit);

// Returns the height and width axes of an image or a filter. They come from the port's node, or
// from a node that produces its input or reads its output (data_format; the filter of a Conv2D).
// nullopt: no node defines these axes, or `rank` is not 4.
std::optional<ImageAxes> ImageAxesOf(const WatchedPort& port, int rank);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_DEBUG_VALUES_H_
