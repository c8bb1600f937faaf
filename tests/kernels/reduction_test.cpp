// Reductions: every layout that the traversal distinguishes, and results without elements.
#include <cmath>
#include <limits>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

Tensor Reduce(const char* op, Tensor x, std::vector<int32_t> axes, bool keep = false) {
  return OpRun(op)
      .In(std::move(x))
      .In(Vec<int32_t>(std::move(axes)))
      .Attr("keep_dims", attr::Bool(keep))
      .One();
}

TEST(KernelReduce, ByHand) {
  Tensor x = Floats({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(Values<float>(Reduce("Sum", x, {0})), (std::vector<float>{5, 7, 9}));
  EXPECT_EQ(Values<float>(Reduce("Sum", x, {-1})), (std::vector<float>{6, 15}));
  EXPECT_EQ(Values<float>(Reduce("Mean", x, {0, 1})), (std::vector<float>{3.5f}));
  EXPECT_EQ(Values<float>(Reduce("Prod", x, {1})), (std::vector<float>{6, 120}));
  EXPECT_EQ(Values<float>(Reduce("Max", x, {1})), (std::vector<float>{3, 6}));
  EXPECT_EQ(Values<float>(Reduce("Min", x, {0})), (std::vector<float>{1, 2, 3}));
  EXPECT_EQ(Values<float>(Reduce("Sum", x, {})), Values<float>(x));
  EXPECT_EQ(DimsOf(Reduce("Sum", x, {1}, true)), (D{2, 1}));
  EXPECT_EQ(DimsOf(Reduce("Sum", x, {0, 1}, true)), (D{1, 1}));
  EXPECT_EQ(Values<int32_t>(Reduce("EuclideanNorm", Ints({2}, {3, 4}), {0})),
            std::vector<int32_t>{5});
  EXPECT_EQ(Values<int32_t>(Reduce("Mean", Ints({3}, {-7, 2, -4}), {0})), std::vector<int32_t>{-3});
  EXPECT_EQ(Values<int8_t>(Reduce("Sum", Make<int8_t>({300}, std::vector<int8_t>(300, 1)), {0})),
            std::vector<int8_t>{44});
  EXPECT_EQ(Values<bool>(Reduce("All", Make<bool>({2, 2}, {true, true, true, false}), {1})),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(Values<bool>(Reduce("Any", Make<bool>({2, 2}, {false, true, false, false}), {1})),
            (std::vector<bool>{true, false}));
  EXPECT_EQ(Values<Complex64>(Reduce("Sum", Vec<Complex64>({{1, 2}, {3, 4}}), {0})),
            (std::vector<Complex64>{{4, 6}}));
}

// The results of a plain loop over four dimensions: sums and maxima.
struct Reduced {
  std::vector<double> sums;
  std::vector<float> largest;
};
Reduced ReducePlainly(const D& size, const std::vector<float>& in, int mask) {
  int64_t stride[4] = {0, 0, 0, 0}, outputs = 1, at = 0;
  for (int d = 3; d >= 0; --d) {
    if (mask >> d & 1) continue;
    stride[d] = outputs;
    outputs *= size[d];
  }
  Reduced want{std::vector<double>(outputs, 0), std::vector<float>(outputs, -kInf)};
  for (int64_t a = 0; a < size[0]; ++a) {
    for (int64_t b = 0; b < size[1]; ++b) {
      for (int64_t c = 0; c < size[2]; ++c) {
        for (int64_t d = 0; d < size[3]; ++d, ++at) {
          int64_t to = a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3];
          want.sums[to] += in[at];
          want.largest[to] = std::max(want.largest[to], in[at]);
        }
      }
    }
  }
  return want;
}

// All sets of axes of tensors large enough to be split into parts, and of tensors with short inner
// dimensions: rows of small groups, of few channels, of a number that does not fill the lanes.
TEST(KernelReduce, EveryChoiceOfAxes) {
  for (const D& size : {D{3, 40, 7, 130}, D{2, 700, 5, 3}, D{7, 300, 2, 21}, D{60, 9, 90, 4},
                        D{1, 3000, 31, 1}, D{2, 3, 700, 33}, D{5, 2, 8, 1100}, D{4, 1, 64, 64}}) {
    Tensor x = Iota<float>(size);
    for (int64_t i = 0; i < x.num_elements(); ++i)
      x.data<float>()[i] = static_cast<float>((i * 7919) % 1000) - 300;
    std::vector<float> in = Values<float>(x);
    for (int mask = 0; mask < 16; ++mask) {
      SCOPED_TRACE("axes " + std::to_string(mask) + " of [" + std::to_string(size[0]) + "," +
                   std::to_string(size[1]) + "," + std::to_string(size[2]) + "," +
                   std::to_string(size[3]) + "]");
      std::vector<int32_t> axes;
      for (int d = 3; d >= 0; --d) {
        if (mask >> d & 1) axes.push_back(d);
      }
      Reduced want = ReducePlainly(size, in, mask);
      std::vector<float> sums = Values<float>(Reduce("Sum", x, axes)),
                         maxima = Values<float>(Reduce("Max", x, axes)),
                         means = Values<float>(Reduce("Mean", x, axes));
      ASSERT_EQ(sums.size(), want.sums.size());
      size_t folded = in.size() / sums.size();
      auto count = static_cast<float>(folded);
      for (size_t i = 0; i < sums.size(); ++i) {
        ASSERT_EQ(sums[i], static_cast<float>(want.sums[i])) << i;
        ASSERT_EQ(means[i], static_cast<float>(want.sums[i]) / count) << i;
        ASSERT_EQ(maxima[i], want.largest[i]) << i;
      }
    }
  }
}

TEST(KernelReduce, OfNothing) {
  EXPECT_EQ(*Reduce("Sum", Floats({0}, {}), {0}).data<float>(), 0);
  EXPECT_TRUE(std::isnan(*Reduce("Mean", Floats({0}, {}), {0}).data<float>()));
  EXPECT_EQ(*Reduce("Mean", Ints({0}, {}), {0}).data<int32_t>(), 0);
  EXPECT_EQ(*Reduce("Max", Floats({0}, {}), {0}).data<float>(), -kInf);
  EXPECT_EQ(*Reduce("Min", Ints({0}, {}), {0}).data<int32_t>(), INT32_MAX);
  EXPECT_EQ(Values<float>(Reduce("Prod", Floats({2, 0}, {}), {1})), (std::vector<float>{1, 1}));
  EXPECT_TRUE(*Reduce("All", Make<bool>({0}, {}), {0}).data<bool>());
  EXPECT_EQ(DimsOf(Reduce("Sum", Floats({0, 3}, {}), {1})), D{0});
}

TEST(KernelReduce, KeepsNaN) {
  std::vector<float> values(100, 1);
  values[57] = kNaN;
  for (const char* op : {"Max", "Min", "Sum"}) {
    EXPECT_TRUE(std::isnan(*Reduce(op, Floats({100}, values), {0}).data<float>())) << op;
    EXPECT_TRUE(std::isnan(Reduce(op, Floats({100, 1}, values), {0}).data<float>()[0])) << op;
    EXPECT_TRUE(std::isnan(Reduce(op, Floats({50, 2}, values), {0}).data<float>()[1])) << op;
  }
}

TEST(KernelReduce, HalvesAddUpWide) {
  Tensor ones = Make<Eigen::half>({3000}, std::vector<Eigen::half>(3000, Eigen::half(1)));
  EXPECT_EQ(static_cast<float>(*Reduce("Sum", ones, {0}).data<Eigen::half>()), 3000);
  EXPECT_EQ(static_cast<float>(*Reduce("Mean", ones, {0}).data<Eigen::half>()), 1);
}

}  // namespace
}  // namespace grapnel
