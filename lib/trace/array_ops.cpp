#include "lib/trace/array_ops.h"

#include <numeric>

#include "lib/trace/op_builder.h"

namespace grapnel {
namespace {

Value ToShape(const OpBuilder& make, const DimList& list, llvm::StringRef name) {
  return list.shape.body() ? list.shape : make.Packed(list.dims, name);
}

std::vector<int64_t> Numbers(const std::vector<int>& numbers) {
  return {numbers.begin(), numbers.end()};
}

// Returns the elements of a list if all are C++ integers; nullopt for other lists.
std::optional<std::vector<int64_t>> StaticDims(const DimList& list) {
  if (list.shape.body()) return std::nullopt;
  std::vector<int64_t> dims;
  for (const Operand& dim : list.dims) {
    if (dim.kind != Operand::kNumbers) return std::nullopt;
    std::optional<Literal> number = ConvertNumbers(dim.literal, proto::DT_INT64);
    if (!number || number->num_elements() != 1) return std::nullopt;
    dims.push_back(number->AsInt(0));
  }
  return dims;
}

Literal Repeated(double value, llvm::ArrayRef<int64_t> dims, DataType dtype) {
  bool is_empty = llvm::is_contained(dims, 0);
  return Literal::Make(dtype, dims, is_empty ? "" : Literal::Scalar(dtype, value).bytes());
}

// Builds tf.zeros or tf.ones, named `name`.
Value Filled(const OpBuilder& make, double value, const DimList& list, DataType dtype,
             llvm::StringRef name) {
  std::optional<std::vector<int64_t>> dims = StaticDims(list);
  int64_t count = dims ? NumElements(*dims).value_or(INT64_MAX) : INT64_MAX;
  if (count < kLargeConstant) return make.Constant(Repeated(value, *dims, dtype), name);
  auto scope = make.Scope(name);
  Value shape = dims                ? make.Ints(*dims, "shape_as_tensor")
                : list.shape.body() ? list.shape
                                    : make.Packed(list.dims, "packed");
  return make.Exact("Fill", {shape, make.Scalar(value, dtype)});
}

Value FilledLike(const Value& x, double value, llvm::StringRef op, llvm::StringRef name,
                 const SourceLocation& where) {
  OpBuilder make(x, where);
  Shape shape = x.shape();
  if (!shape.IsFullyKnown()) return make.Op(op, x, {}, name);
  std::vector<Operand> dims;
  for (int64_t dim : shape.dims()) dims.emplace_back(dim, where);
  return Filled(make, value, DimList(dims), x.dtype(), name);
}

// The inputs begin, end and strides of a StridedSlice, and its mask attributes.
struct SliceArguments {
  std::vector<Operand> begin, end, stride;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;

  void Add(const Operand& b, const Operand& e, const Operand& s) {
    begin.push_back(b);
    end.push_back(e);
    stride.push_back(s);
  }
  void Add(const SlicePlace& place, const SourceLocation& where) {
    const int64_t bit = int64_t{1} << begin.size();
    const Operand zero(0, where), one(1, where);
    switch (place.kind) {
      case SlicePlace::kSpan:
        if (!place.begin) begin_mask |= bit;
        if (!place.end) end_mask |= bit;
        return Add(place.begin.value_or(zero), place.end.value_or(zero),
                   place.stride.value_or(one));
      case SlicePlace::kEllipsis:
        ellipsis_mask |= bit;
        return Add(zero, zero, one);
      case SlicePlace::kNewAxis:
        new_axis_mask |= bit;
        return Add(zero, zero, one);
      case SlicePlace::kIndex:
        shrink_axis_mask |= bit;
        if (place.begin->kind == Operand::kNumbers) {
          int64_t next = place.begin->literal.AsInt(0) + 1;
          return Add(*place.begin, Operand(static_cast<int>(next), where), one);
        }
        Value next = place.begin->values[0];
        next += one;
        return Add(*place.begin, Operand(next, where), one);
    }
  }
};

}  // namespace

SlicePlace Span(const std::optional<Operand>& begin, const std::optional<Operand>& end,
                const std::optional<Operand>& stride) {
  SlicePlace place(SlicePlace::kSpan);
  place.begin = begin;
  place.end = end;
  place.stride = stride;
  return place;
}

Value Slice(const Value& x, llvm::ArrayRef<SlicePlace> places, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return x;
  if (llvm::count_if(places, [](const SlicePlace& p) { return p.kind == SlicePlace::kEllipsis; }) >
      1)
    return make.Fail("a slice has one ellipsis at most");
  SliceArguments arguments;
  for (const SlicePlace& place : places) arguments.Add(place, where);
  auto scope = make.Scope("strided_slice");
  Value begin = make.Packed(arguments.begin, "stack");
  Value end = make.Packed(arguments.end, "stack_1");
  Value stride = make.Packed(arguments.stride, "stack_2");
  return make.Exact("StridedSlice", {x, begin, end, stride},
                    {{"begin_mask", arguments.begin_mask},
                     {"end_mask", arguments.end_mask},
                     {"ellipsis_mask", arguments.ellipsis_mask},
                     {"new_axis_mask", arguments.new_axis_mask},
                     {"shrink_axis_mask", arguments.shrink_axis_mask}});
}

Value SliceOf(const Value& x, const DimList& begin, const DimList& size, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("Slice");
  Value from = ToShape(make, begin, "begin");
  return make.Exact("Slice", {x, from, ToShape(make, size, "size")});
}

Value ReshapeTo(const Value& x, const DimList& shape, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("Reshape");
  return make.Exact("Reshape", {x, ToShape(make, shape, "shape")});
}

Value ExpandDims(const Value& x, int axis, SourceLocation where) {
  return OpBuilder(x, where).Op("ExpandDims", {x, axis});
}

Value Squeeze(const Value& x, const std::vector<int64_t>& axes, SourceLocation where) {
  return OpBuilder(x, where).Op("Squeeze", x, {{"squeeze_dims", axes}});
}

Value Transpose(const Value& x, const std::vector<int>& permutation, SourceLocation where) {
  OpBuilder make(x, where);
  if (!permutation.empty()) return make.Scoped("Transpose", {x, permutation}, {}, "transpose");
  Shape shape = x.shape();
  auto scope = make.Scope("transpose");
  if (shape.known_rank()) {
    std::vector<int64_t> turned(shape.rank());
    std::iota(turned.rbegin(), turned.rend(), 0);
    return make.Exact("Transpose", {x, make.Ints(turned, "perm")});
  }
  Value last = make.Op("Sub", {make.Op("Rank", x), 1}, {}, "sub");
  return make.Exact("Transpose", {x, make.Op("Range", {last, -1, -1})});
}

Value Pad(const Value& x, const Operand& paddings, PadMode mode, const Operand& constant,
          SourceLocation where) {
  OpBuilder make(x, where);
  if (mode != PadMode::kConstant) {
    return make.Op("MirrorPad", {x, paddings},
                   {{"mode", mode == PadMode::kReflect ? "REFLECT" : "SYMMETRIC"}});
  }
  bool is_zero = constant.kind == Operand::kNumbers && constant.literal.num_elements() == 1 &&
                 constant.literal.AsDouble(0) == 0;
  return is_zero ? make.Op("Pad", {x, paddings}) : make.Op("PadV2", {x, paddings, constant});
}

Value Tile(const Value& x, const DimList& multiples, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("Tile");
  return make.Exact("Tile", {x, ToShape(make, multiples, "multiples")});
}

Value BroadcastTo(const Value& x, const DimList& shape, SourceLocation where) {
  OpBuilder make(x, where);
  auto scope = make.Scope("BroadcastTo");
  return make.Exact("BroadcastTo", {x, ToShape(make, shape, "shape")});
}

Value Reverse(const Value& x, const std::vector<int>& axes, SourceLocation where) {
  return OpBuilder(x, where).Op("ReverseV2", {x, axes});
}

namespace {

Values OutputsOf(const Operation& op, size_t count) {
  Values values(count, Value(op.body(), {}));
  for (size_t i = 0; i < count && op.ok(); ++i) values[i] = op.output(static_cast<int>(i));
  return values;
}

}  // namespace

Values Split(const Value& x, int parts, int axis, SourceLocation where) {
  Operation op = OpBuilder(x, where).Op("Split", {axis, x}, {{"num_split", parts}}, "split");
  return OutputsOf(op, std::max(parts, 0));
}

Values Split(const Value& x, const std::vector<int>& sizes, int axis, SourceLocation where) {
  OpBuilder make(x, where);
  Value lengths = make.Ints(Numbers(sizes));
  Operation op = make.Op("SplitV", {x, lengths, axis},
                         {{"num_split", static_cast<int64_t>(sizes.size())}}, "split");
  return OutputsOf(op, sizes.size());
}

Values Unstack(const Value& x, int axis, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return {};
  Shape shape = x.shape();
  int place = axis < 0 && shape.known_rank() ? axis + shape.rank() : axis;
  if (!shape.known_rank() || place < 0 || place >= shape.rank() || !shape.IsKnown(place)) {
    make.Fail(llvm::formatv("op 'Unpack': the size of dimension {0} of shape {1} is not known",
                            axis, shape.ToString())
                  .str());
    return {};
  }
  int64_t count = shape.dim(place);
  return OutputsOf(make.Op("Unpack", x, {{"num", count}, {"axis", axis}}, "unstack"), count);
}

Value Gather(const Value& params, const Operand& indices, int axis, int batch_dims,
             SourceLocation where) {
  return OpBuilder(params, where)
      .Op("GatherV2", {params, indices, axis}, {{"batch_dims", batch_dims}});
}

Value GatherNd(const Value& params, const Operand& indices, SourceLocation where) {
  return OpBuilder(params, where).Op("GatherNd", {params, indices});
}

Value ScatterNd(Tracer& t, const Operand& indices, const Operand& updates, const DimList& shape,
                SourceLocation where) {
  OpBuilder make(t, where);
  auto scope = make.Scope("ScatterNd");
  Value places = make.Convert(indices, proto::DT_INVALID, "indices");
  Value values = make.Convert(updates, proto::DT_INVALID, "updates");
  return make.Exact("ScatterNd", {places, values, ToShape(make, shape, "shape")});
}

Value TensorScatterNdUpdate(const Value& x, const Operand& indices, const Operand& updates,
                            SourceLocation where) {
  return OpBuilder(x, where).Op("TensorScatterUpdate", {x, indices, updates});
}

Value TensorScatterNdAdd(const Value& x, const Operand& indices, const Operand& updates,
                         SourceLocation where) {
  return OpBuilder(x, where).Op("TensorScatterAdd", {x, indices, updates});
}

Value OneHot(const Value& indices, const Operand& depth, const OneHotOptions& options,
             SourceLocation where) {
  OpBuilder make(indices, where);
  auto scope = make.Scope("one_hot");
  Value on = make.Scalar(options.on, options.dtype, "on_value");
  Value off = make.Scalar(options.off, options.dtype, "off_value");
  Value count = make.Convert(depth, proto::DT_INT32, "depth");
  return make.Exact("OneHot", {indices, count, on, off}, {{"axis", options.axis}});
}

Value BooleanMask(const Value& x, const Value& mask, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok() || !mask.ok()) return x.ok() ? mask : x;
  if (!mask.shape().known_rank() || mask.shape().rank() == 0)
    return make.Fail("boolean_mask: the mask has shape " + mask.shape().ToString() +
                     ", a known rank of at least 1 was expected");
  auto scope = make.Scope("boolean_mask");
  const int rank = mask.shape().rank();
  Value leading = Slice(ShapeOf(x, where), {Span(0, rank)}, where);
  Value count = ReduceProd(leading, Operand(std::vector<int>{0}, where), false, where);
  Value before = Slice(ShapeOf(x, where), {Span({}, 0)}, where);
  Value after = Slice(ShapeOf(x, where), {Span(rank)}, where);
  Value middle, shape;
  {
    auto concat = make.Scope("concat");
    middle = make.Packed({Operand(count, where)}, "values_1");
    shape = make.Exact("ConcatV2", {Values{before, middle, after}, 0});
  }
  Value flat = Reshape(x, Operand(shape, where));
  Value flat_mask = Reshape(mask, Operand(std::vector<int>{-1}, where));
  Value places = Squeeze(make.Op("Where", flat_mask), {1}, where);
  return Gather(flat, Operand(places, where), 0, 0, where);
}

Value SequenceMask(const Value& lengths, const Operand& maximum, SourceLocation where) {
  OpBuilder make(lengths, where);
  auto scope = make.Scope("SequenceMask");
  Value limit = make.Convert(maximum, proto::DT_INT32, "Const");
  Value zero = make.Scalar(0, limit.dtype()), one = make.Scalar(1, limit.dtype());
  Value row = make.Op("Range", {zero, limit, one});
  Value column = ExpandDims(lengths, -1, where);
  // TensorFlow adds a Cast here even if the dtypes are equal.
  Value wide = make.Scoped("Cast", column, {{"DstT", limit.dtype()}});
  return make.Op("Less", {row, wide});
}

Value IndicesWhere(const Value& x, SourceLocation where) {
  return OpBuilder(x, where).Op("Where", x);
}

Value Fill(Tracer& t, const DimList& dims, const Operand& value, SourceLocation where) {
  OpBuilder make(t, where);
  auto scope = make.Scope("Fill");
  Value shape = ToShape(make, dims, "dims");
  // A C++ double stands for a Python float, from which TensorFlow makes a float32 tensor.
  bool is_double = value.kind == Operand::kNumbers && value.literal.dtype() == proto::DT_DOUBLE;
  Value filling = make.Convert(value, is_double ? proto::DT_FLOAT : proto::DT_INVALID, "value");
  return make.Exact("Fill", {shape, filling});
}

Value Zeros(Tracer& t, const DimList& dims, DataType dtype, SourceLocation where) {
  return Filled(OpBuilder(t, where), 0, dims, dtype, "zeros");
}
Value Ones(Tracer& t, const DimList& dims, DataType dtype, SourceLocation where) {
  return Filled(OpBuilder(t, where), 1, dims, dtype, "ones");
}
Value ZerosLike(const Value& x, SourceLocation where) {
  return FilledLike(x, 0, "ZerosLike", "zeros_like", where);
}
Value OnesLike(const Value& x, SourceLocation where) {
  return FilledLike(x, 1, "OnesLike", "ones_like", where);
}

Value Range(Tracer& t, const Operand& start, const Operand& limit, const Operand& delta,
            SourceLocation where) {
  OpBuilder make(t, where);
  DataType dtype = proto::DT_INT32;
  for (const Operand* operand : {&start, &limit, &delta}) {
    if (operand->kind == Operand::kNumbers && IsFloating(operand->literal.dtype()))
      dtype = proto::DT_FLOAT;
  }
  for (const Operand* operand : {&start, &limit, &delta}) {
    if (operand->kind == Operand::kValue && operand->values[0].ok())
      dtype = operand->values[0].dtype();
  }
  auto scope = make.Scope("range");
  Value from = make.Convert(start, dtype, "start");
  Value to = make.Convert(limit, dtype, "limit");
  return make.Exact("Range", {from, to, make.Convert(delta, dtype, "delta")});
}

Value EnsureShape(const Value& x, const grapnel::Shape& shape, SourceLocation where) {
  return OpBuilder(x, where).Op("EnsureShape", x, {{"shape", shape}});
}

}  // namespace grapnel
