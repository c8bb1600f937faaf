// Lu, MatrixSolveLs, Eig and CholeskyGrad.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/indices.h"
#include "kernels/cpu/linalg/eigen_loader.h"
#include "kernels/cpu/linalg/linear_algebra.h"

namespace grapnel {
namespace {

double CubeCost(int64_t n) { return 50 + 5.0 * n * n * n; }

template <typename T>
struct Lu {
  explicit Lu(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    int64_t n = batch.rows;
    ASSIGN_OR_RETURN(Tensor * lu, ctx.Allocate(0, in.dims()));
    ASSIGN_OR_RETURN(Tensor * rows, ctx.Allocate(1, batch.With({n})));
    if (in.num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<T>* eigen, EigenModule());
    std::atomic<bool> good{true};
    ctx.ParallelFor(batch.count, CubeCost(n) / 5, [&](int64_t begin, int64_t end) {
      std::vector<int64_t> order(n);
      for (int64_t i = begin; i < end; ++i) {
        if (!eigen->lu(in.data<T>() + i * n * n, n, lu->data<T>() + i * n * n, order.data()))
          good = false;
        for (int64_t k = 0; k < n; ++k) PutIndex(*rows, i * n + k, order[k]);
      }
    });
    return good ? Error::success() : MakeError("the input is not invertible");
  }
};

template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, Complex128, double>;
// Solves (a^H a + l2) x = a^H b, or x = a^H (a a^H + l2)^-1 b when `a` [m, n] has fewer rows than
// columns. False if the matrix in parentheses has no Cholesky factor.
template <typename W>
bool SolveNormalEquations(const EigenWideTable<W>& eigen, const W* a, int64_t m, int64_t n,
                          double l2, const W* b, int64_t columns, W* x) {
  bool tall = m >= n;
  int64_t k = tall ? n : m, inner = tall ? m : n;
  auto left = [&](int64_t i, int64_t j) {  // [k, inner]
    return tall ? Conjugated(a[j * n + i]) : a[i * n + j];
  };
  std::vector<W> gram(k * k), lower(k * k), side(k * columns);
  for (int64_t i = 0; i < k; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      W sum = i == j ? W(l2) : W(0);
      for (int64_t r = 0; r < inner; ++r) sum += left(i, r) * Conjugated(left(j, r));
      gram[i * k + j] = sum;
    }
    for (int64_t c = 0; c < columns; ++c) {
      W sum = tall ? W(0) : b[i * columns + c];
      for (int64_t r = 0; tall && r < m; ++r) sum += left(i, r) * b[r * columns + c];
      side[i * columns + c] = sum;
    }
  }
  if (!eigen.cholesky(gram.data(), k, lower.data())) return false;
  eigen.solve_triangle(lower.data(), k, true, false, columns, side.data());
  eigen.solve_triangle(lower.data(), k, true, true, columns, side.data());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < columns; ++c) {
      W sum = tall ? side[i * columns + c] : W(0);
      for (int64_t r = 0; !tall && r < m; ++r)
        sum += Conjugated(a[r * n + i]) * side[r * columns + c];
      x[i * columns + c] = sum;
    }
  }
  return true;
}

// Computes the x of least norm that minimizes |a * x - b|, ignoring negligible singular values,
// which would amplify errors.
template <typename W>
void SolveBySvd(const EigenWideTable<W>& eigen, const W* a, int64_t m, int64_t n, const W* b,
                int64_t columns, W* x) {
  int64_t k = std::min(m, n);
  std::vector<double> s(k);
  std::vector<W> u(m * k), v(n * k);
  eigen.svd(a, m, n, false, s.data(), u.data(), v.data());
  double least = s[0] * static_cast<double>(k) * std::numeric_limits<double>::epsilon();
  std::fill_n(x, n * columns, W(0));
  for (int64_t j = 0; j < k && s[j] > least; ++j) {
    for (int64_t c = 0; c < columns; ++c) {
      W part = W(0);
      for (int64_t i = 0; i < m; ++i) part += Conjugated(u[i * k + j]) * b[i * columns + c];
      for (int64_t i = 0; i < n; ++i) x[i * columns + c] += v[i * k + j] * part / s[j];
    }
  }
}

// Solves by the normal equations if `fast`; otherwise by singular values, without the regularizer,
// as in TensorFlow. Computes in double for every dtype.
template <typename T>
struct LeastSquares {
  bool fast;
  explicit LeastSquares(const KernelSetup& setup) : fast(setup.node().GetBool("fast", true)) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor &matrix = ctx.input(0), &right = ctx.input(1), &l2 = ctx.input(2);
    ASSIGN_OR_RETURN(MatrixBatch left, BatchOf(matrix, "matrix", false));
    ASSIGN_OR_RETURN(MatrixBatch sides, BatchOf(right, "rhs", false));
    if (left.batch != sides.batch || left.rows != sides.rows)
      return MakeError(
          "rhs must have the batch dimensions and the number of rows of the matrix, whose shape is "
          "{0}, got shape {1}",
          DimsText(matrix.dims()), DimsText(right.dims()));
    if (l2.num_elements() != 1 || !(l2.data<double>()[0] >= 0))
      return MakeError("l2_regularizer must be one number of 0 or more");
    int64_t m = left.rows, n = left.columns, columns = sides.columns;
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, left.With({n, columns})));
    if (m == 0 || columns == 0 || n == 0) {
      std::fill_n(out->data<T>(), out->num_elements(), T(0));
      return Error::success();
    }
    ASSIGN_OR_RETURN(const EigenWideTable<Wide<T>>* eigen, EigenModule());
    double weight = l2.data<double>()[0];
    std::atomic<bool> good{true};
    ctx.ParallelFor(left.count, CubeCost(std::max(m, n)), [&](int64_t begin, int64_t end) {
      std::vector<Wide<T>> a(m * n), b(m * columns), x(n * columns);
      for (int64_t i = begin; i < end; ++i) {
        std::copy_n(matrix.data<T>() + i * m * n, m * n, a.begin());
        std::copy_n(right.data<T>() + i * m * columns, m * columns, b.begin());
        // The SVD iteration does not terminate on values that are not finite. Such a matrix has no
        // usable singular value, so the x of least norm is 0, as in TensorFlow (NaN if `fast`).
        bool finite = std::all_of(a.begin(), a.end(),
                                  [](Wide<T> value) { return std::isfinite(std::abs(value)); });
        if (!finite)
          std::fill(x.begin(), x.end(), Wide<T>(fast ? std::nan("") : 0));
        else if (!fast)
          SolveBySvd(*eigen, a.data(), m, n, b.data(), columns, x.data());
        else if (!SolveNormalEquations(*eigen, a.data(), m, n, weight, b.data(), columns, x.data()))
          good = false;
        for (int64_t k = 0; k < n * columns; ++k)
          out->data<T>()[i * n * columns + k] = static_cast<T>(x[k]);
      }
    });
    if (good) return Error::success();
    return MakeError(
        "the matrix is rank deficient or ill-conditioned: try fast=False or a larger "
        "l2_regularizer");
  }
};

// The outputs are complex for every input dtype.
template <typename T>
struct Eig {
  using Complex = EigenComplex<T>;
  bool vectors;
  explicit Eig(const KernelSetup& setup) : vectors(setup.node().GetBool("compute_v", true)) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    if (ctx.output_type(0) != DataTypeOf<Complex>())
      return MakeError("Tout must be {0} for an input of {1}, got {2}",
                       DataTypeName(DataTypeOf<Complex>()), DataTypeName(in.dtype()),
                       DataTypeName(ctx.output_type(0)));
    int64_t n = batch.rows;
    ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, batch.With({n})));
    ASSIGN_OR_RETURN(Tensor * v, ctx.Allocate(1, vectors ? batch.With({n, n}) : batch.batch));
    if (!vectors) std::fill_n(v->data<Complex>(), v->num_elements(), Complex(0));
    if (values->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<T>* eigen, EigenModule());
    std::atomic<bool> good{true};
    ctx.ParallelFor(batch.count, 5 * CubeCost(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* matrix = in.data<T>() + i * n * n;
        bool finite = std::all_of(matrix, matrix + n * n,
                                  [](T value) { return std::isfinite(std::abs(value)); });
        if (!finite || !eigen->decompose(matrix, n, values->data<Complex>() + i * n,
                                         vectors ? v->data<Complex>() + i * n * n : nullptr))
          good = false;
      }
    });
    return good ? Error::success()
                : MakeError(
                      "the eigenvalues of the input were not found: it has NaN or infinity, or the "
                      "iteration did not converge");
  }
};

// With P the lower triangle of L^T * grad and its diagonal halved, the gradient is the symmetric
// part of L^-T * P * L^-1 (Murray, "Differentiation of the Cholesky decomposition", 2016).
template <typename T>
struct CholeskyGradient {
  explicit CholeskyGradient(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor &factor = ctx.input(0), &grads = ctx.input(1);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(factor, "l", true));
    if (grads.dims() != factor.dims())
      return MakeError("grad must have shape {0}, got {1}", DimsText(factor.dims()),
                       DimsText(grads.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, factor.dims()));
    if (out->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<T>* eigen, EigenModule());
    int64_t n = batch.rows;
    ctx.ParallelFor(batch.count, CubeCost(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        RowMatrix<T> l = MatrixAt<T>(factor, i, n, n), g = MatrixAt<T>(grads, i, n, n);
        // Written as loops because Eigen's products take long to compile; the factors are
        // triangles, half of which is 0.
        RowMatrix<T> p = RowMatrix<T>::Zero(n, n);
        for (int64_t row = 0; row < n; ++row) {
          for (int64_t k = row; k < n; ++k) {
            for (int64_t column = 0; column <= row; ++column)
              p(row, column) += l(k, row) * g(k, column);
          }
          p(row, row) /= 2;
        }
        eigen->solve_triangle(l.data(), n, true, true, n, p.data());
        RowMatrix<T> s = p.transpose();
        eigen->solve_triangle(l.data(), n, true, true, n, s.data());
        RowMatrix<T> result = (s + s.transpose()) / T(2);
        StoreMatrix<T>(result, *out, i);
      }
    });
    return Error::success();
  }
};

using RealLinearTypes = TypeList<float, double>;
GRAPNEL_CPU_KERNEL("Lu", (MakeLinear<Lu, LinearTypes>), OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("MatrixSolveLs", (MakeLinear<LeastSquares, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("Eig", (MakeLinear<Eig, LinearTypes>), OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("CholeskyGrad", (MakeLinear<CholeskyGradient, RealLinearTypes>),
                   OfTypes("T", DataTypesOf(RealLinearTypes())));

}  // namespace
}  // namespace grapnel
