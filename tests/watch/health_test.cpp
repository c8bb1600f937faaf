#include "lib/watch/health.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

template <typename T>
Tensor TensorOf(DataType type, llvm::ArrayRef<T> values) {
  auto tensor = Tensor::Allocate(type, {static_cast<int64_t>(values.size())});
  EXPECT_TRUE(static_cast<bool>(tensor));
  std::copy(values.begin(), values.end(), tensor->template data<T>());
  return *tensor;
}

void ExpectSame(const Health& a, const Health& b) {
  EXPECT_EQ(a.elements, b.elements);
  EXPECT_EQ(a.neg_inf, b.neg_inf);
  EXPECT_EQ(a.pos_inf, b.pos_inf);
  EXPECT_EQ(a.nan, b.nan);
  EXPECT_EQ(a.negative, b.negative);
  EXPECT_EQ(a.zero, b.zero);
  EXPECT_EQ(a.positive, b.positive);
}

// One element after the other.
template <typename T>
Health Naive(llvm::ArrayRef<T> values) {
  Health health;
  health.elements = static_cast<int64_t>(values.size());
  for (T x : values) {
    if (std::isnan(x))
      ++health.nan;
    else if (std::isinf(x))
      ++(x < 0 ? health.neg_inf : health.pos_inf);
    else
      ++(x < 0 ? health.negative : x == 0 ? health.zero : health.positive);
  }
  return health;
}

// Blocks with and without bad elements, which are counted in different ways, and sizes around
// theirs.
template <typename T>
void CheckSizes(DataType type) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const T kinds[] = {T(1.5),
                     T(-2),
                     T(0),
                     T(-0.0),
                     kInfinity,
                     -kInfinity,
                     std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::max()};
  ThreadPool pool(3);
  for (size_t size : {0, 1, 7, 8, 9, 33, 16383, 16384, 16385, 40000, 300001}) {
    for (bool has_bad : {false, true}) {
      std::vector<T> values(size);
      uint32_t number = static_cast<uint32_t>(size);
      for (T& value : values) {
        number = number * 1664525 + 1013904223;
        value = kinds[number >> 29];
        if (!has_bad && !std::isfinite(value)) value = T(3);
      }
      Tensor tensor = TensorOf<T>(type, values);
      ExpectSame(HealthOf(tensor), Naive<T>(values));
      ExpectSame(HealthOf(tensor, &pool), Naive<T>(values));
    }
  }
}

TEST(HealthTest, CountsFloats) { CheckSizes<float>(proto::DT_FLOAT); }
TEST(HealthTest, CountsDoubles) { CheckSizes<double>(proto::DT_DOUBLE); }

TEST(HealthTest, Counts16BitFloatsByTheirBits) {
  // More of one kind than the elements of a block.
  std::vector<uint16_t> bits(50000, 0x7E00);
  bits.insert(bits.end(), {0x7C00, 0xFC00, 0x0000, 0x8000, 0x3C00, 0xBC00, 0xBC00});
  Health health = HealthOf(TensorOf<uint16_t>(proto::DT_HALF, bits));
  EXPECT_EQ(health.nan, 50000);
  EXPECT_EQ(health.pos_inf, 1);
  EXPECT_EQ(health.neg_inf, 1);
  EXPECT_EQ(health.zero, 2);
  EXPECT_EQ(health.positive, 1);
  EXPECT_EQ(health.negative, 2);
}

TEST(HealthTest, DenormalsAreZerosButThoseOfHalf) {
  // As TensorFlow's DebugNumericSummaryV2 counts them.
  Health half = HealthOf(TensorOf<uint16_t>(proto::DT_HALF, {0x0001, 0x8001, 0x0000}));
  EXPECT_EQ(half.zero, 1);
  EXPECT_EQ(half.negative, 1);
  EXPECT_EQ(half.positive, 1);
  Health bfloat16 = HealthOf(TensorOf<uint16_t>(proto::DT_BFLOAT16, {0x0001, 0x807F, 0x0080}));
  EXPECT_EQ(bfloat16.zero, 2);
  EXPECT_EQ(bfloat16.negative, 0);
  EXPECT_EQ(bfloat16.positive, 1);
  Health floats = HealthOf(TensorOf<float>(proto::DT_FLOAT, {1e-40f, -1e-40f, 1, -INFINITY}));
  EXPECT_EQ(floats.zero, 2);
  EXPECT_EQ(floats.negative, 0);
  EXPECT_EQ(floats.neg_inf, 1);
  EXPECT_EQ(floats.positive, 1);
}

TEST(HealthTest, LooksOnlyForWhatIsBad) {
  std::vector<float> values(40000, -1.0f);
  values[20000] = NAN;
  values[3] = INFINITY;
  Health health = HealthOf(TensorOf<float>(proto::DT_FLOAT, values), nullptr, HealthDetail::kBad);
  EXPECT_EQ(health.nan, 1);
  EXPECT_EQ(health.pos_inf, 1);
  EXPECT_EQ(health.elements, 40000);
  EXPECT_EQ(health.negative, 0);
}

TEST(HealthTest, CountsIntegers) {
  std::vector<int32_t> values(20000, -1);
  values[3] = 0;
  values[19999] = 5;
  Health health = HealthOf(TensorOf<int32_t>(proto::DT_INT32, values));
  EXPECT_EQ(health.negative, 19998);
  EXPECT_EQ(health.zero, 1);
  EXPECT_EQ(health.positive, 1);
}

TEST(Health, EightBitFloats) {
  // 0, -0, the smallest denormal, 1, -2, infinity, -infinity and three NaNs.
  std::vector<uint8_t> bits = {0x00, 0x80, 0x01, 0x3C, 0xC0, 0x7C, 0xFC, 0x7D, 0x7F, 0xFE};
  Health health = HealthOf(TensorOf<uint8_t>(proto::DT_FLOAT8_E5M2, bits));
  EXPECT_EQ(health.zero, 2);
  EXPECT_EQ(health.positive, 2);
  EXPECT_EQ(health.negative, 1);
  EXPECT_EQ(health.pos_inf, 1);
  EXPECT_EQ(health.neg_inf, 1);
  EXPECT_EQ(health.nan, 3);
  EXPECT_TRUE(HealthOf(TensorOf<uint8_t>(proto::DT_FLOAT8_E4M3FNUZ, {0x80})).IsBad());
  EXPECT_FALSE(HealthOf(TensorOf<uint8_t>(proto::DT_FLOAT8_E4M3FN, {0x7E})).IsBad());
}

}  // namespace
}  // namespace grapnel
