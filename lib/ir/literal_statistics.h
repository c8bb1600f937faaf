// What the numbers of a constant are like.
#ifndef GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_
#define GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_

#include <array>
#include <optional>

#include "lib/ir/literal.h"

namespace grapnel {

struct LiteralStatistics {
  int64_t elements = 0, nan = 0, positive_infinite = 0, negative_infinite = 0, zero = 0;
  // Of finite elements; 0 where there are none. `deviation` is of all of them, not of a sample.
  double min = 0, max = 0, mean = 0, deviation = 0;
  // Finite elements by value, between min and max in parts of one width, ends included; of one
  // value only, all in the first.
  static constexpr size_t kParts = 24;
  std::array<int64_t, kParts> histogram = {};
};

// Of real numbers and bool; nullopt for other dtypes and where there are no elements. Reads all
// elements twice.
std::optional<LiteralStatistics> StatisticsOf(const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_
