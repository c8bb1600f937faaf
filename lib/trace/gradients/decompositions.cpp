// Cholesky, QR, eigenvalues, singular values.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

InputGradients CholeskyOf(G& g) {
  Value l = g.y();
  Value size = g.At(g.ShapeOf(l), -1);
  Value batch = g.Cut(g.ShapeOf(l), 0, -2);
  Value eye = g.Eye(size, batch, l.dtype());
  Value inverse;
  {
    auto scope = g.Scope("triangular_solve");
    inverse = g.Op("MatrixTriangularSolve", {l, eye}, {{"lower", true}, {"adjoint", false}});
  }
  Value middle = g.MatMul(l, g.dy(), {.adjoint_a = true});
  Value half = 0.5 * g.MatrixDiagPart(middle);
  middle = g.MatrixSetDiag(middle, half);
  middle = g.BandPart(middle, -1, 0);
  Value left = g.MatMul(inverse, middle, {.adjoint_a = true});
  Value gradient = g.MatMul(left, inverse);
  gradient = gradient + g.Adjoint(gradient);
  return {gradient * 0.5};
}
GRAPNEL_GRADIENT("Cholesky", CholeskyOf);

// --- QR.

Value SolveUpper(G& g, const Value& x, const Value& r) {
  Value adjoint = g.Adjoint(x);
  Value solved;
  {
    auto scope = g.Scope("triangular_solve");
    solved = g.Op("MatrixTriangularSolve", {r, adjoint}, {{"lower", false}, {"adjoint", false}});
  }
  return g.Adjoint(solved);
}
Value QrOfTall(G& g, const Value& q, const Value& r, const Value& dq, const Value& dr) {
  Value qdq = g.MatMul(q, dq, {.adjoint_a = true});
  Value qdq_odd = qdq - g.Adjoint(qdq);
  Value rdr = g.MatMul(r, dr, {.adjoint_b = true});
  Value rdr_odd = rdr - g.Adjoint(rdr);
  Value lower = g.BandPart(qdq_odd + rdr_odd, -1, 0);
  Value first = g.MatMul(q, dr + SolveUpper(g, lower, r));
  Value rest = dq - g.MatMul(q, qdq);
  Value gradient = first + SolveUpper(g, rest, r);
  if (!IsComplex(q.dtype())) return gradient;
  Value m = rdr - g.Adjoint(qdq);
  Value zeros = g.ZerosLike(m);
  Value diagonal = g.MatrixSetDiag(zeros, g.MatrixDiagPart(m));
  DataType real = q.dtype() == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
  Value correction = diagonal - Cast(g.Scoped("Real", {diagonal}, {{"Tout", real}}), q.dtype());
  Value turned = g.MatMul(q, g.Adjoint(correction));
  return gradient + SolveUpper(g, turned, r);
}
InputGradients QrOf(G& g) {
  Value q = g.y(0), r = g.y(1), dq = g.dy(0), dr = g.dy(1);
  Shape q_shape = q.shape(), r_shape = r.shape();
  if (!r_shape.known_rank() || r_shape.rank() < 2 || !q_shape.known_rank())
    return g.Fail("its gradient needs the shape of its input, which must be known while tracing");
  int64_t r_rows = r_shape.dim(r_shape.rank() - 2), columns = r_shape.dim(r_shape.rank() - 1);
  int64_t rows = q_shape.dim(q_shape.rank() - 2), q_columns = q_shape.dim(q_shape.rank() - 1);
  if (r_rows < 0 || columns < 0 || rows < 0)
    return g.Fail("its gradient needs the shape of its input, which must be known while tracing");
  if (r_rows > columns && rows == q_columns)
    return g.Fail(
        "it has no gradient if full_matrices is true and there are more rows than columns");
  if (rows >= columns) return {QrOfTall(g, q, r, dq, dr)};
  constexpr int64_t kAll = G::kEnd;
  Value y = g.CutLast(g.x(0), {{0, kAll}, {rows, kAll}});
  Value u = g.CutLast(r, {{0, kAll}, {0, rows}});
  Value dv = g.CutLast(dr, {{0, kAll}, {rows, kAll}});
  Value du = g.CutLast(dr, {{0, kAll}, {0, rows}});
  Value dy = g.MatMul(q, dv);
  Value of_q = dq + g.MatMul(y, dv, {.adjoint_b = true});
  Value dx = QrOfTall(g, q, u, of_q, du);
  return {g.Concat({dx, dy}, -1)};
}
GRAPNEL_GRADIENT("Qr", QrOf);

// --- Eigenvalues.

Value SafeReciprocal(G& g, const Value& x) {
  Value squared = x * x;
  Value safe = squared + 1e-20;
  return x * g.Op("Reciprocal", {safe});
}
// Returns the matrix of 1 / (e[j] - e[i]) for the eigenvalues `e`, with 0 on the diagonal.
Value InverseDifferences(G& g, const Value& e) {
  Value row = g.ExpandDims(e, -2);
  Value difference = row - g.ExpandDims(e, -1);
  Value inverse = SafeReciprocal(g, difference);
  Value zeros = g.ZerosLike(e);
  return g.MatrixSetDiag(inverse, zeros);
}

InputGradients SelfAdjointEigOf(G& g) {
  Value de = g.dy(0), dv = g.dy(1);
  auto after = g.After({de, dv});
  Value gradient;
  if (g.node().GetBool("compute_v", true)) {
    Value v = g.y(1);
    Value f = InverseDifferences(g, g.y(0));
    Value diagonal = g.MatrixDiag(de);
    Value vdv = g.MatMul(v, dv, {.adjoint_a = true});
    Value sum = diagonal + f * vdv;
    Value right = g.MatMul(sum, v, {.adjoint_b = true});
    gradient = g.MatMul(v, right);
  } else {
    Value v = g.Op("SelfAdjointEigV2", {g.x(0)}, {{"compute_v", true}}).output(1);
    Value diagonal = g.MatrixDiag(de);
    Value right = g.MatMul(diagonal, v, {.adjoint_b = true});
    gradient = g.MatMul(v, right);
  }
  Value both = gradient + g.Adjoint(gradient);
  gradient = g.BandPart(both, -1, 0);
  Value half = 0.5 * g.MatrixDiagPart(gradient);
  return {g.MatrixSetDiag(gradient, half)};
}
GRAPNEL_GRADIENT("SelfAdjointEigV2", SelfAdjointEigOf);

InputGradients EigOf(G& g) {
  Value de = g.dy(0), dv = g.dy(1);
  auto after = g.After({de, dv});
  Value gradient;
  if (g.node().GetBool("compute_v", true)) {
    Value v = g.y(1);
    Value vt = g.Adjoint(v);
    Value f = g.Conj(InverseDifferences(g, g.y(0)));
    Value vdv = g.MatMul(vt, dv);
    Value middle = g.MatrixDiag(de);
    DataType real = v.dtype() == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
    Value real_part = Cast(g.Scoped("Real", {vdv}, {{"Tout", real}}), vdv.dtype());
    Value diagonal = g.MatrixDiag(g.MatrixDiagPart(real_part));
    Value product = g.MatMul(g.MatMul(vt, v), diagonal);
    Value rest = vdv - product;
    middle = middle + f * rest;
    gradient = g.Op("MatrixSolve", {vt, g.MatMul(middle, vt)});
  } else {
    DataType dtype = g.y(0).dtype();
    Value v = g.Op("Eig", {g.x(0)}, {{"compute_v", true}, {"Tout", dtype}}).output(1);
    Value vt = g.Adjoint(v);
    Value diagonal = g.MatrixDiag(de);
    gradient = g.Op("MatrixSolve", {vt, g.MatMul(diagonal, vt)});
  }
  return {Cast(gradient, g.x(0).dtype())};
}
GRAPNEL_GRADIENT("Eig", EigOf);

// --- Singular values.

class SvdGradient {
 public:
  explicit SvdGradient(G& g) : g_(g), a_(g.x(0)) {}

  InputGradients Make() {
    Value ds = Cast(g_.dy(0), a_.dtype());
    ds_matrix_ = g_.MatrixDiag(ds);
    if (!g_.node().GetBool("compute_uv", true)) return {OfValuesAlone()};
    u_ = g_.y(1);
    v_ = g_.y(2);
    du_ = g_.dy(1);
    dv_ = g_.dy(2);
    full_ = g_.node().GetBool("full_matrices");
    Shape shape = a_.shape();
    int rank = shape.known_rank() ? shape.rank() : 0;
    if (rank < 2 || !shape.IsKnown(rank - 1) || !shape.IsKnown(rank - 2))
      return g_.Fail(
          "its gradient needs the shape of the matrix, which must be known while tracing");
    m_ = shape.dim(rank - 2);
    n_ = shape.dim(rank - 1);
    s_ = Cast(g_.y(0), a_.dtype());
    bool transposes = m_ > n_;
    if (transposes) {
      std::swap(m_, n_);
      std::swap(u_, v_);
      std::swap(du_, dv_);
    }
    auto after = g_.After({ds, du_, dv_});
    if (full_ && n_ - m_ > 1)
      return g_.Fail(
          "it has no gradient if full_matrices is true and the numbers of rows and columns differ "
          "by more than one");
    Value gradient = OfWide();
    if (transposes) gradient = g_.MatrixTranspose(gradient, true);
    return {gradient};
  }

 private:
  Value OfValuesAlone() {
    Operation all = g_.Op("Svd", {a_}, {{"compute_uv", true}, {"full_matrices", false}});
    Value right = g_.MatMul(ds_matrix_, all.output(2), {.adjoint_b = true});
    return g_.MatMul(all.output(1), right);
  }

  Value OfWide() {
    constexpr int64_t kAll = G::kEnd;
    Value s_matrix = g_.MatrixDiag(s_);
    Value squares = Square(s_);
    Value s_shape = g_.ShapeOf(s_);
    Value row = g_.ExpandDims(squares, -2);
    Value difference = row - g_.ExpandDims(squares, -1);
    Value inverse = SafeReciprocal(g_, difference);
    Value zeros = g_.ZerosLike(s_);
    Value f = g_.MatrixSetDiag(inverse, zeros);
    Value inverse_s = g_.MatrixDiag(SafeReciprocal(g_, s_));
    Value v1 = g_.CutLast(v_, {{0, kAll}, {0, m_}});
    Value dv1 = g_.CutLast(dv_, {{0, kAll}, {0, m_}});
    Value udu = g_.MatMul(u_, du_, {.adjoint_a = true});
    Value vdv = g_.MatMul(v1, dv1, {.adjoint_a = true});
    Value fu = f * udu;
    Value fv = f * vdv;
    Value u_part = g_.MatMul(fu + g_.Adjoint(fu), s_matrix);
    Value sum = ds_matrix_ + u_part;
    Value v_part = g_.MatMul(s_matrix, fv + g_.Adjoint(fv));
    Value inner = sum + v_part;
    Value right = g_.MatMul(inner, v1, {.adjoint_b = true});
    Value gradient = g_.MatMul(u_, right);
    if (m_ != n_) gradient = gradient + OfRest(v1, dv1, inverse_s);
    if (IsComplex(a_.dtype())) gradient = gradient + OfPhases(v1, vdv, s_shape, inverse_s);
    return gradient;
  }

  // Returns the contribution of the directions outside the span of v1, which have no singular
  // value.
  Value OfRest(const Value& v1, const Value& dv1, const Value& inverse_s) {
    constexpr int64_t kAll = G::kEnd;
    Value transposed = g_.MatrixTranspose(dv1, true);
    Value product = g_.MatMul(transposed, v1);
    Value rest = transposed - g_.MatMul(product, v1, {.adjoint_b = true});
    if (full_) {
      Value v2 = g_.CutLast(v_, {{0, kAll}, {m_, n_}});
      Value dv2 = g_.CutLast(dv_, {{0, kAll}, {m_, n_}});
      Value crossed = g_.MatMul(v1, dv2, {.adjoint_a = true});
      rest = rest - g_.MatMul(crossed, v2, {.adjoint_b = true});
    }
    return g_.MatMul(g_.MatMul(u_, inverse_s), rest);
  }

  Value OfPhases(const Value& v1, const Value& vdv, const Value& s_shape, const Value& inverse_s) {
    Value size = g_.At(s_shape, -1);
    Value eye = g_.Eye(size, g_.Cut(s_shape, 0, -1), a_.dtype());
    Value l = eye * vdv;
    Value inner = g_.MatMul(inverse_s, g_.Adjoint(l) - l);
    Value right = g_.MatMul(inner, v1, {.adjoint_b = true});
    return 0.5 * g_.MatMul(u_, right);
  }

  G& g_;
  Value a_, ds_matrix_, s_, u_, v_, du_, dv_;
  bool full_ = false;
  int64_t m_ = 0, n_ = 0;
};
GRAPNEL_GRADIENT("Svd", [](G& g) { return SvdGradient(g).Make(); });

}  // namespace
}  // namespace grapnel
