// Sparse matrices stored by rows (CSRSparseMatrix), which are variants; of three dimensions the
// first is a batch. The gradient of a sparse matrix has values only at positions where the matrix
// has values.
#include "lib/trace/array_ops.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

struct SparseParts {
  Value indices, values, shape;
};
SparseParts PartsOf(G& g, const Value& matrix, DataType dtype) {
  Operation parts = g.Op("CSRSparseMatrixToSparseTensor", {matrix}, {{"type", dtype}});
  return {parts.output(0), parts.output(1), parts.output(2)};
}
Value MatrixOf(G& g, const SparseParts& parts) {
  return g.Op("SparseTensorToCSRSparseMatrix", {parts.indices, parts.values, parts.shape});
}

// --- Conversion from and to other tensors.

GRAPNEL_GRADIENT("DenseToCSRSparseMatrix", [](G& g) -> InputGradients {
  return {g.Op("CSRSparseMatrixToDense", {g.dy()}, {{"type", g.x(0).dtype()}})};
});
GRAPNEL_GRADIENT("CSRSparseMatrixToDense", [](G& g) -> InputGradients {
  SparseParts parts = PartsOf(g, g.x(0), g.dy().dtype());
  Value values = g.Op("GatherNd", {g.dy(), parts.indices});
  return {MatrixOf(g, {parts.indices, values, g.ShapeOf(g.dy(), proto::DT_INT64)})};
});
GRAPNEL_GRADIENT("SparseTensorToCSRSparseMatrix", [](G& g) -> InputGradients {
  return {Gradient(), PartsOf(g, g.dy(), g.x(1).dtype()).values};
});
GRAPNEL_GRADIENT("CSRSparseMatrixToSparseTensor", [](G& g) -> InputGradients {
  return {MatrixOf(g, {g.y(0), g.dy(1), g.y(2)})};
});

// --- Sums, transposes, softmax.

// Returns the positions of a matrix's values as indices of one dimension.
Value FlatPlaces(G& g, const SparseParts& parts) {
  Value flat;
  {
    auto scope = g.Scope("Cast");
    Value numbers = g.ConstantInts({-1}, proto::DT_INT32, "x");
    flat = g.Exact("Cast", {numbers}, {{"DstT", proto::DT_INT64}});
  }
  Value indices = g.Op("SparseReshape", {parts.indices, parts.shape, flat});
  return g.CutLast(indices, {{0, 0, true}});
}
// Returns the matrix of those values of `matrix` whose positions `pattern` has too.
Value Pruned(G& g, const Value& matrix, const Value& pattern, DataType dtype) {
  SparseParts all = PartsOf(g, matrix, dtype);
  SparseParts kept = PartsOf(g, pattern, dtype);
  Value kept_places = FlatPlaces(g, kept);
  Value places = FlatPlaces(g, all);
  Value count = g.At(g.ShapeOf(places), -1);
  Value kept_count = g.At(g.ShapeOf(kept_places), -1);
  Value row = g.ReshapeTo(places, {-1, count});
  Value kept_row = g.ReshapeTo(kept_places, {-1, kept_count});
  Value bounds = g.Op("LowerBound", {row, kept_row});
  Value best = g.Reshape(bounds, g.ShapeOf(kept_places));
  Value is_same = g.Op("Equal", {g.Gather(places, best), kept_places});
  Value keep = g.Gather(best, IndicesWhere(is_same));
  Value indices = g.Op("GatherNd", {all.indices, keep});
  Value values = g.Op("GatherNd", {all.values, keep});
  return MatrixOf(g, {indices, values, kept.shape});
}

GRAPNEL_GRADIENT("SparseMatrixAdd", [](G& g) -> InputGradients {
  DataType dtype = g.x(2).dtype();
  InputGradients gradients;
  for (int i = 0; i < 2; ++i) {
    Value kept = Pruned(g, g.dy(), g.x(i), dtype);
    gradients.push_back(g.Op("SparseMatrixMul", {kept, g.x(i + 2)}));
  }
  return gradients;
});
GRAPNEL_GRADIENT("SparseMatrixTranspose", [](G& g) -> InputGradients {
  return {g.Op("SparseMatrixTranspose", {g.dy()}, g.Attrs({"conjugate", "type"}))};
});
GRAPNEL_GRADIENT("SparseMatrixSoftmax", [](G& g) -> InputGradients {
  return {g.Op("SparseMatrixSoftmaxGrad", {g.y(), g.dy()}, g.Attrs({"type"}))};
});

// --- Products.

struct Turns {
  bool transpose_a = false, transpose_b = false, adjoint_a = false, adjoint_b = false;
};
Turns TurnsOf(const Node& node) {
  return {node.GetBool("transpose_a"), node.GetBool("transpose_b"), node.GetBool("adjoint_a"),
          node.GetBool("adjoint_b")};
}

// The product of two dense matrices at the positions of a sparse matrix: a row times a column for
// each position.
class PrunedProduct {
 public:
  PrunedProduct(G& g, const Value& pattern) : g_(g), pattern_(pattern) {}

  Value Make(Value a, Value b, const Turns& turns) {
    Value indices = PartsOf(g_, pattern_, a.dtype()).indices;
    bool turn_a = turns.transpose_a || turns.adjoint_a;
    bool turn_b = turns.transpose_b || turns.adjoint_b;
    if (turns.adjoint_a) a = g_.Conj(a);
    if (turns.adjoint_b) b = g_.Conj(b);
    bool has_batch = a.shape().rank() == 3;
    std::vector<Operand> dims;
    if (has_batch) dims.push_back(DimOf(a, 0));
    dims.push_back(DimOf(a, turn_a ? -1 : -2));
    dims.push_back(DimOf(b, turn_b ? -2 : -1));
    Value rows, columns;
    if (has_batch) {
      rows = Slice(indices, {kAll, Span({}, 2)});
      Value batches = Slice(indices, {kAll, 0});
      columns = g_.Stack({batches, Slice(indices, {kAll, 2})}, 1);
    } else {
      rows = Slice(indices, {kAll, 0});
      columns = Slice(indices, {kAll, 1});
    }
    const char* gather = has_batch ? "GatherNd" : "GatherV2";
    auto take = [&](const Value& matrix, bool turn, const Value& places) {
      std::vector<int> perm = has_batch ? std::vector<int>{0, 2, 1} : std::vector<int>{1, 0};
      Value from = turn ? g_.Transpose(matrix, perm) : matrix;
      if (has_batch) return g_.Op(gather, {from, places}).output();
      return g_.Gather(from, places);
    };
    Value a_rows = take(a, turn_a, rows);
    Value b_columns = take(b, !turn_b, columns);
    Value values = ReduceSum(a_rows * b_columns, 1);
    return MatrixOf(g_, {indices, values, ShapeFrom(dims)});
  }

 private:
  Operand DimOf(const Value& x, int64_t axis) {
    Shape shape = x.shape();
    int at = static_cast<int>(axis < 0 ? axis + shape.rank() : axis);
    if (shape.IsKnown(at)) return Operand(shape.dim(at));
    return g_.At(g_.ShapeOf(x, proto::DT_INT64), axis);
  }
  Value ShapeFrom(const std::vector<Operand>& dims) {
    std::vector<int64_t> known;
    for (const Operand& dim : dims) {
      if (dim.kind == Operand::kNumbers) known.push_back(dim.literal.AsInt(0));
    }
    if (known.size() == dims.size()) return g_.ConstantInts(known, proto::DT_INT64);
    return g_.Stack(dims);
  }

  G& g_;
  Value pattern_;
};

Value SparseTimesDense(G& g, const Value& a, const Value& b, const Turns& turns,
                       bool transpose_output, bool conjugate_output = false) {
  return g.Op("SparseMatrixMatMul", {a, b},
              {{"transpose_a", turns.transpose_a},
               {"transpose_b", turns.transpose_b},
               {"adjoint_a", turns.adjoint_a},
               {"adjoint_b", turns.adjoint_b},
               {"transpose_output", transpose_output},
               {"conjugate_output", conjugate_output}});
}

// The gradient of y = a b or of its transpose, where a is sparse, b is dense, and each may be
// transposed. The cases differ in which factors the gradient transposes and conjugates.
class SparseMatMulGradient {
 public:
  explicit SparseMatMulGradient(G& g)
      : g_(g),
        is_turned_(g.node().GetBool("transpose_output")),
        turns_(TurnsOf(g.node())),
        a_(g.x(0)),
        b_(g.x(1)),
        dy_(g.dy()) {}

  InputGradients Make() {
    if (!b_.shape().known_rank() || !dy_.shape().known_rank())
      return g_.Fail(
          "its gradient needs the ranks of its inputs, which must be known while tracing");
    if (g_.node().GetBool("conjugate_output")) dy_ = g_.Conj(dy_);
    const Turns& t = turns_;
    if (!t.adjoint_a && !t.adjoint_b) return Plain();
    if (!t.transpose_a && !t.transpose_b) return Adjoint();
    return Mixed();
  }

 private:
  Value Dense(const Value& x, const Value& y, const Turns& turns) {
    return PrunedProduct(g_, a_).Make(x, y, turns);
  }

  InputGradients Plain() {
    a_ = g_.Conj(a_);
    b_ = g_.Conj(b_);
    bool ta = turns_.transpose_a, tb = turns_.transpose_b;
    Value of_a = ta ? Dense(b_, dy_, {.transpose_a = tb, .transpose_b = !is_turned_})
                    : Dense(dy_, b_, {.transpose_a = is_turned_, .transpose_b = !tb});
    Value of_b = SparseTimesDense(g_, a_, dy_, {.transpose_a = !ta, .transpose_b = is_turned_}, tb);
    return {of_a, of_b};
  }
  InputGradients Adjoint() {
    bool aa = turns_.adjoint_a, ab = turns_.adjoint_b;
    Value of_a;
    if (!aa) {
      of_a = Dense(dy_, b_, {.transpose_a = is_turned_, .adjoint_b = !ab});
    } else if (!is_turned_) {
      of_a = Dense(b_, dy_, {.adjoint_a = ab, .adjoint_b = true});
    } else {
      of_a = Dense(b_, g_.Conj(dy_), {.adjoint_a = ab});
    }
    Value of_b =
        SparseTimesDense(g_, a_, dy_, {.transpose_b = is_turned_, .adjoint_a = !aa}, ab, ab);
    return {of_a, of_b};
  }
  // One of the factors a and b is transposed, the other one adjoint.
  InputGradients Mixed() {
    if (turns_.adjoint_a) {
      Value of_a = is_turned_ ? Dense(b_, g_.Conj(dy_), {.transpose_a = true})
                              : Dense(b_, dy_, {.transpose_a = true, .adjoint_b = true});
      return {of_a, SparseTimesDense(g_, a_, dy_, {.transpose_b = is_turned_}, true)};
    }
    Value of_a = Dense(b_, dy_, {.transpose_a = true, .transpose_b = !is_turned_});
    if (is_turned_) return {of_a, SparseTimesDense(g_, a_, dy_, {.adjoint_b = true}, true)};
    return {of_a, SparseTimesDense(g_, g_.Conj(a_), dy_, {}, true, true)};
  }

  G& g_;
  const bool is_turned_;
  const Turns turns_;
  Value a_, b_, dy_;
};
GRAPNEL_GRADIENT("SparseMatrixMatMul", [](G& g) { return SparseMatMulGradient(g).Make(); });

InputGradients SparseSparseMatMulOf(G& g) {
  Turns t = TurnsOf(g.node());
  DataType dtype = g.node().GetType("type");
  Value a = g.x(0), b = g.x(1), dy = g.dy();
  auto product = [&](const Value& x, const Value& y, const Turns& turns) -> Value {
    return g.Op("SparseMatrixSparseMatMul", {x, y},
                {{"type", dtype},
                 {"transpose_a", turns.transpose_a},
                 {"transpose_b", turns.transpose_b},
                 {"adjoint_a", turns.adjoint_a},
                 {"adjoint_b", turns.adjoint_b}});
  };
  // The cases differ in which factors are transposed, conjugated or adjoint.
  const bool turn_a = t.transpose_a || t.adjoint_a, turn_b = t.transpose_b || t.adjoint_b;
  Value of_a, of_b;
  if (t.transpose_b && !turn_a) {
    of_a = product(dy, g.Conj(b), {});
    of_b = product(dy, g.Conj(a), {.transpose_a = true});
  } else if (t.transpose_a && !turn_b) {
    of_a = product(g.Conj(b), dy, {.transpose_b = true});
    of_b = product(g.Conj(a), dy, {});
  } else if (t.transpose_a && t.transpose_b) {
    of_a = product(b, dy, {.transpose_b = true, .adjoint_a = true});
    of_b = product(dy, a, {.transpose_a = true, .adjoint_b = true});
  } else if (t.adjoint_a && t.transpose_b) {
    of_a = product(b, dy, {.transpose_a = true, .adjoint_b = true});
    of_b = product(dy, a, {.transpose_a = true, .transpose_b = true});
  } else if (t.transpose_a && t.adjoint_b) {
    of_a = product(b, dy, {.transpose_a = true, .transpose_b = true});
    of_b = product(dy, a, {.transpose_b = true, .adjoint_a = true});
  } else {
    of_a = t.adjoint_a ? product(b, dy, {.adjoint_a = t.adjoint_b, .adjoint_b = true})
                       : product(dy, b, {.adjoint_b = !t.adjoint_b});
    of_b = t.adjoint_b ? product(dy, a, {.adjoint_a = true, .adjoint_b = t.adjoint_a})
                       : product(a, dy, {.adjoint_a = !t.adjoint_a});
  }
  Value pruned_a = Pruned(g, of_a, a, dtype);
  return {pruned_a, Pruned(g, of_b, b, dtype)};
}
GRAPNEL_GRADIENT("SparseMatrixSparseMatMul", SparseSparseMatMulOf);
GRAPNEL_REFUSED_GRADIENT("SparseMatrixMul", "TensorFlow does not implement its gradient");
GRAPNEL_NO_GRADIENT("SparseMatrixNNZ");
GRAPNEL_NO_GRADIENT("SparseMatrixZeros");

}  // namespace
}  // namespace grapnel
