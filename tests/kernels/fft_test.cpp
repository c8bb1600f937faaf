// Fourier transforms.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using C = std::vector<Complex64>;

void ExpectNear(const Tensor& got, const C& want) {
  C values = Values<Complex64>(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(std::abs(values[i] - want[i]), 0, 2e-5) << i;
}

OpRun Real(const char* op, Tensor x, std::vector<int32_t> lengths) {
  OpRun run(op);
  run.In(std::move(x)).In(Vec<int32_t>(std::move(lengths)));
  run.Out({std::string(op)[0] == 'I' ? proto::DT_FLOAT : proto::DT_COMPLEX64});
  return run;
}

TEST(KernelFft, OfAnyLength) {
  ExpectNear(OpRun("FFT").In(Vec<Complex64>({1, 2, 3, 4})).One(), {10, {-2, 2}, -2, {-2, -2}});
  for (int n : {1, 2, 3, 5, 12, 17}) {
    Tensor x = llvm::cantFail(Tensor::Allocate(proto::DT_COMPLEX64, {2, n}));
    for (int64_t i = 0; i < 2 * n; ++i) x.data<Complex64>()[i] = {1.0f * i, 0.5f * (i % 3)};
    C want(2 * n);
    for (int64_t i = 0; i < 2 * n; ++i) {
      std::complex<double> sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += std::complex<double>(x.data<Complex64>()[i / n * n + k]) *
               std::polar(1.0, -2 * M_PI * static_cast<double>(i % n) * k / n);
      }
      want[i] = Complex64(sum);
    }
    C original = Values<Complex64>(x);
    Tensor out = OpRun("FFT").In(x).One();
    C values = Values<Complex64>(out);
    for (int64_t i = 0; i < 2 * n; ++i) EXPECT_NEAR(std::abs(values[i] - want[i]), 0, 1e-3) << n;
    ExpectNear(OpRun("IFFT").In(out).One(), original);
  }
}

// Lengths with a large prime factor use another algorithm, in n log n.
TEST(KernelFft, OfAPrimeLength) {
  for (int n : {257, 1009, 2 * 263}) {
    Tensor x = llvm::cantFail(Tensor::Allocate(proto::DT_COMPLEX64, {n}));
    Tensor real = llvm::cantFail(Tensor::Allocate(proto::DT_FLOAT, {n}));
    for (int i = 0; i < n; ++i) {
      x.data<Complex64>()[i] = {std::sin(0.7f * i), std::cos(1.3f * i)};
      real.data<float>()[i] = std::sin(0.7f * i);
    }
    auto term = [n](std::complex<double> value, int64_t i, int64_t k) {
      return value * std::polar(1.0, -2 * M_PI * static_cast<double>(i * k % n) / n);
    };
    C want(n), half(n / 2 + 1), original = Values<Complex64>(x);
    for (int i = 0; i < n; ++i) {
      std::complex<double> sum = 0, real_sum = 0;
      for (int k = 0; k < n; ++k) {
        sum += term(std::complex<double>(x.data<Complex64>()[k]), i, k);
        real_sum += term(real.data<float>()[k], i, k);
      }
      want[i] = Complex64(sum);
      if (i <= n / 2) half[i] = Complex64(real_sum);
    }
    Tensor out = OpRun("FFT").In(x).One(), real_out = Real("RFFT", real, {n}).One();
    ExpectNear(out, want);
    ExpectNear(OpRun("IFFT").In(out).One(), original);
    ExpectNear(real_out, half);
    Tensor back = Real("IRFFT", real_out, {n}).One();
    for (int i = 0; i < n; ++i) EXPECT_NEAR(back.data<float>()[i], std::sin(0.7f * i), 1e-5) << i;
  }
}

TEST(KernelRfft, CutsOff) {
  ExpectNear(Real("RFFT", Vec<float>({1, 2, 3, 4, 9}), {4}).One(), {10, {-2, 2}, -2});
  // An empty input counts as zeros; a short one is an error (rfft.gtxt).
  ExpectNear(Real("RFFT", Floats({1, 0}, {}), {2}).One(), {0, 0});
  Tensor back = Real("IRFFT", Vec<Complex64>({10, {-2, 2}, -2}), {4}).One();
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(back.data<float>()[i], i + 1, 1e-6);
  EXPECT_EQ(DimsOf(Real("RFFT", Floats({0, 5}, {}), {4}).One()), (D{0, 3}));
  EXPECT_EQ(DimsOf(Real("RFFT", Iota<float>({2, 5}), {0}).One()), (D{2, 0}));
}

}  // namespace
}  // namespace grapnel
