#include "lib/trace/check_ops.h"

#include "lib/trace/op_builder.h"
#include "lib/trace/ops.h"

namespace grapnel {
namespace {

DataType TypeOfOperand(const Operand& operand) {
  return operand.kind == Operand::kValue ? operand.values[0].dtype() : operand.literal.dtype();
}

// Makes one Assert node, with its texts as constants.
Operation AssertNode(const OpBuilder& make, const Value& condition,
                     const std::vector<Operand>& data, int summarize) {
  auto scope = make.Scope("Assert");
  Values values;
  for (size_t i = 0; i < data.size(); ++i)
    values.push_back(make.Convert(data[i], proto::DT_INVALID, "data_" + std::to_string(i)));
  return make.Exact("Assert", {condition, Operand(values, make.where())},
                    {{"summarize", summarize}});
}

struct Comparison {
  const char* symbol;
  const char* scope;
  const char* op;
  bool (*holds)(double, double);
};

constexpr Comparison kEqual = {"==", "assert_equal", "Equal",
                               [](double x, double y) { return x == y; }};
constexpr Comparison kNoneEqual = {"!=", "assert_none_equal", "NotEqual",
                                   [](double x, double y) { return x != y; }};
constexpr Comparison kLess = {"<", "assert_less", "Less", [](double x, double y) { return x < y; }};
constexpr Comparison kLessEqual = {"<=", "assert_less_equal", "LessEqual",
                                   [](double x, double y) { return x <= y; }};
constexpr Comparison kGreater = {">", "assert_greater", "Greater",
                                 [](double x, double y) { return x > y; }};
constexpr Comparison kGreaterEqual = {">=", "assert_greater_equal", "GreaterEqual",
                                      [](double x, double y) { return x >= y; }};

std::optional<Literal> ConstantOf(const Value& value) {
  if (!value.ok()) return std::nullopt;
  Node node = NodeOf(value);
  if (!node || node.op() != "Const" || !IsNumeric(value.dtype()) || IsComplex(value.dtype()))
    return std::nullopt;
  Expected<Literal> literal = Literal::FromConst(node);
  if (literal) return std::move(*literal);
  llvm::consumeError(literal.takeError());
  return std::nullopt;
}

// True if x and y are numeric constants, of equal size or one of them with one element, that do not
// satisfy the comparison.
bool IsKnownToFail(const Comparison& comparison, const Value& x, const Value& y) {
  std::optional<Literal> a = ConstantOf(x), b = ConstantOf(y);
  if (!a || !b) return false;
  int64_t m = a->num_elements(), n = b->num_elements();
  if (m != n && m != 1 && n != 1) return false;
  if (m == 0 || n == 0) return false;
  for (int64_t i = 0; i < std::max(m, n); ++i) {
    if (!comparison.holds(a->AsDouble(m == 1 ? 0 : i), b->AsDouble(n == 1 ? 0 : i))) return true;
  }
  return false;
}

std::string Named(const char* which, const Value& value) {
  return which + (" (" + value.name()) + ") = ";
}

// Makes the comparison in its name scope, and the Assert. `data` is what a failed Assert prints; if
// it is empty, the Assert prints x and y.
Operation Compare(const OpBuilder& make, const Comparison& comparison, const Operand& x,
                  const Operand& y, const CheckOptions& options, std::vector<Operand> data = {}) {
  if (!make.ok()) return {};
  auto scope = make.Scope(comparison.scope);
  DataType dtype = FirstValue(x, y).dtype();
  Value a = make.Convert(x, dtype, "x"), b = make.Convert(y, dtype, "y");
  if (!a.ok() || !b.ok()) return Operation(&make.body(), kNoNode);
  const SourceLocation& where = make.where();
  if (data.empty()) {
    if (!options.message.empty()) data.emplace_back(llvm::StringRef(options.message), where);
    data.emplace_back(llvm::StringRef("Condition x " + std::string(comparison.symbol) +
                                      " y did not hold element-wise:"),
                      where);
    data.emplace_back(llvm::StringRef(Named("x", a)), where);
    data.emplace_back(a, where);
    data.emplace_back(llvm::StringRef(Named("y", b)), where);
    data.emplace_back(b, where);
  }
  Value each = make.Op(comparison.op, {a, b});
  Value all = ReduceAll(each, {}, false, where);
  if (IsKnownToFail(comparison, a, b)) {
    return make.Fail(llvm::formatv("{0}: {1} {2} {3} does not hold{4}{5}", comparison.scope,
                                   ConstantOf(a)->ToString(), comparison.symbol,
                                   ConstantOf(b)->ToString(), options.message.empty() ? "" : ": ",
                                   options.message)
                         .str());
  }
  return Assert(all, data, options.summarize, where);
}

Operation CompareOperands(const Comparison& comparison, const Operand& x, const Operand& y,
                          const CheckOptions& options, const SourceLocation& where) {
  return Compare(OpBuilder(FirstValue(x, y), where), comparison, x, y, options);
}

// Makes assert_positive and similar assertions: a comparison with 0 in a name scope of its own.
Operation CompareWithZero(const Value& x, const char* name, const Comparison& comparison,
                          bool zero_first, const char* symbol, const CheckOptions& options,
                          const SourceLocation& where) {
  OpBuilder make(x, where);
  if (!x.ok()) return make.ok() ? Operation(&make.body(), kNoNode) : Operation();
  auto scope = make.Scope(name);
  Value zero = make.Scalar(0, x.dtype());
  std::string condition = std::string("Condition x ") + symbol + " 0 did not hold element-wise:";
  std::vector<Operand> data = {Operand(llvm::StringRef(options.message), where)};
  // TensorFlow joins the two texts of assert_non_positive without a space.
  if (llvm::StringRef(name) == "assert_non_positive") {
    data.emplace_back(llvm::StringRef(condition + Named("x", x)), where);
  } else {
    data.emplace_back(llvm::StringRef(condition), where);
    data.emplace_back(llvm::StringRef(Named("x", x)), where);
  }
  data.emplace_back(x, where);
  Operand first(zero_first ? zero : x, where), second(zero_first ? x : zero, where);
  return Compare(make, comparison, first, second, options, data);
}

Operation CheckRank(const Value& x, int rank, const char* name, const char* op, const char* words,
                    bool (*holds)(int, int), const CheckOptions& options,
                    const SourceLocation& where) {
  OpBuilder make(x, where);
  if (!x.ok()) return make.ok() ? Operation(&make.body(), kNoNode) : Operation();
  auto scope = make.Scope(name);
  Value wanted = make.Scalar(rank, proto::DT_INT32, "rank");
  Value shape = ShapeOf(x, where);
  {
    auto type = make.Scope("assert_type");
    make.NoOp("statically_determined_correct_type");
  }
  if (x.shape().known_rank()) {
    if (holds(x.shape().rank(), rank)) return make.NoOp("static_checks_determined_all_ok");
    return make.Fail(llvm::formatv("{0}: '{1}' has shape {2}, {3} {4} was expected{5}{6}", name,
                                   x.name(), x.shape().ToString(), words, rank,
                                   options.message.empty() ? "" : ": ", options.message)
                         .str());
  }
  Value condition = make.Op(op, {Rank(x, where), wanted});
  std::string must = "Tensor " + x.name() + " must have " + words;
  return Assert(
      condition,
      {Operand(llvm::StringRef(options.message), where), Operand(llvm::StringRef(must), where),
       Operand(wanted, where), Operand("Received shape: ", where), Operand(shape, where)},
      options.summarize, where);
}

}  // namespace

Operation Assert(const Value& condition, const std::vector<Operand>& data, int summarize,
                 SourceLocation where) {
  OpBuilder make(condition, where);
  if (!condition.ok()) return make.ok() ? Operation(&make.body(), kNoNode) : Operation();
  auto scope = make.Scope("Assert");
  bool is_on_host = true;
  for (const Operand& operand : data) {
    // TensorFlow makes constants of `data` here, and makes them again for the Assert node.
    if (operand.kind != Operand::kValue) make.Convert(operand, proto::DT_INVALID, "Const");
    DataType dtype = TypeOfOperand(operand);
    is_on_host &= dtype == proto::DT_STRING || dtype == proto::DT_INT32;
  }
  if (is_on_host) return AssertNode(make, condition, data, summarize);
  auto answer = [&](const Operation& op) {
    auto after = make.After(op);
    return Values{Identity(condition, {}, where)};
  };
  auto holds = [&] { return answer(make.NoOp()); };
  auto fails = [&] { return answer(AssertNode(make, condition, data, summarize)); };
  Values made = MakeIf(make.state(), Operand(condition, where), holds, fails, where, "AssertGuard");
  return made.empty() ? Operation(&make.body(), kNoNode) : Operation(made[0]);
}

Operation AssertEqual(const Operand& x, const Operand& y, const CheckOptions& options,
                      SourceLocation where) {
  OpBuilder make(FirstValue(x, y), where);
  // TensorFlow opens the scope assert_equal twice, so the second one has the name assert_equal_1.
  { auto scope = make.Scope("assert_equal"); }
  return Compare(make, kEqual, x, y, options);
}
Operation AssertNoneEqual(const Operand& x, const Operand& y, const CheckOptions& options,
                          SourceLocation where) {
  return CompareOperands(kNoneEqual, x, y, options, where);
}
Operation AssertLess(const Operand& x, const Operand& y, const CheckOptions& options,
                     SourceLocation where) {
  return CompareOperands(kLess, x, y, options, where);
}
Operation AssertLessEqual(const Operand& x, const Operand& y, const CheckOptions& options,
                          SourceLocation where) {
  return CompareOperands(kLessEqual, x, y, options, where);
}
Operation AssertGreater(const Operand& x, const Operand& y, const CheckOptions& options,
                        SourceLocation where) {
  return CompareOperands(kGreater, x, y, options, where);
}
Operation AssertGreaterEqual(const Operand& x, const Operand& y, const CheckOptions& options,
                             SourceLocation where) {
  return CompareOperands(kGreaterEqual, x, y, options, where);
}

Operation AssertPositive(const Value& x, const CheckOptions& options, SourceLocation where) {
  return CompareWithZero(x, "assert_positive", kLess, /*zero_first=*/true, ">", options, where);
}
Operation AssertNegative(const Value& x, const CheckOptions& options, SourceLocation where) {
  return CompareWithZero(x, "assert_negative", kLess, /*zero_first=*/false, "<", options, where);
}
Operation AssertNonNegative(const Value& x, const CheckOptions& options, SourceLocation where) {
  return CompareWithZero(x, "assert_non_negative", kLessEqual, /*zero_first=*/true, ">=", options,
                         where);
}
Operation AssertNonPositive(const Value& x, const CheckOptions& options, SourceLocation where) {
  return CompareWithZero(x, "assert_non_positive", kLessEqual, /*zero_first=*/false, "<=", options,
                         where);
}

Operation AssertRank(const Value& x, int rank, const CheckOptions& options, SourceLocation where) {
  return CheckRank(
      x, rank, "assert_rank", "Equal", "rank", [](int a, int b) { return a == b; }, options, where);
}
Operation AssertRankAtLeast(const Value& x, int rank, const CheckOptions& options,
                            SourceLocation where) {
  return CheckRank(
      x, rank, "assert_rank_at_least", "GreaterEqual", "rank at least",
      [](int a, int b) { return a >= b; }, options, where);
}

Operation AssertType(const Value& x, DataType dtype, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return make.ok() ? Operation(&make.body(), kNoNode) : Operation();
  auto scope = make.Scope("assert_type");
  if (x.dtype() == dtype) return make.NoOp("statically_determined_correct_type");
  return make.Fail(("assert_type: '" + x.name() + "' is " + DataTypeName(x.dtype()) + ", " +
                    DataTypeName(dtype) + " was expected")
                       .str());
}

Operation AssertInteger(const Value& x, SourceLocation where) {
  OpBuilder make(x, where);
  if (!x.ok()) return make.ok() ? Operation(&make.body(), kNoNode) : Operation();
  auto scope = make.Scope("assert_integer");
  if (IsInteger(x.dtype())) return make.NoOp("statically_determined_was_integer");
  return make.Fail(("assert_integer: '" + x.name() + "' is " + DataTypeName(x.dtype()) +
                    ", an integer dtype was expected")
                       .str());
}

void AssertScalar(const Value& x, SourceLocation where) {
  if (!x.ok()) return;
  OpBuilder make(x, where);
  Shape shape = x.shape();
  if (!shape.known_rank()) {
    auto scope = make.Scope("assert_scalar");
    AssertRank(x, 0, {}, where);
  } else if (shape.rank() != 0) {
    make.Fail("assert_scalar: '" + x.name() + "' has shape " + shape.ToString() +
              ", a scalar was expected");
  }
}

Value CheckNumerics(const Value& x, llvm::StringRef message, SourceLocation where) {
  return OpBuilder(x, where).Op("CheckNumerics", x, {{"message", message}});
}

}  // namespace grapnel
