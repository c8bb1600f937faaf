// Cholesky, Qr, SelfAdjointEigV2 and Svd. Without vectors, SelfAdjointEigV2 and Svd fill their
// vector outputs, which have the batch's shape, with zeros.
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/cpu/linalg/eigen_loader.h"
#include "kernels/cpu/linalg/linear_algebra.h"

namespace grapnel {
namespace {

template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, Complex128, double>;
template <typename T>
using WideVector = std::vector<Wide<T>>;

double CubeCost(int64_t n) { return 50 + 5.0 * n * n * n; }

// Returns matrix `index` of a batch in double.
template <typename T>
WideVector<T> WideAt(const Tensor& tensor, int64_t index, int64_t size) {
  const T* from = tensor.data<T>() + index * size;
  WideVector<T> wide(size);
  for (int64_t i = 0; i < size; ++i) wide[i] = static_cast<Wide<T>>(from[i]);
  return wide;
}

template <typename T, typename W>
void StoreAt(const std::vector<W>& wide, Tensor& tensor, int64_t index) {
  T* to = tensor.data<T>() + index * static_cast<int64_t>(wide.size());
  for (size_t i = 0; i < wide.size(); ++i) to[i] = static_cast<T>(wide[i]);
}

template <typename T>
WideVector<T> Identity(int64_t rows, int64_t columns) {
  WideVector<T> matrix(rows * columns);
  for (int64_t i = 0; i < std::min(rows, columns); ++i) matrix[i * columns + i] = 1;
  return matrix;
}

template <typename T>
bool AllFinite(const std::vector<T>& values) {
  for (T value : values) {
    if (!std::isfinite(std::abs(value))) return false;
  }
  return true;
}

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// Reads only the lower triangle. A matrix that is not positive definite gives NaN, as in
// TensorFlow.
template <typename T>
struct Cholesky {
  explicit Cholesky(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    if (out->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenWideTable<Wide<T>>* eigen, EigenModule());
    int64_t n = batch.rows;
    ctx.ParallelFor(batch.count, CubeCost(n) / 5, [&](int64_t begin, int64_t end) {
      WideVector<T> lower(n * n);
      for (int64_t i = begin; i < end; ++i) {
        bool good = eigen->cholesky(WideAt<T>(in, i, n * n).data(), n, lower.data());
        for (int64_t k = 0; !good && k < n * n; ++k) {
          if (k % n <= k / n) lower[k] = kNaN;
        }
        StoreAt<T>(lower, *out, i);
      }
    });
    return Error::success();
  }
};

template <typename T>
struct Qr {
  bool full;
  explicit Qr(const KernelSetup& setup) : full(setup.node().GetBool("full_matrices")) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", false));
    int64_t m = batch.rows, n = batch.columns, k = full ? m : std::min(m, n);
    ASSIGN_OR_RETURN(Tensor * q, ctx.Allocate(0, batch.With({m, k})));
    ASSIGN_OR_RETURN(Tensor * r, ctx.Allocate(1, batch.With({k, n})));
    ASSIGN_OR_RETURN(const EigenWideTable<Wide<T>>* eigen, EigenModule());
    ctx.ParallelFor(batch.count, CubeCost(std::max(m, n)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        WideVector<T> left = Identity<T>(m, k), right(k * n);
        if (batch.size() > 0)
          eigen->qr(WideAt<T>(in, i, m * n).data(), m, n, k, left.data(), right.data());
        StoreAt<T>(left, *q, i);
        StoreAt<T>(right, *r, i);
      }
    });
    return Error::success();
  }
};

template <typename T>
struct SelfAdjointEig {
  bool vectors;
  explicit SelfAdjointEig(const KernelSetup& setup)
      : vectors(setup.node().GetBool("compute_v", true)) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    int64_t n = batch.rows;
    ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(0, batch.With({n})));
    ASSIGN_OR_RETURN(Tensor * v, ctx.Allocate(1, vectors ? batch.With({n, n}) : batch.batch));
    if (!vectors) std::fill_n(v->data<T>(), v->num_elements(), T(0));
    if (values->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<T>* eigen, EigenModule());
    std::atomic<bool> good{true};
    ctx.ParallelFor(batch.count, CubeCost(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (!eigen->self_adjoint(in.data<T>() + i * n * n, n, values->data<T>() + i * n,
                                 vectors ? v->data<T>() + i * n * n : nullptr))
          good = false;
      }
    });
    return good ? Error::success()
                : MakeError(
                      "the eigenvalues of the input were not found: it has NaN or infinity, or the "
                      "iteration did not converge");
  }
};

// input = u * diag(s) * v^H, with s descending.
template <typename T>
struct Svd {
  bool vectors, full;
  explicit Svd(const KernelSetup& setup)
      : vectors(setup.node().GetBool("compute_uv", true)),
        full(setup.node().GetBool("full_matrices")) {}

  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", false));
    int64_t m = batch.rows, n = batch.columns, k = std::min(m, n);
    ASSIGN_OR_RETURN(Tensor * s, ctx.Allocate(0, batch.With({k})));
    ASSIGN_OR_RETURN(Tensor * u,
                     ctx.Allocate(1, vectors ? batch.With({m, full ? m : k}) : batch.batch));
    ASSIGN_OR_RETURN(Tensor * v,
                     ctx.Allocate(2, vectors ? batch.With({n, full ? n : k}) : batch.batch));
    if (!vectors) {
      std::fill_n(u->data<T>(), u->num_elements(), T(0));
      std::fill_n(v->data<T>(), v->num_elements(), T(0));
    }
    ASSIGN_OR_RETURN(const EigenWideTable<Wide<T>>* eigen, EigenModule());
    ctx.ParallelFor(batch.count, 50 + 20.0 * m * n * k, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Decompose(*eigen, in, i, m, n, *s, *u, *v);
    });
    return Error::success();
  }

 private:
  void Decompose(const EigenWideTable<Wide<T>>& eigen, const Tensor& in, int64_t i, int64_t m,
                 int64_t n, Tensor& s, Tensor& u, Tensor& v) const {
    int64_t k = std::min(m, n);
    std::vector<double> falling(k);
    WideVector<T> left, right, matrix = WideAt<T>(in, i, m * n);
    if (vectors) {
      left = Identity<T>(m, full ? m : k);
      right = Identity<T>(n, full ? n : k);
    }
    // The iteration does not terminate on values that are not finite.
    if (!AllFinite(matrix)) {
      std::fill(falling.begin(), falling.end(), kNaN);
      std::fill(left.begin(), left.end(), Wide<T>(kNaN));
      std::fill(right.begin(), right.end(), Wide<T>(kNaN));
    } else if (k > 0) {
      eigen.svd(matrix.data(), m, n, full, falling.data(), vectors ? left.data() : nullptr,
                vectors ? right.data() : nullptr);
    }
    StoreAt<T>(falling, s, i);
    if (vectors) StoreAt<T>(left, u, i);
    if (vectors) StoreAt<T>(right, v, i);
  }
};

using QrTypes = Join<LinearTypes, TypeList<Eigen::half>>;
GRAPNEL_CPU_KERNEL("Cholesky", (MakeLinear<Cholesky, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("Qr", (MakeLinear<Qr, QrTypes>), OfTypes("T", DataTypesOf(QrTypes())));
GRAPNEL_CPU_KERNEL("SelfAdjointEigV2", (MakeLinear<SelfAdjointEig, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("Svd", (MakeLinear<Svd, LinearTypes>), OfTypes("T", DataTypesOf(LinearTypes())));

}  // namespace
}  // namespace grapnel
