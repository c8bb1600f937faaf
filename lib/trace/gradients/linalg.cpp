// Inverses, determinants, solves, square roots; tridiagonal matrices, diagonals and bands.
#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

using G = GradientContext;

GRAPNEL_GRADIENT("MatrixInverse", [](G& g) -> InputGradients {
  bool adjoint = g.node().GetBool("adjoint");
  Value right = g.MatMul(g.dy(), g.y(), {.adjoint_a = adjoint, .adjoint_b = !adjoint});
  return {-g.MatMul(g.y(), right, {.adjoint_a = !adjoint})};
});

// Returns the adjoint of the inverse of each matrix, times a factor for that matrix.
InputGradients TimesInverse(G& g, llvm::function_ref<Value()> factor, const Value& like) {
  Value inverse = g.Op("MatrixInverse", {g.x()}, {{"adjoint", true}});
  Value factors = factor();
  Value shape = g.Concat({g.ShapeOf(like), std::vector<int>{1, 1}}, 0);
  return {g.Reshape(factors, shape) * inverse};
}
GRAPNEL_GRADIENT("MatrixDeterminant", [](G& g) {
  return TimesInverse(
      g, [&] { return g.dy() * g.y(); }, g.y());
});
GRAPNEL_GRADIENT("LogMatrixDeterminant", [](G& g) {
  return TimesInverse(
      g, [&] { return g.dy(1); }, g.y(1));
});

// --- Solves of a x = b: gradients of a and b.

struct SolveGradients {
  Value a, b;
};
SolveGradients SolveOf(G& g, const char* op, std::vector<OpAttribute> attributes,
                       llvm::StringRef scope_name) {
  bool adjoint = g.node().GetBool("adjoint");
  attributes.emplace_back("adjoint", !adjoint);
  Value of_b;
  {
    auto scope = g.Scope(scope_name);
    of_b = g.Op(op, {g.x(0), g.dy()}, attributes);
  }
  Value product = adjoint ? g.MatMul(g.y(), of_b, {.adjoint_b = true})
                          : g.MatMul(of_b, g.y(), {.adjoint_b = true});
  return {-product, of_b};
}

// Sums the gradients over the batch dimensions in which the matrices or the right sides were
// broadcast.
InputGradients ReduceBatch(G& g, const Value& of_a, const Value& of_b) {
  Shape a = g.x(0).shape(), b = g.x(1).shape();
  if (a.IsFullyKnown() && b.IsFullyKnown() && a.dims().drop_back(2) == b.dims().drop_back(2))
    return {of_a, of_b};
  Value a_shape = g.ShapeOf(g.x(0));
  Value b_shape = g.ShapeOf(g.x(1));
  Value a_batch = g.Cut(a_shape, 0, -2);
  BroadcastAxes axes = AxesOf(g, a_batch, g.Cut(b_shape, 0, -2));
  Value ga = SumTo(g, of_a, axes.x, a_shape);
  return {ga, SumTo(g, of_b, axes.y, b_shape)};
}

GRAPNEL_GRADIENT("MatrixSolve", [](G& g) -> InputGradients {
  SolveGradients of = SolveOf(g, "MatrixSolve", {}, "");
  return {of.a, of.b};
});
GRAPNEL_GRADIENT("MatrixTriangularSolve", [](G& g) {
  bool lower = g.node().GetBool("lower");
  SolveGradients of = SolveOf(g, "MatrixTriangularSolve", g.Attrs({"lower"}), "triangular_solve");
  Value of_a = lower ? g.BandPart(of.a, -1, 0) : g.BandPart(of.a, 0, -1);
  return ReduceBatch(g, of_a, of.b);
});
GRAPNEL_GRADIENT("BandedTriangularSolve", [](G& g) {
  bool lower = g.node().GetBool("lower");
  Value bands = g.At(g.ShapeOf(g.x(0)), -2);
  SolveGradients of = SolveOf(g, "BandedTriangularSolve", g.Attrs({"lower"}), "");
  Value others = bands - 1;
  Value k =
      lower ? g.Stack({-others, 0}, 0, "diag_part/k") : g.Stack({0, others}, 0, "diag_part/k");
  return ReduceBatch(g, g.MatrixDiagPart(of.a, k, "LEFT_RIGHT"), of.b);
});

// --- Least squares: solved with the normal equations.

Value RegularizedCholesky(G& g, const Value& a, const Value& regularizer, bool first_kind) {
  Value gramian = g.MatMul(a, a, {.adjoint_a = first_kind, .adjoint_b = !first_kind});
  Value shape = g.ShapeOf(a);
  Value batch = g.Cut(shape, 0, -2);
  Value size = g.At(shape, first_kind ? -1 : -2);
  Value eye = g.Eye(size, batch, a.dtype());
  return g.Op("Cholesky", {gramian + regularizer * eye});
}
Value CholeskySolve(G& g, const Value& cholesky, const Value& right) {
  auto scope = g.Scope("cholesky_solve");
  Value y = g.Op("MatrixTriangularSolve", {cholesky, right}, {{"adjoint", false}, {"lower", true}});
  return g.Op("MatrixTriangularSolve", {cholesky, y}, {{"adjoint", true}, {"lower", true}});
}
InputGradients MatrixSolveLsOf(G& g) {
  if (!g.node().GetBool("fast", true)) return g.Fail("it has no gradient with fast=false");
  Value a = g.x(0), b = g.x(1), dy = g.dy();
  Shape shape = a.shape();
  int rank = shape.known_rank() ? shape.rank() : 0;
  if (rank < 2 || !shape.IsKnown(rank - 2) || !shape.IsKnown(rank - 1))
    return g.Fail("its gradient needs the shape of the matrix, which must be known while tracing");
  Value regularizer = Cast(g.x(2), a.dtype());
  if (shape.dim(rank - 2) >= shape.dim(rank - 1)) {
    Value cholesky = RegularizedCholesky(g, a, regularizer, true);
    Value z = CholeskySolve(g, cholesky, dy);
    Value xzt = g.MatMul(g.y(), z, {.adjoint_b = true});
    Value symmetric = xzt + g.MatrixTranspose(xzt);
    Value first = -g.MatMul(a, symmetric);
    Value of_a = first + g.MatMul(b, z, {.adjoint_b = true});
    return {of_a, g.MatMul(a, z)};
  }
  Value cholesky = RegularizedCholesky(g, a, regularizer, false);
  Value of_b = CholeskySolve(g, cholesky, g.MatMul(a, dy));
  Value solved = CholeskySolve(g, cholesky, b);
  Value first = g.MatMul(solved, a, {.adjoint_a = true});
  first = -g.MatMul(of_b, first);
  Value second = dy - g.MatMul(a, of_b, {.adjoint_a = true});
  second = g.MatMul(solved, second, {.adjoint_b = true});
  return {first + second, of_b};
}
GRAPNEL_GRADIENT("MatrixSolveLs", MatrixSolveLsOf);

// --- Square root of a matrix: solves the Sylvester equation as linear equations for the elements
// of the gradient.

Value Kronecker(G& g, const Value& x, const Value& y) {
  Value x_shape = g.ShapeOf(x);
  Value y_shape = g.ShapeOf(y);
  Value m = g.At(x_shape, -1);
  Value n = g.At(y_shape, -1);
  Value batch_rank = g.Op("Sub", {g.Size(x_shape), 2});
  Value batch = g.SliceOf(x_shape, {0}, {batch_rank});
  Value x_dims =
      g.Concat({batch, Values{m}, std::vector<int>{1}, Values{m}, std::vector<int>{1}}, 0);
  Value y_dims =
      g.Concat({batch, std::vector<int>{1}, Values{n}, std::vector<int>{1}, Values{n}}, 0);
  Value wide_x = g.Reshape(x, x_dims);
  Value wide_y = g.Reshape(y, y_dims);
  Value size = m * n;
  Value shape = g.Concat({batch, Values{size}, Values{size}}, 0);
  return g.Reshape(wide_x * wide_y, shape);
}
InputGradients MatrixSquareRootOf(G& g) {
  Value root = g.y();
  Value shape = g.ShapeOf(root);
  Value order = g.At(shape, -1);
  Value count = ReduceProd(g.CutBetween(shape, 0, -2));
  Value eye = g.Eye(order, g.ConstantInts({}), root.dtype());
  Value flat = g.Reshape(eye, std::vector<int>{-1});
  Value tiled;
  {
    auto scope = g.Scope("Tile");
    tiled = g.Exact("Tile", {flat, g.Stack({count}, 0, "multiples")});
  }
  Value eyes = g.Reshape(tiled, shape);
  Value transposed = g.MatrixTranspose(root);
  Value left = Kronecker(g, eyes, transposed);
  Value right = Kronecker(g, root, eyes);
  Value sum = g.Scoped("AddV2", {left, right}, {}, "Add");
  Value batch = g.SliceOf(shape, {0}, {Value(g.Op("Sub", {g.Size(shape), 2}))});
  Value squared = order * order;
  Value vector_shape = g.Concat({batch, Values{squared}, std::vector<int>{1}}, 0);
  Value vector = g.Reshape(g.MatrixTranspose(g.dy()), vector_shape);
  Value solved = g.Op("MatrixSolve", {sum, vector});
  return {g.MatrixTranspose(g.Reshape(solved, shape))};
}
GRAPNEL_GRADIENT("MatrixSquareRoot", MatrixSquareRootOf);

// --- Tridiagonal matrices.

// Returns x with its rows shifted by one; zeros fill the row that is then missing.
Value Moved(G& g, const Value& x, bool up) {
  Value rank = Rank(x);
  Value none = g.Zeros(std::vector<Operand>{rank - 2, 2}, proto::DT_INT32);
  Value rows =
      g.MatrixConstant(up ? std::vector<int64_t>{0, 1, 0, 0} : std::vector<int64_t>{1, 0, 0, 0}, 2);
  Value pads = g.Concat({none, rows}, 0);
  Value cut =
      up ? g.CutLast(x, {{1, G::kEnd}, {0, G::kEnd}}) : g.CutLast(x, {{0, -1}, {0, G::kEnd}});
  return g.Op("Pad", {cut, pads});
}
InputGradients TridiagonalMatMulOf(G& g) {
  Value dy = g.dy();
  Value above = g.MatrixTranspose(g.x(0), true);
  Value main = g.MatrixTranspose(g.x(1), true);
  Value below = g.MatrixTranspose(g.x(2), true);
  Value right = g.Conj(g.x(3));
  Value of_above = ReduceSum(Moved(g, right, true) * dy, -1);
  Value of_main = ReduceSum(right * dy, -1);
  Value of_below = ReduceSum(Moved(g, right, false) * dy, -1);
  Value first = Moved(g, above * dy, false);
  Value sum = first + main * dy;
  Value of_right = sum + Moved(g, below * dy, true);
  Value a = g.ExpandDims(of_above, -2);
  Value m = g.ExpandDims(of_main, -2);
  return {a, m, g.ExpandDims(of_below, -2), of_right};
}
GRAPNEL_GRADIENT("TridiagonalMatMul", TridiagonalMatMulOf);

InputGradients TridiagonalSolveOf(G& g) {
  Value diagonals = g.x(0), x = g.y();
  Shape shape = diagonals.shape();
  if (!shape.IsFullyKnown() || !x.shape().IsFullyKnown())
    return g.Fail("its gradient needs the shapes of its inputs, which must be known while tracing");
  Value main = g.CutLast(diagonals, {{1, 0, true}, {0, G::kEnd}});
  Dims dims(shape.dims().drop_back(2).begin(), shape.dims().drop_back(2).end());
  dims.push_back(1);
  Value zeros = g.Zeros(dims, diagonals.dtype());
  Value below = g.CutLast(diagonals, {{2, 0, true}, {1, G::kEnd}});
  Value new_above = g.Concat({below, zeros}, -1);
  Value above = g.CutLast(diagonals, {{0, 0, true}, {0, -1}});
  Value new_below = g.Concat({zeros, above}, -1);
  Value transposed = g.Stack({new_above, main, new_below}, -2);
  Value of_right = g.Op("TridiagonalSolve", {transposed, g.dy()},
                        g.Attrs({"partial_pivoting", "perturb_singular"}));
  // The three diagonals of the product of of_right and the transpose of x.
  Value of_main = ReduceSum(of_right * x, -1);
  Shape right = of_right.shape();
  Dims row(right.dims().drop_back(2).begin(), right.dims().drop_back(2).end());
  row.push_back(1);
  row.push_back(right.dim(right.rank() - 1));
  Value zero_row = g.Zeros(row, x.dtype());
  Value next = g.CutLast(x, {{1, G::kEnd}, {0, G::kEnd}});
  Value of_above = ReduceSum(of_right * g.Concat({next, zero_row}, -2), -1);
  Value last = g.CutLast(x, {{0, -1}, {0, G::kEnd}});
  Value of_below = ReduceSum(of_right * g.Concat({zero_row, last}, -2), -1);
  return {-g.Stack({of_above, of_main, of_below}, -2), of_right};
}
GRAPNEL_GRADIENT("TridiagonalSolve", TridiagonalSolveOf);

// --- Diagonals and bands.

GRAPNEL_GRADIENT("Diag", [](G& g) -> InputGradients { return {g.Op("DiagPart", {g.dy()})}; });
GRAPNEL_GRADIENT("DiagPart", [](G& g) -> InputGradients { return {g.Op("Diag", {g.dy()})}; });
GRAPNEL_GRADIENT("MatrixDiag", [](G& g) -> InputGradients { return {g.MatrixDiagPart(g.dy())}; });
GRAPNEL_GRADIENT("MatrixDiagV2",
                 [](G& g) -> InputGradients { return {g.MatrixDiagPart(g.dy(), g.x(1))}; });
GRAPNEL_GRADIENT("MatrixDiagV3", [](G& g) -> InputGradients {
  return {g.MatrixDiagPart(g.dy(), g.x(1), g.node().GetString("align"))};
});

InputGradients MatrixDiagPartOf(G& g) {
  Shape shape = g.x().shape();
  int rank = shape.known_rank() ? shape.rank() : 0;
  bool is_square =
      rank >= 2 && shape.IsKnown(rank - 1) && shape.dim(rank - 1) == shape.dim(rank - 2);
  if (is_square) return {g.MatrixDiag(g.dy())};
  Value zeros = g.ZerosLike(g.x());
  return {g.MatrixSetDiag(zeros, g.dy())};
}
GRAPNEL_GRADIENT("MatrixDiagPart", MatrixDiagPartOf);
InputGradients MatrixDiagPartKOf(G& g) {
  Shape shape = g.x(0).shape();
  std::string align = g.node().GetString("align", "RIGHT_LEFT");
  int rank = shape.known_rank() ? shape.rank() : 0;
  if (rank >= 2 && shape.IsKnown(rank - 2) && shape.IsKnown(rank - 1)) {
    int rows = static_cast<int>(shape.dim(rank - 2)),
        columns = static_cast<int>(shape.dim(rank - 1));
    return {g.Op("MatrixDiagV3", {g.dy(), g.x(1), rows, columns, 0},
                 {{"align", llvm::StringRef(align)}}, "diag")};
  }
  Value zeros = g.ZerosLike(g.x(0));
  return {g.MatrixSetDiag(zeros, g.dy(), g.x(1), align)};
}
GRAPNEL_GRADIENT("MatrixDiagPartV2", MatrixDiagPartKOf);
GRAPNEL_GRADIENT("MatrixDiagPartV3", MatrixDiagPartKOf);

InputGradients MatrixSetDiagOf(G& g) {
  Shape shape = g.x(0).shape();
  if (!shape.IsFullyKnown() || shape.rank() < 2)
    return g.Fail("its gradient needs the shape of its input, which must be known while tracing");
  Dims dims(shape.dims().drop_back(2).begin(), shape.dims().drop_back(2).end());
  dims.push_back(std::min(shape.dim(shape.rank() - 1), shape.dim(shape.rank() - 2)));
  Value zeros = g.Zeros(dims, g.dy().dtype());
  Value of_input = g.MatrixSetDiag(g.dy(), zeros);
  return {of_input, g.MatrixDiagPart(g.dy())};
}
GRAPNEL_GRADIENT("MatrixSetDiag", MatrixSetDiagOf);
InputGradients MatrixSetDiagKOf(G& g) {
  Shape shape = g.x(1).shape();
  if (!shape.IsFullyKnown())
    return g.Fail(
        "its gradient needs the shape of the diagonal, which must be known while tracing");
  std::string align = g.node().GetString("align", "RIGHT_LEFT");
  Value zeros = g.Zeros(shape.dims(), g.dy().dtype());
  Value of_input = g.MatrixSetDiag(g.dy(), zeros, g.x(2), align);
  return {of_input, g.MatrixDiagPart(g.dy(), g.x(2), align)};
}
GRAPNEL_GRADIENT("MatrixSetDiagV2", MatrixSetDiagKOf);
GRAPNEL_GRADIENT("MatrixSetDiagV3", MatrixSetDiagKOf);
GRAPNEL_GRADIENT("MatrixBandPart", [](G& g) -> InputGradients {
  return {g.Op("MatrixBandPart", {g.dy(), g.x(1), g.x(2)})};
});

}  // namespace
}  // namespace grapnel
