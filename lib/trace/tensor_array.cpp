#include "lib/trace/tensor_array.h"

#include "lib/trace/op_builder.h"

namespace grapnel {
namespace {

// Returns the element shape as an operand of a TensorList op: -1 if its rank is unknown; for
// scalars, an empty constant of its own.
Operand ShapeOperand(const OpBuilder& make, const Shape& shape) {
  if (!shape.known_rank()) return Operand(-1, make.where());
  if (shape.rank() == 0) return Operand(make.Ints({}), make.where());
  std::vector<int> dims;
  dims.reserve(shape.rank());
  for (int i = 0; i < shape.rank(); ++i)
    dims.push_back(shape.IsKnown(i) ? static_cast<int>(shape.dim(i)) : -1);
  return Operand(dims, make.where());
}

// Merges two partially known shapes of the same tensor; nullopt if they contradict each other.
std::optional<Shape> Merged(const Shape& a, const Shape& b) {
  if (!a.known_rank()) return b;
  if (!b.known_rank()) return a;
  if (a.rank() != b.rank()) return std::nullopt;
  Shape merged = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (!b.IsKnown(i)) continue;
    if (a.IsKnown(i) && a.dim(i) != b.dim(i)) return std::nullopt;
    merged.set_dim(i, b.dim(i));
  }
  return merged;
}

Shape WithoutFirst(const Shape& shape) {
  if (!shape.known_rank() || shape.rank() == 0) return Shape::Unknown();
  Shape rest(llvm::ArrayRef<int64_t>(shape.dims()).drop_front());
  return rest;
}

// The size of the array if it is known while tracing, else -1.
int64_t StaticSize(const std::optional<Operand>& size) {
  if (!size) return -1;
  if (size->kind == Operand::kNumbers) return size->literal.AsInt(0);
  if (size->kind != Operand::kValue || !size->values[0].ok()) return -1;
  const Value& value = size->values[0];
  if (value.body()->is_eager) {
    auto numbers = IntegersOf(value);
    return numbers && numbers->size() == 1 ? (*numbers)[0] : -1;
  }
  Expected<Literal> literal = Literal::FromConst(NodeOf(value));
  if (literal) return literal->AsInt(0);
  llvm::consumeError(literal.takeError());
  return -1;
}

}  // namespace

TensorArray::TensorArray(Tracer& t, DataType dtype, const Operand& size,
                         const TensorArrayOptions& options, SourceLocation where)
    : dtype_(dtype),
      dynamic_size_(options.dynamic_size),
      infer_shape_(options.infer_shape),
      size_(size),
      element_shape_(std::make_shared<Shape>(options.element_shape)) {
  OpBuilder make(t, where);
  auto scope = make.Scope("TensorArrayV2");
  Operand shape = ShapeOperand(make, *element_shape_);
  flow_ = make.Exact("TensorListReserve", {shape, size}, {{"element_dtype", dtype}});
}

TensorArray TensorArray::With(const Value& flow) const {
  TensorArray array = *this;
  array.flow_ = flow;
  return array;
}

bool TensorArray::Check(const Value& value, const Shape& shape, const SourceLocation& where) const {
  if (!value.ok() || !flow_.ok()) return false;
  OpBuilder make(flow_, where);
  if (value.dtype() != dtype_) {
    make.Fail(("TensorArray: the elements are " + DataTypeName(dtype_) + ", '" + value.name() +
               "' is " + DataTypeName(value.dtype()))
                  .str());
    return false;
  }
  std::optional<Shape> merged = Merged(*element_shape_, shape);
  if (!merged) {
    make.Fail("TensorArray: the elements have shape " + element_shape_->ToString() + ", '" +
              value.name() + "' has shape " + shape.ToString());
    return false;
  }
  if (infer_shape_) *element_shape_ = *merged;
  return true;
}

Value TensorArray::Read(const Operand& index, SourceLocation where) const {
  OpBuilder make(flow_, where);
  auto scope = make.Scope("TensorArrayV2Read");
  Operand shape = ShapeOperand(make, *element_shape_);
  return make.Op("TensorListGetItem", {flow_, index, shape}, {{"element_dtype", dtype_}});
}

TensorArray TensorArray::Write(const Operand& index, const Value& value,
                               SourceLocation where) const {
  OpBuilder make(flow_, where);
  if (!Check(value, value.shape(), where)) return With(Value(flow_.body(), {}));
  auto scope = make.Scope("TensorArrayV2Write");
  return With(make.Op("TensorListSetItem", {flow_, index, value},
                      {{"resize_if_index_out_of_bounds", dynamic_size_}}));
}

Value TensorArray::Stack(SourceLocation where) const {
  OpBuilder make(flow_, where);
  auto scope = make.Scope("TensorArrayV2Stack");
  Operand shape = ShapeOperand(make, *element_shape_);
  return make.Op("TensorListStack", {flow_, shape},
                 {{"element_dtype", dtype_},
                  {"num_elements", dynamic_size_ ? int64_t{-1} : StaticSize(size_)}});
}

Value TensorArray::Gather(const Operand& indices, SourceLocation where) const {
  OpBuilder make(flow_, where);
  Operand shape = ShapeOperand(make, *element_shape_);
  return make.Op("TensorListGather", {flow_, indices, shape}, {{"element_dtype", dtype_}});
}

Value TensorArray::Concat(SourceLocation where) const {
  OpBuilder make(flow_, where);
  Shape shape = *element_shape_;
  if (shape.known_rank() && shape.rank() > 0) shape.set_dim(0, kUnknownDim);
  Value lengths = make.Ints({}, "Const", proto::DT_INT64);
  Operand elements = ShapeOperand(make, shape);
  return make.Op("TensorListConcatV2", {flow_, elements, lengths}, {{"element_dtype", dtype_}});
}

TensorArray TensorArray::Unstack(const Value& value, SourceLocation where) const {
  OpBuilder make(flow_, where);
  Shape rows = WithoutFirst(value.shape());
  if (!Check(value, rows, where)) return With(Value(flow_.body(), {}));
  auto scope = make.Scope("TensorArrayUnstack");
  return With(make.Op("TensorListFromTensor", {value, ShapeOperand(make, rows)}));
}

TensorArray TensorArray::Scatter(const Operand& indices, const Value& value,
                                 SourceLocation where) const {
  OpBuilder make(flow_, where);
  if (!Check(value, WithoutFirst(value.shape()), where)) return With(Value(flow_.body(), {}));
  auto scope = make.Scope("TensorArrayScatter");
  return With(make.Op("TensorListScatterIntoExistingList", {flow_, value, indices}));
}

TensorArray TensorArray::Split(const Value& value, const Operand& lengths,
                               SourceLocation where) const {
  OpBuilder make(flow_, where);
  if (!value.ok() || !flow_.ok()) return With(Value(flow_.body(), {}));
  auto scope = make.Scope("TensorArraySplit");
  Operand shape = ShapeOperand(make, *element_shape_);
  Value sizes = make.Convert(lengths, proto::DT_INT64, "lengths");
  if (sizes.dtype() != proto::DT_INT64)
    sizes = make.Scoped("Cast", sizes, {{"DstT", proto::DT_INT64}});
  return With(make.Op("TensorListSplit", {value, shape, sizes}));
}

Value TensorArray::Size(SourceLocation where) const {
  OpBuilder make(flow_, where);
  if (!dynamic_size_ && size_) return make.Convert(*size_, proto::DT_INT32, "Const");
  return make.Op("TensorListLength", flow_);
}

}  // namespace grapnel
