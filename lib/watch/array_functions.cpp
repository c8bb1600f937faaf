#include <cmath>
#include <map>

#include "lib/watch/array_reductions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using Number = NumberArray::Number;
using ExpressionCall = TensorExpression::Node;
using Unary = Number (*)(Number);
using Binary = Number (*)(Number, Number);

// --- Dtypes of results, as in NumPy 2.

bool IsFloat(DataType type) { return IsFloating(type); }

DataType Promoted(const NumberArray& a, const NumberArray& b) {
  if (a.is_weak != b.is_weak) {
    const NumberArray& strong = a.is_weak ? b : a;
    const NumberArray& weak = a.is_weak ? a : b;
    if (IsFloat(strong.dtype) || IsComplex(strong.dtype) || IsInteger(weak.dtype))
      return strong.dtype == proto::DT_BOOL ? weak.dtype : strong.dtype;
    return proto::DT_DOUBLE;
  }
  if (a.dtype == b.dtype) return a.dtype;
  if (a.dtype == proto::DT_BOOL) return b.dtype;
  if (b.dtype == proto::DT_BOOL) return a.dtype;
  size_t size_a = DataTypeSize(a.dtype), size_b = DataTypeSize(b.dtype);
  if (IsFloat(a.dtype) && IsFloat(b.dtype)) {
    if (size_a == size_b) return proto::DT_FLOAT;  // half and bfloat16
    return size_a > size_b ? a.dtype : b.dtype;
  }
  if (IsFloat(a.dtype) || IsFloat(b.dtype)) {
    DataType type = IsFloat(a.dtype) ? a.dtype : b.dtype;
    size_t whole = IsFloat(a.dtype) ? size_b : size_a;
    if (whole >= 4) return proto::DT_DOUBLE;
    return whole == 2 && DataTypeSize(type) <= 2 ? proto::DT_FLOAT : type;
  }
  if (IsUnsigned(a.dtype) == IsUnsigned(b.dtype)) return size_a > size_b ? a.dtype : b.dtype;
  DataType signed_type = IsUnsigned(a.dtype) ? b.dtype : a.dtype;
  size_t unsigned_size = IsUnsigned(a.dtype) ? size_a : size_b;
  if (DataTypeSize(signed_type) > unsigned_size) return signed_type;
  return unsigned_size == 1   ? proto::DT_INT16
         : unsigned_size == 2 ? proto::DT_INT32
         : unsigned_size == 4 ? proto::DT_INT64
                              : proto::DT_DOUBLE;
}

DataType FloatOf(DataType type) {
  if (IsFloat(type)) return type;
  return DataTypeSize(type) == 1   ? proto::DT_HALF
         : DataTypeSize(type) == 2 ? proto::DT_FLOAT
                                   : proto::DT_DOUBLE;
}

void Round(NumberArray* array) {
  for (Number& value : array->values) value = RoundTo(array->dtype, value);
}

// Returns `number` converted to the dtype: floats are rounded, integers wrap around as in two's
// complement (exact below 2^64, the precision of Number).
Number ResultOf(DataType type, Number number) {
  if (!IsInteger(type) || !std::isfinite(number)) return RoundTo(type, number);
  Number range = std::ldexp(Number{1}, static_cast<int>(8 * DataTypeSize(type)));
  Number rest = std::fmod(std::trunc(number), range);
  if (IsUnsigned(type)) return rest < 0 ? rest + range : rest;
  return rest >= range / 2 ? rest - range : rest < -range / 2 ? rest + range : rest;
}

// True for whole numbers that no tensor gives a dtype. As in Python, they do not wrap around.
bool IsWholeLiteral(const NumberArray& array) { return array.is_weak && IsInteger(array.dtype); }
void TakeWholeDtype(NumberArray* array) {
  for (Number& value : array->values) value = std::trunc(value);
  array->dtype = WholeDtype(array->values);
  Round(array);
}

// --- Elementwise functions.

Number FloorDivide(Number a, Number b) { return std::floor(a / b); }
Number Modulo(Number a, Number b) {
  Number rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
Number Least(Number a, Number b) { return std::isnan(a) || a < b ? a : b; }
Number Most(Number a, Number b) { return std::isnan(a) || a > b ? a : b; }

struct UnaryFunction {
  Unary apply;
  enum Result : uint8_t { kSame, kFloat, kTruth } result;
};

const std::map<llvm::StringRef, UnaryFunction>& UnaryFunctions() {
  static const std::map<llvm::StringRef, UnaryFunction> functions = {
      {"neg", {[](Number x) -> Number { return -x; }, UnaryFunction::kSame}},
      {"abs", {[](Number x) -> Number { return std::fabs(x); }, UnaryFunction::kSame}},
      {"sign",
       {[](Number x) -> Number { return std::isnan(x) ? x : (x > 0) - (x < 0); },
        UnaryFunction::kSame}},
      {"square", {[](Number x) -> Number { return x * x; }, UnaryFunction::kSame}},
      {"floor", {[](Number x) -> Number { return std::floor(x); }, UnaryFunction::kSame}},
      {"ceil", {[](Number x) -> Number { return std::ceil(x); }, UnaryFunction::kSame}},
      {"round", {[](Number x) -> Number { return std::nearbyint(x); }, UnaryFunction::kSame}},
      {"real", {[](Number x) -> Number { return x; }, UnaryFunction::kSame}},
      {"sqrt", {[](Number x) -> Number { return std::sqrt(x); }, UnaryFunction::kFloat}},
      {"exp", {[](Number x) -> Number { return std::exp(x); }, UnaryFunction::kFloat}},
      {"log", {[](Number x) -> Number { return std::log(x); }, UnaryFunction::kFloat}},
      {"log2", {[](Number x) -> Number { return std::log2(x); }, UnaryFunction::kFloat}},
      {"log10", {[](Number x) -> Number { return std::log10(x); }, UnaryFunction::kFloat}},
      {"tanh", {[](Number x) -> Number { return std::tanh(x); }, UnaryFunction::kFloat}},
      {"isnan", {[](Number x) -> Number { return std::isnan(x); }, UnaryFunction::kTruth}},
      {"isinf", {[](Number x) -> Number { return std::isinf(x); }, UnaryFunction::kTruth}},
      {"isfinite", {[](Number x) -> Number { return std::isfinite(x); }, UnaryFunction::kTruth}},
      {"not", {[](Number x) -> Number { return x == 0; }, UnaryFunction::kTruth}},
  };
  return functions;
}

struct BinaryFunction {
  Binary apply;
  enum Result : uint8_t { kPromoted, kFloat, kTruth } result;
};

const std::map<llvm::StringRef, BinaryFunction>& BinaryFunctions() {
  static const std::map<llvm::StringRef, BinaryFunction> functions = {
      {"+", {[](Number a, Number b) -> Number { return a + b; }, BinaryFunction::kPromoted}},
      {"-", {[](Number a, Number b) -> Number { return a - b; }, BinaryFunction::kPromoted}},
      {"*", {[](Number a, Number b) -> Number { return a * b; }, BinaryFunction::kPromoted}},
      {"/", {[](Number a, Number b) -> Number { return a / b; }, BinaryFunction::kFloat}},
      {"//", {FloorDivide, BinaryFunction::kPromoted}},
      {"%", {Modulo, BinaryFunction::kPromoted}},
      {"**",
       {[](Number a, Number b) -> Number { return std::pow(a, b); }, BinaryFunction::kPromoted}},
      {"minimum", {Least, BinaryFunction::kPromoted}},
      {"maximum", {Most, BinaryFunction::kPromoted}},
      {"==", {[](Number a, Number b) -> Number { return a == b; }, BinaryFunction::kTruth}},
      {"!=", {[](Number a, Number b) -> Number { return a != b; }, BinaryFunction::kTruth}},
      {"<", {[](Number a, Number b) -> Number { return a < b; }, BinaryFunction::kTruth}},
      {"<=", {[](Number a, Number b) -> Number { return a <= b; }, BinaryFunction::kTruth}},
      {">", {[](Number a, Number b) -> Number { return a > b; }, BinaryFunction::kTruth}},
      {">=", {[](Number a, Number b) -> Number { return a >= b; }, BinaryFunction::kTruth}},
      {"&",
       {[](Number a, Number b) -> Number { return a != 0 && b != 0; }, BinaryFunction::kTruth}},
      {"|",
       {[](Number a, Number b) -> Number { return a != 0 || b != 0; }, BinaryFunction::kTruth}},
  };
  return functions;
}

Expected<Dims> BroadcastDims(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  Dims dims(std::max(a.size(), b.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t of_a = i < a.size() ? a[a.size() - 1 - i] : 1;
    int64_t of_b = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (of_a != of_b && of_a != 1 && of_b != 1)
      return MakeError("shapes {0} and {1} do not broadcast", DimsText(a), DimsText(b));
    dims[dims.size() - 1 - i] = of_a == 1 ? of_b : of_a;
  }
  return dims;
}

// Returns `array` broadcast to `dims`.
NumberArray BroadcastTo(const NumberArray& array, const Dims& dims) {
  if (array.dims == dims) return array;
  NumberArray wide;
  wide.dtype = array.dtype;
  wide.dims = dims;
  int64_t size = 1;
  for (int64_t dim : dims) size *= dim;
  if (array.size() == 1) {
    wide.values.assign(size, array.values[0]);
    if (array.IsComplex()) wide.imaginary.assign(size, array.imaginary[0]);
    return wide;
  }
  size_t skipped = dims.size() - array.dims.size();
  for (int64_t flat = 0; flat < size; ++flat) {
    int64_t rest = flat, place = 0, stride = 1;
    for (size_t i = dims.size(); i-- > skipped; rest /= dims[i]) {
      int64_t own = array.dims[i - skipped];
      if (own != 1) place += rest % dims[i] * stride;
      stride *= own;
      if (i == 0) break;
    }
    wide.values.push_back(array.values[place]);
    if (array.IsComplex()) wide.imaginary.push_back(array.imaginary[place]);
  }
  return wide;
}

Expected<NumberArray> Pairwise(llvm::StringRef name, const BinaryFunction& function,
                               const NumberArray& a, const NumberArray& b) {
  ASSIGN_OR_RETURN(Dims dims, BroadcastDims(a.dims, b.dims));
  NumberArray result;
  result.dtype = function.result == BinaryFunction::kTruth ? proto::DT_BOOL : Promoted(a, b);
  if (function.result == BinaryFunction::kFloat) result.dtype = FloatOf(result.dtype);
  result.is_weak = a.is_weak && b.is_weak && function.result != BinaryFunction::kTruth;
  result.dims = dims;
  bool is_complex = a.IsComplex() || b.IsComplex();
  if (is_complex && name != "==" && name != "!=")
    return MakeError("{0} does not take complex numbers: take their abs(), real() or imag()", name);
  bool divides = name == "//" || name == "%";
  if (divides && !IsFloat(result.dtype) && llvm::is_contained(b.values, 0))
    return MakeError("{0}: an integer is divided by zero", name);
  NumberArray wide_a, wide_b;
  if (a.dims != dims) wide_a = BroadcastTo(a, dims);
  if (b.dims != dims) wide_b = BroadcastTo(b, dims);
  const NumberArray &left = a.dims == dims ? a : wide_a, &right = b.dims == dims ? b : wide_b;
  result.values.reserve(left.size());
  bool is_truth = function.result == BinaryFunction::kTruth;
  bool is_literal = IsWholeLiteral(result);
  for (int64_t i = 0; i < left.size(); ++i) {
    Number value = function.apply(left.values[i], right.values[i]);
    if (is_truth && !is_complex) {
      result.values.push_back(value);
      continue;
    }
    if (is_complex) {
      Number x = left.IsComplex() ? left.imaginary[i] : 0;
      Number y = right.IsComplex() ? right.imaginary[i] : 0;
      bool is_same = left.values[i] == right.values[i] && x == y;
      value = is_same == (name == "==");
    }
    result.values.push_back(is_literal ? value : ResultOf(result.dtype, value));
  }
  if (is_literal) TakeWholeDtype(&result);
  return result;
}

Expected<NumberArray> Each(llvm::StringRef name, const UnaryFunction& function, NumberArray array) {
  if (array.IsComplex()) {
    NumberArray result;
    result.dims = array.dims;
    result.dtype = array.dtype == proto::DT_COMPLEX64 ? proto::DT_FLOAT : proto::DT_DOUBLE;
    bool asks = function.result == UnaryFunction::kTruth && name != "not";
    if (asks) result.dtype = proto::DT_BOOL;
    if (!asks && name != "abs" && name != "real")
      return MakeError("{0} does not take complex numbers: take their abs(), real() or imag()",
                       name);
    for (int64_t i = 0; i < array.size(); ++i) {
      Number x = array.values[i], y = array.imaginary[i];
      Number value = name == "abs"    ? std::hypot(x, y)
                     : name == "real" ? x
                     : name == "isfinite"
                         ? static_cast<Number>(std::isfinite(x) && std::isfinite(y))
                         : static_cast<Number>(function.apply(x) != 0 || function.apply(y) != 0);
      result.values.push_back(RoundTo(result.dtype, value));
    }
    return result;
  }
  if (function.result == UnaryFunction::kTruth) array.dtype = proto::DT_BOOL;
  if (function.result == UnaryFunction::kFloat) array.dtype = FloatOf(array.dtype);
  if (array.dtype == proto::DT_BOOL) array.is_weak = false;
  bool is_truth = function.result == UnaryFunction::kTruth;
  bool is_literal = IsWholeLiteral(array) && !is_truth;
  for (Number& value : array.values) {
    value = function.apply(value);
    if (!is_truth && !is_literal) value = ResultOf(array.dtype, value);
  }
  if (is_literal) TakeWholeDtype(&array);
  return array;
}

// --- Other functions.

NumberArray Counts(llvm::ArrayRef<int64_t> counts, bool is_list) {
  NumberArray result;
  result.dtype = proto::DT_INT64;
  if (is_list) result.dims = {static_cast<int64_t>(counts.size())};
  result.values.assign(counts.begin(), counts.end());
  return result;
}

Expected<NumberArray> Where(const std::vector<NumberArray>& arguments) {
  const NumberArray &a = arguments[1], &b = arguments[2];
  if (a.IsComplex() || b.IsComplex()) return MakeError("where does not take complex numbers");
  ASSIGN_OR_RETURN(Dims of_values, BroadcastDims(a.dims, b.dims));
  ASSIGN_OR_RETURN(Dims dims, BroadcastDims(arguments[0].dims, of_values));
  NumberArray choice = BroadcastTo(arguments[0], dims), result = BroadcastTo(a, dims);
  NumberArray other = BroadcastTo(b, dims);
  result.dtype = Promoted(a, b);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (choice.values[i] == 0) result.values[i] = other.values[i];
  }
  Round(&result);
  return result;
}

// Returns elementwise whether |a - b| <= tolerance: true for equal infinities, false for NaN.
Expected<NumberArray> Within(const std::vector<NumberArray>& arguments) {
  BinaryFunction equal{[](Number a, Number b) -> Number { return a == b; }, BinaryFunction::kTruth};
  BinaryFunction far{[](Number a, Number b) -> Number { return std::fabs(a - b); },
                     BinaryFunction::kPromoted};
  BinaryFunction less{[](Number a, Number b) -> Number { return a <= b; }, BinaryFunction::kTruth};
  ASSIGN_OR_RETURN(NumberArray result, Pairwise("==", equal, arguments[0], arguments[1]));
  // Subtract with dtype double: the difference of low-precision floats would be rounded, that of
  // integers would wrap around.
  NumberArray a = arguments[0], b = arguments[1];
  a.dtype = b.dtype = proto::DT_DOUBLE;
  a.is_weak = b.is_weak = false;
  ASSIGN_OR_RETURN(NumberArray apart, Pairwise("+-", far, a, b));
  ASSIGN_OR_RETURN(NumberArray near, Pairwise("+-", less, apart, arguments[2]));
  ASSIGN_OR_RETURN(result, Pairwise("|", BinaryFunctions().find("|")->second, result, near));
  return result;
}

// The filters of TensorFlow's debugger, also for complex numbers. A filter is true for a tensor if
// its predicate is true for any element.
using IsOne = bool (*)(Number);
IsOne FilterNamed(llvm::StringRef name) {
  if (name == "has_nan") return [](Number x) { return std::isnan(x); };
  if (name == "has_inf") return [](Number x) { return std::isinf(x); };
  if (name == "has_inf_or_nan") return [](Number x) { return !std::isfinite(x); };
  return nullptr;
}

// Returns the number of arguments that a function takes; 0 if no function has that name.
size_t NumArguments(llvm::StringRef name) {
  if (UnaryFunctions().count(name) || IsReduction(name)) return 1;
  if (BinaryFunctions().count(name) || name == "and" || name == "or") return 2;
  if (name == "where" || name == "within") return 3;
  if (FilterNamed(name)) return 1;
  return llvm::is_contained({"imag", "size", "shape", "ndim", "rank", "dtype", "~"}, name) ? 1 : 0;
}

}  // namespace

bool IsElementwise(llvm::StringRef name) {
  return UnaryFunctions().count(name) || BinaryFunctions().count(name) || name == "where" ||
         name == "within";
}

bool IsFunction(llvm::StringRef name) {
  return NumArguments(name) > 0 && llvm::isAlpha(name[0]) && name != "neg" && name != "not" &&
         name != "and" && name != "or" && name != "within";
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names = {"dtype", "has_inf", "has_inf_or_nan", "has_nan", "imag",
                                    "ndim",  "rank",    "shape",          "size",    "where"};
  for (const auto& [name, function] : UnaryFunctions()) names.push_back(name.str());
  for (const auto& [name, function] : BinaryFunctions()) names.push_back(name.str());
  for (llvm::StringRef name : ReductionNames()) names.push_back(name.str());
  llvm::erase_if(names, [](const std::string& name) { return !IsFunction(name); });
  llvm::sort(names);
  return names;
}

Expected<NumberArray> CallFunction(const ExpressionCall& call, std::vector<NumberArray> arguments) {
  llvm::StringRef name = call.name;
  size_t wanted = NumArguments(name);
  if (arguments.size() != wanted)
    return MakeError("{0} takes {1} arguments, {2} are given", name, wanted, arguments.size());
  if (IsReduction(name)) return Reduce(call, std::move(arguments[0]));
  if (call.axis || call.keeps_dims) return MakeError("{0} takes neither axis nor keepdims", name);
  auto unary = UnaryFunctions().find(name);
  if (unary != UnaryFunctions().end()) return Each(name, unary->second, std::move(arguments[0]));
  auto binary = BinaryFunctions().find(name);
  if (binary != BinaryFunctions().end())
    return Pairwise(name, binary->second, arguments[0], arguments[1]);
  NumberArray& first = arguments[0];
  if (name == "where") return Where(arguments);
  if (name == "within") return Within(arguments);
  if (IsOne is_one = FilterNamed(name)) {
    NumberArray result =
        Counts({llvm::any_of(first.values, is_one) || llvm::any_of(first.imaginary, is_one)},
               /*is_list=*/false);
    result.dtype = proto::DT_BOOL;
    return result;
  }
  if (name == "size") return Counts({first.size()}, /*is_list=*/false);
  if (name == "ndim") return Counts({static_cast<int64_t>(first.dims.size())}, false);
  if (name == "shape") return Counts(first.dims, /*is_list=*/true);
  if (name == "imag") {
    first.dtype = first.dtype == proto::DT_COMPLEX64    ? proto::DT_FLOAT
                  : first.dtype == proto::DT_COMPLEX128 ? proto::DT_DOUBLE
                                                        : first.dtype;
    if (!first.IsComplex()) first.values.assign(first.values.size(), 0);
    if (first.IsComplex()) first.values = std::move(first.imaginary);
    first.imaginary.clear();
    return first;
  }
  if (name == "~") {
    if (IsFloat(first.dtype) || first.IsComplex())
      return MakeError("~ takes only booleans and integers");
    for (Number& value : first.values)
      value = first.dtype == proto::DT_BOOL ? value == 0 : -value - 1;
    return first;
  }
  // `and`, `or`: each operand must have one element.
  bool truths[2];
  for (int i = 0; i < 2; ++i) {
    if (arguments[i].size() != 1) {
      return MakeError(
          "'{0}' takes operands of one element, and one has {1}: use any(...), all(...), or & and "
          "|",
          name, arguments[i].size());
    }
    truths[i] = arguments[i].values[0] != 0;
  }
  NumberArray result;
  result.dtype = proto::DT_BOOL;
  result.values = {
      static_cast<Number>(name == "and" ? truths[0] && truths[1] : truths[0] || truths[1])};
  return result;
}

}  // namespace grapnel
