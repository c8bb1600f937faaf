#include "lib/watch/expression_value.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {

using Part = TensorExpression::Node;
using Value = ExpressionValue;

namespace {

Value OfNumbers(DataType dtype, Dims dims, llvm::ArrayRef<int64_t> numbers) {
  Value value;
  value.numbers.dtype = dtype;
  value.numbers.dims = std::move(dims);
  value.numbers.values.assign(numbers.begin(), numbers.end());
  return value;
}

Expected<Value> OfText(std::string text) {
  Value value;
  ASSIGN_OR_RETURN(value.tensor, Tensor::FromLiteral(Literal::MakeStrings({}, {std::move(text)})));
  return value;
}

// Evaluates functions of a tensor's rank, shape, size or dtype, which work for any value, also
// strings and lists, and read no elements. Returns nullopt for other functions.
std::optional<Expected<Value>> AskForm(const Part& call, llvm::ArrayRef<Value> arguments) {
  if (arguments.size() != 1) return std::nullopt;
  const Value& of = arguments[0];
  llvm::ArrayRef<int64_t> dims = of.tensor ? of.tensor.dims() : of.numbers.dims;
  DataType dtype = of.tensor ? of.tensor.dtype() : of.numbers.dtype;
  if (call.name == "dtype") return OfText(DataTypeName(dtype).str());
  int64_t rank = static_cast<int64_t>(dims.size());
  if (call.name == "ndim" || call.name == "rank") return OfNumbers(proto::DT_INT64, {}, {rank});
  if (call.name == "shape") return OfNumbers(proto::DT_INT64, {rank}, dims);
  if (call.name != "size") return std::nullopt;
  return OfNumbers(proto::DT_INT64, {}, {NumElements(dims).value_or(INT64_MAX)});
}

bool IsText(const Value& value) { return value.tensor && value.tensor.dtype() == proto::DT_STRING; }

// Compares string tensors elementwise; a single string is broadcast.
Expected<Value> CompareTexts(bool wants_same, const Tensor& a, const Tensor& b) {
  bool spreads_a = a.num_elements() == 1, spreads_b = b.num_elements() == 1;
  if (a.dims() != b.dims() && !spreads_a && !spreads_b)
    return MakeError(
        "strings of shapes {0} and {1} cannot be compared: equal shapes, or one string, were "
        "expected",
        DimsText(a.dims()), DimsText(b.dims()));
  const Tensor& wide = spreads_a && a.rank() <= b.rank() ? b : a;
  Value value = OfNumbers(proto::DT_BOOL, Dims(wide.dims().begin(), wide.dims().end()), {});
  const std::string *x = a.data<std::string>(), *y = b.data<std::string>();
  for (int64_t i = 0; i < wide.num_elements(); ++i) {
    bool is_same = x[spreads_a ? 0 : i] == y[spreads_b ? 0 : i];
    value.numbers.values.push_back(is_same == wants_same ? 1 : 0);
  }
  return value;
}

std::vector<int64_t> SizesOf(const Value& value, const NumberArray& numbers) {
  std::vector<int64_t> sizes;
  for (size_t i = 0; i < numbers.values.size(); ++i) {
    bool is_any = i < value.is_any.size() && value.is_any[i];
    sizes.push_back(is_any ? kUnknownDim : SizeOf(numbers.values[i]));
  }
  return sizes;
}

Expected<Value> CompareSizes(llvm::ArrayRef<Value> arguments) {
  std::vector<int64_t> sizes[2];
  for (int i = 0; i < 2; ++i) {
    ASSIGN_OR_RETURN(NumberArray numbers,
                     NumbersOf(Value{arguments[i].tensor, arguments[i].numbers, {}}));
    if (numbers.dims.size() != 1)
      return MakeError("a shape must be compared with a list of numbers, as in [?, 10]");
    sizes[i] = SizesOf(arguments[i], numbers);
  }
  // Sizes that are unknown come from `?`, which matches any size.
  bool is_same = AreSameSizes(sizes[0], sizes[1]).value_or(true);
  return OfNumbers(proto::DT_BOOL, {}, {is_same});
}

}  // namespace

Expected<NumberArray> NumbersOf(Value value) {
  if (!value.is_any.empty())
    return MakeError(
        "'?' matches any size, and is only for a comparison with a shape, as in shape(...) == [?, "
        "10]");
  if (value.tensor) return NumbersOf(value.tensor);
  return std::move(value.numbers);
}

Expected<Tensor> TensorOf(Value value) {
  if (value.tensor) return std::move(value.tensor);
  ASSIGN_OR_RETURN(NumberArray numbers, NumbersOf(std::move(value)));
  return TensorOf(numbers);
}

bool IsConstant(const Part& node) {
  return node.kind == Part::Kind::kNumber || node.kind == Part::Kind::kText ||
         node.kind == Part::Kind::kList;
}

int64_t SizeOf(NumberArray::Number number) {
  return static_cast<int64_t>(RoundTo(proto::DT_INT64, number));
}

Value ConstantOf(const Part& node) {
  Value value;
  if (node.kind == Part::Kind::kText) return llvm::cantFail(OfText(node.name));
  if (node.kind == Part::Kind::kNumber) {
    value.numbers.values = {node.number};
    value.numbers.dtype = node.is_truth   ? proto::DT_BOOL
                          : node.is_whole ? WholeDtype(value.numbers.values)
                                          : proto::DT_DOUBLE;
    value.numbers.is_weak = !node.is_truth;
    return value;
  }
  value.numbers.dims = {static_cast<int64_t>(node.operands.size())};
  value.numbers.is_weak = true;
  bool is_whole = true;
  for (const Part& element : node.operands) {
    bool is_any = element.kind == Part::Kind::kAny;
    if (is_any) value.is_any.resize(node.operands.size());
    if (is_any) value.is_any[value.numbers.values.size()] = true;
    is_whole &= is_any || element.is_whole;
    value.numbers.values.push_back(element.number);
  }
  value.numbers.dtype = is_whole ? WholeDtype(value.numbers.values) : proto::DT_DOUBLE;
  return value;
}

Expected<Value> CallOn(const Part& call, std::vector<Value> arguments) {
  if (auto form = AskForm(call, arguments)) return std::move(*form);
  bool asks_same = call.name == "==";
  if ((asks_same || call.name == "!=") && IsText(arguments[0]) && IsText(arguments[1]))
    return CompareTexts(asks_same, arguments[0].tensor, arguments[1].tensor);
  if (call.name == "same") return CompareSizes(arguments);
  std::vector<NumberArray> numbers;
  for (Value& argument : arguments) {
    auto made = NumbersOf(std::move(argument));
    if (!made) return Annotate(call.name, made.takeError());
    numbers.push_back(std::move(*made));
  }
  Value value;
  ASSIGN_OR_RETURN(value.numbers, CallFunction(call, std::move(numbers)));
  return value;
}

std::optional<bool> AreSameSizes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  if (a.size() != b.size()) return false;
  bool is_open = false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] >= 0 && b[i] >= 0 && a[i] != b[i]) return false;
    // Two unknown sizes are equal if they have the same symbol, that is, the same negative number.
    is_open |= (a[i] < 0 || b[i] < 0) && (a[i] != b[i] || a[i] == kUnknownDim);
  }
  return is_open ? std::nullopt : std::optional(true);
}

}  // namespace grapnel
