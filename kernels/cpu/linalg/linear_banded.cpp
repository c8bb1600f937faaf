// Matrices with few diagonals: TridiagonalSolve, TridiagonalMatMul and BandedTriangularSolve.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "kernels/common/broadcast.h"
#include "kernels/cpu/linalg/linear_algebra.h"

namespace grapnel {
namespace {

// Eliminates in place without pivoting; `x` [n, columns] holds the right-hand side first. False if
// a pivot is 0.
template <typename T>
bool EliminateAsTheyAre(const T* upper, const T* main, const T* lower, int64_t n, int64_t columns,
                        T* x) {
  std::vector<T> factor(n);
  for (int64_t i = 0; i < n; ++i) {
    T pivot = i == 0 ? main[0] : main[i] - lower[i] * factor[i - 1];
    if (pivot == T(0)) return false;
    factor[i] = i + 1 < n ? upper[i] / pivot : T(0);
    for (int64_t c = 0; c < columns; ++c) {
      T above = i == 0 ? T(0) : lower[i] * x[(i - 1) * columns + c];
      x[i * columns + c] = (x[i * columns + c] - above) / pivot;
    }
  }
  for (int64_t i = n - 1; i-- > 0;) {
    for (int64_t c = 0; c < columns; ++c)
      x[i * columns + c] -= factor[i] * x[(i + 1) * columns + c];
  }
  return true;
}

// EliminateAsTheyAre with partial pivoting, which fills one more diagonal.
template <typename T>
bool EliminateWithPivots(const T* upper, const T* main, const T* lower, int64_t n, int64_t columns,
                         T* x) {
  std::vector<std::array<T, 3>> rows(n);  // from the diagonal to the right
  T diagonal = main[0], next = n > 1 ? upper[0] : T(0);
  for (int64_t i = 0; i + 1 < n; ++i) {
    T below = lower[i + 1], right = i + 2 < n ? upper[i + 1] : T(0);
    T* here = x + i * columns;
    T* there = here + columns;
    if (std::abs(diagonal) >= std::abs(below)) {
      if (diagonal == T(0)) return false;
      rows[i] = {diagonal, next, T(0)};
      T times = below / diagonal;
      diagonal = main[i + 1] - times * next;
      next = right;
      for (int64_t c = 0; c < columns; ++c) there[c] -= times * here[c];
    } else {
      rows[i] = {below, main[i + 1], right};
      T times = diagonal / below;
      diagonal = next - times * main[i + 1];
      next = -times * right;
      for (int64_t c = 0; c < columns; ++c) {
        std::swap(here[c], there[c]);
        there[c] -= times * here[c];
      }
    }
  }
  if (diagonal == T(0)) return false;
  rows[n - 1] = {diagonal, T(0), T(0)};
  for (int64_t i = n; i-- > 0;) {
    for (int64_t c = 0; c < columns; ++c) {
      T value = x[i * columns + c];
      if (i + 1 < n) value -= rows[i][1] * x[(i + 1) * columns + c];
      if (i + 2 < n) value -= rows[i][2] * x[(i + 2) * columns + c];
      x[i * columns + c] = value / rows[i][0];
    }
  }
  return true;
}

template <typename T>
using Magnitude = decltype(std::abs(T()));

// The result of an elimination: the rows from the diagonal to the right, and the largest magnitude
// of their elements. As in TensorFlow, the second-to-last row does not count unless it is the
// first.
template <typename T>
struct Eliminated {
  std::vector<std::array<T, 3>> rows;
  Magnitude<T> most;
};

// Eliminates with the pivot that is larger relative to its row, for matrices that may be singular
// (LAPACK's xLAGTF).
template <typename T>
Eliminated<T> EliminateByScale(const T* upper, const T* main, const T* lower, int64_t n,
                               int64_t columns, T* x) {
  std::vector<std::array<T, 3>> rows(n);
  rows[0] = {main[0], n > 1 ? upper[0] : T(0), T(0)};
  Magnitude<T> most = std::max(std::abs(rows[0][0]), std::abs(rows[0][1]));
  Magnitude<T> scale = std::abs(rows[0][0]) + std::abs(rows[0][1]);
  for (int64_t i = 0; i + 1 < n; ++i) {
    T below = lower[i + 1], next = main[i + 1], right = i + 2 < n ? upper[i + 1] : T(0);
    auto next_scale = std::abs(below) + std::abs(next) + std::abs(right);
    T *here = x + i * columns, *there = here + columns, times = T(0);
    std::array<T, 3>& row = rows[i];
    if (below == T(0)) {
      scale = next_scale;
      rows[i + 1] = {next, right, T(0)};
    } else if (row[0] != T(0) && std::abs(below) / next_scale <= std::abs(row[0]) / scale) {
      scale = next_scale;
      times = below / row[0];
      rows[i + 1] = {next - times * row[1], right, T(0)};
    } else {
      times = row[0] / below;
      rows[i + 1] = {row[1] - times * next, -times * right, T(0)};
      row = {below, next, right};
      for (int64_t c = 0; c < columns; ++c) std::swap(here[c], there[c]);
    }
    for (int64_t c = 0; below != T(0) && c < columns; ++c) there[c] -= times * here[c];
    for (int k = 0; i + 2 < n && k < 3; ++k) most = std::max(most, std::abs(row[k]));
  }
  return {rows, std::max(most, std::abs(rows[n - 1][0]))};
}

// Moves a pivot away from 0, or scales its row, until dividing the row does not overflow (LAPACK's
// xLAGTS).
template <typename T>
T Perturbed(T pivot, Magnitude<T> by, int64_t columns, T* row) {
  using Real = Magnitude<T>;
  constexpr Real kLeast = std::numeric_limits<Real>::min(), kMost = 1 / kLeast;
  by = std::copysign(std::max(by, kLeast), std::real(pivot));
  Real largest = 0;
  for (int64_t c = 0; c < columns; ++c) largest = std::max(largest, std::abs(row[c]));
  while (std::abs(pivot) < 1) {
    Real size = std::abs(pivot);
    bool overflows = size < kLeast ? size == 0 || largest * kLeast > size : largest > size * kMost;
    if (overflows) {
      pivot += by;
      by *= 2;
      continue;
    }
    if (size < kLeast) {
      pivot *= kMost;
      for (int64_t c = 0; c < columns; ++c) row[c] *= kMost;
    }
    break;
  }
  return pivot;
}

template <typename T>
bool EliminateAndPerturb(const T* upper, const T* main, const T* lower, int64_t n, int64_t columns,
                         T* x) {
  auto [rows, most] = EliminateByScale(upper, main, lower, n, columns, x);
  Magnitude<T> by = std::numeric_limits<Magnitude<T>>::epsilon() * most;
  for (int64_t i = n; i-- > 0;) {
    T* here = x + i * columns;
    for (int64_t c = 0; c < columns; ++c) {
      if (i + 1 < n) here[c] -= rows[i][1] * here[c + columns];
      if (i + 2 < n) here[c] -= rows[i][2] * here[c + 2 * columns];
    }
    T factor = T(1) / Perturbed(rows[i][0], by, columns, here);
    for (int64_t c = 0; c < columns; ++c) here[c] *= factor;
  }
  return true;
}

template <typename T>
struct TridiagonalSolve {
  bool pivoting, perturb;
  explicit TridiagonalSolve(const KernelSetup& setup)
      : pivoting(setup.node().GetBool("partial_pivoting", true)),
        perturb(setup.node().GetBool("perturb_singular")) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor &diagonals = ctx.input(0), &right = ctx.input(1);
    if (perturb && !pivoting)
      return MakeError("perturb_singular requires partial_pivoting, which is false");
    ASSIGN_OR_RETURN(MatrixBatch left, BatchOf(diagonals, "diagonals", false));
    ASSIGN_OR_RETURN(MatrixBatch sides, BatchOf(right, "rhs", false));
    int64_t n = left.columns, columns = sides.columns;
    if (left.rows != 3)
      return MakeError("diagonals must have 3 rows, not shape {0}", DimsText(diagonals.dims()));
    if (left.batch != sides.batch || sides.rows != n)
      return MakeError(
          "rhs must have the batch dimensions of diagonals, whose shape is {0}, and as many rows "
          "as these have columns, got shape {1}",
          DimsText(diagonals.dims()), DimsText(right.dims()));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, right.dims()));
    if (out->num_elements() == 0) return Error::success();
    ctx.ParallelFor(left.count, 20.0 * n * (1 + columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* upper = diagonals.data<T>() + i * 3 * n;
        T* x = out->data<T>() + i * n * columns;
        std::copy_n(right.data<T>() + i * n * columns, n * columns, x);
        auto* eliminate = perturb    ? &EliminateAndPerturb<T>
                          : pivoting ? &EliminateWithPivots<T>
                                     : &EliminateAsTheyAre<T>;
        // If a pivot is 0 (never with `perturb`), the whole result is NaN, including rows solved
        // before it.
        if (!eliminate(upper, upper + n, upper + 2 * n, n, columns, x))
          std::fill_n(x, n * columns, T(std::numeric_limits<Magnitude<T>>::quiet_NaN()));
      }
    });
    return Error::success();
  }
};

template <typename T>
struct TridiagonalProduct {
  explicit TridiagonalProduct(const KernelSetup&) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor& right = ctx.input(3);
    ASSIGN_OR_RETURN(MatrixBatch sides, BatchOf(right, "rhs", false));
    const char* names[] = {"superdiag", "maindiag", "subdiag"};
    const T* diagonal[3];
    for (int k = 0; k < 3; ++k) {
      if (ctx.input(k).dims() != llvm::ArrayRef<int64_t>(sides.With({1, sides.rows})))
        return MakeError("{0} must have shape {1}, got {2}", names[k],
                         DimsText(sides.With({1, sides.rows})), DimsText(ctx.input(k).dims()));
      diagonal[k] = ctx.input(k).data<T>();
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, right.dims()));
    int64_t n = sides.rows, columns = sides.columns;
    ctx.ParallelFor(sides.count * n, 3.0 * columns, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* x = right.data<T>() + i * columns;
        for (int64_t c = 0; c < columns; ++c) {
          T sum = diagonal[1][i] * x[c];
          if (i % n > 0) sum += diagonal[2][i] * x[c - columns];
          if (i % n + 1 < n) sum += diagonal[0][i] * x[c + columns];
          out->data<T>()[i * columns + c] = sum;
        }
      }
    });
    return Error::success();
  }
};

// `bands` [k, n] of a lower triangle start with its diagonal, those of an upper triangle end with
// it; element (row, column) of the triangle is in column `row` of its band.
template <typename T>
struct Banded {
  const T* bands;
  int64_t k, n;
  bool lower;

  // Returns element (row, column) of the triangle, within the bands.
  T At(int64_t row, int64_t column) const {
    int64_t off = lower ? row - column : column - row;
    return bands[(lower ? off : k - 1 - off) * n + row];
  }
};

template <typename T>
void SolveBands(const Banded<T>& a, bool adjoint, int64_t columns, T* x) {
  bool forward = a.lower != adjoint;
  for (int64_t step = 0; step < a.n; ++step) {
    int64_t row = forward ? step : a.n - 1 - step;
    int64_t most = std::min(a.k - 1, step);
    for (int64_t c = 0; c < columns; ++c) {
      T sum = x[row * columns + c];
      for (int64_t off = 1; off <= most; ++off) {
        int64_t other = forward ? row - off : row + off;
        T element = adjoint ? Conjugated(a.At(other, row)) : a.At(row, other);
        sum -= element * x[other * columns + c];
      }
      x[row * columns + c] = sum / (adjoint ? Conjugated(a.At(row, row)) : a.At(row, row));
    }
  }
}

// True if no diagonal element is 0. As in TensorFlow, a NaN counts as 0 if it is the first element,
// otherwise as nonzero.
template <typename T>
bool IsInvertible(const Banded<T>& a) {
  auto least = std::abs(a.At(0, 0));
  for (int64_t i = 1; i < a.n; ++i) {
    if (auto size = std::abs(a.At(i, i)); size < least) least = size;
  }
  return least > 0;
}

template <typename T>
struct BandedSolve {
  bool lower, adjoint;
  explicit BandedSolve(const KernelSetup& setup)
      : lower(setup.node().GetBool("lower", true)), adjoint(setup.node().GetBool("adjoint")) {}
  Error operator()(KernelContext& ctx) const {
    const Tensor &matrix = ctx.input(0), &right = ctx.input(1);
    ASSIGN_OR_RETURN(MatrixBatch left, BatchOf(matrix, "matrix", false));
    ASSIGN_OR_RETURN(MatrixBatch sides, BatchOf(right, "rhs", false));
    int64_t n = left.columns, columns = sides.columns;
    if (left.rows < 1 || left.rows > n)
      return MakeError("matrix must have from 1 to {0} rows, one per band, got shape {1}", n,
                       DimsText(matrix.dims()));
    if (sides.rows != n)
      return MakeError("rhs must have {0} rows for a matrix of shape {1}, got shape {2}", n,
                       DimsText(matrix.dims()), DimsText(right.dims()));
    ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({left.batch, sides.batch}));
    Dims dims = plan.dims;
    dims.append({n, columns});
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->num_elements() == 0) return Error::success();
    for (int64_t i = 0; i < matrix.num_elements() / left.size(); ++i) {
      if (!IsInvertible(Banded<T>{matrix.data<T>() + i * left.size(), left.rows, n, lower}))
        return MakeError(
            "matrix {0} of the batch cannot be inverted: its diagonal has a 0 or starts with NaN",
            i);
    }
    double cost = 3.0 * left.size() * columns;
    ctx.ParallelFor(plan.total, cost, [&](int64_t begin, int64_t end) {
      plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t count) {
        for (int64_t i = 0; i < count; ++i) {
          int64_t a = offsets[0] + i * plan.strides[0].back();
          int64_t b = offsets[1] + i * plan.strides[1].back();
          T* x = out->data<T>() + (at + i) * n * columns;
          std::copy_n(right.data<T>() + b * n * columns, n * columns, x);
          SolveBands(Banded<T>{matrix.data<T>() + a * left.size(), left.rows, n, lower}, adjoint,
                     columns, x);
        }
      });
    });
    return Error::success();
  }
};

GRAPNEL_CPU_KERNEL("TridiagonalSolve", (MakeLinear<TridiagonalSolve, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("TridiagonalMatMul", (MakeLinear<TridiagonalProduct, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));
GRAPNEL_CPU_KERNEL("BandedTriangularSolve", (MakeLinear<BandedSolve, LinearTypes>),
                   OfTypes("T", DataTypesOf(LinearTypes())));

}  // namespace
}  // namespace grapnel
