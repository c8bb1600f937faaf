// Each function of the CUDA module against a plain loop on the host, with CUDA alone:
//
//   nvcc -std=c++20 -I. kernels/cuda/*.cu tests/cuda/selftest.cu -lcublasLt -lcudnn -o selftest
//
// One file, so that it is all there is to build beside the module. Exit codes: 0 all is well, 1
// something differs, 77 there is no GPU.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "kernels/cuda/cuda_api.h"

extern "C" const GrapnelCudaApi* GrapnelCudaEntry(uint32_t version);

namespace {

const GrapnelCudaApi* api;
GrapnelCudaStream* stream;
int checks = 0, failures = 0;
char why[512];

void Fail(const std::string& what, const std::string& text) {
  ++failures;
  std::printf("FAILED %s: %s\n", what.c_str(), text.c_str());
}
void Expect(int32_t status, const std::string& what) {
  if (status != 0) Fail(what, why);
}

// Memory of the device with elements of T.
template <typename T>
class Array {
 public:
  explicit Array(size_t count) : count_(count) {
    Expect(api->allocate(0, static_cast<int64_t>(count * sizeof(T)), &data_, why, sizeof why),
           "allocate");
  }
  explicit Array(const std::vector<T>& values) : Array(values.size()) {
    Expect(api->copy(stream, data_, values.data(), static_cast<int64_t>(count_ * sizeof(T)),
                     kGrapnelCudaFromHost, why, sizeof why),
           "copy from the host");
  }
  Array(const Array&) = delete;
  ~Array() { api->release(0, data_); }
  void* get() const { return data_; }
  std::vector<T> Read() const {
    std::vector<T> values(count_);
    Expect(api->copy(stream, values.data(), data_, static_cast<int64_t>(count_ * sizeof(T)),
                     kGrapnelCudaToHost, why, sizeof why),
           "copy to the host");
    Expect(api->wait_stream(stream, why, sizeof why), "wait");
    return values;
  }

 private:
  size_t count_;
  void* data_ = nullptr;
};

std::mt19937 random_bits(7);
std::vector<float> Random(size_t count, float low = -2, float high = 2) {
  std::uniform_real_distribution<float> values(low, high);
  std::vector<float> made(count);
  for (float& value : made) value = values(random_bits);
  return made;
}

template <typename T>
void Compare(const std::string& what, const std::vector<T>& got, const std::vector<T>& expected,
             double tolerance = 1e-5) {
  ++checks;
  if (got.size() != expected.size()) return Fail(what, "another number of elements");
  for (size_t i = 0; i < got.size(); ++i) {
    double a = static_cast<double>(got[i]), b = static_cast<double>(expected[i]);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (!(std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b)))) {
      return Fail(what, "element " + std::to_string(i) + " is " + std::to_string(a) + ", " +
                            std::to_string(b) + " was expected");
    }
  }
}

// Operands that are read densely, merged into one dimension.
GrapnelCudaWalk Dense(int64_t count) {
  GrapnelCudaWalk walk = {};
  walk.rank = 1;
  walk.sizes[0] = count;
  for (auto& strides : walk.strides) strides[0] = 1;
  return walk;
}

void TestUnary() {
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

void TestBinary() {
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

void TestMoves() {
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

  // Rows of [2, 5, 6], one of them not there.
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

void TestReduce() {
  struct Case {
    std::vector<int64_t> dims;
    uint32_t reduced;
  };
  // One block a result, several parts of one, rows, columns, and dimensions apart.
  const Case cases[] = {
      {{300000}, 1},          {{17, 1000}, 2}, {{1000, 17}, 1}, {{6, 7, 8, 9}, 0b0101},
      {{6, 7, 8, 9}, 0b1010}, {{3, 4}, 0},     {{0, 5}, 1}};
  for (const Case& test : cases) {
    int64_t total = 1, results = 1;
    for (size_t d = 0; d < test.dims.size(); ++d) {
      total *= test.dims[d];
      if (!(test.reduced >> d & 1)) results *= test.dims[d];
    }
    std::vector<float> in = Random(total, 0.5f, 1.5f);
    std::vector<double> sums(results), largest(results, -HUGE_VAL), smallest(results, HUGE_VAL);
    std::vector<int64_t> counts(results);
    for (int64_t i = 0; i < total; ++i) {
      int64_t rest = i, at = 0, stride = 1;
      for (int d = static_cast<int>(test.dims.size()) - 1; d >= 0; --d) {
        if (!(test.reduced >> d & 1)) {
          at += rest % test.dims[d] * stride;
          stride *= test.dims[d];
        }
        rest /= test.dims[d];
      }
      sums[at] += in[i];
      largest[at] = std::max<double>(largest[at], in[i]);
      smallest[at] = std::min<double>(smallest[at], in[i]);
      ++counts[at];
    }
    Array<float> from(in), to(results);
    auto run = [&](GrapnelCudaReduction op, const char* name,
                   const std::function<double(int64_t)>& expected) {
      Expect(api->reduce(stream, op, kGrapnelCudaFloat, to.get(), from.get(),
                         static_cast<int32_t>(test.dims.size()), test.dims.data(), test.reduced,
                         why, sizeof why),
             name);
      std::vector<float> wanted;
      for (int64_t i = 0; i < results; ++i) wanted.push_back(static_cast<float>(expected(i)));
      Compare(name, to.Read(), wanted, 1e-4);
    };
    run(kGrapnelCudaSum, "sum", [&](int64_t i) { return sums[i]; });
    run(kGrapnelCudaMean, "mean",
        [&](int64_t i) { return sums[i] / static_cast<double>(counts[i]); });
    run(kGrapnelCudaMax, "max", [&](int64_t i) { return largest[i]; });
    run(kGrapnelCudaMin, "min", [&](int64_t i) { return smallest[i]; });
  }
  int64_t dims[] = {5};
  Array<int64_t> from(std::vector<int64_t>{1, 2, 3, 4, 5}), to(1);
  Expect(api->reduce(stream, kGrapnelCudaProd, kGrapnelCudaInt64, to.get(), from.get(), 1, dims, 1,
                     why, sizeof why),
         "prod");
  Compare("prod of int64", to.Read(), {120});
}

void TestRows() {
  constexpr int64_t kRows = 33, kColumns = 1001;
  std::vector<float> logits = Random(kRows * kColumns, -5, 5),
                     labels = Random(kRows * kColumns, 0, 1);
  std::vector<float> soft, log_soft, loss, gradient, sparse_loss, sparse_gradient;
  std::vector<int32_t> classes;
  for (int64_t row = 0; row < kRows; ++row) {
    const float* x = &logits[row * kColumns];
    const float* y = &labels[row * kColumns];
    classes.push_back(row == 5 ? kColumns : static_cast<int32_t>(row * 7));
    double sum = 0, own = 0;
    for (int64_t i = 0; i < kColumns; ++i) sum += std::exp(static_cast<double>(x[i]));
    for (int64_t i = 0; i < kColumns; ++i) {
      double share = std::exp(static_cast<double>(x[i])) / sum;
      soft.push_back(static_cast<float>(share));
      log_soft.push_back(static_cast<float>(std::log(share)));
      own -= y[i] * std::log(share);
      gradient.push_back(static_cast<float>(share - y[i]));
      sparse_gradient.push_back(row == 5 ? NAN : static_cast<float>(share - (i == classes[row])));
    }
    loss.push_back(static_cast<float>(own));
    sparse_loss.push_back(row == 5 ? NAN : -log_soft[row * kColumns + classes[row]]);
  }
  Array<float> x(logits), y(labels), to(kRows * kColumns), to_loss(kRows);
  Expect(api->softmax(stream, kGrapnelCudaFloat, 0, to.get(), x.get(), kRows, kColumns, why,
                      sizeof why),
         "softmax");
  Compare("softmax", to.Read(), soft);
  Expect(api->softmax(stream, kGrapnelCudaFloat, 1, to.get(), x.get(), kRows, kColumns, why,
                      sizeof why),
         "log softmax");
  Compare("log softmax", to.Read(), log_soft);
  Expect(api->cross_entropy(stream, kGrapnelCudaFloat, to_loss.get(), to.get(), x.get(),
                            kGrapnelCudaFloat, y.get(), kRows, kColumns, why, sizeof why),
         "cross entropy");
  Compare("cross entropy", to_loss.Read(), loss, 1e-4);
  Compare("gradient of cross entropy", to.Read(), gradient);
  Array<int32_t> which(classes);
  Expect(api->cross_entropy(stream, kGrapnelCudaFloat, to_loss.get(), x.get(), x.get(),
                            kGrapnelCudaInt32, which.get(), kRows, kColumns, why, sizeof why),
         "sparse cross entropy");
  Compare("sparse cross entropy", to_loss.Read(), sparse_loss, 1e-4);
  Compare("gradient of sparse cross entropy, in place", x.Read(), sparse_gradient);

  std::vector<float> in = Random(2 * 3 * 4), bias = {1, -1, 0.5f}, expected;
  for (int i = 0; i < 24; ++i) expected.push_back(std::max(in[i] + bias[i / 4 % 3], 0.0f));
  Array<float> from(in), added(bias), with(24);
  Expect(api->bias(stream, kGrapnelCudaFloat, with.get(), from.get(), added.get(), 2, 3, 4,
                   kGrapnelCudaFusedRelu, 0, why, sizeof why),
         "bias");
  Compare("bias and relu", with.Read(), expected);
}

double Activated(GrapnelCudaActivation activation, double x) {
  switch (activation) {
    case kGrapnelCudaFusedRelu:
      return std::max(x, 0.0);
    case kGrapnelCudaFusedTanh:
      return std::tanh(x);
    case kGrapnelCudaFusedGeluApproximate:
      return 0.5 * x * (1 + std::tanh(0.7978845608028654 * (x + 0.044715 * x * x * x)));
    default:
      return x;
  }
}

void TestMatMul() {
  for (int variant = 0; variant < 4 * 4 * 2; ++variant) {
    constexpr GrapnelCudaActivation kActivations[] = {kGrapnelCudaLinear, kGrapnelCudaFusedRelu,
                                                      kGrapnelCudaFusedTanh,
                                                      kGrapnelCudaFusedGeluApproximate};
    GrapnelCudaMatMul spec;
    std::memset(&spec, 0, sizeof spec);
    spec.type = kGrapnelCudaFloat;
    spec.transpose_a = variant & 1;
    spec.transpose_b = variant >> 1 & 1;
    spec.activation = kActivations[variant >> 2 & 3];
    bool batched = variant >> 4;
    spec.a_batch = batched ? 3 : 1;
    spec.b_batch = 1;
    spec.m = 37;
    spec.n = 20;
    spec.k = 65;
    std::vector<float> a = Random(spec.a_batch * spec.m * spec.k), b = Random(spec.k * spec.n),
                       bias = Random(spec.n), expected;
    for (int64_t batch = 0; batch < spec.a_batch; ++batch) {
      const float* left = &a[batch * spec.m * spec.k];
      for (int64_t i = 0; i < spec.m; ++i) {
        for (int64_t j = 0; j < spec.n; ++j) {
          double sum = bias[j];
          for (int64_t k = 0; k < spec.k; ++k) {
            sum += static_cast<double>(left[spec.transpose_a ? k * spec.m + i : i * spec.k + k]) *
                   b[spec.transpose_b ? j * spec.k + k : k * spec.n + j];
          }
          expected.push_back(static_cast<float>(Activated(spec.activation, sum)));
        }
      }
    }
    Array<float> from_a(a), from_b(b), added(bias), to(expected.size());
    std::string name = "product " + std::to_string(variant);
    for (int again = 0; again < 2; ++again) {  // the second takes what the first chose
      Expect(api->matmul(stream, &spec, to.get(), from_a.get(), from_b.get(), added.get(), why,
                         sizeof why),
             name);
      Compare(name, to.Read(), expected, 1e-4);
    }
  }
}

void TestConvolution() {
  for (int variant = 0; variant < 16; ++variant) {
    GrapnelCudaWindow w;
    std::memset(&w, 0, sizeof w);
    w.channels_last = variant & 1;
    w.batch = 2;
    w.groups = variant & 2 ? 2 : 1;
    w.in_channels = 4;
    w.out_channels = 6;
    bool uneven = variant & 4, relu = variant & 8;
    for (int d = 0; d < 2; ++d) {
      w.in[d] = 11 + d;
      w.kernel[d] = 3;
      w.stride[d] = 1 + d;
      w.dilation[d] = 1;
      w.before[d] = 1;
      w.after[d] = uneven ? 2 : 1;
      w.out[d] = (w.in[d] + w.before[d] + w.after[d] - w.kernel[d]) / w.stride[d] + 1;
    }
    int64_t inputs = w.in_channels / w.groups, outputs = w.out_channels / w.groups;
    std::vector<float> in = Random(w.batch * w.in_channels * w.in[0] * w.in[1]),
                       filter = Random(w.out_channels * inputs * 9), bias = Random(w.out_channels);
    auto image_at = [&](int64_t n, int64_t c, int64_t y, int64_t x) {
      return in[w.channels_last ? ((n * w.in[0] + y) * w.in[1] + x) * w.in_channels + c
                                : ((n * w.in_channels + c) * w.in[0] + y) * w.in[1] + x];
    };
    auto filter_at = [&](int64_t o, int64_t c, int64_t ky, int64_t kx) {
      return filter[w.channels_last ? ((o * 3 + ky) * 3 + kx) * inputs + c
                                    : ((o * inputs + c) * 3 + ky) * 3 + kx];
    };
    std::vector<float> expected(w.batch * w.out_channels * w.out[0] * w.out[1]);
    for (int64_t n = 0; n < w.batch; ++n) {
      for (int64_t o = 0; o < w.out_channels; ++o) {
        for (int64_t y = 0; y < w.out[0]; ++y) {
          for (int64_t x = 0; x < w.out[1]; ++x) {
            double sum = bias[o];
            for (int64_t c = 0; c < inputs; ++c) {
              for (int64_t ky = 0; ky < 3; ++ky) {
                for (int64_t kx = 0; kx < 3; ++kx) {
                  int64_t iy = y * w.stride[0] - w.before[0] + ky,
                          ix = x * w.stride[1] - w.before[1] + kx;
                  if (iy < 0 || iy >= w.in[0] || ix < 0 || ix >= w.in[1]) continue;
                  sum += static_cast<double>(image_at(n, o / outputs * inputs + c, iy, ix)) *
                         filter_at(o, c, ky, kx);
                }
              }
            }
            if (relu) sum = std::max(sum, 0.0);
            expected[w.channels_last ? ((n * w.out[0] + y) * w.out[1] + x) * w.out_channels + o
                                     : ((n * w.out_channels + o) * w.out[0] + y) * w.out[1] + x] =
                static_cast<float>(sum);
          }
        }
      }
    }
    Array<float> from(in), weights(filter), added(bias), to(expected.size());
    std::string name = "convolution " + std::to_string(variant);
    Expect(api->convolution(stream, kGrapnelCudaFloat, &w, to.get(), from.get(), weights.get(),
                            added.get(), relu ? kGrapnelCudaFusedRelu : kGrapnelCudaLinear, 0, why,
                            sizeof why),
           name);
    Compare(name, to.Read(), expected, 1e-4);
  }
}

void TestPool() {
  for (int variant = 0; variant < 4; ++variant) {
    bool is_max = variant & 1, last = variant & 2;
    GrapnelCudaWindow w;
    std::memset(&w, 0, sizeof w);
    w.channels_last = last;
    w.batch = 2;
    w.in_channels = w.out_channels = 3;
    w.groups = 1;
    for (int d = 0; d < 2; ++d) {
      w.in[d] = 7;
      w.kernel[d] = 3;
      w.stride[d] = 2;
      w.dilation[d] = 1;
      w.before[d] = d;  // uneven
      w.after[d] = 1;
      w.out[d] = (7 + w.before[d] + 1 - 3) / 2 + 1;
    }
    std::vector<float> in = Random(2 * 3 * 49), expected(2 * 3 * w.out[0] * w.out[1]);
    auto at = [&](const int64_t* size, int64_t n, int64_t c, int64_t y, int64_t x) {
      return last ? ((n * size[0] + y) * size[1] + x) * 3 + c
                  : ((n * 3 + c) * size[0] + y) * size[1] + x;
    };
    for (int64_t i = 0; i < 6; ++i) {
      for (int64_t y = 0; y < w.out[0]; ++y) {
        for (int64_t x = 0; x < w.out[1]; ++x) {
          double value = is_max ? -HUGE_VAL : 0, count = 0;
          for (int64_t iy = y * 2 - w.before[0]; iy < y * 2 - w.before[0] + 3; ++iy) {
            for (int64_t ix = x * 2 - w.before[1]; ix < x * 2 - w.before[1] + 3; ++ix) {
              if (iy < 0 || iy >= 7 || ix < 0 || ix >= 7) continue;
              float element = in[at(w.in, i / 3, i % 3, iy, ix)];
              value = is_max ? std::max<double>(value, element) : value + element;
              ++count;
            }
          }
          expected[at(w.out, i / 3, i % 3, y, x)] =
              static_cast<float>(is_max ? value : value / count);
        }
      }
    }
    Array<float> from(in), to(expected.size());
    Expect(api->pool(stream, kGrapnelCudaFloat, is_max, to.get(), from.get(), &w, why, sizeof why),
           "pool");
    Compare(is_max ? "max pool" : "mean pool", to.Read(), expected);
  }
}

void TestCount() {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  std::vector<float> in = Random(100000, 0.5f, 1);
  in[1] = -kInf;
  in[2] = kInf;
  in[3] = in[99999] = NAN;
  in[4] = -1;
  in[5] = 0;
  in[6] = -0.0f;
  Array<float> from(in);
  int64_t counts[6];
  Expect(api->count(stream, kGrapnelCudaFloat, from.get(), 100000, counts, why, sizeof why),
         "count");
  Compare("count", std::vector<int64_t>(counts, counts + 6), {1, 1, 2, 1, 2, 99993});
  Array<uint16_t> halves(std::vector<uint16_t>{0x7C00, 0xFC00, 0x7E01, 0x8000, 0x8001, 0x3C00});
  Expect(api->count(stream, kGrapnelCudaHalf, halves.get(), 6, counts, why, sizeof why), "count");
  Compare("count of half", std::vector<int64_t>(counts, counts + 6), {1, 1, 1, 1, 1, 1});
}

// The 16-bit floats through each family: made by a cast, compared after one back.
void TestSmallFloats() {
  for (GrapnelCudaType type : {kGrapnelCudaHalf, kGrapnelCudaBfloat16}) {
    std::string of = type == kGrapnelCudaHalf ? " of half" : " of bfloat16";
    constexpr int64_t kRows = 16, kColumns = 24, kCount = kRows * kColumns;
    std::vector<float> in = Random(kCount), weights = Random(kColumns * kColumns), expected;
    Array<float> wide(in), wide_weights(weights), back(kCount);
    Array<uint16_t> x(kCount), w(kColumns * kColumns), to(kCount);
    Expect(api->cast(stream, type, x.get(), kGrapnelCudaFloat, wide.get(), kCount, why, sizeof why),
           "cast");
    Expect(api->cast(stream, type, w.get(), kGrapnelCudaFloat, wide_weights.get(),
                     kColumns * kColumns, why, sizeof why),
           "cast");
    auto check = [&](const std::string& name, int32_t status, double tolerance) {
      Expect(status, name + of);
      Expect(api->cast(stream, kGrapnelCudaFloat, back.get(), type, to.get(),
                       static_cast<int64_t>(expected.size()), why, sizeof why),
             "cast");
      std::vector<float> got = back.Read();
      got.resize(expected.size());
      Compare(name + of, got, expected, tolerance);
    };
    for (float value : in) expected.push_back(1 / (1 + std::exp(-value)));
    check("sigmoid",
          api->unary(stream, kGrapnelCudaSigmoid, type, to.get(), x.get(), kCount, 0, why,
                     sizeof why),
          1e-2);
    for (int64_t i = 0; i < kCount; ++i) expected[i] = in[i] + in[i];
    GrapnelCudaWalk dense = Dense(kCount);
    check("add",
          api->binary(stream, kGrapnelCudaAdd, type, to.get(), x.get(), x.get(), &dense, why,
                      sizeof why),
          2e-2);
    for (int64_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < kColumns; ++k) sum += std::exp(in[row * kColumns + k]);
      for (int64_t k = 0; k < kColumns; ++k)
        expected[row * kColumns + k] = static_cast<float>(std::exp(in[row * kColumns + k]) / sum);
    }
    check("softmax",
          api->softmax(stream, type, 0, to.get(), x.get(), kRows, kColumns, why, sizeof why), 1e-2);
    GrapnelCudaMatMul spec;
    std::memset(&spec, 0, sizeof spec);
    spec.type = type;
    spec.a_batch = spec.b_batch = 1;
    spec.m = kRows;
    spec.n = spec.k = kColumns;
    spec.activation = kGrapnelCudaFusedRelu;
    for (int64_t i = 0; i < kCount; ++i) {
      double sum = in[i % kColumns];  // the first row of x is the bias
      for (int64_t k = 0; k < kColumns; ++k)
        sum += in[i / kColumns * kColumns + k] * weights[k * kColumns + i % kColumns];
      expected[i] = static_cast<float>(std::max(sum, 0.0));
    }
    check("product",
          api->matmul(stream, &spec, to.get(), x.get(), w.get(), x.get(), why, sizeof why), 0.1);
    int64_t dims[] = {kRows, kColumns};
    expected.assign(kRows, 0);
    for (int64_t i = 0; i < kCount; ++i) expected[i / kColumns] += in[i] / kColumns;
    check(
        "mean",
        api->reduce(stream, kGrapnelCudaMean, type, to.get(), x.get(), 2, dims, 2, why, sizeof why),
        1e-2);
  }
}

void TestEvents() {
  GrapnelCudaStream* other = nullptr;
  GrapnelCudaEvent* event = nullptr;
  Expect(api->make_stream(0, &other, why, sizeof why), "make stream");
  Expect(api->make_event(0, &event, why, sizeof why), "make event");
  std::vector<float> in = Random(1 << 20);
  Array<float> from(in), to(in.size());
  Expect(api->record_event(event, stream, why, sizeof why), "record event");
  Expect(api->stream_waits_event(other, event, why, sizeof why), "wait for an event");
  Expect(api->copy(other, to.get(), from.get(), static_cast<int64_t>(in.size() * 4),
                   kGrapnelCudaInside, why, sizeof why),
         "copy inside");
  Expect(api->record_event(event, other, why, sizeof why), "record event");
  Expect(api->wait_event(event, why, sizeof why), "wait for an event");
  Compare("copies on two streams", to.Read(), in, 0);
  api->destroy_event(event);
  api->destroy_stream(other);
}

}  // namespace

int main() {
  api = GrapnelCudaEntry(GRAPNEL_CUDA_API_VERSION);
  if (!api || GrapnelCudaEntry(GRAPNEL_CUDA_API_VERSION + 1)) {
    std::printf("FAILED: the module's version is not checked\n");
    return 1;
  }
  int32_t count = 0;
  if (api->device_count(&count, why, sizeof why) != 0) {
    std::printf("skipped: no GPU (%s)\n", why);
    return 77;
  }
  if (count == 0) {
    std::printf("skipped: no GPU\n");
    return 77;
  }
  GrapnelCudaDeviceInfo info;
  Expect(api->describe(0, &info, why, sizeof why), "describe");
  if (api->make_stream(0, &stream, why, sizeof why) != 0) {
    std::printf("FAILED: %s\n", why);
    return 1;
  }
  TestEvents();
  TestMoves();
  TestUnary();
  TestBinary();
  TestReduce();
  TestRows();
  TestMatMul();
  TestConvolution();
  TestPool();
  TestCount();
  TestSmallFloats();
  api->destroy_stream(stream);
  std::printf("%s: %d comparisons, %d failures\n", info.name, checks, failures);
  return failures ? 1 : 0;
}
