#include "lib/ir/number_statistics.h"

#include <cmath>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

NumberStatistics Of(std::initializer_list<double> numbers) {
  NumberStatistics statistics;
  for (double x : numbers) statistics.Add(x);
  return statistics;
}

TEST(NumberStatistics, SumEqualsThatOfAllNumbers) {
  double inf = std::numeric_limits<double>::infinity();
  NumberStatistics sum = Of({5, -1, inf});
  sum += Of({});
  sum += Of({0, 3, -inf, std::nan("")});
  NumberStatistics all = Of({5, -1, inf, 0, 3, -inf, std::nan("")});
  EXPECT_EQ(sum.elements(), 7);
  EXPECT_EQ(sum.bad(), 3);
  EXPECT_EQ(sum.negative, 1);
  EXPECT_EQ(sum.min, all.min);
  EXPECT_EQ(sum.max, all.max);
  EXPECT_DOUBLE_EQ(sum.mean(), all.mean());
  EXPECT_DOUBLE_EQ(sum.deviation(), all.deviation());
  EXPECT_DOUBLE_EQ(sum.norm(), std::sqrt(35.0));
  NumberStatistics after_nothing = Of({std::nan("")});
  after_nothing += Of({4, 6});
  EXPECT_EQ(after_nothing.mean(), 5);
  EXPECT_EQ(after_nothing.deviation(), 1);
}

// The squares of these numbers need more digits than a double has.
TEST(NumberStatistics, KeepsTheDeviationOfNearlyEqualNumbers) {
  EXPECT_DOUBLE_EQ(Of({1e9, 1e9 + 1, 1e9 + 2}).deviation(), std::sqrt(2.0 / 3));
}

TEST(NumberStatistics, BinsCoverTheRangeWithBothEnds) {
  NumberStatistics numbers = Of({0, 1, 4});
  EXPECT_EQ(numbers.BinOf(0, 4), 0);
  EXPECT_EQ(numbers.BinOf(1, 4), 1);
  EXPECT_EQ(numbers.BinOf(4, 4), 3);
  EXPECT_EQ(Of({7, 7}).BinOf(7, 4), 0);
}

}  // namespace
}  // namespace grapnel
