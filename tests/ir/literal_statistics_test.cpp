#include "lib/ir/literal_statistics.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "gtest/gtest.h"
#include "lib/support/denormals.h"

namespace grapnel {
namespace {

Literal Doubles(std::vector<double> values) {
  llvm::StringRef bytes(reinterpret_cast<const char*>(values.data()),
                        values.size() * sizeof(double));
  return Literal::Make(proto::DT_DOUBLE, {static_cast<int64_t>(values.size())}, bytes);
}

int64_t Sum(const LiteralStatistics& s) {
  return std::accumulate(s.histogram.begin(), s.histogram.end(), int64_t{0});
}

TEST(LiteralStatistics, FiniteNumbersAndOthers) {
  double inf = std::numeric_limits<double>::infinity();
  LiteralStatistics s = *StatisticsOf(Doubles({1, 3, 0, -inf, std::nan(""), inf, inf, 4}));
  EXPECT_EQ(s.numbers.elements(), 8);
  EXPECT_EQ(s.numbers.nan, 1);
  EXPECT_EQ(s.numbers.positive_infinite, 2);
  EXPECT_EQ(s.numbers.negative_infinite, 1);
  EXPECT_EQ(s.numbers.zero, 1);
  EXPECT_EQ(s.numbers.min, 0);
  EXPECT_EQ(s.numbers.max, 4);
  EXPECT_EQ(s.numbers.mean(), 2);
  EXPECT_DOUBLE_EQ(s.numbers.deviation(), std::sqrt(2.5));
  EXPECT_EQ(Sum(s), 4);
  EXPECT_EQ(s.histogram.front(), 1);
  EXPECT_EQ(s.histogram.back(), 1);
}

TEST(LiteralStatistics, DenormalsAreNotZerosWhereTheyAreFlushed) {
  FlushDenormals flush;
  LiteralStatistics s = *StatisticsOf(Doubles({1e-310, 0, 2e-310}));
  EXPECT_EQ(s.numbers.zero, 1);
  EXPECT_EQ(s.numbers.positive, 2);
}

TEST(LiteralStatistics, PartsHaveTheNumbersOfTheirElements) {
  Literal literal = Doubles({1, 2, 3, 4});
  EXPECT_EQ(NumbersOf(literal, 1, 3).mean(), 2.5);
  EXPECT_EQ(NumbersOf(literal, 2, 2).elements(), 0);
  double half = 0.5;
  Literal splat =
      Literal::Make(proto::DT_DOUBLE, {100}, {reinterpret_cast<const char*>(&half), sizeof half});
  EXPECT_EQ(NumbersOf(splat, 10, 40).positive, 30);
}

TEST(LiteralStatistics, OneValueAndTheLargest) {
  LiteralStatistics s = *StatisticsOf(Doubles({7, 7}));
  EXPECT_EQ(s.histogram.front(), 2);
  EXPECT_EQ(s.numbers.deviation(), 0);
  double most = std::numeric_limits<double>::max();
  s = *StatisticsOf(Doubles({-most, most, 0}));
  EXPECT_EQ(s.histogram.front(), 1);
  EXPECT_EQ(s.histogram.back(), 1);
  EXPECT_EQ(Sum(s), 3);
}

TEST(LiteralStatistics, SplatCountsAllItsElements) {
  float half = 0.5;
  llvm::StringRef bytes(reinterpret_cast<const char*>(&half), sizeof(half));
  LiteralStatistics s = *StatisticsOf(Literal::Make(proto::DT_FLOAT, {1000, 1000}, bytes));
  EXPECT_EQ(s.histogram.front(), 1000000);
  EXPECT_EQ(s.numbers.mean(), 0.5);
}

TEST(LiteralStatistics, NoneOfStringsAndOfNothing) {
  EXPECT_FALSE(StatisticsOf(Literal::MakeStrings({1}, {"a"})));
  EXPECT_FALSE(StatisticsOf(Doubles({})));
  LiteralStatistics s = *StatisticsOf(Doubles({std::nan("")}));
  EXPECT_EQ(Sum(s), 0);
  EXPECT_EQ(s.numbers.finite(), 0);
}

}  // namespace
}  // namespace grapnel
