// Elementwise functions, and functions that move elements.
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "tests/cuda/selftest.h"

namespace selftest {
namespace {

SELFTEST(Moves) {
  Array<float> filled(1000);
  float value = 2.5f;
  Expect(api->fill(stream, filled.get(), 1000, 4, &value, why, sizeof why), "fill");
  Compare("fill", filled.Read(), std::vector<float>(1000, 2.5f));

  // A transpose, [3, 5, 4] to [4, 3, 5].
  std::vector<float> in = Random(60), expected;
  for (int k = 0; k < 4; ++k) {
    for (int i = 0; i < 15; ++i) expected.push_back(in[i * 4 + k]);
  }
  GrapnelCudaWalk walk = {};
  walk.rank = 2;
  walk.sizes[0] = 4;
  walk.sizes[1] = 15;
  walk.strides[0][0] = 1;
  walk.strides[0][1] = 4;
  walk.strides[1][0] = 15;
  walk.strides[1][1] = 1;
  Array<float> from(in), to(60);
  Expect(api->copy_strided(stream, to.get(), from.get(), 4, &walk, why, sizeof why), "transpose");
  Compare("transpose", to.Read(), expected);

  // Rows of [2, 5, 6]; one index is out of range.
  std::vector<int64_t> indices = {4, 0, 9};
  expected.clear();
  for (int outer = 0; outer < 2; ++outer) {
    for (int64_t index : indices) {
      for (int k = 0; k < 6; ++k)
        expected.push_back(index < 5 ? in[(outer * 5 + index) * 6 + k] : 0.0f);
    }
  }
  Array<int64_t> chosen(indices);
  Array<float> gathered(36);
  Expect(api->gather(stream, gathered.get(), from.get(), 4, kGrapnelCudaInt64, chosen.get(), 2, 5,
                     3, 6, why, sizeof why),
         "gather");
  Compare("gather", gathered.Read(), expected);

  std::vector<uint8_t> condition = {1, 0, 0, 1};
  Array<uint8_t> which(condition);
  Array<float> a(std::vector<float>{1, 2, 3, 4}), b(std::vector<float>{5, 6, 7, 8}), selected(4);
  GrapnelCudaWalk dense = Dense(4);
  Expect(api->select(stream, selected.get(), which.get(), a.get(), b.get(), 4, &dense, why,
                     sizeof why),
         "select");
  Compare("select", selected.Read(), {1, 6, 7, 4});

  Array<float> floats(std::vector<float>{-1.75f, 0, 3.25f});
  Array<int32_t> ints(3);
  Array<uint8_t> bools(3);
  Expect(api->cast(stream, kGrapnelCudaInt32, ints.get(), kGrapnelCudaFloat, floats.get(), 3, why,
                   sizeof why),
         "cast");
  Compare("cast to int32", ints.Read(), {-1, 0, 3});
  Expect(api->cast(stream, kGrapnelCudaBool, bools.get(), kGrapnelCudaFloat, floats.get(), 3, why,
                   sizeof why),
         "cast");
  Compare("cast to bool", bools.Read(), {1, 0, 1});
  for (GrapnelCudaType small : {kGrapnelCudaHalf, kGrapnelCudaBfloat16}) {
    Array<uint16_t> narrow(3);
    Array<float> back(3);
    Expect(
        api->cast(stream, small, narrow.get(), kGrapnelCudaFloat, floats.get(), 3, why, sizeof why),
        "cast");
    Expect(
        api->cast(stream, kGrapnelCudaFloat, back.get(), small, narrow.get(), 3, why, sizeof why),
        "cast");
    Compare("cast there and back", back.Read(), {-1.75f, 0, 3.25f});
  }
}

SELFTEST(Unary) {
  struct Case {
    GrapnelCudaUnary op;
    const char* name;
    float low, high;
    std::function<double(double)> expected;
  };
  const Case cases[] = {
      {kGrapnelCudaNeg, "neg", -2, 2, [](double x) { return -x; }},
      {kGrapnelCudaAbs, "abs", -2, 2, [](double x) { return std::abs(x); }},
      {kGrapnelCudaSign, "sign", -2, 2, [](double x) { return x > 0   ? 1.0
                                                              : x < 0 ? -1.0
                                                                      : 0.0; }},
      {kGrapnelCudaSquare, "square", -2, 2, [](double x) { return x * x; }},
      {kGrapnelCudaSqrt, "sqrt", 0, 9, [](double x) { return std::sqrt(x); }},
      {kGrapnelCudaRsqrt, "rsqrt", 0.1f, 9, [](double x) { return 1 / std::sqrt(x); }},
      {kGrapnelCudaReciprocal, "reciprocal", 0.1f, 9, [](double x) { return 1 / x; }},
      {kGrapnelCudaExp, "exp", -2, 2, [](double x) { return std::exp(x); }},
      {kGrapnelCudaExpm1, "expm1", -2, 2, [](double x) { return std::expm1(x); }},
      {kGrapnelCudaLog, "log", 0.1f, 9, [](double x) { return std::log(x); }},
      {kGrapnelCudaLog1p, "log1p", 0, 9, [](double x) { return std::log1p(x); }},
      {kGrapnelCudaTanh, "tanh", -2, 2, [](double x) { return std::tanh(x); }},
      {kGrapnelCudaSigmoid, "sigmoid", -9, 9, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {kGrapnelCudaRelu, "relu", -2, 2, [](double x) { return x > 0 ? x : 0; }},
      {kGrapnelCudaRelu6, "relu6", -9, 9, [](double x) { return std::min(std::max(x, 0.0), 6.0); }},
      {kGrapnelCudaElu, "elu", -2, 2, [](double x) { return x < 0 ? std::expm1(x) : x; }},
      {kGrapnelCudaLeakyRelu, "leaky relu", -2, 2, [](double x) { return x > 0 ? x : 0.25 * x; }},
      {kGrapnelCudaSoftplus, "softplus", -9, 9, [](double x) { return std::log1p(std::exp(x)); }},
      {kGrapnelCudaSoftsign, "softsign", -9, 9, [](double x) { return x / (1 + std::abs(x)); }},
      {kGrapnelCudaErf, "erf", -2, 2, [](double x) { return std::erf(x); }},
      {kGrapnelCudaErfc, "erfc", -2, 2, [](double x) { return std::erfc(x); }},
      {kGrapnelCudaFloor, "floor", -9, 9, [](double x) { return std::floor(x); }},
      {kGrapnelCudaCeil, "ceil", -9, 9, [](double x) { return std::ceil(x); }},
      {kGrapnelCudaRint, "rint", -9, 9, [](double x) { return std::rint(x); }},
      {kGrapnelCudaSin, "sin", -3, 3, [](double x) { return std::sin(x); }},
      {kGrapnelCudaCos, "cos", -3, 3, [](double x) { return std::cos(x); }},
  };
  static_assert(std::size(cases) == kGrapnelCudaUnaryCount);
  for (const Case& test : cases) {
    for (size_t count : {1, 1000, 300001}) {
      std::vector<float> in = Random(count, test.low, test.high), expected;
      for (float x : in) expected.push_back(static_cast<float>(test.expected(x)));
      Array<float> from(in), to(count);
      Expect(api->unary(stream, test.op, kGrapnelCudaFloat, to.get(), from.get(),
                        static_cast<int64_t>(count), 0.25f, why, sizeof why),
             test.name);
      Compare(test.name, to.Read(), expected);
      std::vector<double> wide(in.begin(), in.end()), wide_expected;
      for (double x : wide) wide_expected.push_back(test.expected(x));
      Array<double> wide_from(wide);
      Expect(api->unary(stream, test.op, kGrapnelCudaDouble, wide_from.get(), wide_from.get(),
                        static_cast<int64_t>(count), 0.25f, why, sizeof why),
             test.name);
      Compare(std::string(test.name) + " of double, in place", wide_from.Read(), wide_expected,
              1e-12);
    }
  }
  float nan = std::numeric_limits<float>::quiet_NaN();
  Array<float> from(std::vector<float>{nan, -1, 2});
  Expect(api->unary(stream, kGrapnelCudaRelu, kGrapnelCudaFloat, from.get(), from.get(), 3, 0, why,
                    sizeof why),
         "relu");
  Compare("relu of NaN", from.Read(), {nan, 0, 2});
}

SELFTEST(Binary) {
  struct Case {
    GrapnelCudaBinary op;
    const char* name;
    std::function<double(double, double)> expected;
  };
  const Case cases[] = {
      {kGrapnelCudaAdd, "add", [](double a, double b) { return a + b; }},
      {kGrapnelCudaSub, "sub", [](double a, double b) { return a - b; }},
      {kGrapnelCudaMul, "mul", [](double a, double b) { return a * b; }},
      {kGrapnelCudaDiv, "div", [](double a, double b) { return a / b; }},
      {kGrapnelCudaMaximum, "maximum", [](double a, double b) { return std::max(a, b); }},
      {kGrapnelCudaMinimum, "minimum", [](double a, double b) { return std::min(a, b); }},
      {kGrapnelCudaPow, "pow", [](double a, double b) { return std::pow(a, b); }},
      {kGrapnelCudaSquaredDifference, "squared difference",
       [](double a, double b) { return (a - b) * (a - b); }},
      {kGrapnelCudaReluGrad, "relu gradient", [](double a, double b) { return b > 0 ? a : 0; }},
      {kGrapnelCudaRelu6Grad, "relu6 gradient",
       [](double a, double b) { return b > 0 && b < 6 ? a : 0; }},
      {kGrapnelCudaTanhGrad, "tanh gradient", [](double a, double b) { return b * (1 - a * a); }},
      {kGrapnelCudaSigmoidGrad, "sigmoid gradient",
       [](double a, double b) { return b * a * (1 - a); }},
      {kGrapnelCudaSqrtGrad, "sqrt gradient", [](double a, double b) { return b * 0.5 / a; }},
      {kGrapnelCudaRsqrtGrad, "rsqrt gradient",
       [](double a, double b) { return -0.5 * b * a * a * a; }},
      {kGrapnelCudaEqual, "equal", [](double a, double b) { return a == b; }},
      {kGrapnelCudaNotEqual, "not equal", [](double a, double b) { return a != b; }},
      {kGrapnelCudaLess, "less", [](double a, double b) { return a < b; }},
      {kGrapnelCudaLessEqual, "less or equal", [](double a, double b) { return a <= b; }},
      {kGrapnelCudaGreater, "greater", [](double a, double b) { return a > b; }},
      {kGrapnelCudaGreaterEqual, "greater or equal", [](double a, double b) { return a >= b; }},
  };
  static_assert(std::size(cases) == kGrapnelCudaBinaryCount);
  // [40, 1, 7] op [9, 7] is [40, 9, 7].
  constexpr int64_t kRows = 40, kMiddle = 9, kColumns = 7, kTotal = kRows * kMiddle * kColumns;
  GrapnelCudaWalk walk = {};
  walk.rank = 3;
  const int64_t sizes[] = {kRows, kMiddle, kColumns}, left[] = {kColumns, 0, 1},
                right[] = {0, kColumns, 1};
  std::memcpy(walk.sizes, sizes, sizeof sizes);
  std::memcpy(walk.strides[0], left, sizeof left);
  std::memcpy(walk.strides[1], right, sizeof right);
  for (const Case& test : cases) {
    std::vector<float> a = Random(kRows * kColumns, 0.1f, 2),
                       b = Random(kMiddle * kColumns, 0.1f, 7);
    b[3] = a[3];
    std::vector<float> expected(kTotal);
    for (int64_t i = 0; i < kTotal; ++i) {
      float x = a[i / (kMiddle * kColumns) * kColumns + i % kColumns];
      float y = b[i % (kMiddle * kColumns)];
      expected[i] = static_cast<float>(test.expected(x, y));
    }
    Array<float> from_a(a), from_b(b);
    if (test.op >= kGrapnelCudaEqual) {
      Array<uint8_t> to(kTotal);
      Expect(api->binary(stream, test.op, kGrapnelCudaFloat, to.get(), from_a.get(), from_b.get(),
                         &walk, why, sizeof why),
             test.name);
      Compare(test.name, to.Read(), std::vector<uint8_t>(expected.begin(), expected.end()));
      continue;
    }
    Array<float> to(kTotal);
    Expect(api->binary(stream, test.op, kGrapnelCudaFloat, to.get(), from_a.get(), from_b.get(),
                       &walk, why, sizeof why),
           test.name);
    Compare(test.name, to.Read(), expected);
  }
  Array<int32_t> a(std::vector<int32_t>{7, -7, 5, std::numeric_limits<int32_t>::min()}),
      b(std::vector<int32_t>{2, 2, 0, -1}), to(4);
  GrapnelCudaWalk dense = Dense(4);
  Expect(api->binary(stream, kGrapnelCudaDiv, kGrapnelCudaInt32, to.get(), a.get(), b.get(), &dense,
                     why, sizeof why),
         "div of int32");
  Compare("div of int32", to.Read(), {3, -3, 0, std::numeric_limits<int32_t>::min()});
}

}  // namespace
}  // namespace selftest
