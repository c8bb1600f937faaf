#include "lib/watch/expression_parser.h"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "lib/ir/tensor_name.h"
#include "lib/support/suggest.h"
#include "lib/support/text.h"
#include "lib/watch/array_text.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

using ExpressionNode = TensorExpression::Node;

constexpr int kDeepest = 200;  // limit of nesting (parentheses, arguments, unary operators)

bool IsNameCharacter(char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '/'; }

ExpressionNode CallNode(llvm::StringRef name, std::vector<ExpressionNode> operands) {
  ExpressionNode node;
  node.kind = ExpressionNode::Kind::kCall;
  node.name = name.str();
  node.operands = std::move(operands);
  return node;
}

// A recursive descent parser, lowest precedence first: or, and, not, comparison, | and & (one
// level), + -, * / // %, unary - + ~, **, and suffixes of a value: slices and methods.
class Parser {
 public:
  explicit Parser(llvm::StringRef text) : text_(text) {}

  Expected<ExpressionNode> Longest() { return Or(); }
  size_t at() {
    Rest();
    return at_;
  }

  Expected<std::vector<SlicePart>> AllSlice() {
    if (!Take("[")) return Wrong("'['");
    ASSIGN_OR_RETURN(auto parts, Slice());
    if (!Rest().empty()) return Wrong("the end");
    return parts;
  }

 private:
  llvm::StringRef Rest() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return text_.substr(at_);
  }
  bool Take(llvm::StringRef token) {
    if (!HasPrefix(Rest(), token)) return false;
    at_ += token.size();
    return true;
  }
  bool TakeWord(llvm::StringRef word) {
    llvm::StringRef rest = Rest();
    if (!HasPrefix(rest, word)) return false;
    if (rest.size() > word.size() && IsNameCharacter(rest[word.size()])) return false;
    at_ += word.size();
    return true;
  }
  Error Wrong(llvm::StringRef expected) {
    llvm::StringRef rest = Rest();
    std::string found = rest.empty() ? "the end" : "'" + rest.take_front(12).str() + "'";
    return MakeError("column {0}: {1} was expected, not {2}", at_ + 1, expected, found);
  }
  // Sets the error position to `at` and returns the error.
  Error WrongAt(size_t at, Error error) {
    at_ = at;
    return error;
  }

  Expected<ExpressionNode> Or() {
    ASSIGN_OR_RETURN(ExpressionNode node, And());
    while (TakeWord("or")) {
      ASSIGN_OR_RETURN(ExpressionNode right, And());
      node = CallNode("or", {std::move(node), std::move(right)});
    }
    return node;
  }

  Expected<ExpressionNode> And() {
    ASSIGN_OR_RETURN(ExpressionNode node, Not());
    while (TakeWord("and")) {
      ASSIGN_OR_RETURN(ExpressionNode right, Not());
      node = CallNode("and", {std::move(node), std::move(right)});
    }
    return node;
  }

  Expected<ExpressionNode> Not() {
    if (!TakeWord("not")) return Comparison();
    if (++depth_ > kDeepest)
      return MakeError("the expression is nested more than {0} deep", kDeepest);
    ASSIGN_OR_RETURN(ExpressionNode operand, Not());
    --depth_;
    return CallNode("not", {std::move(operand)});
  }

  Expected<ExpressionNode> Comparison() {
    size_t begin = at();
    ASSIGN_OR_RETURN(ExpressionNode node, Bits());
    for (llvm::StringRef sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      node.text = text_.slice(begin, at_).rtrim().str();
      if (!Take(sign)) continue;
      bool is_equality = sign == "==" || sign == "!=";
      bool outer = std::exchange(takes_tolerance_, is_equality);
      size_t at = this->at();
      ASSIGN_OR_RETURN(ExpressionNode right, Bits());
      right.text = text_.slice(at, at_).rtrim().str();
      takes_tolerance_ = outer;
      if (!is_equality) return CallNode(sign, {std::move(node), std::move(right)});
      return Equality(sign, at, std::move(node), std::move(right));
    }
    return node;
  }

  // Parses the rest of == and !=: if one side is dtype(x), the other is the name of a dtype;
  // shape(x) is compared as a whole; numbers may be followed by a tolerance.
  Expected<ExpressionNode> Equality(llvm::StringRef sign, size_t at, ExpressionNode left,
                                    ExpressionNode right) {
    auto calls = [](const ExpressionNode& node, llvm::StringRef name) {
      return node.kind == ExpressionNode::Kind::kCall && node.name == name;
    };
    if (calls(left, "dtype") || calls(right, "dtype")) {
      ExpressionNode& other = calls(left, "dtype") ? right : left;
      if (Error error = NameDtype(&other)) return WrongAt(at, std::move(error));
    }
    if (TakeTolerance()) {
      takes_tolerance_ = false;
      ASSIGN_OR_RETURN(ExpressionNode tolerance, Unary());
      ExpressionNode within =
          CallNode("within", {std::move(left), std::move(right), std::move(tolerance)});
      return sign == "==" ? std::move(within) : CallNode("not", {std::move(within)});
    }
    bool is_shape = calls(left, "shape") || calls(right, "shape");
    ExpressionNode same = CallNode(is_shape ? "same" : sign, {std::move(left), std::move(right)});
    return is_shape && sign == "!=" ? CallNode("not", {std::move(same)}) : std::move(same);
  }

  bool TakeTolerance() { return Take("+-") || Take("\xC2\xB1"); }

  // Converts the operand that is compared with dtype(x) to the name of a dtype: `float`,
  // `tf.float32`, `'int64'`.
  static Error NameDtype(ExpressionNode* node) {
    if (node->kind != ExpressionNode::Kind::kTensor && node->kind != ExpressionNode::Kind::kText)
      return Error::success();
    llvm::StringRef name = node->name;  // `float` was parsed as a tensor's name
    for (llvm::StringRef prefix : {"tf.", "np."}) name.consume_front(prefix);
    std::vector<std::string> known;
    for (int i = 1; i <= proto::DataType_MAX; ++i) {
      auto type = static_cast<DataType>(i);
      if (!proto::DataType_IsValid(i) || DataTypeName(type).empty()) continue;
      if (name == DataTypeName(type) || name == NumPyTypeName(type)) {
        node->kind = ExpressionNode::Kind::kText;
        node->name = DataTypeName(type).str();
        return Error::success();
      }
      known.push_back(DataTypeName(type).str());
    }
    return NotFound("dtype", name, known);
  }

  Expected<ExpressionNode> Bits() {
    ASSIGN_OR_RETURN(ExpressionNode node, Sum());
    for (;;) {
      llvm::StringRef sign = Take("|") ? "|" : Take("&") ? "&" : "";
      if (sign.empty()) return node;
      ASSIGN_OR_RETURN(ExpressionNode right, Sum());
      node = CallNode(sign, {std::move(node), std::move(right)});
    }
  }

  Expected<ExpressionNode> Sum() {
    ASSIGN_OR_RETURN(ExpressionNode node, Product());
    for (;;) {
      if (takes_tolerance_ && HasPrefix(Rest(), "+-")) return node;
      llvm::StringRef sign = Take("+") ? "+" : Take("-") ? "-" : "";
      if (sign.empty()) return node;
      ASSIGN_OR_RETURN(ExpressionNode right, Product());
      node = CallNode(sign, {std::move(node), std::move(right)});
    }
  }

  Expected<ExpressionNode> Product() {
    ASSIGN_OR_RETURN(ExpressionNode node, Unary());
    for (;;) {
      if (HasPrefix(Rest(), "**")) return node;
      llvm::StringRef sign = Take("//")  ? "//"
                             : Take("*") ? "*"
                             : Take("/") ? "/"
                             : Take("%") ? "%"
                                         : "";
      if (sign.empty()) return node;
      ASSIGN_OR_RETURN(ExpressionNode right, Unary());
      node = CallNode(sign, {std::move(node), std::move(right)});
    }
  }

  Expected<ExpressionNode> Unary() {
    llvm::StringRef sign = Take("-") ? "neg" : Take("~") ? "~" : Take("+") ? "+" : "";
    if (sign.empty()) return Power();
    if (++depth_ > kDeepest)
      return MakeError("the expression is nested more than {0} deep", kDeepest);
    size_t at = this->at();
    ASSIGN_OR_RETURN(ExpressionNode operand, Unary());
    --depth_;
    if (sign == "+") return operand;
    if (sign == "neg" && operand.kind == ExpressionNode::Kind::kNumber && !operand.is_truth)
      return Negative(at, std::move(operand));
    return CallNode(sign, {std::move(operand)});
  }

  Expected<ExpressionNode> Power() {
    ASSIGN_OR_RETURN(ExpressionNode node, Postfix());
    if (!Take("**")) return node;
    ASSIGN_OR_RETURN(ExpressionNode right, Unary());
    return CallNode("**", {std::move(node), std::move(right)});
  }

  Expected<ExpressionNode> Postfix() {
    ASSIGN_OR_RETURN(ExpressionNode node, Primary());
    for (;;) {
      if (Take("[")) {
        ExpressionNode slice;
        slice.kind = ExpressionNode::Kind::kSlice;
        ASSIGN_OR_RETURN(slice.slice, Slice());
        slice.operands.push_back(std::move(node));
        node = std::move(slice);
      } else if (HasPrefix(Rest(), ".")) {
        ++at_;
        llvm::StringRef name =
            Rest().take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
        at_ += name.size();
        if (name.empty() || !Take("(")) return Wrong("a function, as in .max()");
        ASSIGN_OR_RETURN(node, Arguments(name, {std::move(node)}));
      } else {
        return node;
      }
    }
  }

  Expected<ExpressionNode> Primary() {
    if (Take("(")) {
      if (++depth_ > kDeepest)
        return MakeError("the expression is nested more than {0} deep", kDeepest);
      bool outer = std::exchange(takes_tolerance_, false);
      ASSIGN_OR_RETURN(ExpressionNode node, Or());
      takes_tolerance_ = outer;
      --depth_;
      if (!Take(")")) return Wrong("')'");
      return node;
    }
    if (Take("[")) return List();
    for (llvm::StringRef quote : {"'", "\""}) {
      if (!Take(quote)) continue;
      size_t end = text_.find(quote, at_);
      if (end == llvm::StringRef::npos)
        return WrongAt(at_ - 1, MakeError("column {0}: a quote is not closed", at_));
      ExpressionNode node;
      node.kind = ExpressionNode::Kind::kText;
      node.name = text_.slice(at_, end).str();
      at_ = end + 1;
      return node;
    }
    if (Take("`")) {
      size_t end = text_.find('`', at_);
      if (end == llvm::StringRef::npos) return MakeError("a '`' is not closed");
      ExpressionNode node = TensorNamed(text_.slice(at_, end));
      at_ = end + 1;
      return node;
    }
    llvm::StringRef rest = Rest();
    if (rest.empty()) return Wrong("a tensor, a number or a function");
    if (llvm::isDigit(rest[0]) || (rest[0] == '.' && rest.size() > 1 && llvm::isDigit(rest[1])))
      return Number();
    if (!IsNameCharacter(rest[0])) return Wrong("a tensor, a number or a function");
    return Word();
  }

  // Parses a list after '[': numbers, and `?` or None, which match any size.
  Expected<ExpressionNode> List() {
    ExpressionNode list;
    list.kind = ExpressionNode::Kind::kList;
    while (!Take("]")) {
      if (!list.operands.empty() && !Take(",")) return Wrong("',' or ']'");
      if (Take("?") || TakeWord("None")) {
        list.operands.emplace_back();
        list.operands.back().kind = ExpressionNode::Kind::kAny;
        continue;
      }
      bool is_negative = Take("-");
      if (!llvm::isDigit(Rest().empty() ? ' ' : Rest()[0])) return Wrong("a number or '?'");
      size_t at = this->at();
      ASSIGN_OR_RETURN(ExpressionNode number, Number());
      if (is_negative) {
        ASSIGN_OR_RETURN(number, Negative(at, std::move(number)));
      }
      list.operands.push_back(std::move(number));
    }
    return list;
  }

  static ExpressionNode TensorNamed(llvm::StringRef name) {
    ExpressionNode node;
    node.kind = ExpressionNode::Kind::kTensor;
    node.name = name.str();
    return node;
  }

  // Returns the negated number, which the parser has read at `at`.
  Expected<ExpressionNode> Negative(size_t at, ExpressionNode number) {
    number.number = -number.number;
    constexpr auto kLeast = static_cast<long double>(std::numeric_limits<int64_t>::min());
    if (!number.is_whole || number.number >= kLeast) return number;
    return WrongAt(
        at, MakeError("column {0}: -{1} is less than the least integer, {2}: with a "
                      "decimal point it is a double",
                      at + 1, text_.slice(at, at_).trim(), std::numeric_limits<int64_t>::min()));
  }

  Expected<ExpressionNode> Number() {
    size_t begin = at();
    std::string text = Rest().str();
    char* end = nullptr;
    ExpressionNode node;
    node.number = std::strtold(text.c_str(), &end);
    size_t size = end - text.c_str();
    node.is_whole =
        llvm::StringRef(text).take_front(size).find_first_of(".eEnN") == llvm::StringRef::npos;
    at_ += size;
    constexpr auto kMost = static_cast<long double>(std::numeric_limits<uint64_t>::max());
    if (!node.is_whole || node.number <= kMost) return node;
    return WrongAt(begin, MakeError("column {0}: {1} is greater than the greatest integer, {2}: "
                                    "with a decimal point it is a double",
                                    begin + 1, text_.substr(begin, size),
                                    std::numeric_limits<uint64_t>::max()));
  }

  // Parses a tensor's name, a function with its arguments, or a constant.
  Expected<ExpressionNode> Word() {
    llvm::StringRef word = Rest().take_while(IsNameCharacter);
    llvm::StringRef after = Rest().drop_front(word.size());
    size_t begin = at_;
    if (HasPrefix(after, "(")) {
      at_ += word.size() + 1;
      for (llvm::StringRef prefix : {"np.", "numpy.", "tf.", "math.", "linalg."})
        word.consume_front(prefix);
      word.consume_front("reduce_");
      auto [tensor, method] = word.rsplit('.');
      if (!IsFunction(word) && IsFunction(method)) return Arguments(method, {TensorNamed(tensor)});
      if (!IsFunction(word)) return WrongAt(begin, NotFound("function", word, FunctionNames()));
      return Arguments(word, {});
    }
    at_ += word.size();
    size_t behind = at_;
    if (Take(":")) {
      llvm::StringRef index = Rest().take_while([](char c) { return llvm::isDigit(c); });
      int32_t number = 0;
      if (!index.getAsInteger(10, number)) {
        at_ += index.size();
        return TensorNamed(OutputName(word, number));
      }
      at_ = behind;
    }
    llvm::StringRef constant = word;
    constant.consume_front("np.");
    constant.consume_front("math.");
    ExpressionNode number;
    if (constant == "inf") number.number = INFINITY;
    if (constant == "nan") number.number = NAN;
    if (constant == "pi") number.number = 3.14159265358979323846264338327950288L;
    number.is_truth =
        constant == "True" || constant == "False" || constant == "true" || constant == "false";
    if (number.is_truth) number.number = constant.starts_with_insensitive("t");
    if (number.number != 0 || number.is_truth) return number;
    return TensorNamed(word);
  }

  // Parses arguments after '('. `first` has the object of a method call, which is the first
  // argument.
  Expected<ExpressionNode> Arguments(llvm::StringRef name, std::vector<ExpressionNode> first) {
    if (!IsFunction(name)) return NotFound("function", name, FunctionNames());
    if (++depth_ > kDeepest)
      return MakeError("the expression is nested more than {0} deep", kDeepest);
    bool outer = std::exchange(takes_tolerance_, false);
    ExpressionNode call = CallNode(name, std::move(first));
    for (bool more = !Take(")"); more;) {
      if (TakeKeyword("axis")) {
        ASSIGN_OR_RETURN(call.axis, Integer());
      } else if (TakeKeyword("keepdims")) {
        call.keeps_dims = TakeWord("True") || TakeWord("true");
        if (!call.keeps_dims && !TakeWord("False") && !TakeWord("false"))
          return Wrong("True or False");
      } else {
        ASSIGN_OR_RETURN(ExpressionNode argument, Or());
        call.operands.push_back(std::move(argument));
      }
      if (Take(")")) break;
      if (!Take(",")) return Wrong("',' or ')'");
    }
    takes_tolerance_ = outer;
    --depth_;
    return call;
  }

  bool TakeKeyword(llvm::StringRef word) {
    size_t before = at_;
    if (TakeWord(word) && !HasPrefix(Rest(), "==") && Take("=")) return true;
    at_ = before;
    return false;
  }

  Expected<int64_t> Integer() {
    llvm::StringRef rest = Rest();
    size_t size = HasPrefix(rest, "-") ? 1 : 0;
    while (size < rest.size() && llvm::isDigit(rest[size])) ++size;
    int64_t value = 0;
    if (rest.take_front(size).getAsInteger(10, value)) return Wrong("an integer");
    at_ += size;
    return value;
  }

  // Parses a slice after '['.
  Expected<std::vector<SlicePart>> Slice() {
    std::vector<SlicePart> parts;
    do {
      SlicePart part;
      if (Take("...")) {
        part.kind = SlicePart::Kind::kEllipsis;
      } else if (TakeWord("None") || TakeWord("np.newaxis")) {
        part.kind = SlicePart::Kind::kNewAxis;
      } else {
        ASSIGN_OR_RETURN(part, Range());
      }
      parts.push_back(part);
    } while (Take(",") && !HasPrefix(Rest(), "]"));
    if (!Take("]")) return Wrong("',' or ']'");
    return parts;
  }

  Expected<SlicePart> Range() {
    SlicePart part;
    std::optional<int64_t>* bounds[] = {&part.begin, &part.end, &part.step};
    int colons = 0;
    for (;;) {
      llvm::StringRef rest = Rest();
      if (!rest.empty() && (llvm::isDigit(rest[0]) || rest[0] == '-')) {
        ASSIGN_OR_RETURN(*bounds[colons], Integer());
      }
      if (colons == 2 || !Take(":")) break;
      ++colons;
    }
    if (colons == 0 && !part.begin) return Wrong("an index, as in [0, 1:3, ...]");
    if (part.step == 0) return MakeError("column {0}: the step of a slice is 0", at_ + 1);
    if (colons == 0) {
      part.kind = SlicePart::Kind::kIndex;
      part.index = *part.begin;
    }
    return part;
  }

  llvm::StringRef text_;
  size_t at_ = 0;
  int depth_ = 0;
  bool takes_tolerance_ = false;  // "+-" may follow: this is the right side of == or !=
};

}  // namespace

Expected<TensorExpression::Node> ParseExpression(llvm::StringRef text, size_t* end) {
  Parser parser(text);
  auto node = parser.Longest();
  *end = parser.at();
  return node;
}

Expected<std::vector<SlicePart>> ParseSlice(llvm::StringRef text) {
  return Parser(text).AllSlice();
}

}  // namespace grapnel
