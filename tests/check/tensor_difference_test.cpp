// Measures of the difference of two tensors, and rounding of floats to 16 bits.
#include "lib/check/tensor_difference.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"
#include "lib/check/precision_loss.h"

namespace grapnel {
namespace {

template <typename T>
Tensor Of(DataType type, std::vector<T> values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(type, {static_cast<int64_t>(values.size())}));
  std::copy(values.begin(), values.end(), tensor.data<T>());
  return tensor;
}

Tensor Floats(std::vector<float> values) { return Of(proto::DT_FLOAT, std::move(values)); }

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
const Tolerance kExact{0, 0};

TEST(TensorDifference, UlpsAreCountedThroughZero) {
  float next = std::nextafter(1.0F, 2.0F);
  TensorDifference one = DifferenceOf(Floats({1}), Floats({next}), kExact);
  EXPECT_EQ(one.max_ulps, 1);
  EXPECT_EQ(one.agreement, Agreement::kWithin);  // 2 ulp are always allowed
  float least = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(DifferenceOf(Floats({least}), Floats({-least}), kExact).max_ulps, 2);
  TensorDifference far = DifferenceOf(Of<double>(proto::DT_DOUBLE, {-1e308}),
                                      Of<double>(proto::DT_DOUBLE, {1e308}), kExact);
  EXPECT_TRUE(std::isfinite(far.max_abs));
  EXPECT_TRUE(std::isfinite(far.max_ulps));
  EXPECT_TRUE(std::isfinite(far.cosine));
}

TEST(TensorDifference, ZerosAndNansAreThemselves) {
  EXPECT_EQ(DifferenceOf(Floats({0, kNan}), Floats({-0.0F, kNan}), kExact).agreement,
            Agreement::kSame);
  TensorDifference nan = DifferenceOf(Floats({1, 2, 3}), Floats({1.5, 2, kNan}), Tolerance());
  EXPECT_EQ(nan.mismatch, "nan");
  EXPECT_EQ(nan.diverged, 2);
  EXPECT_EQ(nan.index, std::vector<int64_t>({2}));
  EXPECT_EQ(nan.value_b, "nan");
}

TEST(TensorDifference, TheWorstElementIsTold) {
  TensorDifference found = DifferenceOf(Floats({4, 1, 100}), Floats({4, 2, 104}), Tolerance());
  EXPECT_EQ(found.agreement, Agreement::kDiverged);
  EXPECT_EQ(found.diverged, 2);
  EXPECT_EQ(found.index, std::vector<int64_t>({1}));  // relative to the tolerance of each element
  EXPECT_EQ(found.max_abs, 4);
  EXPECT_EQ(found.max_rel, 1);
  EXPECT_EQ(found.norm_error, 0.04);
}

TEST(TensorDifference, OtherTypes) {
  TensorDifference ints =
      DifferenceOf(Of<int64_t>(proto::DT_INT64, {9007199254740993}),
                   Of<int64_t>(proto::DT_INT64, {9007199254740992}), Tolerance{1, 1});
  EXPECT_EQ(ints.agreement, Agreement::kDiverged);
  EXPECT_EQ(ints.value_a, "9007199254740993");
  TensorDifference shape = DifferenceOf(Floats({1, 2}), Floats({1}), Tolerance());
  EXPECT_EQ(shape.mismatch, "shape");
  Tensor empty = Floats({});
  EXPECT_EQ(DifferenceOf(empty, empty, Tolerance()).agreement, Agreement::kSame);
}

TEST(ShortFormat, RoundsToNearestEven) {
  ShortFormat half(proto::DT_HALF), bfloat(proto::DT_BFLOAT16);
  EXPECT_EQ(half.Round(2049), 2048);
  EXPECT_EQ(half.Round(2051), 2052);
  EXPECT_EQ(half.Round(65519), 65504);
  EXPECT_TRUE(std::isinf(half.Round(65520)));
  EXPECT_EQ(half.Round(-65520), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(half.Round(0x1p-24F), 0x1p-24F);
  EXPECT_EQ(half.Round(0x1p-25F), 0);
  EXPECT_EQ(half.Round(0x3p-25F), 0x1p-23F);
  EXPECT_EQ(bfloat.Round(1.00390625F), 1);
  EXPECT_EQ(bfloat.Round(1.01171875F), 1.015625F);
  EXPECT_TRUE(std::isinf(bfloat.Round(std::numeric_limits<float>::max())));
  EXPECT_TRUE(std::isnan(bfloat.Round(kNan)));
}

}  // namespace
}  // namespace grapnel
