#include "lib/ir/literal_statistics.h"

#include <cmath>

#include "lib/ir/element_storage.h"
#include "lib/support/denormals.h"

namespace grapnel {
namespace {

template <typename T, typename Visit>
void ForEachOf(const Literal& literal, int64_t begin, int64_t end, Visit visit) {
  const char* bytes = literal.bytes().data();
  for (int64_t i = begin; i < end; ++i) visit(Load<T>(bytes + i * sizeof(T)), int64_t{1});
}

// Calls `visit` with each element from `begin` to `end` and a count of 1; for a splat, once with
// the number of these elements.
template <typename Visit>
void ForEachNumber(const Literal& literal, int64_t begin, int64_t end, Visit visit) {
  if (begin >= end) return;
  if (literal.is_splat()) return visit(literal.AsDouble(0), end - begin);
  // The dtypes of most large values.
  if (literal.dtype() == proto::DT_FLOAT) return ForEachOf<float>(literal, begin, end, visit);
  if (literal.dtype() == proto::DT_DOUBLE) return ForEachOf<double>(literal, begin, end, visit);
  for (int64_t i = begin; i < end; ++i) visit(literal.AsDouble(i), int64_t{1});
}

}  // namespace

bool HasStatistics(DataType type) {
  return IsFloating(type) || IsInteger(type) || type == proto::DT_BOOL;
}

NumberStatistics NumbersOf(const Literal& literal, int64_t begin, int64_t end) {
  KeepDenormals keep;
  NumberStatistics numbers;
  ForEachNumber(literal, begin, end, [&](double x, int64_t times) { numbers.Add(x, times); });
  return numbers;
}

std::optional<LiteralStatistics> StatisticsOf(const Literal& literal) {
  int64_t elements = literal.num_elements();
  if (!HasStatistics(literal.dtype()) || elements == 0) return std::nullopt;
  KeepDenormals keep;
  LiteralStatistics result;
  result.numbers = NumbersOf(literal, 0, elements);
  ForEachNumber(literal, 0, elements, [&](double x, int64_t times) {
    if (std::isfinite(x)) {
      result.histogram[result.numbers.BinOf(x, LiteralStatistics::kBins)] += times;
    }
  });
  return result;
}

}  // namespace grapnel
