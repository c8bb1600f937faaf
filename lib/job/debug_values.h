// What a debugger says of a value beside its elements: what it is a part of, which of its axes make
// a picture.
#ifndef GRAPNEL_LIB_JOB_DEBUG_VALUES_H_
#define GRAPNEL_LIB_JOB_DEBUG_VALUES_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/job/debugger.h"
#include "lib/watch/composite_value.h"
#include "lib/watch/heat_map.h"

namespace grapnel {

// A sparse or ragged tensor whose parts are at hand.
struct WholeValue {
  std::string name;  // "a" of a_indices, a_values, a_shape; "" where the op has no word for it
  std::string text;  // CompositeText's, or why the parts make none
  std::vector<int> ports;
  bool is_read = true;  // by the node; else it makes it
};

// Of what the stop's node reads, or, where it has run, has made.
std::vector<WholeValue> WholeValuesAt(const DebugStop& stop, int64_t limit);

// Those that `port` is a part of: of its node's outputs, and of what its readers read, where all
// parts have values. `reader`: the node whose arguments say so. One for each way to read it.
struct PartOf {
  Node reader;
  WholeValue value;
};
std::vector<PartOf> PartsOf(const Debugger& debugger, const WatchedPort& port, int64_t limit);

// Height and width of images, of a filter's too: as the node says, or one that makes or reads its
// input (data_format; the filter of a Conv2D). Nothing: no node says, or `rank` is not 4.
std::optional<ImageAxes> ImageAxesOf(const WatchedPort& port, int rank);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUG_VALUES_H_
