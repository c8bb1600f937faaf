#include "lib/trace/op_builder.h"

namespace grapnel {

OpBuilder::OpBuilder(llvm::ArrayRef<Value> values, const SourceLocation& where)
    : state_(nullptr), where_(where) {
  for (const Value& value : values) {
    if (!state_ && value.body()) state_ = value.body()->state;
  }
}

Operation OpBuilder::Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                        const std::vector<OpAttribute>& attributes, llvm::StringRef name) const {
  if (!state_) return {};
  return MakeOp(*state_, {op, inputs, attributes, name}, where_);
}

Value OpBuilder::Scoped(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                        const std::vector<OpAttribute>& attributes, llvm::StringRef name) const {
  if (!state_) return {};
  return MakeOp(*state_, {op, inputs, attributes, name, /*exact=*/false, /*own_scope=*/true},
                where_)
      .output();
}

Operation OpBuilder::Exact(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                           const std::vector<OpAttribute>& attributes) const {
  if (!state_) return {};
  return MakeOp(*state_, {op, inputs, attributes, {}, /*exact=*/true}, where_);
}

Tracer::ScopeGuard OpBuilder::Scope(llvm::StringRef name) const {
  if (!state_) return Tracer::ScopeGuard([] {});
  TraceBody* body = state_->current;
  std::string before = body->scope;
  body->OpenScope(name);
  return Tracer::ScopeGuard([body, before] { body->scope = before; });
}

Tracer::ScopeGuard OpBuilder::After(const Operation& op) const {
  // In eager mode `op` has run already, so no edge is needed.
  if (!state_ || state_->current->is_eager) return Tracer::ScopeGuard([] {});
  TraceBody* body = state_->current;
  TraceBody::Controller controller;
  if (op.ok()) {
    controller.inputs.push_back(op.node());
    body->MarkControl(op.node());
  }
  body->controllers.push_back(std::move(controller));
  return Tracer::ScopeGuard([body] { body->controllers.pop_back(); });
}

Value OpBuilder::Constant(const Literal& literal, llvm::StringRef name) const {
  if (!state_) return {};
  return MakeConstant(body(), literal, body().UniqueName(name), where_);
}

Value OpBuilder::Scalar(double value, DataType dtype, llvm::StringRef name) const {
  return Constant(Literal::Scalar(dtype, value), name);
}

Value OpBuilder::Ints(llvm::ArrayRef<int64_t> values, llvm::StringRef name, DataType dtype) const {
  return Constant(Literal::Integers(dtype, {static_cast<int64_t>(values.size())}, values), name);
}

Value OpBuilder::Text(llvm::StringRef text, llvm::StringRef name) const {
  return Constant(Literal::MakeStrings({}, {text.str()}), name);
}

Value OpBuilder::Convert(const Operand& operand, DataType dtype, llvm::StringRef name) const {
  if (!state_) return {};
  if (operand.kind == Operand::kValue) return operand.values[0];
  if (operand.kind == Operand::kList) return Fail("a list was given where one value was expected");
  if (operand.IsRagged()) return Fail(llvm::formatv("'{0}' has {1}", name, Operand::kUnequalRows));
  std::optional<Literal> literal = operand.literal;
  if (dtype != proto::DT_INVALID && dtype != literal->dtype()) {
    literal =
        operand.kind == Operand::kNumbers ? ConvertNumbers(operand.literal, dtype) : std::nullopt;
  }
  if (literal) return Constant(*literal, name);
  return Fail(llvm::formatv("'{0}' is the {1} {2}, {3} was expected", name,
                            DataTypeName(operand.literal.dtype()), operand.literal.ToString(),
                            DataTypeName(dtype))
                  .str());
}

Value OpBuilder::Packed(llvm::ArrayRef<Operand> scalars, llvm::StringRef name) const {
  if (!state_) return {};
  DataType dtype = proto::DT_INT32;
  bool are_numbers = true;
  for (const Operand& scalar : scalars) {
    if (scalar.kind != Operand::kValue) continue;
    if (are_numbers) dtype = scalar.values[0].dtype();
    are_numbers = false;
  }
  if (are_numbers) {
    std::vector<int64_t> numbers;
    for (const Operand& scalar : scalars) {
      std::optional<Literal> number = ConvertNumbers(scalar.literal, proto::DT_INT64);
      if (!number || number->num_elements() != 1)
        return Fail(("'" + name + "' is a list of integers and scalars; " +
                     scalar.literal.ToString() + " is neither")
                        .str());
      numbers.push_back(number->AsInt(0));
    }
    return Ints(numbers, name);
  }
  ScopeGuard scope(state_->current, name);
  Values values;
  for (size_t i = 0; i < scalars.size(); ++i)
    values.push_back(Convert(scalars[i], dtype, std::to_string(i)));
  return Exact("Pack", Operand(values, where_), {{"axis", 0}});
}

Value OpBuilder::Fail(const std::string& text) const {
  if (!state_) return {};
  state_->Report(where_, text);
  return Value(state_->current, {});
}

Value UnaryOp(llvm::StringRef op, const Value& x, const SourceLocation& where) {
  return OpBuilder(x, where).Op(op, x);
}

const Value& FirstValue(const Operand& x, const Operand& y) {
  static const Value kNone;
  if (x.kind == Operand::kValue) return x.values[0];
  return y.kind == Operand::kValue ? y.values[0] : kNone;
}

}  // namespace grapnel
