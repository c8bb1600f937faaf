// MatrixDeterminant, LogMatrixDeterminant, MatrixInverse, MatrixSolve and MatrixTriangularSolve.
#include <atomic>
#include <cmath>

#include "kernels/common/broadcast.h"
#include "kernels/cpu/linalg/eigen_loader.h"
#include "kernels/cpu/linalg/linear_algebra.h"

namespace grapnel {
namespace {

using SolveTypes = Join<LinearTypes, TypeList<Eigen::half>>;
using TriangularTypes = Join<LinearTypes, TypeList<Eigen::bfloat16>>;

double CubeCost(int64_t n) { return 50 + 0.7 * n * n * n; }

template <typename T>
struct LogDeterminant {
  T sign = T(1);
  typename Eigen::NumTraits<T>::Real log_abs = 0;
};

// The determinant is 1 for the empty matrix and NaN if an element is NaN; a singular matrix has
// sign 0 and log_abs -infinity.
template <typename T>
LogDeterminant<T> LogDeterminantOf(const EigenTable<T>& eigen, const RowMatrix<T>& matrix) {
  LogDeterminant<T> result;
  if (matrix.size() == 0) return result;
  T log_abs;
  eigen.log_determinant(matrix.data(), matrix.rows(), &result.sign, &log_abs);
  result.log_abs = std::real(log_abs);
  return result;
}

template <typename T>
struct Determinant {
  bool log;
  explicit Determinant(const KernelSetup& setup) : log(setup.num_outputs() == 2) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, batch.batch));
    Tensor* logs = nullptr;
    if (log) {
      ASSIGN_OR_RETURN(logs, ctx.Allocate(1, batch.batch));
    }
    using Compute = LinearCompute<T>;
    ASSIGN_OR_RETURN(const EigenTable<Compute>* eigen, EigenModule());
    ctx.ParallelFor(batch.count, CubeCost(batch.rows), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto result = LogDeterminantOf(*eigen, MatrixAt<T>(in, i, batch.rows, batch.rows));
        if (log) {
          out->data<T>()[i] = static_cast<T>(result.sign);
          logs->data<T>()[i] = static_cast<T>(result.log_abs);
        } else {
          out->data<T>()[i] = static_cast<T>(MulOf<Compute>(result.sign, std::exp(result.log_abs)));
        }
      }
    });
    return Error::success();
  }
};

template <typename T>
struct Inverse {
  bool adjoint;
  explicit Inverse(const KernelSetup& setup) : adjoint(setup.node().GetBool("adjoint")) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(MatrixBatch batch, BatchOf(in, "input", true));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
    if (out->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<LinearCompute<T>>* eigen, EigenModule());
    std::atomic<bool> good{true};
    ctx.ParallelFor(batch.count, 3 * CubeCost(batch.rows), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto matrix = MatrixAt<T>(in, i, batch.rows, batch.rows);
        auto inverse = matrix;
        if (!eigen->solve(matrix.data(), batch.rows, adjoint, nullptr, batch.rows, inverse.data()))
          good = false;
        StoreMatrix<T>(inverse, *out, i);
      }
    });
    return good ? Error::success() : MakeError("the input is not invertible");
  }
};

template <typename T>
struct Solve {
  bool adjoint;
  explicit Solve(const KernelSetup& setup) : adjoint(setup.node().GetBool("adjoint")) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor &matrix = ctx.input(0), &right = ctx.input(1);
    ASSIGN_OR_RETURN(MatrixBatch left, BatchOf(matrix, "matrix", true));
    ASSIGN_OR_RETURN(MatrixBatch sides, BatchOf(right, "rhs", false));
    if (left.batch != sides.batch || left.rows != sides.rows)
      return MakeError(
          "rhs must have the batch dimensions and the number of rows of the matrix, whose shape is "
          "{0}, got shape {1}",
          DimsText(matrix.dims()), DimsText(right.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, right.dims()));
    if (out->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<LinearCompute<T>>* eigen, EigenModule());
    std::atomic<bool> good{true};
    ctx.ParallelFor(left.count, CubeCost(left.rows), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        auto a = MatrixAt<T>(matrix, i, left.rows, left.rows);
        auto b = MatrixAt<T>(right, i, sides.rows, sides.columns);
        auto x = b;
        if (!eigen->solve(a.data(), left.rows, adjoint, b.data(), sides.columns, x.data()))
          good = false;
        StoreMatrix<T>(x, *out, i);
      }
    });
    return good ? Error::success() : MakeError("the matrix is not invertible");
  }
};

template <typename T>
struct TriangularSolve {
  bool lower, adjoint;
  explicit TriangularSolve(const KernelSetup& setup)
      : lower(setup.node().GetBool("lower", true)), adjoint(setup.node().GetBool("adjoint")) {}

  Error operator()(KernelContext& ctx) const {
    const Tensor &matrix = ctx.input(0), &right = ctx.input(1);
    ASSIGN_OR_RETURN(MatrixBatch left, BatchOf(matrix, "matrix", true));
    ASSIGN_OR_RETURN(MatrixBatch sides, BatchOf(right, "rhs", false));
    if (left.rows != sides.rows)
      return MakeError("rhs must have {0} rows for a matrix of shape {1}, got shape {2}", left.rows,
                       DimsText(matrix.dims()), DimsText(right.dims()));
    ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({left.batch, sides.batch}));
    Dims dims = plan.dims;
    dims.append({sides.rows, sides.columns});
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    ASSIGN_OR_RETURN(const EigenTable<LinearCompute<T>>* eigen, EigenModule());
    double cost = 30 + 0.7 * sides.rows * sides.size();
    ctx.ParallelFor(plan.total, cost, [&](int64_t begin, int64_t end) {
      plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
        int64_t left_step = plan.strides[0].back(), right_step = plan.strides[1].back();
        for (int64_t i = 0; i < n; ++i) {
          auto a = MatrixAt<T>(matrix, offsets[0] + i * left_step, left.rows, left.rows);
          auto x = MatrixAt<T>(right, offsets[1] + i * right_step, sides.rows, sides.columns);
          eigen->solve_triangle(a.data(), left.rows, lower, adjoint, sides.columns, x.data());
          StoreMatrix<T>(x, *out, at + i);
        }
      });
    });
    return Error::success();
  }
};

GRAPNEL_CPU_KERNEL("MatrixDeterminant", (MakeLinear<Determinant, SolveTypes>),
                   OfTypes("T", DataTypesOf(SolveTypes())));
GRAPNEL_CPU_KERNEL("LogMatrixDeterminant", (MakeLinear<Determinant, SolveTypes>),
                   OfTypes("T", DataTypesOf(SolveTypes())));
GRAPNEL_CPU_KERNEL("MatrixInverse", (MakeLinear<Inverse, SolveTypes>),
                   OfTypes("T", DataTypesOf(SolveTypes())));
GRAPNEL_CPU_KERNEL("MatrixSolve", (MakeLinear<Solve, SolveTypes>),
                   OfTypes("T", DataTypesOf(SolveTypes())));
GRAPNEL_CPU_KERNEL("MatrixTriangularSolve", (MakeLinear<TriangularSolve, TriangularTypes>),
                   OfTypes("T", DataTypesOf(TriangularTypes())));

}  // namespace
}  // namespace grapnel
