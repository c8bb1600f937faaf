// The ops that gradients consist of, with the names and constants of TensorFlow's Python functions:
// array_ops.shape, math_ops.range and so on.
#include <numeric>

#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"
#include "lib/trace/op_builder.h"

namespace grapnel {
namespace {

std::string ElementBytes(double value, DataType dtype) {
  return Literal::Scalar(dtype, value).bytes().str();
}

}  // namespace

Operation GradientContext::Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                              llvm::ArrayRef<OpAttribute> attributes, llvm::StringRef name) {
  return MakeOp(state_, {op, inputs, attributes.vec(), name}, SourceLocation());
}

Value GradientContext::Scoped(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                              llvm::ArrayRef<OpAttribute> attributes, llvm::StringRef name) {
  return MakeOp(state_, {op, inputs, attributes.vec(), name, /*exact=*/false, /*own_scope=*/true},
                SourceLocation())
      .output();
}

Operation GradientContext::Exact(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                                 llvm::ArrayRef<OpAttribute> attributes) {
  return MakeOp(state_, {op, inputs, attributes.vec(), {}, /*exact=*/true}, SourceLocation());
}

Tracer::ScopeGuard GradientContext::Scope(llvm::StringRef name) {
  TraceBody* body = state_.current;
  std::string before = body->scope;
  body->OpenScope(name);
  return Tracer::ScopeGuard([body, before] { body->scope = before; });
}

Tracer::ScopeGuard GradientContext::After(const Values& values) {
  TraceBody* body = state_.current;
  if (body->is_eager) return Tracer::ScopeGuard([] {});
  TraceBody::Controller controller;
  for (const Value& value : values) {
    if (!value.ok()) continue;
    controller.inputs.push_back(body->Capture(value, SourceLocation()).node);
    if (value.body() == body) body->MarkControl(value.port().node);
  }
  body->controllers.push_back(std::move(controller));
  return Tracer::ScopeGuard([body] { body->controllers.pop_back(); });
}

Tracer::ScopeGuard GradientContext::ColocatedWith(const Value& x) {
  TraceBody* body = state_.current;
  std::string before = body->colocated_with;
  if (x.ok() && x.body() == body && !body->is_eager)
    body->colocated_with = body->graph->node(x.port().node).name().str();
  return Tracer::ScopeGuard([body, before] { body->colocated_with = before; });
}

Tracer::ScopeGuard GradientContext::OnDeviceOfOp() {
  TraceBody* body = state_.current;
  TraceBody::Placing before = body->placing;
  if (auto device = DeviceSpec::Parse(node_.device()))
    body->placing.device = *device;
  else
    llvm::consumeError(device.takeError());
  return Tracer::ScopeGuard([body, before] { body->placing = before; });
}

Value GradientContext::Constant(double value, DataType dtype, llvm::StringRef name) {
  TraceBody& body = *state_.current;
  return MakeConstant(body, Literal::Scalar(dtype, value), body.UniqueName(name), SourceLocation());
}

Value GradientContext::CastNumber(double value, DataType dtype) {
  ScopeGuard scope(state_.current, "Cast");
  Value number = Constant(value, proto::DT_FLOAT, "x");
  if (dtype == proto::DT_FLOAT) return number;
  return Exact("Cast", {number}, {{"DstT", dtype}});
}

Value GradientContext::ConstantInts(llvm::ArrayRef<int64_t> values, DataType dtype,
                                    llvm::StringRef name) {
  TraceBody& body = *state_.current;
  int64_t count = static_cast<int64_t>(values.size());
  return MakeConstant(body, Literal::Integers(dtype, {count}, values), body.UniqueName(name),
                      SourceLocation());
}

Value GradientContext::FilledDims(double value, llvm::ArrayRef<int64_t> dims, DataType dtype,
                                  llvm::StringRef name) {
  TraceBody& body = *state_.current;
  int64_t count = NumElements(dims).value_or(INT64_MAX);
  if (count < kLargeConstant) {
    Literal literal = Literal::Make(dtype, dims, count == 0 ? "" : ElementBytes(value, dtype));
    return MakeConstant(body, literal, body.UniqueName(name), SourceLocation());
  }
  ScopeGuard scope(&body, name);
  bool fits = llvm::all_of(dims, [](int64_t dim) { return dim <= INT32_MAX; });
  Value shape = ConstantInts(dims, fits ? proto::DT_INT32 : proto::DT_INT64, "shape_as_tensor");
  Operand operands[] = {shape, Constant(value, dtype)};
  return MakeOp(state_, {"Fill", operands, {}, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::Zeros(llvm::ArrayRef<int64_t> dims, DataType dtype, llvm::StringRef name) {
  return FilledDims(0, dims, dtype, name);
}

Value GradientContext::Ones(llvm::ArrayRef<int64_t> dims, DataType dtype, llvm::StringRef name) {
  return FilledDims(1, dims, dtype, name);
}

Value GradientContext::Zeros(const std::vector<Operand>& dims, DataType dtype) {
  ScopeGuard scope(state_.current, "zeros");
  Value shape = Stack(dims, 0, "packed");
  return Exact("Fill", {shape, Constant(0, dtype)});
}

Value GradientContext::Ones(const std::vector<Operand>& dims, DataType dtype) {
  ScopeGuard scope(state_.current, "ones");
  Value shape = Stack(dims, 0, "packed");
  return Exact("Fill", {shape, Constant(1, dtype)});
}

Value GradientContext::Filled(double value, const Value& shape, DataType dtype,
                              llvm::StringRef name) {
  if (!shape.ok()) return shape;
  ScopeGuard scope(state_.current, name);
  Value dims = shape;
  Shape known = shape.shape();
  if (!known.known_rank() || known.rank() == 0) dims = Reshape(shape, std::vector<int>{-1});
  Operand operands[] = {dims, Constant(value, dtype)};
  return MakeOp(state_, {"Fill", operands, {}, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::ZerosLike(const Value& x, DataType dtype) {
  if (!x.ok()) return x;
  DataType of = dtype == proto::DT_INVALID ? x.dtype() : dtype;
  Shape shape = x.shape();
  if (shape.IsFullyKnown() && of != proto::DT_VARIANT)
    return FilledDims(0, shape.dims(), of, "zeros_like");
  if (of == x.dtype()) return Scoped("ZerosLike", {x}, {}, "zeros_like");
  ScopeGuard scope(state_.current, "zeros_like");
  Operand operands[] = {ShapeOf(x), Constant(0, of)};
  return MakeOp(state_, {"Fill", operands, {}, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::OnesLike(const Value& x, DataType dtype) {
  if (!x.ok()) return x;
  ScopeGuard scope(state_.current, "ones_like");
  Shape known = x.shape();
  Value shape;
  if (known.IsFullyKnown()) {
    ScopeGuard inner(state_.current, "Shape");
    shape = ConstantInts(known.dims(), proto::DT_INT32, "shape_as_tensor");
  } else {
    shape = ShapeOf(x);
  }
  Value one = Constant(1, dtype == proto::DT_INVALID ? x.dtype() : dtype);
  Operand operands[] = {shape, one};
  return MakeOp(state_, {"Fill", operands, {}, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::Conj(const Value& x) {
  bool has_conjugate = IsComplex(x.dtype()) || x.dtype() == proto::DT_VARIANT;
  return has_conjugate ? Scoped("Conj", {x}) : x;
}

Value GradientContext::ShapeOf(const Value& x, DataType dtype) {
  if (!x.ok()) return x;
  Shape shape = x.shape();
  if (shape.IsFullyKnown()) return ConstantInts(shape.dims(), dtype, "Shape");
  return Scoped("Shape", {x}, {{"out_type", dtype}});
}

Values GradientContext::ShapeN(const Values& values) {
  Operation shapes = Op("ShapeN", {values});
  Values results;
  for (size_t i = 0; i < values.size(); ++i) results.push_back(shapes.output(static_cast<int>(i)));
  return results;
}

Value GradientContext::Size(const Value& x, DataType dtype) {
  if (!x.ok()) return x;
  Shape shape = x.shape();
  std::optional<int64_t> size = shape.NumElements();
  if (shape.known_rank() && llvm::is_contained(shape.dims(), 0)) size = 0;
  if (!size) return Scoped("Size", {x}, {{"out_type", dtype}});
  TraceBody& body = *state_.current;
  return MakeConstant(body, Literal::Integers(dtype, {}, {*size}), body.UniqueName("Size"),
                      SourceLocation());
}

Value GradientContext::ReshapeTo(const Value& x, const std::vector<Operand>& dims) {
  ScopeGuard scope(state_.current, "Reshape");
  Operand operands[] = {x, Stack(dims, 0, "shape")};
  return MakeOp(state_, {"Reshape", operands, {}, {}, /*exact=*/true}, SourceLocation());
}

Operand GradientContext::ReducedShape(const Value& shape, const Value& axes) {
  auto dims = IntegersOf(shape), along = IntegersOf(axes);
  if (dims && along) {
    for (int64_t axis : *along) {
      if (axis < 0) axis += static_cast<int64_t>(dims->size());
      if (axis >= 0 && axis < static_cast<int64_t>(dims->size())) (*dims)[axis] = 1;
    }
    return std::vector<int32_t>(dims->begin(), dims->end());
  }
  Value rank = Size(shape, axes.dtype());
  Value sum = axes + rank;
  Value positive = sum % rank;
  Value positive_shape = ShapeOf(positive);
  Value all = Range(0, rank);
  Value ones = Ones(positive_shape, shape.dtype());
  return Op("DynamicStitch", {Values{all, positive}, Values{shape, ones}});
}

Value GradientContext::Range(const Operand& start, const Operand& limit, const Operand& delta) {
  ScopeGuard scope(state_.current, "range");
  const Operand* operands[] = {&start, &limit, &delta};
  const char* names[] = {"start", "limit", "delta"};
  // The dtype of the range: int64 if one of the three operands is int64, else int32. A C++ number
  // first becomes an int32 constant.
  DataType dtype = proto::DT_INT32;
  std::vector<Operand> values;
  for (int i = 0; i < 3; ++i) {
    values.push_back(operands[i]->kind == Operand::kValue
                         ? *operands[i]
                         : Operand(ToValue(state_, *operands[i], names[i])));
    if (values[i].values[0].dtype() == proto::DT_INT64) dtype = proto::DT_INT64;
  }
  for (Operand& value : values) value.values[0] = Cast(value.values[0], dtype);
  return MakeOp(state_, {"Range", values, {}, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::Concat(const std::vector<Operand>& parts, const Operand& axis) {
  // Constants among the parts are made inside the op's scope, with the dtype of the other parts.
  ScopeGuard scope(state_.current, "concat");
  DataType dtype = proto::DT_INT32;
  for (const Operand& part : parts) {
    if (!part.values.empty()) dtype = part.values[0].dtype();
  }
  Values values;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string name = "values_" + std::to_string(i);
    TraceBody& body = *state_.current;
    if (parts[i].kind == Operand::kValue) {
      values.push_back(parts[i].values[0]);
    } else if (parts[i].kind == Operand::kList) {  // a vector of scalars
      values.push_back(Op("Pack", {parts[i]}, {}, name));
    } else if (auto literal = ConvertNumbers(parts[i].literal, dtype)) {
      values.push_back(MakeConstant(body, *literal, body.UniqueName(name), SourceLocation()));
    }
  }
  Operand operands[] = {Operand(values), axis};
  return MakeOp(state_, {"ConcatV2", operands, {}, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::Stack(const std::vector<Operand>& parts, int axis, llvm::StringRef name) {
  ScopeGuard scope(state_.current, name);
  DataType dtype = proto::DT_INT32;
  for (const Operand& part : parts) {
    if (!part.values.empty()) dtype = part.values[0].dtype();
  }
  Values values;
  for (size_t i = 0; i < parts.size(); ++i) {
    TraceBody& body = *state_.current;
    if (parts[i].kind == Operand::kValue) {
      values.push_back(parts[i].values[0]);
    } else if (auto literal = ConvertNumbers(parts[i].literal, dtype)) {
      values.push_back(
          MakeConstant(body, *literal, body.UniqueName(std::to_string(i)), SourceLocation()));
    }
  }
  Operand operands[] = {Operand(values)};
  return MakeOp(state_, {"Pack", operands, {{"axis", axis}}, {}, /*exact=*/true}, SourceLocation());
}

Values GradientContext::Unstack(const Value& x, int64_t count, int axis) {
  Operation parts = Op("Unpack", {x}, {{"num", count}, {"axis", axis}}, "unstack");
  Values results;
  for (int i = 0; i < count; ++i) results.push_back(parts.output(i));
  return results;
}

Value GradientContext::Squeeze(const Value& x, const std::vector<int64_t>& axes) {
  return Op("Squeeze", {x}, {{"squeeze_dims", axes}});
}

Value GradientContext::Transpose(const Value& x, const Operand& perm, bool conjugate) {
  const char* op = conjugate && IsComplex(x.dtype()) ? "ConjugateTranspose" : "Transpose";
  return Scoped(op, {x, perm}, {}, "transpose");
}

Value GradientContext::MatrixTranspose(const Value& x, bool conjugate) {
  if (!x.ok()) return x;
  ScopeGuard scope(state_.current, "matrix_transpose");
  Shape shape = x.shape();
  if (shape.known_rank()) {
    std::vector<int> perm(shape.rank());
    std::iota(perm.begin(), perm.end(), 0);
    if (perm.size() >= 2) std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
    return Transpose(x, perm, conjugate);
  }
  Value rank = Rank(x);
  Value outer = Op("Range", {0, rank - 2, 1});
  Value last = rank - 1, before = rank - 2;
  return Transpose(x, Concat({outer, Stack({last, before})}, 0), conjugate);
}

Value GradientContext::Adjoint(const Value& x) {
  ScopeGuard scope(state_.current, "adjoint");
  return MatrixTranspose(x, /*conjugate=*/true);
}

Value GradientContext::MatMul(const Value& a, const Value& b, const MatMulFlags& flags) {
  if (!a.ok() || !b.ok()) return a.ok() ? b : a;
  ScopeGuard scope(state_.current, "MatMul");
  auto may_have_batch = [](const Value& value) {
    Shape shape = value.shape();
    return !shape.known_rank() || shape.rank() > 2;
  };
  std::vector<OpAttribute> attributes;
  const char* op = "BatchMatMulV2";
  Value left = a, right = b;
  if (may_have_batch(a) || may_have_batch(b)) {
    attributes = {{"adj_x", flags.adjoint_a},
                  {"adj_y", flags.adjoint_b},
                  {"grad_x", flags.grad_a},
                  {"grad_y", flags.grad_b}};
  } else {
    op = "MatMul";
    if (flags.adjoint_a) left = Conj(a);
    if (flags.adjoint_b) right = Conj(b);
    attributes = {{"transpose_a", flags.adjoint_a},
                  {"transpose_b", flags.adjoint_b},
                  {"grad_a", flags.grad_a},
                  {"grad_b", flags.grad_b}};
  }
  Operand operands[] = {left, right};
  return MakeOp(state_, {op, operands, attributes, {}, /*exact=*/true}, SourceLocation());
}

Value GradientContext::MatrixDiag(const Value& x) {
  ScopeGuard scope(state_.current, "diag");
  Operand operands[] = {x, 0, -1, -1, 0};
  return MakeOp(state_, {"MatrixDiagV3", operands, {{"align", "RIGHT_LEFT"}}, {}, /*exact=*/true},
                SourceLocation());
}

Value GradientContext::MatrixDiagPart(const Value& x, const Operand& k, llvm::StringRef align) {
  return Op("MatrixDiagPartV3", {x, k, 0}, {{"align", align}}, "diag_part");
}

Value GradientContext::MatrixSetDiag(const Value& x, const Value& diagonal, const Operand& k,
                                     llvm::StringRef align) {
  return Op("MatrixSetDiagV3", {x, diagonal, k}, {{"align", align}}, "set_diag");
}

Value GradientContext::Eye(const Value& size, const Value& batch, DataType dtype) {
  ScopeGuard scope(state_.current, "eye");
  Value smallest = Op("Minimum", {size, size});
  Value shape = Concat({batch, Values{smallest}}, 0);
  return MatrixDiag(Ones(shape, dtype));
}

Value GradientContext::MatrixConstant(llvm::ArrayRef<int64_t> elements, int64_t columns) {
  TraceBody& body = *state_.current;
  int64_t rows = static_cast<int64_t>(elements.size()) / columns;
  return MakeConstant(body, Literal::Integers(proto::DT_INT32, {rows, columns}, elements),
                      body.UniqueName("Const"), SourceLocation());
}

Value GradientContext::SliceOf(const Value& x, const std::vector<Operand>& begin,
                               const std::vector<Operand>& size) {
  ScopeGuard scope(state_.current, "Slice");
  auto vector = [&](const std::vector<Operand>& parts, llvm::StringRef name) {
    bool is_known = llvm::all_of(parts, [](const Operand& p) { return p.kind != Operand::kValue; });
    if (!is_known) return Stack(parts, 0, name);
    std::vector<int64_t> numbers;
    numbers.reserve(parts.size());
    for (const Operand& part : parts) numbers.push_back(part.literal.AsInt(0));
    return ConstantInts(numbers, proto::DT_INT32, name);
  };
  Value from = vector(begin, "begin");
  return Exact("Slice", {x, from, vector(size, "size")});
}

Value GradientContext::At(const Value& x, int64_t i) {
  ScopeGuard scope(state_.current, "strided_slice");
  Value begin = ConstantInts({i}, proto::DT_INT32, "stack");
  Value end = ConstantInts({i + 1}, proto::DT_INT32, "stack");
  Value stride = ConstantInts({1}, proto::DT_INT32, "stack");
  Operand operands[] = {x, begin, end, stride};
  return MakeOp(state_, {"StridedSlice", operands, {{"shrink_axis_mask", 1}}, {}, /*exact=*/true},
                SourceLocation());
}

Value GradientContext::At(const Value& x, const Value& i) {
  Value next = i + 1;
  ScopeGuard scope(state_.current, "strided_slice");
  Value begin = Op("Pack", {Values{i}}, {}, "stack");
  Value end = Op("Pack", {Values{next}}, {}, "stack");
  Value stride = ConstantInts({1}, i.dtype(), "stack");
  Operand operands[] = {x, begin, end, stride};
  return MakeOp(state_, {"StridedSlice", operands, {{"shrink_axis_mask", 1}}, {}, /*exact=*/true},
                SourceLocation());
}

Value GradientContext::BandPart(const Value& x, int lower, int upper) {
  return Op("MatrixBandPart", {x, lower, upper}, {{"Tindex", proto::DT_INT32}});
}

Value GradientContext::CutBetween(const Value& x, int64_t begin, int64_t end) {
  if (begin != 0 || end == kEnd) return Cut(x, begin, end);
  ScopeGuard scope(state_.current, "strided_slice");
  Value from = ConstantInts({begin}, proto::DT_INT32, "stack");
  Value to = ConstantInts({end}, proto::DT_INT32, "stack");
  Value stride = ConstantInts({1}, proto::DT_INT32, "stack");
  return Exact("StridedSlice", {x, from, to, stride});
}

Value GradientContext::Cut(const Value& x, int64_t begin, int64_t end) {
  ScopeGuard scope(state_.current, "strided_slice");
  Value from = ConstantInts({begin}, proto::DT_INT32, "stack");
  Value to = ConstantInts({end == kEnd ? 0 : end}, proto::DT_INT32, "stack");
  Value stride = ConstantInts({1}, proto::DT_INT32, "stack");
  Operand operands[] = {x, from, to, stride};
  // Sets the mask of a bound that Python's slice omits, as TensorFlow does: x[:2], x[1:].
  return MakeOp(state_,
                {"StridedSlice",
                 operands,
                 {{"begin_mask", begin == 0 ? 1 : 0}, {"end_mask", end == kEnd ? 1 : 0}},
                 {},
                 /*exact=*/true},
                SourceLocation());
}

Value GradientContext::CutLast(const Value& x, llvm::ArrayRef<Index> indices) {
  ScopeGuard scope(state_.current, "strided_slice");
  std::vector<int64_t> begins = {0}, ends = {0}, strides = {1};
  int64_t begin_mask = 0, end_mask = 0, shrink_mask = 0;
  for (size_t i = 0; i < indices.size(); ++i) {
    const Index& index = indices[i];
    int64_t bit = int64_t{2} << i;
    begins.push_back(index.begin);
    ends.push_back(index.is_one ? index.begin + 1 : index.end == kEnd ? 0 : index.end);
    strides.push_back(1);
    if (index.is_one) {
      shrink_mask |= bit;
      continue;
    }
    if (index.begin == 0) begin_mask |= bit;
    if (index.end == kEnd) end_mask |= bit;
  }
  Value from = ConstantInts(begins, proto::DT_INT32, "stack");
  Value to = ConstantInts(ends, proto::DT_INT32, "stack");
  Value by = ConstantInts(strides, proto::DT_INT32, "stack");
  Operand operands[] = {x, from, to, by};
  return MakeOp(state_,
                {"StridedSlice",
                 operands,
                 {{"begin_mask", begin_mask},
                  {"end_mask", end_mask},
                  {"ellipsis_mask", 1},
                  {"shrink_axis_mask", shrink_mask}},
                 {},
                 /*exact=*/true},
                SourceLocation());
}

std::optional<std::vector<int64_t>> GradientContext::IntegersOf(const Value& x) const {
  return grapnel::IntegersOf(x);
}

}  // namespace grapnel
