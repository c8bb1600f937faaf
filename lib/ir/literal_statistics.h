// Statistics of a constant's values.
#ifndef GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_
#define GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_

#include <array>
#include <optional>

#include "lib/ir/literal.h"

namespace grapnel {

struct LiteralStatistics {
  int64_t elements = 0, nan = 0, positive_infinite = 0, negative_infinite = 0, zero = 0;
  // Statistics of the finite elements; 0 if no element is finite. `deviation` is the standard
  // deviation of the whole population, not a sample estimate.
  double min = 0, max = 0, mean = 0, deviation = 0;
  // A histogram of the finite elements: their number in each of kParts bins of equal width from
  // `min` to `max`, both included. If all finite elements are equal, they are in the first bin.
  static constexpr size_t kParts = 24;
  std::array<int64_t, kParts> histogram = {};
};

// Returns statistics for real dtypes and for bool; nullopt for other dtypes and for empty literals.
// Reads all elements twice, a splat only once per pass.
std::optional<LiteralStatistics> StatisticsOf(const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_
