// Tests float functions computed in double against the C library's double functions.
#include "kernels/common/float_math.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

// Tests floats from the smallest on, of both signs, 16 per binade: the result rounded to float must
// be the C library's or its neighbor.
void ExpectNextTo(const char* name, double (*ours)(double), double (*theirs)(double), float most) {
  SCOPED_TRACE(name);
  for (float x = std::numeric_limits<float>::min(); x <= most; x *= 1.0442738f) {
    for (float signed_x : {x, -x}) {
      float got = static_cast<float>(ours(signed_x)), want = static_cast<float>(theirs(signed_x));
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got)) << signed_x;
        continue;
      }
      // Runs flush values below the smallest normal float to 0.
      if (std::abs(want) < std::numeric_limits<float>::min()) want = 0;
      if (std::abs(got) < std::numeric_limits<float>::min()) got = 0;
      EXPECT_TRUE(got == want || std::nextafter(got, want) == want)
          << signed_x << ": " << got << " and not " << want;
    }
  }
}

TEST(FloatMath, IsRightToTheLastBit) {
  constexpr float kLargest = std::numeric_limits<float>::max();
  ExpectNextTo("exp", float_math::Exp, std::exp, kLargest);
  ExpectNextTo("expm1", float_math::Expm1, std::expm1, kLargest);
  ExpectNextTo("log1p", float_math::Log1p, std::log1p, kLargest);
  ExpectNextTo("sinh", float_math::Sinh, std::sinh, 88);
  ExpectNextTo("cosh", float_math::Cosh, std::cosh, 88);
  ExpectNextTo("erfc", float_math::Erfc, std::erfc, kLargest);
  ExpectNextTo("atanh", float_math::Atanh, std::atanh, 2);
  ExpectNextTo(
      "softplus", float_math::Softplus,
      [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }, kLargest);
  ExpectNextTo(
      "mish", float_math::Mish,
      [](double x) { return x * std::tanh(std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)))); },
      kLargest);
}

TEST(FloatMath, OfWhatIsNoNumber) {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (auto* function :
       {float_math::Exp, float_math::Expm1, float_math::Log1p, float_math::Sinh, float_math::Cosh,
        float_math::Atanh, float_math::Softplus, float_math::Mish})
    EXPECT_TRUE(std::isnan(function(kNaN)));
  EXPECT_EQ(float_math::Exp(-kInfinity), 0);
  EXPECT_EQ(static_cast<float>(float_math::Exp(kInfinity)), std::numeric_limits<float>::infinity());
  EXPECT_EQ(float_math::Log1p(kInfinity), kInfinity);
  EXPECT_EQ(float_math::Log1p(-1), -kInfinity);
  EXPECT_EQ(float_math::Atanh(1), kInfinity);
  EXPECT_TRUE(std::isnan(float_math::Log1p(-2)));
  EXPECT_TRUE(std::signbit(float_math::Expm1(-0.0)));
  EXPECT_TRUE(std::signbit(float_math::Log1p(-0.0)));
}

}  // namespace
}  // namespace grapnel
