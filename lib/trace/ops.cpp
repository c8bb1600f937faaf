#include "lib/trace/ops.h"

#include <numeric>

#include "lib/trace/body.h"
#include "lib/trace/traced_variables.h"

namespace grapnel {
namespace {

// Returns the body that is being traced, found through the first value that has one; null if none
// has.
TraceBody* BodyOfValues(llvm::ArrayRef<Value> values) {
  for (const Value& value : values) {
    if (value.body()) return value.body()->state->current;
  }
  return nullptr;
}

// `own_scope` is set for ops whose Python function opens a name scope: see OpRequest.
Value Make(llvm::StringRef op, llvm::ArrayRef<Operand> inputs, const SourceLocation& where,
           std::vector<OpAttribute> attributes = {}, llvm::StringRef name = {},
           bool own_scope = false) {
  for (const Operand& input : inputs) {
    if (TraceBody* body = BodyOfValues(input.values)) {
      return MakeOp(*body->state,
                    {op, inputs, std::move(attributes), name, /*exact=*/false, own_scope}, where)
          .output();
    }
  }
  return Value();
}

Value MakeUnary(llvm::StringRef op, const Value& x, const SourceLocation& where,
                bool own_scope = false) {
  return Make(op, Operand(x, where), where, {}, {}, own_scope);
}

Value MakeBinary(llvm::StringRef op, llvm::StringRef name, const Operand& x, const Operand& y,
                 std::vector<OpAttribute> attributes = {}) {
  // An operator opens a name scope with its name. Comparisons, Maximum and Minimum have no `name`
  // and open none.
  bool own_scope = !name.empty() || op == "Pow" || op == "Add";
  // In Python, the variable whose operator method runs is read before the op's scope opens: the
  // left operand or, if that is a number, the right one.
  const Operand& own = x.kind == Operand::kValue ? x : y;
  if (own.kind == Operand::kValue && own.values[0].ok() && op != "Maximum" && op != "Minimum")
    NameReadHere(*own.values[0].body()->state, own.values[0]);
  return Make(op, {x, y}, x.where, std::move(attributes), name, own_scope);
}

bool IsText(const Operand& operand) {
  if (operand.kind == Operand::kValue) return operand.values[0].dtype() == proto::DT_STRING;
  return operand.literal.dtype() == proto::DT_STRING;
}

// The dtype of the first operand that is a Value; DT_INVALID if neither is.
DataType TypeOfOperands(const Operand& x, const Operand& y) {
  return x.kind == Operand::kValue && x.values[0].ok() ? x.values[0].dtype()
         : y.kind == Operand::kValue                   ? y.values[0].dtype()
                                                       : proto::DT_INVALID;
}

// Returns the dtype to which true division casts `dtype`; DT_INVALID if it does not cast it.
DataType QuotientType(DataType dtype) {
  switch (dtype) {
    case proto::DT_INT8:
    case proto::DT_UINT8:
    case proto::DT_INT16:
    case proto::DT_UINT16:
      return proto::DT_FLOAT;
    case proto::DT_INT32:
    case proto::DT_UINT32:
    case proto::DT_INT64:
    case proto::DT_UINT64:
      return proto::DT_DOUBLE;
    default:
      return proto::DT_INVALID;
  }
}

// x / y for integers: constants and casts are made in the scope of the division.
Value DivideIntegers(const Operand& x, const Operand& y, DataType dtype) {
  TraceBody* body = BodyOfValues(x.kind == Operand::kValue ? x.values : y.values);
  TraceState& state = *body->state;
  ScopeGuard scope(body, "truediv");
  Values sides;
  const Operand* operands[] = {&x, &y};
  for (int i = 0; i < 2; ++i) {
    const Operand& operand = *operands[i];
    std::optional<Literal> literal;
    if (operand.kind == Operand::kNumbers) literal = ConvertNumbers(operand.literal, dtype);
    sides.push_back(
        literal ? MakeConstant(*body, *literal, body->UniqueName(i == 0 ? "x" : "y"), x.where)
                : ToValue(state, operand, i == 0 ? "x" : "y"));
  }
  if (sides[0].dtype() != sides[1].dtype()) {
    state.Report(x.where, ("op 'RealDiv': input 'y' is " + DataTypeName(sides[1].dtype()) + ", " +
                           DataTypeName(sides[0].dtype()) + " was expected as input 'x' is")
                              .str());
    return Value(body, {});
  }
  Operand casts[] = {Operand(Cast(sides[0], QuotientType(dtype), x.where), x.where),
                     Operand(Cast(sides[1], QuotientType(dtype), x.where), x.where)};
  return MakeOp(state, {"RealDiv", casts, {}, {}, /*exact=*/true}, x.where);
}

// All axes, as TensorFlow's _ReductionDims: a constant if the rank is known and not 0, else
// computed when the graph runs.
Value AllAxes(const Value& x, const SourceLocation& where) {
  TraceBody* body = BodyOfValues(x);
  Shape shape = x.shape();
  if (shape.known_rank() && shape.rank() > 0) {
    std::vector<int32_t> axes(shape.rank());
    std::iota(axes.begin(), axes.end(), 0);
    return MakeConstant(*body, Literal::Vector32(axes), body->UniqueName("Const"), where);
  }
  Value rank = Rank(x, where);
  return Make("Range", {Operand(0, where), Operand(rank, where), Operand(1, where)}, where, {},
              "range");
}

Value Reduce(llvm::StringRef op, const Value& x, const std::optional<Operand>& axis, bool keep_dims,
             const SourceLocation& where) {
  if (!x.ok()) return x;
  Operand axes = axis ? *axis : Operand(AllAxes(x, where), where);
  return Make(op, {Operand(x, where), axes}, where, {{"keep_dims", keep_dims}});
}

Value ConstantInt(const Value& x, llvm::StringRef name, const Literal& literal,
                  const SourceLocation& where) {
  TraceBody* body = BodyOfValues(x);
  return MakeConstant(*body, literal, body->UniqueName(name), where);
}

}  // namespace

Value operator+(const Operand& x, const Operand& y) {
  return MakeBinary(IsText(x) || IsText(y) ? "Add" : "AddV2", "add", x, y);
}
Value operator-(const Operand& x, const Operand& y) { return MakeBinary("Sub", "sub", x, y); }
Value operator*(const Operand& x, const Operand& y) { return MakeBinary("Mul", "mul", x, y); }
Value operator/(const Operand& x, const Operand& y) {
  DataType dtype = TypeOfOperands(x, y);
  if (QuotientType(dtype) != proto::DT_INVALID) return DivideIntegers(x, y, dtype);
  return MakeBinary("RealDiv", "truediv", x, y);
}
Value operator%(const Operand& x, const Operand& y) { return MakeBinary("FloorMod", "mod", x, y); }
Value operator<(const Operand& x, const Operand& y) { return MakeBinary("Less", {}, x, y); }
Value operator<=(const Operand& x, const Operand& y) { return MakeBinary("LessEqual", {}, x, y); }
Value operator>(const Operand& x, const Operand& y) { return MakeBinary("Greater", {}, x, y); }
Value operator>=(const Operand& x, const Operand& y) {
  return MakeBinary("GreaterEqual", {}, x, y);
}
Value operator==(const Operand& x, const Operand& y) {
  return MakeBinary("Equal", {}, x, y, {{"incompatible_shape_error", false}});
}
Value operator!=(const Operand& x, const Operand& y) {
  return MakeBinary("NotEqual", {}, x, y, {{"incompatible_shape_error", false}});
}
Value operator&(const Operand& x, const Operand& y) {
  return MakeBinary(TypeOfOperands(x, y) == proto::DT_BOOL ? "LogicalAnd" : "BitwiseAnd", "and", x,
                    y);
}
Value operator|(const Operand& x, const Operand& y) {
  return MakeBinary(TypeOfOperands(x, y) == proto::DT_BOOL ? "LogicalOr" : "BitwiseOr", "or", x, y);
}
Value FloorDiv(const Operand& x, const Operand& y) {
  return MakeBinary("FloorDiv", "floordiv", x, y);
}
Value Pow(const Operand& x, const Operand& y) { return MakeBinary("Pow", "pow", x, y); }
Value Maximum(const Operand& x, const Operand& y) { return MakeBinary("Maximum", {}, x, y); }
Value Minimum(const Operand& x, const Operand& y) { return MakeBinary("Minimum", {}, x, y); }

Value Value::Negate(const Value& x) { return x.ok() ? MakeUnary("Neg", x, LineOf(x)) : x; }
Value Value::Not(const Value& x) { return x.ok() ? MakeUnary("LogicalNot", x, LineOf(x)) : x; }
Value& Value::operator+=(const Operand& y) { return *this = Operand(*this, y.where) + y; }
Value& Value::operator-=(const Operand& y) { return *this = Operand(*this, y.where) - y; }
Value& Value::operator*=(const Operand& y) { return *this = Operand(*this, y.where) * y; }
Value& Value::operator/=(const Operand& y) { return *this = Operand(*this, y.where) / y; }

Value Cast(const Value& x, DataType dtype, SourceLocation where) {
  if (!x.ok() || x.dtype() == dtype) return x;
  return Make("Cast", Operand(x, where), where, {{"DstT", dtype}}, {}, /*own_scope=*/true);
}

Value Identity(const Value& x, llvm::StringRef name, SourceLocation where) {
  return Make("Identity", Operand(x, where), where, {}, name);
}

Value Size(const Value& x, SourceLocation where) {
  Shape shape = x.shape();
  std::optional<int64_t> size = shape.NumElements();
  if (shape.known_rank() && llvm::is_contained(shape.dims(), 0)) size = 0;
  if (size) {
    return ConstantInt(x, "Size", Literal::Scalar(proto::DT_INT32, static_cast<double>(*size)),
                       where);
  }
  return MakeUnary("Size", x, where);
}

Value Rank(const Value& x, SourceLocation where) {
  Shape shape = x.shape();
  if (shape.known_rank())
    return ConstantInt(x, "Rank", Literal::Scalar(proto::DT_INT32, shape.rank()), where);
  return MakeUnary("Rank", x, where);
}

Value ShapeOf(const Value& x, SourceLocation where) {
  Shape shape = x.shape();
  if (!shape.IsFullyKnown()) return MakeUnary("Shape", x, where);
  return ConstantInt(x, "Shape", Literal::Integers(proto::DT_INT32, {shape.rank()}, shape.dims()),
                     where);
}

Value ReduceSum(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                SourceLocation where) {
  return Reduce("Sum", x, axis, keep_dims, where);
}
Value ReduceMin(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                SourceLocation where) {
  return Reduce("Min", x, axis, keep_dims, where);
}
Value ReduceMax(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                SourceLocation where) {
  return Reduce("Max", x, axis, keep_dims, where);
}
Value ReduceMean(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                 SourceLocation where) {
  return Reduce("Mean", x, axis, keep_dims, where);
}
Value ReduceProd(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                 SourceLocation where) {
  return Reduce("Prod", x, axis, keep_dims, where);
}
Value ReduceAll(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                SourceLocation where) {
  return Reduce("All", x, axis, keep_dims, where);
}
Value ReduceAny(const Value& x, const std::optional<Operand>& axis, bool keep_dims,
                SourceLocation where) {
  return Reduce("Any", x, axis, keep_dims, where);
}

Value Abs(const Value& x, SourceLocation where) {
  return MakeUnary("Abs", x, where, /*own_scope=*/true);
}
Value Exp(const Value& x, SourceLocation where) { return MakeUnary("Exp", x, where); }
Value Log(const Value& x, SourceLocation where) { return MakeUnary("Log", x, where); }
Value Sqrt(const Value& x, SourceLocation where) { return MakeUnary("Sqrt", x, where); }
Value Square(const Value& x, SourceLocation where) { return MakeUnary("Square", x, where); }
Value Tanh(const Value& x, SourceLocation where) { return MakeUnary("Tanh", x, where); }
Value Sigmoid(const Value& x, SourceLocation where) {
  return MakeUnary("Sigmoid", x, where, /*own_scope=*/true);
}
Value Relu(const Value& x, SourceLocation where) { return MakeUnary("Relu", x, where); }

Value MatMul(const Value& x, const Value& y, bool transpose_x, bool transpose_y,
             SourceLocation where) {
  auto may_be_batch = [](const Value& v) {
    Shape shape = v.shape();
    return !shape.known_rank() || shape.rank() > 2;
  };
  if (may_be_batch(x) || may_be_batch(y)) {
    return Make("BatchMatMulV2", {Operand(x, where), Operand(y, where)}, where,
                {{"adj_x", transpose_x}, {"adj_y", transpose_y}}, "MatMul", /*own_scope=*/true);
  }
  return Make("MatMul", {Operand(x, where), Operand(y, where)}, where,
              {{"transpose_a", transpose_x}, {"transpose_b", transpose_y}}, {}, /*own_scope=*/true);
}

Value Reshape(const Value& x, const Operand& shape) {
  return Make("Reshape", {Operand(x, shape.where), shape}, shape.where);
}

Value Concat(const Values& values, int axis, SourceLocation where) {
  return Make("ConcatV2", {Operand(values, where), Operand(axis, where)}, where, {}, "concat");
}

Value Stack(const Values& values, int axis, SourceLocation where) {
  return Make("Pack", Operand(values, where), where, {{"axis", axis}}, "stack");
}

Value Select(const Value& cond, const Operand& x, const Operand& y) {
  return Make("SelectV2", {Operand(cond, x.where), x, y}, x.where);
}

}  // namespace grapnel
