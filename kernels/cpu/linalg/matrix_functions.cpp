// MatrixSquareRoot and MatrixLogarithm by the Schur form: both can be computed for an upper
// triangle element by element (Higham, "Functions of matrices", 2008, algorithms 6.3 and 11.9).
#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "kernels/cpu/linalg/eigen_loader.h"
#include "kernels/cpu/linalg/linear_algebra.h"

namespace grapnel {
namespace {

using Complex = Complex128;
using Square = std::vector<Complex>;  // row-major; an upper triangle where stated

// Returns the triangle r with r * r = t.
Square TriangleRoot(const Square& t, int64_t n) {
  Square r(n * n);
  for (int64_t j = 0; j < n; ++j) {
    r[j * n + j] = std::sqrt(t[j * n + j]);
    for (int64_t i = j; i-- > 0;) {
      Complex sum = t[i * n + j];
      for (int64_t k = i + 1; k < j; ++k) sum -= r[i * n + k] * r[k * n + j];
      Complex divisor = r[i * n + i] + r[j * n + j];
      // Avoids 0 / 0 if both eigenvalues and the sum are 0.
      r[i * n + j] = sum == Complex(0) ? sum : sum / divisor;
    }
  }
  return r;
}

// Solves (1 + at * x) y = x for triangles and adds weight * y to the result.
void AddFraction(const Square& x, int64_t n, double at, double weight, Square& result) {
  Square y = x;
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = j + 1; i-- > 0;) {
      Complex sum = y[i * n + j];
      for (int64_t k = i + 1; k <= j; ++k) sum -= at * x[i * n + k] * y[k * n + j];
      y[i * n + j] = sum / (1.0 + at * x[i * n + i]);
      result[i * n + j] += weight * y[i * n + j];
    }
  }
}

// Takes square roots until the triangle is near 1. Then log(1 + x) is the integral of x / (1 + s x)
// over s from 0 to 1, for which 8-point Gauss-Legendre quadrature is accurate enough.
Square TriangleLogarithm(Square t, int64_t n) {
  constexpr double kPlaces[] = {0.1834346424956498, 0.5255324099163290, 0.7966664774136267,
                                0.9602898564975363};
  constexpr double kWeights[] = {0.3626837833783620, 0.3137066458778873, 0.2223810344533745,
                                 0.1012285362903763};
  constexpr int kMostRoots = 100;
  auto distance = [&] {
    double most = 0;
    for (int64_t i = 0; i < n; ++i) {
      double row = 0;
      for (int64_t j = i; j < n; ++j) row += std::abs(t[i * n + j] - (i == j ? 1.0 : 0.0));
      most = std::max(most, row);
    }
    return most;
  };
  int roots = 0;
  for (; roots < kMostRoots && distance() > 0.1; ++roots) t = TriangleRoot(t, n);
  Square log(n * n), &x = t;
  for (int64_t i = 0; i < n; ++i) x[i * n + i] -= 1.0;
  for (int k = 0; k < 4; ++k) {
    for (double sign : {-1.0, 1.0})
      AddFraction(x, n, (1 + sign * kPlaces[k]) / 2, kWeights[k] / 2, log);
  }
  for (Complex& value : log) value *= std::ldexp(1.0, roots);
  return log;
}

// Returns u * t * u^H for a triangle t.
Square Turned(const Square& u, const Square& t, int64_t n) {
  Square half(n * n), out(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = k; j < n; ++j) half[i * n + j] += u[i * n + k] * t[k * n + j];
    }
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t k = 0; k < n; ++k) out[i * n + j] += half[i * n + k] * std::conj(u[j * n + k]);
    }
  }
  return out;
}

// True if the imaginary parts are only rounding errors.
bool IsReal(const Square& square) {
  double beside = 0, most = 0;
  for (const Complex& value : square) {
    beside = std::max(beside, std::abs(value.imag()));
    most = std::max(most, std::abs(value));
  }
  return beside <= 1e-7 * most;
}

template <typename T, bool kLog>
Error MapMatrices(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  if (in.num_elements() == 0) return Error::success();
  ASSIGN_OR_RETURN(const EigenApi* eigen, EigenModule());
  int64_t n = batch.rows;
  std::atomic<bool> good{true};
  ctx.ParallelFor(batch.count, 100 + 30.0 * n * n * n, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Square from(n * n), triangle(n * n), u(n * n), to(n * n, Complex(std::nan("")));
      bool finite = true;
      for (int64_t k = 0; k < n * n; ++k) {
        from[k] = Complex(in.data<T>()[i * n * n + k]);
        finite &= std::isfinite(std::abs(from[k]));
      }
      // The Schur iteration does not terminate on values that are not finite.
      if (finite && eigen->schur(from.data(), n, triangle.data(), u.data()))
        to = Turned(u, kLog ? TriangleLogarithm(triangle, n) : TriangleRoot(triangle, n), n);
      else if (finite)
        good = false;
      // With a negative eigenvalue the principal root is not real.
      if (!kIsComplex<T> && !IsReal(to)) to.assign(n * n, Complex(std::nan("")));
      for (int64_t k = 0; k < n * n; ++k) {
        if constexpr (kIsComplex<T>)
          out->data<T>()[i * n * n + k] = static_cast<T>(to[k]);
        else
          out->data<T>()[i * n * n + k] = static_cast<T>(to[k].real());
      }
    }
  });
  return good ? Error::success()
              : MakeError(
                    "the Schur form of the input was not found: the iteration did not converge");
}

template <typename T>
struct SquareRoot {
  explicit SquareRoot(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const { return MapMatrices<T, false>(ctx); }
};
template <typename T>
struct Logarithm {
  explicit Logarithm(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const { return MapMatrices<T, true>(ctx); }
};

GRAPNEL_CPU_KERNEL("MatrixSquareRoot", (MakeLinear<SquareRoot, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("MatrixLogarithm", (MakeLinear<Logarithm, ComplexTypes>),
                   OfTypes("T", DataTypesOf(ComplexTypes())));

}  // namespace
}  // namespace grapnel
