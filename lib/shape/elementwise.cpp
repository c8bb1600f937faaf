// Shape functions of elementwise ops. They also compute the elements of the small integer tensors
// that hold shapes.
#include "lib/shape/element_arithmetic.h"
#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// Makes int32 elements that are out of range unknown, because the kernel's int32 wraps around and
// int64 does not.
void KeepInRange(ShapeContext& c, llvm::StringRef type_attr, Elements* elements) {
  if (c.Type(type_attr) != proto::DT_INT32) return;
  for (int64_t& element : *elements) {
    if (IsKnownElement(element) && element != static_cast<int32_t>(element))
      element = kUnknownElement;
  }
}

void BroadcastElements(ShapeContext& c) {
  const Elements *a = c.elements(0), *b = c.elements(1);
  if (!a || !b || (a->size() != b->size() && a->size() != 1 && b->size() != 1)) return;
  ElementOp op = ElementOpOf(c.op());
  std::optional<int64_t> count = c.outputs[0].shape.NumElements();
  if (!op || !count || *count != static_cast<int64_t>(a->size() == 1 ? b->size() : a->size()))
    return;
  // Two inputs that stretch each other, such as [2,1] and [1,2], do not get here: the result has
  // four elements, each input only two, and the check above returns.
  Elements result;
  for (int64_t i = 0; i < *count; ++i) {
    result.push_back(op((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  }
  KeepInRange(c, "T", &result);
  c.OutElements(0, std::move(result));
}

void BinaryShape(ShapeContext& c) {
  std::optional<Shape> shape = BroadcastShapes(c.in(0), c.in(1));
  if (!shape) {
    return c.Fail("{0} cannot broadcast {1} and {2} together", c.op(), c.in(0).ToString(),
                  c.in(1).ToString());
  }
  c.Out(0, std::move(*shape));
  BroadcastElements(c);
}

void QuantizedBinaryShape(ShapeContext& c) {
  BinaryShape(c);
  c.Out(1, Shape::Scalar());
  c.Out(2, Shape::Scalar());
}

// The attribute incompatible_shape_error = false makes Equal and NotEqual return the scalar `false`
// for incompatible shapes.
void EqualShape(ShapeContext& c) {
  if (c.Bool("incompatible_shape_error", true)) return BinaryShape(c);
  const Shape &x = c.in(0), &y = c.in(1);
  if (!x.known_rank() || !y.known_rank()) return;
  int rank = std::max(x.rank(), y.rank());
  Shape shape = Shape::UnknownOfRank(rank);
  for (int i = 0; i < rank; ++i) {
    int64_t a = i < rank - x.rank() ? 1 : x.dim(i - (rank - x.rank()));
    int64_t b = i < rank - y.rank() ? 1 : y.dim(i - (rank - y.rank()));
    if (a == 1 || b == 1) {
      shape.set_dim(i, a == 1 ? b : a);
    } else if (a == b && a != kUnknownDim) {
      shape.set_dim(i, a);
    } else if (a >= 0 && b >= 0) {
      return c.Out(0, Shape::Scalar());
    } else {
      return;  // the shape depends on whether they are compatible, which is unknown
    }
  }
  c.Out(0, std::move(shape));
}

void NegShape(ShapeContext& c) {
  c.Out(0, c.in(0));
  const Elements* elements = c.elements(0);
  if (!elements) return;
  Elements result;
  for (int64_t element : *elements) result.push_back(SubtractElements(0, element));
  KeepInRange(c, "T", &result);
  c.OutElements(0, std::move(result));
}

void CastShape(ShapeContext& c) {
  c.Out(0, c.in(0));
  const Elements* elements = c.elements(0);
  if (!elements || !ShapeContext::TracksElements(c.Type("DstT"))) return;
  Elements result = *elements;
  if (c.Type("DstT") == proto::DT_BOOL) {
    for (int64_t& element : result)
      element = IsKnownElement(element) ? element != 0 : kUnknownElement;
  }
  KeepInRange(c, "DstT", &result);
  c.OutElements(0, std::move(result));
}

void LogicalNotShape(ShapeContext& c) {
  c.Out(0, c.in(0));
  Elements result = c.elements(0) ? *c.elements(0) : Elements();
  for (int64_t& element : result) element = IsKnownElement(element) ? !element : kUnknownElement;
  if (c.elements(0)) c.OutElements(0, std::move(result));
}

void LikeShape(ShapeContext& c) {
  c.Out(0, c.in(0));
  std::optional<int64_t> count = c.in(0).NumElements();
  if (!count || *count > ShapeMap::kMaxElements || !ShapeContext::TracksElements(c.Type("T")))
    return;
  c.OutElements(0, Elements(*count, c.op() == "OnesLike" ? 1 : 0));
}

void BroadcastAllShape(ShapeContext& c) {
  Shape shape = c.in(0);
  for (int i = 1; i < c.num_inputs(); ++i) {
    std::optional<Shape> wider = BroadcastShapes(shape, c.in(i));
    if (!wider)
      return c.Fail("{0} cannot broadcast {1} and {2} together", c.op(), shape.ToString(),
                    c.in(i).ToString());
    shape = std::move(*wider);
  }
  c.Out(0, std::move(shape));
}

// Sets the elements of a Select. If the condition is one known element, they are those of the
// selected value; otherwise, elements that are equal in both values are known, and with
// believes_notes those that a known condition selects one by one.
void SelectElements(ShapeContext& c) {
  std::optional<int64_t> condition = c.integer(0);
  int chosen = condition && *condition == 0 ? 2 : 1;
  if (condition && c.elements(chosen) && c.in(chosen) == c.outputs[0].shape) {
    return c.OutElements(0, *c.elements(chosen));
  }
  if (c.believes_notes && SelectEachElement(c)) return;
  PortFacts joined = JoinFacts(c.facts(1), c.facts(2));
  if (joined.elements() && c.in(1) == c.outputs[0].shape) c.OutElements(0, *joined.elements());
}

void SelectV2Shape(ShapeContext& c) {
  BroadcastAllShape(c);
  if (c.problem.empty()) SelectElements(c);
}

// The condition may also be a scalar, or a vector that selects rows.
void SelectShape(ShapeContext& c) {
  Shape values = c.Equal(c.in(1), c.in(2));
  const Shape& condition = c.in(0);
  if (condition.known_rank() && values.known_rank() && condition.rank() > 1) {
    values = c.Equal(values, condition);
  } else if (condition.known_rank() && condition.rank() == 1 && values.known_rank() &&
             values.rank() > 0) {
    c.Equal(condition.dim(0), values.dim(0), "the size of the condition and the number of rows");
  }
  c.OutEqual(0, values);
  SelectElements(c);
}

// All inputs and the output have the same shape.
void AllEqualShape(ShapeContext& c) {
  Shape shape = c.in(0);
  for (int i = 1; i < c.num_inputs(); ++i) shape = c.Equal(shape, c.in(i));
  c.OutEqual(0, std::move(shape));
  // AddN of two shape tensors is rare, so only the elements of a single input are tracked: AddN
  // returns them.
  if (c.num_inputs() == 1 && c.elements(0)) c.OutElements(0, *c.elements(0));
}

// The output of `SigmoidGrad(y, dy)` and the like has the shape of y and dy.
void TwoEqualShape(ShapeContext& c) { c.OutEqual(0, c.Equal(c.in(0), c.in(1))); }

// Inputs that are not scalars have the same shape, which is that of the output.
void BetaincShape(ShapeContext& c) {
  Shape shape = Shape::Scalar();
  for (int i = 0; i < c.num_inputs(); ++i) {
    if (!c.in(i).known_rank()) return;
    if (c.in(i).rank() > 0) shape = shape.rank() == 0 ? c.in(i) : c.Equal(shape, c.in(i));
    if (!c.problem.empty()) return;
  }
  c.Out(0, std::move(shape));
}

void BroadcastGradientArgsShape(ShapeContext& c) {
  for (int i = 0; i < 2; ++i) c.Out(i, Shape::UnknownOfRank(1));
  if (!c.elements(0) || !c.elements(1)) return;
  const Shape shapes[] = {c.ShapeFrom(0), c.ShapeFrom(1)};
  if (!shapes[0].known_rank() || !shapes[1].known_rank()) return;
  int rank = std::max(shapes[0].rank(), shapes[1].rank());
  Elements axes[2];
  for (int i = 0; i < rank; ++i) {
    int64_t dims[2];
    for (int s = 0; s < 2; ++s) {
      int at = i - (rank - shapes[s].rank());
      dims[s] = at < 0 ? 1 : shapes[s].dim(at);
    }
    if (dims[0] == dims[1] && dims[0] != kUnknownDim) {
      // If both dimensions are 1, TensorFlow lists the axis in both outputs, although a sum over it
      // changes nothing.
      if (dims[0] == 1) axes[0].push_back(i), axes[1].push_back(i);
      continue;
    }
    if (dims[0] < 0 || dims[1] < 0) return;
    for (int s = 0; s < 2; ++s) {
      if (dims[s] == 1) axes[s].push_back(i);
    }
  }
  for (int s = 0; s < 2; ++s) {
    c.Out(s, VectorOf(axes[s].size()));
    c.OutElements(s, axes[s]);
  }
}

void BroadcastArgsShape(ShapeContext& c) {
  const Shape &a = c.in(0), &b = c.in(1);
  if (!a.known_rank() || !b.known_rank() || a.rank() != 1 || b.rank() != 1)
    return c.Out(0, Shape::UnknownOfRank(1));
  bool known = a.IsKnown(0) && b.IsKnown(0);
  c.Out(0, VectorOf(known ? std::max(a.dim(0), b.dim(0)) : kUnknownDim));
  if (!c.elements(0) || !c.elements(1)) return;
  std::optional<Shape> shape = BroadcastShapes(c.ShapeFrom(0), c.ShapeFrom(1));
  if (!shape || !shape->known_rank()) return;
  Elements elements;
  for (int64_t dim : shape->dims()) elements.push_back(ElementOfDim(dim));
  c.OutElements(0, std::move(elements));
}

constexpr ShapeRule kRules[] = {
    {"AccumulateNV2", AllEqualShape},
    {"AddN", AllEqualShape},
    {"BroadcastArgs", BroadcastArgsShape},
    {"BroadcastGradientArgs", BroadcastGradientArgsShape},
    {"Cast", CastShape},
    {"ClipByValue", SameAsInput},
    {"Neg", NegShape},
    {"OnesLike", LikeShape},
    {"ZerosLike", LikeShape},
    {"Select", SelectShape},
    {"SelectV2", SelectV2Shape},
    {"Betainc", BetaincShape},
    {"Equal", EqualShape},
    {"NotEqual", EqualShape},
    // Ops whose outputs have the shape of their first input.
    {"Abs", SameAsInput},
    {"Print", SameAsInput},
    {"IsotonicRegression", SameAsInput},
    {"Acos", SameAsInput},
    {"Acosh", SameAsInput},
    {"Angle", SameAsInput},
    {"Asin", SameAsInput},
    {"Asinh", SameAsInput},
    {"AsString", SameAsInput},
    {"Atan", SameAsInput},
    {"Atanh", SameAsInput},
    {"BesselI0", SameAsInput},
    {"BesselI0e", SameAsInput},
    {"BesselI1", SameAsInput},
    {"BesselI1e", SameAsInput},
    {"BesselJ0", SameAsInput},
    {"BesselJ1", SameAsInput},
    {"BesselK0", SameAsInput},
    {"BesselK0e", SameAsInput},
    {"BesselK1", SameAsInput},
    {"BesselK1e", SameAsInput},
    {"BesselY0", SameAsInput},
    {"BesselY1", SameAsInput},
    {"Bucketize", SameAsInput},
    {"Ceil", SameAsInput},
    {"ComplexAbs", SameAsInput},
    {"Cos", SameAsInput},
    {"Cosh", SameAsInput},
    {"Dawsn", SameAsInput},
    {"DecodeBase64", SameAsInput},
    {"DecodeCompressed", SameAsInput},
    {"Digamma", SameAsInput},
    {"EncodeBase64", SameAsInput},
    {"Elu", SameAsInput},
    {"Erf", SameAsInput},
    {"Erfc", SameAsInput},
    {"Erfinv", SameAsInput},
    {"Exp", SameAsInput},
    {"Expint", SameAsInput},
    {"Expm1", SameAsInput},
    {"Floor", SameAsInput},
    {"FresnelCos", SameAsInput},
    {"FresnelSin", SameAsInput},
    {"Imag", SameAsInput},
    {"Inv", SameAsInput},
    {"Invert", SameAsInput},
    {"IsFinite", SameAsInput},
    {"IsInf", SameAsInput},
    {"IsNan", SameAsInput},
    {"LeakyRelu", SameAsInput},
    {"Lgamma", SameAsInput},
    {"Log", SameAsInput},
    {"Log1p", SameAsInput},
    {"LogicalNot", LogicalNotShape},
    {"Ndtri", SameAsInput},
    {"PopulationCount", SameAsInput},
    {"Real", SameAsInput},
    {"Reciprocal", SameAsInput},
    {"RegexFullMatch", SameAsInput},
    {"RegexReplace", SameAsInput},
    {"Relu", SameAsInput},
    {"Relu6", SameAsInput},
    {"Rint", SameAsInput},
    {"Round", SameAsInput},
    {"Rsqrt", SameAsInput},
    {"Selu", SameAsInput},
    {"Sigmoid", SameAsInput},
    {"Sign", SameAsInput},
    {"Sin", SameAsInput},
    {"Sinh", SameAsInput},
    {"Softplus", SameAsInput},
    {"Softsign", SameAsInput},
    {"Spence", SameAsInput},
    {"Sqrt", SameAsInput},
    {"Square", SameAsInput},
    {"StaticRegexFullMatch", SameAsInput},
    {"StaticRegexReplace", SameAsInput},
    {"StringLength", SameAsInput},
    {"StringLower", SameAsInput},
    {"StringStrip", SameAsInput},
    {"StringToHashBucket", SameAsInput},
    {"StringToHashBucketFast", SameAsInput},
    {"StringToHashBucketStrong", SameAsInput},
    {"StringToNumber", SameAsInput},
    {"StringUpper", SameAsInput},
    {"Tan", SameAsInput},
    {"Tanh", SameAsInput},
    {"UnicodeScript", SameAsInput},
    {"UnicodeTranscode", SameAsInput},
    {"_HostCast", SameAsInput},
    {"_MklSwish", SameAsInput},
    {"_MklFusedMish", SameAsInput},
    {"_UnaryOpsComposition", SameAsInput},
    // Ops with two inputs that are broadcast together; those of ApproximateEqual have equal shapes.
    {"QuantizedAdd", QuantizedBinaryShape},
    {"QuantizedMul", QuantizedBinaryShape},
    {"UniformQuantizedAdd", BinaryShape},
    {"Add", BinaryShape},
    {"AddV2", BinaryShape},
    {"ApproximateEqual", TwoEqualShape},
    {"Atan2", BinaryShape},
    {"BitwiseAnd", BinaryShape},
    {"BitwiseOr", BinaryShape},
    {"BitwiseXor", BinaryShape},
    {"Complex", BinaryShape},
    {"Div", BinaryShape},
    {"DivNoNan", BinaryShape},
    {"FloorDiv", BinaryShape},
    {"FloorMod", BinaryShape},
    {"Greater", BinaryShape},
    {"GreaterEqual", BinaryShape},
    {"Igamma", BinaryShape},
    {"IgammaGradA", BinaryShape},
    {"RandomGammaGrad", BinaryShape},
    {"Igammac", BinaryShape},
    {"LeftShift", BinaryShape},
    {"Less", BinaryShape},
    {"LessEqual", BinaryShape},
    {"LogicalAnd", BinaryShape},
    {"LogicalOr", BinaryShape},
    {"Maximum", BinaryShape},
    {"Minimum", BinaryShape},
    {"Mod", BinaryShape},
    {"Mul", BinaryShape},
    {"MulNoNan", BinaryShape},
    {"NextAfter", BinaryShape},
    {"Polygamma", BinaryShape},
    {"Pow", BinaryShape},
    {"RealDiv", BinaryShape},
    {"RightShift", BinaryShape},
    {"SquaredDifference", BinaryShape},
    {"Sub", BinaryShape},
    {"TruncateDiv", BinaryShape},
    {"TruncateMod", BinaryShape},
    {"Xdivy", BinaryShape},
    {"Xlog1py", BinaryShape},
    {"Xlogy", BinaryShape},
    {"Zeta", BinaryShape},
    // Ops whose inputs are a value, and the gradient of a tensor with the value's shape.
    {"EluGrad", TwoEqualShape},
    {"InvGrad", TwoEqualShape},
    {"LeakyReluGrad", TwoEqualShape},
    {"ReciprocalGrad", TwoEqualShape},
    {"Relu6Grad", TwoEqualShape},
    {"ReluGrad", TwoEqualShape},
    {"RsqrtGrad", TwoEqualShape},
    {"SeluGrad", TwoEqualShape},
    {"SigmoidGrad", TwoEqualShape},
    {"SoftplusGrad", TwoEqualShape},
    {"SoftsignGrad", TwoEqualShape},
    {"SqrtGrad", TwoEqualShape},
    {"TanhGrad", TwoEqualShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> ElementwiseShapeRules() { return kRules; }

}  // namespace grapnel
