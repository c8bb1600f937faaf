// Finds out how often a loop runs.
#ifndef GRAPNEL_LIB_SHAPE_LOOP_TRIPS_H_
#define GRAPNEL_LIB_SHAPE_LOOP_TRIPS_H_

#include <cstdint>
#include <optional>

#include "lib/shape/module_shapes.h"

namespace grapnel {

// Returns the number of iterations of a While whose condition compares a counter with a limit, both
// integers: the counter starts at a known value and changes by a constant, and the limit is known
// and stays the same. The loops of Keras's recurrent layers and of tf.map_fn are such loops. The
// condition may be a conjunction of such comparisons. nullopt for other loops, which may stop at
// any iteration.
std::optional<int64_t> TripsOf(const Node& loop, const ModuleShapes& shapes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_LOOP_TRIPS_H_
