// Functions over many elements: reductions, rows, counts of element kinds.
#include <cmath>
#include <functional>
#include <limits>

#include "tests/cuda/selftest.h"

namespace selftest {
namespace {

SELFTEST(Reduce) {
  struct Case {
    std::vector<int64_t> dims;
    uint32_t reduced;
  };
  // One block per result, several parts per result, rows, columns, and non-adjacent dimensions.
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

SELFTEST(Rows) {
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

SELFTEST(Count) {
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

}  // namespace
}  // namespace selftest
