// Svd: input = u * diag(s) * v^H, with s falling. Eigen's decomposition takes so long to compile
// that it is made for double alone: floats are widened.
#include <limits>

#include "Eigen/SVD"
#include "kernels/cpu/linear_algebra.h"

namespace grapnel {
namespace {

template <typename T>
using Wide = std::conditional_t<kIsComplex<T>, Complex128, double>;

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
    // Without vectors these have the batch's dims, and hold zeros.
    ASSIGN_OR_RETURN(Tensor * u,
                     ctx.Allocate(1, vectors ? batch.With({m, full ? m : k}) : batch.batch));
    ASSIGN_OR_RETURN(Tensor * v,
                     ctx.Allocate(2, vectors ? batch.With({n, full ? n : k}) : batch.batch));
    if (!vectors) {
      std::fill_n(u->data<T>(), u->num_elements(), T(0));
      std::fill_n(v->data<T>(), v->num_elements(), T(0));
    }
    ctx.ParallelFor(batch.count, 50 + 20.0 * m * n * k, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Decompose(in, i, m, n, *s, *u, *v);
    });
    return Error::success();
  }

 private:
  void Decompose(const Tensor& in, int64_t i, int64_t m, int64_t n, Tensor& s, Tensor& u,
                 Tensor& v) const {
    using Matrix = RowMatrix<Wide<T>>;
    int64_t k = std::min(m, n), u_columns = full ? m : k, v_columns = full ? n : k;
    if (k == 0) {
      if (vectors) StoreMatrix<T>(Matrix::Identity(m, u_columns).eval(), u, i);
      if (vectors) StoreMatrix<T>(Matrix::Identity(n, v_columns).eval(), v, i);
      return;
    }
    unsigned options = !vectors ? 0
                       : full   ? Eigen::ComputeFullU | Eigen::ComputeFullV
                                : Eigen::ComputeThinU | Eigen::ComputeThinV;
    Matrix matrix = MatrixAt<T>(in, i, m, n).template cast<Wide<T>>();
    // The iteration does not end on numbers that are none.
    if (!matrix.allFinite()) {
      T nan = T(std::numeric_limits<typename Eigen::NumTraits<T>::Real>::quiet_NaN());
      std::fill_n(s.data<T>() + i * k, k, nan);
      if (vectors) std::fill_n(u.data<T>() + i * m * u_columns, m * u_columns, nan);
      if (vectors) std::fill_n(v.data<T>() + i * n * v_columns, n * v_columns, nan);
      return;
    }
    Eigen::BDCSVD<Matrix> svd(matrix, options);
    for (int64_t j = 0; j < k; ++j)
      s.data<T>()[i * k + j] = static_cast<T>(svd.singularValues()[j]);
    if (!vectors) return;
    StoreMatrix<T>(Matrix(svd.matrixU()), u, i);
    StoreMatrix<T>(Matrix(svd.matrixV()), v, i);
  }
};

GRAPNEL_CPU_KERNEL("Svd", "T", DataTypesOf(LinearTypes()), KernelCost::kElements,
                   (MakeLinear<Svd, LinearTypes>));

}  // namespace
}  // namespace grapnel
