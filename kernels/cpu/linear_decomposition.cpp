// Cholesky, Qr and SelfAdjointEigV2. Eigen's decompositions take so long to compile that they are
// made for double alone: floats are widened.
#include <atomic>
#include <limits>

#include "Eigen/Cholesky"
#include "Eigen/Eigenvalues"
#include "Eigen/QR"
#include "kernels/cpu/linear_algebra.h"

namespace grapnel {
namespace {

double CubeCost(int64_t n) { return 50 + 5.0 * n * n * n; }

template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, Complex128, double>;

template <typename T>
RowMatrix<Wide<T>> WideAt(const Tensor& tensor, int64_t index, int64_t rows, int64_t columns) {
  return MatrixAt<T>(tensor, index, rows, columns).template cast<Wide<T>>();
}

template <typename T>
constexpr T NotANumber() {
  return T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
}

// Reads the lower triangle only. A matrix that is not positive definite gives NaN, as in
// TensorFlow.
template <typename T>
struct Cholesky {
  explicit Cholesky(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    if (out->num_elements() == 0) return Error::success();
    ctx.ParallelFor(batch.count, CubeCost(batch.rows) / 5, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        using M = RowMatrix<Wide<T>>;
        Eigen::LLT<M, Eigen::Lower> llt(WideAt<T>(in, i, batch.rows, batch.rows));
        M lower = llt.matrixL();
        if (llt.info() != Eigen::Success)
          lower.template triangularView<Eigen::Lower>().setConstant(NotANumber<Wide<T>>());
        StoreMatrix<T>(lower, *out, i);
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
    ctx.ParallelFor(batch.count, CubeCost(std::max(m, n)), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (batch.size() == 0) {
          StoreMatrix<T>(RowMatrix<T>::Identity(m, k).eval(), *q, i);
          continue;
        }
        using M = RowMatrix<Wide<T>>;
        Eigen::HouseholderQR<M> qr(WideAt<T>(in, i, m, n));
        M left = M::Identity(m, k);
        left.applyOnTheLeft(qr.householderQ());
        M right = qr.matrixQR().topRows(k).template triangularView<Eigen::Upper>();
        StoreMatrix<T>(left, *q, i);
        StoreMatrix<T>(right, *r, i);
      }
    });
    return Error::success();
  }
};

// Eigenvalues rise. Without vectors the second output has the batch's dims, and holds zeros.
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
    std::atomic<bool> good{true};
    ctx.ParallelFor(batch.count, CubeCost(n), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        using M = RowMatrix<Wide<T>>;
        Eigen::SelfAdjointEigenSolver<M> solver(
            WideAt<T>(in, i, n, n), vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
        if (solver.info() != Eigen::Success) {
          good = false;
          continue;
        }
        for (int64_t j = 0; j < n; ++j)
          values->data<T>()[i * n + j] = static_cast<T>(solver.eigenvalues()[j]);
        if (vectors) StoreMatrix<T>(M(solver.eigenvectors()), *v, i);
      }
    });
    return good ? Error::success() : MakeError("the eigenvalues of the input were not found");
  }
};

GRAPNEL_CPU_KERNEL("Cholesky", "T", DataTypesOf(LinearTypes()), KernelCost::kElements,
                   (MakeLinear<Cholesky, LinearTypes>));
GRAPNEL_CPU_KERNEL("Qr", "T", DataTypesOf(LinearTypes()), KernelCost::kElements,
                   (MakeLinear<Qr, LinearTypes>));
GRAPNEL_CPU_KERNEL("SelfAdjointEigV2", "T", DataTypesOf(LinearTypes()), KernelCost::kElements,
                   (MakeLinear<SelfAdjointEig, LinearTypes>));

}  // namespace
}  // namespace grapnel
