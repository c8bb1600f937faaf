#include "lib/diff/value_diff.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

template <typename T>
Literal Of(DataType dtype, std::vector<T> values) {
  llvm::StringRef bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
  return Literal::Make(dtype, {static_cast<int64_t>(values.size())}, bytes);
}

TEST(ValueDiff, DistanceIsCountLargestAndRelative) {
  ValueDistance d =
      DistanceOf(Of<float>(proto::DT_FLOAT, {3, 4, 0}), Of<float>(proto::DT_FLOAT, {3, 4.5, 0}));
  EXPECT_EQ(d.elements, 3);
  EXPECT_EQ(d.differing, 1);
  EXPECT_DOUBLE_EQ(d.largest, 0.5);
  EXPECT_DOUBLE_EQ(d.relative, 0.1);
}

TEST(ValueDiff, NanIsAlikeNanAndFarFromNumbers) {
  float nan = std::nanf("");
  ValueDistance d = DistanceOf(Of<float>(proto::DT_FLOAT, {nan, nan, 1}),
                               Of<float>(proto::DT_FLOAT, {nan, 2, 1}));
  EXPECT_EQ(d.differing, 1);
  EXPECT_TRUE(std::isinf(d.largest));
  EXPECT_EQ(d.not_finite_a, 2);
  EXPECT_EQ(d.not_finite_b, 1);
}

TEST(ValueDiff, IntegersBeyondDoublesAreTold) {
  int64_t big = int64_t{1} << 60, least = std::numeric_limits<int64_t>::min();
  ValueDistance d = DistanceOf(Of<int64_t>(proto::DT_INT64, {big, 7}),
                               Of<int64_t>(proto::DT_INT64, {big + 1, 7}));
  EXPECT_EQ(d.differing, 1);
  EXPECT_DOUBLE_EQ(d.largest, 1);
  d = DistanceOf(Of<int64_t>(proto::DT_INT64, {least}), Of<int64_t>(proto::DT_INT64, {-1 - least}));
  EXPECT_DOUBLE_EQ(d.largest, std::ldexp(1.0, 64));
}

TEST(ValueDiff, SplatEqualsItsElements) {
  float one = 1;
  Literal splat = Literal::Make(proto::DT_FLOAT, {4},
                                llvm::StringRef(reinterpret_cast<const char*>(&one), sizeof(one)));
  ValueDistance d = DistanceOf(splat, Of<float>(proto::DT_FLOAT, {1, 1, 3, 1}));
  EXPECT_EQ(d.differing, 1);
  EXPECT_DOUBLE_EQ(d.largest, 2);
  EXPECT_DOUBLE_EQ(d.relative, 1);
}

TEST(ValueDiff, StringsAndBytesAreCounted) {
  ValueDistance d =
      DistanceOf(Literal::MakeStrings({2}, {"a", "b"}), Literal::MakeStrings({2}, {"a", "c"}));
  EXPECT_EQ(d.differing, 1);
  EXPECT_EQ(d.largest, 0);
  d = DistanceOf(Of<float>(proto::DT_COMPLEX64, {1, 2}), Of<float>(proto::DT_COMPLEX64, {1, 3}));
  EXPECT_GT(d.differing, 0);
}

}  // namespace
}  // namespace grapnel
