// Statistics of a constant's values.
#ifndef GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_
#define GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_

#include <array>
#include <optional>

#include "lib/ir/literal.h"
#include "lib/ir/number_statistics.h"

namespace grapnel {

struct LiteralStatistics {
  NumberStatistics numbers;
  // The number of finite elements in each of kBins bins (NumberStatistics::BinOf).
  static constexpr size_t kBins = 24;
  std::array<int64_t, kBins> histogram = {};
};

// True for real dtypes and for bool, whose elements have statistics.
bool HasStatistics(DataType type);

// Returns the statistics of the elements from `begin` to `end`; of a splat, reads one. The dtype
// must have statistics. Denormal numbers count as they are, also on a thread that flushes them.
NumberStatistics NumbersOf(const Literal& literal, int64_t begin, int64_t end);

// Returns statistics for dtypes that have them; nullopt for other dtypes and for empty literals.
// Reads all elements twice, a splat only once per pass.
std::optional<LiteralStatistics> StatisticsOf(const Literal& literal);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_LITERAL_STATISTICS_H_
