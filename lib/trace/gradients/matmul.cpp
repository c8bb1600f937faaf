// Products of matrices: dense, batched, partly sparse.
#include "lib/trace/body.h"
#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

using G = GradientContext;

// Makes a MatMul with the attribute `of` ("grad_a" or "grad_b") set.
Value Product(G& g, const Value& a, const Value& b, bool transpose_a, bool transpose_b,
              const char* of) {
  return g.Op("MatMul", {a, b},
              {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {of, true}});
}

InputGradients MatMulOf(G& g) {
  bool ta = g.node().GetBool("transpose_a"), tb = g.node().GetBool("transpose_b");
  bool skips_a = g.Skips(0), skips_b = g.Skips(1);
  Value dy = g.dy(), a, b;
  if (!skips_a || skips_b) {
    if (!skips_b) a = g.Conj(g.x(0));
    b = g.Conj(g.x(1));
  } else {
    a = g.Conj(g.x(0));
  }
  Gradient ga, gb;
  if (!skips_a || skips_b)
    ga = ta ? Product(g, b, dy, tb, true, "grad_a") : Product(g, dy, b, false, !tb, "grad_a");
  if (!skips_b)
    gb = tb ? Product(g, dy, a, true, ta, "grad_b") : Product(g, a, dy, !ta, false, "grad_b");
  return {ga, gb};
}
GRAPNEL_GRADIENT("MatMul", MatMulOf);

struct BatchGradients {
  Value x, y;
};
BatchGradients BatchProducts(G& g, bool says_which) {
  bool ax = g.node().GetBool("adj_x"), ay = g.node().GetBool("adj_y");
  Value x = g.x(0), y = g.x(1), dy = g.dy();
  Value gx = ax ? g.MatMul(y, dy, {ay, true, says_which, false})
                : g.MatMul(dy, y, {false, !ay, says_which, false});
  Value gy = ay ? g.MatMul(dy, x, {true, ax, false, says_which})
                : g.MatMul(x, dy, {!ax, false, false, says_which});
  return {gx, gy};
}
GRAPNEL_GRADIENT("BatchMatMul", [](G& g) -> InputGradients {
  BatchGradients of = BatchProducts(g, false);
  return {of.x, of.y};
});

// True if the batch dimensions of x and y are known and equal.
bool HaveSameBatch(const Shape& x, const Shape& y) {
  if (!x.known_rank() || !y.known_rank() || x.rank() < 2 || y.rank() < 2) return false;
  auto batch = [](const Shape& shape) { return Shape(shape.dims().drop_back(2)); };
  return batch(x).IsFullyKnown() && batch(x) == batch(y);
}

InputGradients BatchMatMulV2Of(G& g) {
  BatchGradients of = BatchProducts(g, true);
  Shape x = g.x(0).shape(), y = g.x(1).shape();
  bool may_have_batch = !x.known_rank() || x.rank() > 2 || !y.known_rank() || y.rank() > 2;
  if (!may_have_batch || HaveSameBatch(x, y)) return {of.x, of.y};
  Value x_shape = g.ShapeOf(g.x(0));
  Value y_shape = g.ShapeOf(g.x(1));
  Value x_batch = g.Cut(x_shape, 0, -2);
  BroadcastAxes axes = AxesOf(g, x_batch, g.Cut(y_shape, 0, -2));
  Value gx = SumTo(g, of.x, axes.x, x_shape);
  return {gx, SumTo(g, of.y, axes.y, y_shape)};
}
GRAPNEL_GRADIENT("BatchMatMulV2", BatchMatMulV2Of);
GRAPNEL_GRADIENT("BatchMatMulV3", BatchMatMulV2Of);

// --- SparseMatMul: as in TensorFlow, the incoming gradient counts as sparse if a ReluGrad made it.

struct Factor {
  Value value;
  bool is_sparse;
};
Value SparseProduct(G& g, Factor a, Factor b, DataType dtype, bool transpose_a, bool transpose_b) {
  if (transpose_b) b.value = g.Transpose(b.value, std::vector<int>{1, 0});
  Value product;
  if (a.is_sparse || b.is_sparse) {
    product = g.Scoped(
        "SparseMatMul", {a.value, b.value},
        {{"transpose_a", transpose_a}, {"a_is_sparse", a.is_sparse}, {"b_is_sparse", b.is_sparse}},
        "MatMul");
  } else {
    product = g.Scoped("MatMul", {a.value, b.value}, {{"transpose_a", transpose_a}});
  }
  return Cast(product, dtype);
}
InputGradients SparseMatMulOf(G& g) {
  const Node& node = g.node();
  bool ta = node.GetBool("transpose_a"), tb = node.GetBool("transpose_b");
  Factor a{g.x(0), node.GetBool("a_is_sparse")}, b{g.x(1), node.GetBool("b_is_sparse")};
  const Value& gradient = g.dy();
  bool is_sparse = gradient.ok() && NodeOf(gradient) && NodeOf(gradient).op() == "ReluGrad";
  Factor dy{gradient, is_sparse};
  Value ga = ta ? SparseProduct(g, b, dy, a.value.dtype(), tb, true)
                : SparseProduct(g, dy, b, a.value.dtype(), false, !tb);
  Value gb = tb ? SparseProduct(g, dy, a, b.value.dtype(), true, ta)
                : SparseProduct(g, a, dy, b.value.dtype(), !ta, false);
  return {ga, gb};
}
GRAPNEL_GRADIENT("SparseMatMul", SparseMatMulOf);

}  // namespace
}  // namespace grapnel
