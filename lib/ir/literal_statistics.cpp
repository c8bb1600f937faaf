#include "lib/ir/literal_statistics.h"

#include <algorithm>
#include <cmath>

namespace grapnel {
namespace {

bool IsReal(DataType type) { return IsFloating(type) || IsInteger(type) || type == proto::DT_BOOL; }

// Calls `visit` with each element and a count of 1; for a splat, once with the number of its
// elements.
template <typename Visit>
void ForEachNumber(const Literal& literal, Visit visit) {
  if (literal.is_splat()) return visit(literal.AsDouble(0), literal.num_elements());
  for (int64_t i = 0; i < literal.num_elements(); ++i) visit(literal.AsDouble(i), int64_t{1});
}

// A running mean and sum of squared deviations; overflows only near the largest double.
struct Moments {
  int64_t count = 0;
  double mean = 0, squares = 0;
  void Add(double x, int64_t times) {
    count += times;
    double apart = x - mean;
    mean += apart * static_cast<double>(times) / static_cast<double>(count);
    squares += apart * (x - mean) * static_cast<double>(times);
  }
};

size_t PartOf(double x, const LiteralStatistics& statistics) {
  double width = statistics.max - statistics.min;
  // The difference of two very large doubles is infinite; computes with halves in that case.
  double share = std::isinf(width)
                     ? (x / 2 - statistics.min / 2) / (statistics.max / 2 - statistics.min / 2)
                 : width > 0 ? (x - statistics.min) / width
                             : 0;
  auto part = static_cast<size_t>(share * LiteralStatistics::kParts);
  return std::min(part, LiteralStatistics::kParts - 1);
}

}  // namespace

std::optional<LiteralStatistics> StatisticsOf(const Literal& literal) {
  if (!IsReal(literal.dtype()) || literal.num_elements() == 0) return std::nullopt;
  LiteralStatistics result;
  result.elements = literal.num_elements();
  Moments moments;
  ForEachNumber(literal, [&](double x, int64_t times) {
    if (std::isnan(x)) {
      result.nan += times;
    } else if (std::isinf(x)) {
      (x > 0 ? result.positive_infinite : result.negative_infinite) += times;
    } else {
      result.zero += x == 0 ? times : 0;
      result.min = moments.count == 0 ? x : std::min(result.min, x);
      result.max = moments.count == 0 ? x : std::max(result.max, x);
      moments.Add(x, times);
    }
  });
  if (moments.count == 0) return result;
  result.mean = moments.mean;
  result.deviation = std::sqrt(moments.squares / static_cast<double>(moments.count));
  ForEachNumber(literal, [&](double x, int64_t times) {
    if (std::isfinite(x)) result.histogram[PartOf(x, result)] += times;
  });
  return result;
}

}  // namespace grapnel
