// Shape functions of ops on matrices: diagonals, decompositions and solvers. Most work on batches
// of matrices in the last two dimensions.
#include <algorithm>
#include <cstdlib>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// Returns the shape of input i, a batch of matrices; unknown if its rank is unknown or too small
// (then with a problem).
Shape Matrices(ShapeContext& c, int i) { return c.WithRankAtLeast(i, 2); }

Shape SquareMatrices(ShapeContext& c, int i) {
  Shape shape = Matrices(c, i);
  if (!shape.known_rank()) return shape;
  int rank = shape.rank();
  int64_t size = c.Equal(shape.dim(rank - 2), shape.dim(rank - 1), "rows and columns");
  shape.set_dim(rank - 2, size);
  shape.set_dim(rank - 1, size);
  return shape;
}

void SquareShape(ShapeContext& c) { c.Out(0, SquareMatrices(c, 0)); }

void DeterminantShape(ShapeContext& c) {
  Shape batch = SubShape(SquareMatrices(c, 0), 0, -2);
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, batch);
}

// Solves a x = b. If `square`, a must be square; otherwise x has as many rows as a has columns.
void Solve(ShapeContext& c, bool square) {
  Shape a = square ? SquareMatrices(c, 0) : Matrices(c, 0), b = Matrices(c, 1);
  bool broadcast = c.op() == "MatrixTriangularSolve";
  if ((broadcast || !a.known_rank()) && !b.known_rank()) return;
  if (!a.known_rank() && !broadcast) a = Shape::UnknownOfRank(b.rank());
  if (!b.known_rank()) b = Shape::UnknownOfRank(a.rank());
  if (!a.known_rank() || !c.problem.empty()) return;
  Shape batch_a = SubShape(a, 0, -2), batch_b = SubShape(b, 0, -2);
  std::optional<Shape> batch =
      broadcast ? BroadcastShapes(batch_a, batch_b) : MergeShapes(batch_a, batch_b);
  if (!batch)
    return c.Fail("{0} needs matching batch sizes, got {1} and {2}", c.op(), a.ToString(),
                  b.ToString());
  int64_t rows = c.Equal(a.dim(a.rank() - 2), b.dim(b.rank() - 2), "rows");
  c.Out(0,
        ConcatShapes(*batch, MatrixOf(square ? rows : a.dim(a.rank() - 1), b.dim(b.rank() - 1))));
}

void SolveShape(ShapeContext& c) { Solve(c, true); }
void SolveLsShape(ShapeContext& c) { Solve(c, false); }
void RightHandSideShape(ShapeContext& c) { c.Out(0, c.in(1)); }

int64_t MinDim(int64_t a, int64_t b) {
  if (a == b) return a;
  if (a == 0 || b == 0) return 0;
  return a >= 0 && b >= 0 ? std::min(a, b) : kUnknownDim;
}

void QrShape(ShapeContext& c) {
  Shape in = Matrices(c, 0);
  if (!in.known_rank()) return;
  int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1), p = MinDim(m, n);
  Shape batch = SubShape(in, 0, -2);
  bool full = c.Bool("full_matrices");
  c.Out(0, ConcatShapes(batch, MatrixOf(m, full ? m : p)));
  c.Out(1, ConcatShapes(batch, MatrixOf(full ? m : p, n)));
}

void SvdShape(ShapeContext& c) {
  Shape in = Matrices(c, 0);
  bool full = c.Bool("full_matrices"), vectors = c.Bool("compute_uv", true);
  for (int i = 1; i <= 2 && !vectors; ++i) c.Out(i, VectorOf(0));
  if (!in.known_rank()) return;
  int64_t m = in.dim(in.rank() - 2), n = in.dim(in.rank() - 1), p = MinDim(m, n);
  Shape batch = SubShape(in, 0, -2);
  c.Out(0, ConcatShapes(batch, VectorOf(p)));
  if (!vectors) return;
  c.Out(1, ConcatShapes(batch, MatrixOf(m, full ? m : p)));
  c.Out(2, ConcatShapes(batch, MatrixOf(n, full ? n : p)));
}

void EigenShape(ShapeContext& c) {
  Shape in = SquareMatrices(c, 0);
  c.Out(0, SubShape(in, 0, -1));
  c.Out(1, c.Bool("compute_v", true) ? in : VectorOf(0));
}

void LuShape(ShapeContext& c) {
  Shape in = SquareMatrices(c, 0);
  c.Out(1, SubShape(in, 0, -1));
  c.Out(0, std::move(in));
}

// --- Diagonals.

void DiagShape(ShapeContext& c) { c.Out(0, ConcatShapes(c.in(0), c.in(0))); }

void DiagPartShape(ShapeContext& c) {
  const Shape& in = c.in(0);
  if (!in.known_rank()) return;
  if (in.rank() == 0 || in.rank() % 2)
    return c.Fail("{0} needs an even rank of 2 or more, got {1}", c.op(), in.ToString());
  c.Out(0, c.Equal(SubShape(in, 0, in.rank() / 2), SubShape(in, in.rank() / 2)));
}

void MatrixDiagShape(ShapeContext& c) {
  const Shape& in = c.WithRankAtLeast(0, 1);
  if (!in.known_rank() || in.rank() == 0) return;
  Shape out = in;
  out.Append(in.dim(in.rank() - 1));
  c.Out(0, std::move(out));
}

void MatrixDiagPartShape(ShapeContext& c) {
  Shape in = Matrices(c, 0);
  if (!in.known_rank()) return;
  int64_t size = MinDim(in.dim(in.rank() - 2), in.dim(in.rank() - 1));
  c.Out(0, ConcatShapes(SubShape(in, 0, -2), VectorOf(size)));
}

// Returns the lowest and the highest diagonal that `k` (one number or two) selects.
std::optional<std::pair<int64_t, int64_t>> Band(ShapeContext& c, int i) {
  const Elements* k = c.integers(i);
  if (!k || k->empty() || k->size() > 2) return std::nullopt;
  int64_t lower = (*k)[0], upper = k->back();
  constexpr int64_t kFar = int64_t{1} << 31;
  if (std::abs(lower) > kFar || std::abs(upper) > kFar) return std::nullopt;
  if (lower > upper) {
    c.Fail("{0} needs diagonals from a lower to a higher one, got {1} and {2}", c.op(), lower,
           upper);
    return std::nullopt;
  }
  return std::make_pair(lower, upper);
}

// If k selects one diagonal, the input has a vector per matrix; for a band of diagonals, a matrix.
// The inputs may specify rows and columns of the output; if both are -1, it is square and as small
// as possible.
void MatrixDiagV3Shape(ShapeContext& c) {
  const Shape& diagonal = c.WithRankAtLeast(0, 1);
  auto band = Band(c, 1);
  if (!band || !diagonal.known_rank() || diagonal.rank() == 0) return;
  auto [lower, upper] = *band;
  bool single = lower == upper;
  if (!single && diagonal.rank() < 2)
    return c.Fail("{0} needs at least rank 2 for a band, got {1}", c.op(), diagonal.ToString());
  std::optional<int64_t> rows = c.integer(2), columns = c.integer(3);
  Shape batch = SubShape(diagonal, 0, single ? -1 : -2);
  int64_t length = diagonal.dim(diagonal.rank() - 1);
  if (!rows || !columns) return c.Out(0, ConcatShapes(batch, Shape::UnknownOfRank(2)));
  int64_t min_rows = kUnknownDim, min_columns = kUnknownDim;
  if (length >= 0) {
    min_rows = length - std::min<int64_t>(upper, 0);
    min_columns = length + std::max<int64_t>(lower, 0);
  } else if (lower == 0 && upper == 0) {
    min_rows = min_columns = length;
  }
  if (*rows == -1 && *columns == -1) {
    int64_t size = min_rows >= 0 ? std::max(min_rows, min_columns) : min_rows;
    return c.Out(0, ConcatShapes(batch, MatrixOf(size, size)));
  }
  c.Out(0, ConcatShapes(batch, MatrixOf(*rows == -1 ? min_rows : *rows,
                                        *columns == -1 ? min_columns : *columns)));
}

void MatrixDiagPartV3Shape(ShapeContext& c) {
  Shape in = Matrices(c, 0);
  auto band = Band(c, 1);
  if (!band || !in.known_rank()) return;
  auto [lower, upper] = *band;
  int64_t rows = in.dim(in.rank() - 2), columns = in.dim(in.rank() - 1), length = kUnknownDim;
  if (rows >= 0 && columns >= 0) {
    length = std::min(rows + std::min<int64_t>(upper, 0), columns - std::max<int64_t>(lower, 0));
    if (length < 0)
      return c.Fail("{0} has no diagonal {1} in {2}", c.op(), lower > 0 ? lower : upper,
                    in.ToString());
  }
  Shape batch = SubShape(in, 0, -2);
  c.Out(0, ConcatShapes(batch,
                        lower == upper ? VectorOf(length) : MatrixOf(upper - lower + 1, length)));
}

// The output has the shape of the input; its batch dimensions must match those of the diagonals.
void MatrixSetDiagShape(ShapeContext& c) {
  const Shape &in = Matrices(c, 0), &diagonal = c.WithRankAtLeast(1, 1);
  c.Out(0, in);
  if (!diagonal.known_rank() || diagonal.rank() == 0) return;
  bool single = c.num_inputs() < 3 || (c.in(2).known_rank() && c.in(2).rank() == 0);
  auto band = c.num_inputs() < 3 ? std::nullopt : Band(c, 2);
  if (band) single = band->first == band->second;
  if ((!single && !band) || (!single && diagonal.rank() < 2)) return;
  Shape batch = SubShape(diagonal, 0, single ? -1 : -2);
  c.Out(0, MergeShapes(in, ConcatShapes(batch, Shape::UnknownOfRank(2))).value_or(in));
}

void TridiagonalSolveShape(ShapeContext& c) {
  Shape left = Matrices(c, 0), right = Matrices(c, 1);
  if (!left.known_rank() || !right.known_rank()) return;
  c.Equal(left.dim(left.rank() - 2), 3, "the number of diagonals and 3");
  c.Out(0, std::move(right));
}

constexpr ShapeRule kRules[] = {
    {"Cholesky", SquareShape},
    {"BatchCholesky", SquareShape},
    {"CholeskyGrad", SquareShape},
    {"MatrixInverse", SquareShape},
    {"BatchMatrixInverse", SquareShape},
    {"MatrixExponential", SquareShape},
    {"MatrixLogarithm", SquareShape},
    {"MatrixSquareRoot", SquareShape},
    {"MatrixBandPart", SameAsInput},
    {"BatchMatrixBandPart", SameAsInput},
    {"MatrixDeterminant", DeterminantShape},
    {"BatchMatrixDeterminant", DeterminantShape},
    {"LogMatrixDeterminant", DeterminantShape},
    {"MatrixSolve", SolveShape},
    {"BatchMatrixSolve", SolveShape},
    {"MatrixTriangularSolve", SolveShape},
    {"BatchMatrixTriangularSolve", SolveShape},
    {"MatrixSolveLs", SolveLsShape},
    {"BatchMatrixSolveLs", SolveLsShape},
    {"BandedTriangularSolve", RightHandSideShape},
    {"TridiagonalSolve", TridiagonalSolveShape},
    {"Qr", QrShape},
    {"Svd", SvdShape},
    {"BatchSvd", SvdShape},
    {"SelfAdjointEigV2", EigenShape},
    {"BatchSelfAdjointEigV2", EigenShape},
    {"Eig", EigenShape},
    {"Lu", LuShape},
    {"Diag", DiagShape},
    {"DiagPart", DiagPartShape},
    {"MatrixDiag", MatrixDiagShape},
    {"BatchMatrixDiag", MatrixDiagShape},
    {"MatrixDiagPart", MatrixDiagPartShape},
    {"BatchMatrixDiagPart", MatrixDiagPartShape},
    {"MatrixSetDiag", MatrixSetDiagShape},
    {"BatchMatrixSetDiag", MatrixSetDiagShape},
    {"MatrixSetDiagV2", MatrixSetDiagShape},
    {"MatrixSetDiagV3", MatrixSetDiagShape},
    {"MatrixDiagV2", MatrixDiagV3Shape},
    {"MatrixDiagV3", MatrixDiagV3Shape},
    {"MatrixDiagPartV2", MatrixDiagPartV3Shape},
    {"MatrixDiagPartV3", MatrixDiagPartV3Shape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> LinearAlgebraShapeRules() { return kRules; }

}  // namespace grapnel
