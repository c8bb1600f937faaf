#include "lib/ir/literal_statistics.h"

#include <cmath>

namespace grapnel {
namespace {

bool IsReal(DataType type) { return IsFloating(type) || IsInteger(type) || type == proto::DT_BOOL; }

// Calls `visit` with each element and a count of 1; for a splat, once with the number of its
// elements.
template <typename Visit>
void ForEachElement(const Literal& literal, Visit visit) {
  if (literal.is_splat()) return visit(literal.AsDouble(0), literal.num_elements());
  for (int64_t i = 0; i < literal.num_elements(); ++i) visit(literal.AsDouble(i), int64_t{1});
}

}  // namespace

std::optional<LiteralStatistics> StatisticsOf(const Literal& literal) {
  if (!IsReal(literal.dtype()) || literal.num_elements() == 0) return std::nullopt;
  LiteralStatistics result;
  ForEachElement(literal, [&](double x, int64_t times) { result.numbers.Add(x, times); });
  ForEachElement(literal, [&](double x, int64_t times) {
    if (std::isfinite(x)) {
      result.histogram[result.numbers.BinOf(x, LiteralStatistics::kBins)] += times;
    }
  });
  return result;
}

}  // namespace grapnel
