// Shared code of ops on batches of matrices: the last two dimensions are a matrix, the rest a
// batch.
#ifndef GRAPNEL_KERNELS_CPU_LINALG_LINEAR_ALGEBRA_H_
#define GRAPNEL_KERNELS_CPU_LINALG_LINEAR_ALGEBRA_H_

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {

template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

using LinearTypes = TypeList<float, double, Complex64, Complex128>;
// The type to compute in: float for half and bfloat16.
template <typename T>
using LinearCompute = std::conditional_t<kIsSmallFloat<T>, float, T>;

struct MatrixBatch {
  Dims batch;
  int64_t count = 0, rows = 0, columns = 0;
  int64_t size() const { return rows * columns; }
  // Returns the batch dims followed by `last`.
  Dims With(std::initializer_list<int64_t> last) const {
    Dims dims = batch;
    dims.append(last.begin(), last.end());
    return dims;
  }
};

// `name` is the input's name, for the error.
inline Expected<MatrixBatch> BatchOf(const Tensor& tensor, const char* name, bool square) {
  MatrixBatch batch;
  int rank = tensor.rank();
  if (rank < 2)
    return MakeError("{0} must have rank 2 or more, not shape {1}", name, DimsText(tensor.dims()));
  batch.batch.assign(tensor.dims().begin(), tensor.dims().end() - 2);
  batch.count = NumElements(batch.batch).value_or(0);
  batch.rows = tensor.dim(rank - 2);
  batch.columns = tensor.dim(rank - 1);
  if (square && batch.rows != batch.columns)
    return MakeError("{0} must be square matrices, not shape {1}", name, DimsText(tensor.dims()));
  return batch;
}

template <typename T>
T Conjugated(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}

template <typename T>
RowMatrix<LinearCompute<T>> MatrixAt(const Tensor& tensor, int64_t index, int64_t rows,
                                     int64_t columns) {
  return Eigen::Map<const RowMatrix<T>>(tensor.data<T>() + index * rows * columns, rows, columns)
      .template cast<LinearCompute<T>>();
}

template <typename T, typename M>
void StoreMatrix(const M& matrix, Tensor& tensor, int64_t index) {
  Eigen::Map<RowMatrix<T>>(tensor.data<T>() + index * matrix.size(), matrix.rows(), matrix.cols()) =
      matrix.template cast<T>();
}

// Returns Kernel<T>(setup) as a kernel, for the T in Types that is the dtype of input 0.
template <template <typename> typename Kernel, typename Types>
Expected<KernelFn> MakeLinear(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.input_type(0), Types(), [&](auto tag) {
    fn = Kernel<typename decltype(tag)::type>(setup);
    return true;
  });
  if (!fn) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  return fn;
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_LINALG_LINEAR_ALGEBRA_H_
