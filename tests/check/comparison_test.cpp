#include "lib/check/comparison.h"

#include <complex>
#include <limits>

#include "gtest/gtest.h"
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

TEST(Comparison, TheLargestMagnitudeIsThatOfAPart) {
  using C = std::complex<float>;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(LargestMagnitude(Vec<C>({C(0, 3), C(-1, 0), C(0, kInfinity)}).ToLiteral()), 3);
  EXPECT_EQ(LargestMagnitude(Vec<float>({1, -2, kInfinity}).ToLiteral()), 2);
  EXPECT_EQ(LargestMagnitude(Vec<int32_t>({7}).ToLiteral()), 0);
}

}  // namespace
}  // namespace grapnel
