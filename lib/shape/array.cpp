// Shape functions of ops that create tensors, query their shapes, or reshape them.
#include <algorithm>
#include <cmath>

#include "lib/ir/literal.h"
#include "lib/ir/wire.h"
#include "lib/shape/functions.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns dtype and shape of a TensorProto, without reading its elements.
std::pair<DataType, Shape> HeaderOf(llvm::StringRef tensor_proto) {
  DataType type = proto::DT_INVALID;
  Shape shape = Shape::Scalar();
  WireReader reader(tensor_proto);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) type = static_cast<DataType>(reader.number());
    if (!reader.Is(2, WireType::kBytes)) continue;
    // Wraps the shape in an AttrValue, which already has a parser for shapes.
    std::string attr;
    AppendBytesField(&attr, 7, reader.bytes());
    shape = AttrView(attr).AsShape().value_or(Shape::Unknown());
  }
  return {type, shape};
}

void ConstShape(ShapeContext& c) {
  std::optional<AttrView> value = c.Attr("value");
  std::optional<llvm::StringRef> tensor = value ? value->AsTensor() : std::nullopt;
  if (!tensor) return;
  auto [type, shape] = HeaderOf(*tensor);
  std::optional<int64_t> count = shape.NumElements();
  c.Out(0, std::move(shape));
  if (!ShapeContext::TracksElements(type) || !count || *count > ShapeMap::kMaxElements) return;
  if (c.node.FindAttr(kValuesLeftOut)) return;
  Expected<Literal> literal = Literal::FromTensorProto(*tensor);
  if (!literal) return llvm::consumeError(literal.takeError());
  std::vector<int64_t> integers = literal->AsInts();
  if (std::all_of(integers.begin(), integers.end(), IsKnownElement)) {
    c.OutElements(0, Elements(integers.begin(), integers.end()));
  }
}

// In a GraphDef of version 21 or lower, an attribute `shape` without dimensions means an unknown
// shape.
void PlaceholderShape(ShapeContext& c) {
  std::optional<Shape> shape = c.ShapeAttr("shape");
  if (!shape || (c.graph_version <= 21 && shape->known_rank() && shape->rank() == 0)) return;
  c.Out(0, std::move(*shape));
}

// The output has the shape of the attribute, which the default value must match.
void PlaceholderWithDefaultShape(ShapeContext& c) {
  Shape shape = c.ShapeAttr("shape").value_or(Shape::Unknown());
  c.Equal(shape, c.in(0));
  c.Out(0, std::move(shape));
}

void AttrShape(ShapeContext& c) {
  if (std::optional<Shape> shape = c.ShapeAttr("shape")) c.Out(0, std::move(*shape));
}

// Output i has the shape and elements of input i.
void ForwardShape(ShapeContext& c) {
  for (int i = 0; i < std::min(c.num_inputs(), c.num_outputs()); ++i) c.OutFacts(i, c.facts(i));
}

void EnsureShapeShape(ShapeContext& c) {
  c.OutFacts(0, c.facts(0));
  c.OutEqual(0, c.Equal(c.in(0), c.ShapeAttr("shape").value_or(Shape::Unknown())));
}

void ShapeNShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    const Shape& shape = c.in(i);
    c.Out(i, VectorOf(shape.known_rank() ? shape.rank() : kUnknownDim));
    if (!shape.known_rank()) continue;
    Elements elements;
    for (int64_t dim : shape.dims()) elements.push_back(ElementOfDim(dim));
    c.OutElements(i, std::move(elements));
  }
}

void SizeShape(ShapeContext& c) {
  c.Out(0, Shape::Scalar());
  if (c.in(0).known_rank()) c.OutElements(0, {ElementOfDim(ProductOf(c.in(0).dims()))});
}

void RankShape(ShapeContext& c) {
  c.Out(0, Shape::Scalar());
  if (c.in(0).known_rank()) c.OutElements(0, {c.in(0).rank()});
}

// Returns the size of dimension `at` of `to`, computed from the number of elements of `from` and
// all other dimensions of `to`; nullopt if these do not determine it. A symbol in both shapes
// cancels out. Sets `misfit` to true if the size would not be a whole number.
std::optional<int64_t> Missing(const Shape& from, const Shape& to, int at, bool* misfit) {
  llvm::SmallVector<int64_t, 6> above(from.dims().begin(), from.dims().end()), below;
  for (int i = 0; i < to.rank(); ++i) {
    if (i == at) continue;
    auto same = std::find(above.begin(), above.end(), to.dim(i));
    if (to.dim(i) < kUnknownDim && same != above.end()) {
      above.erase(same);
    } else {
      below.push_back(to.dim(i));
    }
  }
  int64_t product = ProductOf(above), divisor = ProductOf(below);
  if (divisor == 0) return std::nullopt;
  if (divisor == 1) return product == kUnknownDim ? std::nullopt : std::optional<int64_t>(product);
  // If both products are known, so is the quotient (0 / n is 0 for any n). Otherwise the quotient
  // is a symbol if the known factors are equal and one symbol is left.
  if (product >= 0 && divisor >= 0) {
    *misfit = product % divisor != 0;
    return product / divisor;
  }
  llvm::SmallVector<int64_t, 6> symbols;
  int64_t known = 1;
  for (int64_t dim : above) {
    if (dim >= 0) {
      known = MulDims(known, dim);
    } else {
      symbols.push_back(dim);
    }
  }
  if (symbols.size() == 1 && divisor > 0 && known == divisor) return symbols[0];
  return std::nullopt;
}

void ReshapeTo(ShapeContext& c, Shape to) {
  const Shape& from = c.in(0);
  if (!to.known_rank()) return;
  int unknown = -1, num_unknown = 0;
  for (int i = 0; i < to.rank(); ++i) {
    if (to.dim(i) != kUnknownDim) continue;
    unknown = i;
    ++num_unknown;
  }
  bool misfit = false;
  auto is_open = [](int64_t dim) { return dim < 0; };
  // If a Reshape goes from [7,n] to [?,n], Grappler does not cancel the n, so it leaves the first
  // dimension of the result unknown.
  if (!c.sees_inside && llvm::count_if(to.dims(), is_open) > 1) return c.Out(0, std::move(to));
  if (from.known_rank() && num_unknown == 1) {
    if (auto dim = Missing(from, to, unknown, &misfit); dim && *dim != kUnknownDim)
      to.set_dim(unknown, *dim);
  } else if (from.IsFullyKnown() && to.IsFullyKnown()) {
    misfit = from.NumElements() != to.NumElements();
  } else if (from.IsFullyKnown() && num_unknown == 0) {
    // If `to` has one symbol among known sizes, the number of elements determines that symbol's
    // size.
    for (int i = 0; i < to.rank(); ++i) {
      if (to.IsKnown(i)) continue;
      if (auto dim = Missing(from, to, i, &misfit); dim && *dim >= 0) to.set_dim(i, *dim);
    }
  } else if (from.known_rank() && to.IsFullyKnown()) {
    if (llvm::count_if(from.dims(), is_open) == 1) {
      int i = static_cast<int>(llvm::find_if(from.dims(), is_open) - from.dims().begin());
      std::optional<int64_t> dim = Missing(to, from, i, &misfit);
      if (dim && !misfit)
        c.Equal(from.dim(i), *dim, "the unknown dimension and the size left for it");
    }
  } else if (from.known_rank() && num_unknown == 0) {
    // If each shape has one dimension that is not known, uses the symbol of the input, which occurs
    // in other shapes too.
    auto open = llvm::find_if(to.dims(), is_open);
    if (llvm::count_if(from.dims(), is_open) == 1 && llvm::count_if(to.dims(), is_open) == 1) {
      int i = static_cast<int>(open - to.dims().begin());
      if (auto dim = Missing(from, to, i, &misfit); dim && *dim < kUnknownDim) to.set_dim(i, *dim);
    }
  }
  if (misfit) {
    return c.Fail("{0} cannot turn {1} into {2}: the numbers of elements differ", c.op(),
                  from.ToString(), to.ToString());
  }
  c.Out(0, std::move(to));
  if (c.elements(0)) c.OutElements(0, *c.elements(0));
}

void ReshapeShape(ShapeContext& c) { ReshapeTo(c, c.ShapeFrom(1)); }

void ExpandDimsShape(ShapeContext& c) {
  const Shape& shape = c.in(0);
  std::optional<int64_t> axis = c.integer(1);
  if (!shape.known_rank()) return;
  if (!axis) {
    c.Out(0, Shape::UnknownOfRank(shape.rank() + 1));
  } else if (std::optional<int> at = c.Axis(*axis, shape.rank() + 1)) {
    Dims dims(shape.dims().begin(), shape.dims().end());
    dims.insert(dims.begin() + *at, 1);
    c.Out(0, Shape(dims));
  }
  if (c.elements(0)) c.OutElements(0, *c.elements(0));
}

void SqueezeShape(ShapeContext& c) {
  const Shape& shape = c.in(0);
  if (c.elements(0)) c.OutElements(0, *c.elements(0));
  if (!shape.known_rank()) return;
  std::vector<int64_t> axes = c.Ints("squeeze_dims");
  if (axes.empty()) axes = c.Ints("axis");
  llvm::SmallVector<bool, 6> squeezed(shape.rank(), false);
  for (int64_t axis : axes) {
    std::optional<int> at = c.Axis(axis, shape.rank());
    if (!at) return;
    squeezed[*at] = true;
    if (shape.IsKnown(*at) && shape.dim(*at) != 1) {
      return c.Fail("{0} can drop dimensions of size 1 only, dimension {1} of {2} is not", c.op(),
                    *at, shape.ToString());
    }
  }
  Shape result = Shape::Scalar();
  for (int i = 0; i < shape.rank(); ++i) {
    // Without axes, all dimensions of size 1 are removed; while a size is unknown, so is the rank
    // of the output.
    if (axes.empty() && !shape.IsKnown(i)) return;
    if (axes.empty() ? shape.dim(i) != 1 : !squeezed[i]) result.Append(shape.dim(i));
  }
  c.Out(0, std::move(result));
}

void TransposeShape(ShapeContext& c) {
  Shape shape = c.in(0);
  const Elements* permutation = c.integers(1);
  int rank = shape.known_rank() ? shape.rank() : -1;
  if (c.in(1).known_rank() && c.in(1).rank() == 1 && c.in(1).IsKnown(0)) {
    if (rank >= 0 && c.in(1).dim(0) != rank) {
      return c.Fail("{0} of {1} needs a permutation of {2} axes, got {3}", c.op(), shape.ToString(),
                    rank, c.in(1).dim(0));
    }
    rank = static_cast<int>(std::min<int64_t>(c.in(1).dim(0), 254));
  }
  // For rank 0 and 1, a transpose changes nothing; -1 is an unknown rank.
  if (!shape.known_rank() && rank < 2) return c.Out(0, c.in(0));
  shape = c.WithRank(0, rank);
  Shape result = Shape::UnknownOfRank(rank);
  if (rank <= 1) result = shape;
  if (permutation && shape.known_rank() && static_cast<int>(permutation->size()) == rank) {
    for (int i = 0; i < rank; ++i) {
      std::optional<int> from = c.Axis((*permutation)[i], rank);
      if (!from) return;
      result.set_dim(i, shape.dim(*from));
    }
  }
  c.Out(0, std::move(result));
}

void FillShape(ShapeContext& c) {
  Shape shape = c.ShapeFrom(0);
  std::optional<int64_t> count = shape.NumElements(), value = c.integer(1);
  c.Out(0, std::move(shape));
  if (count && value && *count <= ShapeMap::kMaxElements)
    c.OutElements(0, Elements(*count, *value));
}

void BroadcastToShape(ShapeContext& c) {
  Shape shape = c.ShapeFrom(1);
  const Shape& from = c.in(0);
  if (shape.known_rank() && from.known_rank()) {
    if (from.rank() > shape.rank()) {
      return c.Fail("{0} cannot broadcast {1} to {2}", c.op(), from.ToString(), shape.ToString());
    }
    for (int i = 0, offset = shape.rank() - from.rank(); i < from.rank(); ++i) {
      int64_t to = shape.dim(offset + i), dim = from.dim(i);
      if (to >= 0 && dim > 1 && dim != to) {
        return c.Fail("{0} cannot broadcast {1} to {2}", c.op(), from.ToString(), shape.ToString());
      }
      if (to < 0 && dim > 1) shape.set_dim(offset + i, dim);
    }
  }
  std::optional<int64_t> count = shape.NumElements(), value = c.integer(0);
  c.Out(0, std::move(shape));
  if (count && value && *count <= ShapeMap::kMaxElements)
    c.OutElements(0, Elements(*count, *value));
  const Elements* same = c.believes_notes ? c.elements(0) : nullptr;
  if (same && count == static_cast<int64_t>(same->size())) c.OutElements(0, *same);
}

void TileShape(ShapeContext& c) {
  Shape multiples = c.ShapeFrom(1);
  if (!c.in(0).known_rank() && !multiples.known_rank()) return;
  const Shape shape = c.in(0).known_rank() ? c.in(0) : c.WithRank(0, multiples.rank());
  if (shape.rank() == 0) return c.Out(0, Shape::Scalar());
  if (multiples.known_rank() && multiples.rank() != shape.rank()) {
    return c.Fail("{0} of {1} needs {2} multiples, got {3}", c.op(), shape.ToString(), shape.rank(),
                  multiples.rank());
  }
  if (!multiples.known_rank()) multiples = Shape::UnknownOfRank(shape.rank());
  Shape result = shape;
  for (int i = 0; i < shape.rank(); ++i) result.set_dim(i, MulDims(shape.dim(i), multiples.dim(i)));
  c.Out(0, std::move(result));
}

// Returns a scalar input as a double: from its tracked element, otherwise from a float or integer
// Const, also one behind a few Casts to a float dtype.
std::optional<double> NumberAt(ShapeContext& c, int i) {
  if (std::optional<int64_t> value = c.integer(i)) return static_cast<double>(*value);
  Node source = i < c.node.num_inputs() ? c.node.input_node(i) : Node();
  for (int steps = 0; steps < 4 && source && source.op() == "Cast" && source.num_inputs() == 1;
       ++steps) {
    if (c.fed->count(source.id()) || !IsFloating(source.GetType("DstT"))) return std::nullopt;
    source = source.input_node(0);
  }
  if (!source || source.op() != "Const" || c.fed->count(source.id())) return std::nullopt;
  Expected<Literal> literal = Literal::FromConst(source);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return std::nullopt;
  }
  bool real = IsFloating(literal->dtype()) || IsInteger(literal->dtype());
  if (literal->num_elements() != 1 || !real) return std::nullopt;
  return literal->AsDouble(0);
}

// Rounds `value` to the nearest value of `type`, ties to even.
double RoundedTo(DataType type, double value) {
  if (type == proto::DT_DOUBLE) return value;
  llvm::APFloat number(value);
  bool is_inexact;
  number.convert(type == proto::DT_BFLOAT16 ? llvm::APFloat::BFloat()
                 : type == proto::DT_HALF   ? llvm::APFloat::IEEEhalf()
                                            : llvm::APFloat::IEEEsingle(),
                 llvm::APFloat::rmNearestTiesToEven, &is_inexact);
  number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &is_inexact);
  return number.convertToDouble();
}

void RangeShape(ShapeContext& c) {
  for (int i = 0; i < 3; ++i) c.WithRank(i, 0);
  c.Out(0, Shape::UnknownOfRank(1));
  std::optional<int64_t> integers[3] = {c.integer(0), c.integer(1), c.integer(2)};
  if (integers[0] && integers[1] && integers[2]) {
    int64_t start = *integers[0], limit = *integers[1], delta = *integers[2];
    constexpr int64_t kFar = int64_t{1} << 40;
    if (delta == 0 || std::abs(delta) > kFar || std::abs(start) > kFar || std::abs(limit) > kFar)
      return;
    int64_t distance = delta > 0 ? limit - start : start - limit, step = std::abs(delta);
    int64_t count = distance <= 0 ? 0 : (distance + step - 1) / step;
    c.Out(0, VectorOf(count));
    if (count > ShapeMap::kMaxElements || !ShapeContext::TracksElements(c.Type("Tidx"))) return;
    Elements elements;
    for (int64_t i = 0; i < count; ++i) elements.push_back(start + i * delta);
    return c.OutElements(0, std::move(elements));
  }
  // range(n), where n is a symbol, has n elements.
  if (integers[0] == 0 && integers[2] == 1) return c.Out(0, VectorOf(c.SizeFrom(1)));
  std::optional<double> start = NumberAt(c, 0), end = NumberAt(c, 1), delta = NumberAt(c, 2);
  if (!start || !end || !delta || *delta == 0) return;
  // Computes in the op's dtype, as the kernel does: a float range from 0 to 0.6 by 0.2 has three
  // elements, although the exact quotient of 0.6f and 0.2f is slightly larger than three.
  DataType type = c.Type("Tidx");
  double count = std::ceil(std::abs(RoundedTo(type, RoundedTo(type, *end - *start) / *delta)));
  if ((*delta > 0) != (*end > *start)) count = 0;
  if (count < 1e15) c.Out(0, VectorOf(static_cast<int64_t>(count)));
}

void LinSpaceShape(ShapeContext& c) { c.Out(0, VectorOf(c.SizeFrom(2))); }

// If the elements of the two dtypes have different sizes, a last dimension is added or removed.
void BitcastShape(ShapeContext& c) {
  Shape shape = c.in(0);
  int64_t from = DataTypeSize(BaseType(c.Type("T"))), to = DataTypeSize(BaseType(c.Type("type")));
  if (!shape.known_rank() || from == 0 || to == 0) return;
  if (from > to) shape.Append(from / to);
  if (from < to) {
    if (shape.rank() == 0 ||
        (shape.IsKnown(shape.rank() - 1) && shape.dim(shape.rank() - 1) != to / from)) {
      return c.Fail("{0} needs a last dimension of size {1}, got {2}", c.op(), to / from,
                    shape.ToString());
    }
    shape = SubShape(shape, 0, -1);
  }
  c.Out(0, std::move(shape));
}

void InvertPermutationShape(ShapeContext& c) {
  c.Out(0, c.WithRank(0, 1));
  const Elements* permutation = c.integers(0);
  if (!permutation) return;
  Elements inverse(permutation->size(), -1);
  for (size_t i = 0; i < permutation->size(); ++i) {
    int64_t at = (*permutation)[i];
    if (at < 0 || at >= static_cast<int64_t>(inverse.size()) || inverse[at] >= 0) return;
    inverse[at] = i;
  }
  c.OutElements(0, std::move(inverse));
}

void EmptyShape(ShapeContext& c) { c.Out(0, c.ShapeFrom(0)); }

void ParallelConcatShape(ShapeContext& c) { AttrShape(c); }

constexpr ShapeRule kRules[] = {
    {"Const", ConstShape},
    {"HostConst", ConstShape},
    {"_EagerConst", ForwardShape},
    {"ImmutableConst", AttrShape},
    {"Placeholder", PlaceholderShape},
    {"PlaceholderV2", AttrShape},
    {"PlaceholderWithDefault", PlaceholderWithDefaultShape},
    {"FakeParam", AttrShape},
    {"ParallelConcat", ParallelConcatShape},
    {"_ParallelConcatStart", AttrShape},
    {"_ParallelConcatUpdate", SameAsInput},
    {"CheckNumerics", ForwardShape},
    {"CheckNumericsV2", ForwardShape},
    {"Copy", ForwardShape},
    {"CopyHost", ForwardShape},
    {"DebugGradientIdentity", ForwardShape},
    {"DebugGradientRefIdentity", ForwardShape},
    {"DebugIdentity", ForwardShape},
    {"DebugIdentityV2", ForwardShape},
    {"DebugIdentityV3", ForwardShape},
    {"DeepCopy", ForwardShape},
    {"GuaranteeConst", ForwardShape},
    {"Identity", ForwardShape},
    {"IdentityN", ForwardShape},
    {"PreventGradient", ForwardShape},
    {"RefIdentity", ForwardShape},
    {"Snapshot", ForwardShape},
    {"StopGradient", ForwardShape},
    {"XlaOptimizationBarrier", ForwardShape},
    {"XlaSharding", ForwardShape},
    {"TPUReplicatedInput", ForwardShape},
    {"EnsureShape", EnsureShapeShape},
    {"Shape", ShapeNShape},
    {"ShapeN", ShapeNShape},
    {"Size", SizeShape},
    {"Rank", RankShape},
    {"Reshape", ReshapeShape},
    {"ExpandDims", ExpandDimsShape},
    {"Squeeze", SqueezeShape},
    {"Transpose", TransposeShape},
    {"ConjugateTranspose", TransposeShape},
    {"_MklTranspose", TransposeShape},
    {"InvertPermutation", InvertPermutationShape},
    {"Fill", FillShape},
    {"BroadcastTo", BroadcastToShape},
    {"Tile", TileShape},
    {"Empty", EmptyShape},
    {"Range", RangeShape},
    {"LinSpace", LinSpaceShape},
    {"Bitcast", BitcastShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> ArrayShapeRules() { return kRules; }

}  // namespace grapnel
