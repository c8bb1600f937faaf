#include "lib/watch/float_counts.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "lib/support/denormals.h"

namespace grapnel {
namespace {

template <typename T>
void CheckSizes() {
  using Limits = std::numeric_limits<T>;
  const T kinds[] = {T(1.5),
                     T(-2),
                     T(0),
                     T(-0.0),
                     Limits::max(),
                     Limits::lowest(),
                     Limits::min(),
                     -Limits::min(),
                     Limits::denorm_min(),
                     -Limits::denorm_min()};
  for (int64_t size = 0; size < 300; ++size) {
    std::vector<T> values(size + 1);
    uint32_t number = static_cast<uint32_t>(size);
    int64_t negative = 0, zero = 0;
    for (int64_t i = 0; i < size; ++i) {
      number = number * 1664525 + 1013904223;
      values[i + 1] = kinds[(number >> 16) % 10];
      bool is_zero = std::abs(values[i + 1]) < Limits::min();
      zero += is_zero;
      negative += values[i + 1] < 0 && !is_zero;
    }
    const T* data = values.data() + 1;  // not aligned
    for (bool flushes : {false, true}) {
      std::optional<FlushDenormals> flush;
      if (flushes) flush.emplace();
      FloatCounts counts = CountFloats(data, size);
      EXPECT_EQ(counts.negative, negative) << size;
      EXPECT_EQ(counts.zero, zero) << size;
      EXPECT_FALSE(counts.has_bad) << size;
      EXPECT_FALSE(HasBadFloats(data, size)) << size;
    }
    for (T bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()}) {
      for (int64_t at = 0; at < size; ++at) {
        T was = std::exchange(values[at + 1], bad);
        EXPECT_TRUE(CountFloats(data, size).has_bad) << at << " of " << size;
        EXPECT_TRUE(HasBadFloats(data, size)) << at << " of " << size;
        values[at + 1] = was;
      }
    }
  }
}

TEST(FloatCounts, CountsMoreThanALaneHolds) {
  std::vector<float> values(5'000'003, -1.0f);
  for (size_t i = 0; i < values.size(); i += 3) values[i] = 0;
  FloatCounts counts = CountFloats(values.data(), static_cast<int64_t>(values.size()));
  EXPECT_EQ(counts.zero, 1'666'668);
  EXPECT_EQ(counts.negative, 5'000'003 - 1'666'668);
  EXPECT_FALSE(counts.has_bad);
  values.back() = INFINITY;
  EXPECT_TRUE(CountFloats(values.data(), static_cast<int64_t>(values.size())).has_bad);
}

TEST(FloatCounts, CountsFloatsOfAnyNumber) { CheckSizes<float>(); }
TEST(FloatCounts, CountsDoublesOfAnyNumber) { CheckSizes<double>(); }

}  // namespace
}  // namespace grapnel
