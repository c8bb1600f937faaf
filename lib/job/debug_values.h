// Facts that the debugger shows about a value beside its elements: the composite tensor it is a
// part of, and which of its axes form an image.
#ifndef GRAPNEL_LIB_JOB_DEBUG_VALUES_H_
#define GRAPNEL_LIB_JOB_DEBUG_VALUES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/debugger.h"
#include "lib/watch/composite_value.h"
#include "lib/watch/heat_map.h"

namespace grapnel {

// A sparse or ragged tensor whose parts all have values.
struct WholeValue {
  std::string name;  // "a" of a_indices, a_values, a_shape; "" if the op has no name for it
  std::string text;  // CompositeText's result, or why the parts do not form one
  std::vector<int> ports;
  bool is_read = true;  // true: an input of the node; false: an output
};

// Returns the composite inputs of the stop's node or, after it has run, its outputs.
std::vector<WholeValue> WholeValuesAt(const DebugStop& stop, int64_t limit);

// Returns the composite tensors that `port` is a part of: outputs of its node and inputs of its
// readers, where all parts have values. `reader`: the node whose arguments define the composite.
// One entry for each way to read it.
struct PartOf {
  Node reader;
  WholeValue value;
};
std::vector<PartOf> PartsOf(const Debugger& debugger, const WatchedPort& port, int64_t limit);

// Returns the height and width axes of images, and of filters: from the node, or from one that
// produces or reads its input (data_format; the filter of a Conv2D). nullopt: no node defines them,
// or `rank` is not 4.
std::optional<ImageAxes> ImageAxesOf(const WatchedPort& port, int rank);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUG_VALUES_H_
