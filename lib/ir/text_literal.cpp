#include <cstring>

#include "lib/ir/text_number.h"
#include "lib/ir/text_value.h"
#include "lib/ir/wire.h"
#include "lib/proto/tensor.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

using Form = TextLiteral::Form;
using Encoding = TextLiteral::Encoding;
using Element = TextLiteral::Element;

constexpr int kMaxNesting = 64;

bool IsFloat8(DataType type) { return IsFloating(type) && DataTypeSize(type) == 1; }

std::string BytesOf(DataType type, double value) {
  return Literal::Scalar(type, value).bytes().str();
}

// Returns the text of a half or bfloat16 with the fewest digits that read back as the same bits.
std::string NarrowFloatText(DataType type, double value, llvm::StringRef bits) {
  for (int digits = 1; digits < 9; ++digits) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
    std::optional<float> again = ParseFloat<float>(buffer);
    if (again && BytesOf(type, *again) == bits) return FloatText(*again);
  }
  return FloatText(static_cast<float>(value));
}

template <typename T>
std::string ComplexText(llvm::StringRef bytes) {
  T parts[2];
  std::memcpy(parts, bytes.data(), sizeof parts);
  std::string imaginary = FloatText(parts[1]);
  return FloatText(parts[0]) + (imaginary[0] == '-' ? "" : "+") + imaginary + "j";
}

std::string ElementText(const Literal& literal, int64_t i) {
  DataType type = literal.dtype();
  if (literal.is_splat()) i = 0;
  if (type == proto::DT_STRING) return QuotedText(literal.strings()[i]);
  size_t size = DataTypeSize(type);
  llvm::StringRef bytes = literal.bytes().substr(i * size, size);
  if (type == proto::DT_BOOL) return literal.AsInt(i) ? "true" : "false";
  if (type == proto::DT_UINT64) return std::to_string(static_cast<uint64_t>(literal.AsInt(i)));
  if (IsFloat8(type)) return "0x" + llvm::toHex(bytes, /*LowerCase=*/true);
  if (type == proto::DT_COMPLEX64) return ComplexText<float>(bytes);
  if (type == proto::DT_COMPLEX128) return ComplexText<double>(bytes);
  if (type == proto::DT_DOUBLE) return FloatText(literal.AsDouble(i));
  if (type == proto::DT_FLOAT) return FloatText(static_cast<float>(literal.AsDouble(i)));
  if (IsFloating(type)) return NarrowFloatText(type, literal.AsDouble(i), bytes);
  return std::to_string(literal.AsInt(i));
}

// Parses a complex number: "1+2j", "1" or "2j".
template <typename T>
bool AppendComplex(llvm::StringRef text, std::string* bytes) {
  llvm::StringRef real = text, imaginary = "0";
  if (text.consume_back("j")) {
    // Finds the sign before the imaginary part, and skips the sign of an exponent.
    size_t sign = text.find_last_of("+-");
    while (sign != llvm::StringRef::npos && sign > 0 && (text[sign - 1] | 32) == 'e')
      sign = text.take_front(sign).find_last_of("+-");
    if (sign == llvm::StringRef::npos) sign = 0;
    real = sign == 0 ? llvm::StringRef("0") : text.take_front(sign);
    imaginary = text.drop_front(sign);
  }
  std::optional<T> values[2] = {ParseFloat<T>(real), ParseFloat<T>(imaginary)};
  if (!values[0] || !values[1]) return false;
  T parts[2] = {*values[0], *values[1]};
  bytes->append(reinterpret_cast<const char*>(parts), sizeof parts);
  return true;
}

bool AppendInteger(llvm::StringRef text, DataType type, std::string* bytes) {
  int64_t value;
  if (type == proto::DT_UINT64) {
    uint64_t large;
    if (text.getAsInteger(10, large)) return false;
    value = static_cast<int64_t>(large);
  } else if (text.getAsInteger(10, value)) {
    return false;
  }
  Literal made = Literal::Integers(type, {}, {value});
  if (type != proto::DT_UINT64 && made.AsInt(0) != value) return false;
  *bytes += made.bytes();
  return true;
}

// Parses `text` and appends it as an element of `type`; returns false if it is not such an element,
// or does not fit.
bool AppendElementBytes(llvm::StringRef text, DataType type, std::string* bytes) {
  if (type == proto::DT_BOOL) {
    if (text != "true" && text != "false") return false;
    bytes->push_back(text == "true");
    return true;
  }
  if (IsFloat8(type)) {
    uint8_t bits;
    if (!text.consume_front("0x") || text.getAsInteger(16, bits)) return false;
    bytes->push_back(static_cast<char>(bits));
    return true;
  }
  if (type == proto::DT_COMPLEX64) return AppendComplex<float>(text, bytes);
  if (type == proto::DT_COMPLEX128) return AppendComplex<double>(text, bytes);
  if (IsFloating(type)) {
    std::optional<double> value = ParseFloat<double>(text);
    if (type != proto::DT_DOUBLE) value = ParseFloat<float>(text);
    if (value) *bytes += BytesOf(type, *value);
    return value.has_value();
  }
  return (IsInteger(type) || IsQuantized(type)) && AppendInteger(text, type, bytes);
}

bool ReadElement(TextScanner& scanner, std::vector<Element>* elements) {
  Element element;
  if (scanner.Peek() == '"') {
    element.is_string = true;
    if (!scanner.ReadString(&element.text)) return false;
  } else {
    element.text = scanner.TakeWord().str();
    if (element.text.empty()) return scanner.Fail("expected an element of a constant");
  }
  elements->push_back(std::move(element));
  return true;
}

// Parses nested lists of elements. All elements must be at the same depth, and lists at the same
// depth must have equal lengths.
class ListReader {
 public:
  ListReader(TextScanner& scanner, TextLiteral* literal) : scanner_(scanner), literal_(*literal) {}

  bool Read(size_t depth = 1) {
    if (depth > kMaxNesting) return scanner_.Fail("a constant has at most 64 dimensions");
    TextPlace begin = scanner_.place();
    if (!scanner_.Expect("[")) return false;
    Dims& sizes = literal_.nesting;
    bool first = depth > sizes.size();
    if (first) sizes.push_back(-1);
    int64_t count = 0;
    for (; !scanner_.Consume("]"); ++count) {
      if (count && !scanner_.Expect(",")) return false;
      if (scanner_.Consume("...")) {
        literal_.form = Form::kCut;
      } else if (scanner_.Peek() == '[') {
        if (leaf_depth_ && depth >= leaf_depth_)
          return scanner_.Fail("expected an element, as before");
        if (!Read(depth + 1)) return false;
      } else {
        if (leaf_depth_ ? leaf_depth_ != depth : sizes.size() > depth)
          return scanner_.Fail("expected a list, as before");
        leaf_depth_ = depth;
        if (!ReadElement(scanner_, &literal_.elements)) return false;
      }
    }
    if (!first && sizes[depth - 1] != count && literal_.form != Form::kCut)
      return scanner_.FailAt(begin, "this list has " + llvm::Twine(count) +
                                        " elements, the first has " +
                                        llvm::Twine(sizes[depth - 1]));
    sizes[depth - 1] = count;
    return true;
  }

 private:
  TextScanner& scanner_;
  TextLiteral& literal_;
  size_t leaf_depth_ = 0;  // 0: no element has been read
};

}  // namespace

DataType TextLiteral::NaturalType() const {
  if (type) return *type;
  bool any_float = false, any_int64 = false, any_complex = false;
  for (const Element& element : elements) {
    llvm::StringRef text = element.text;
    if (element.is_string) return proto::DT_STRING;
    if (text == "true" || text == "false") return proto::DT_BOOL;
    int64_t value;
    if (text.back() == 'j') {
      any_complex = true;
    } else if (text.getAsInteger(10, value)) {
      any_float = true;
    } else {
      any_int64 |= value != static_cast<int32_t>(value);
    }
  }
  if (any_complex) return proto::DT_COMPLEX64;
  if (any_float || elements.empty()) return proto::DT_FLOAT;
  return any_int64 ? proto::DT_INT64 : proto::DT_INT32;
}

bool StartsLiteral(TextScanner& scanner) {
  char c = scanner.Peek();
  if (llvm::isDigit(c) || c == '-' || c == '+' || c == '[' || c == '"') return true;
  llvm::StringRef word = scanner.PeekWord();
  return word == "true" || word == "false" || word == "inf" || word == "nan" || word == "zeros" ||
         word == "base64" || word == "proto" || ParseDataType(word);
}

bool ReadLiteral(TextScanner& scanner, TextLiteral* literal) {
  literal->place = scanner.place();
  if (std::optional<DataType> type = ParseDataType(scanner.PeekWord())) {
    literal->type = type;
    scanner.TakeWord();
    if (scanner.CharAt(0) == '[') {
      if (!scanner.Consume("[")) return false;
      Dims dims;
      for (int64_t dim; !scanner.Consume("]"); dims.push_back(dim)) {
        if (!dims.empty() && !scanner.Expect(",")) return false;
        if (!scanner.ReadInt(&dim)) return false;
      }
      literal->dims = dims;
    }
  }
  if (scanner.ConsumeWord("zeros")) {
    literal->form = Form::kZeros;
  } else if (scanner.ConsumeWord("base64")) {
    literal->form = Form::kBase64;
    if (!scanner.ReadBase64(&literal->bytes)) return false;
  } else if (scanner.ConsumeWord("proto")) {
    literal->form = Form::kProto;
    if (!scanner.ReadBase64(&literal->bytes)) return false;
  } else if (scanner.Peek() == '[') {
    if (!ListReader(scanner, literal).Read()) return false;
  } else if (!ReadElement(scanner, &literal->elements)) {
    return false;
  }
  if (!scanner.ConsumeWord("as")) return true;
  if (scanner.ConsumeWord("values")) {
    literal->encoding = Encoding::kValues;
  } else if (scanner.ConsumeWord("content")) {
    literal->encoding = Encoding::kContent;
  } else {
    return scanner.Fail("expected 'values' or 'content'");
  }
  return true;
}

Expected<std::string> TensorProtoOf(const TextLiteral& literal, DataType dtype) {
  if (literal.form == Form::kProto) return literal.bytes;
  if (dtype != proto::DT_STRING && DataTypeSize(dtype) == 0)
    return MakeError("a {0} has no elements that can be written", DataTypeName(dtype));
  Dims dims = literal.dims.value_or(literal.nesting);
  std::optional<int64_t> count = NumElements(dims);
  if (!count) return MakeError("the shape {0} is larger than memory", DimsText(dims));
  if (literal.form == Form::kCut && !literal.dims)
    return MakeError("the elements are cut short ('...'): dtype and shape must be stated");
  if (literal.dims && literal.form != Form::kCut && literal.nesting.size() > 1 &&
      *literal.dims != literal.nesting)
    return MakeError("the nested lists have shape {0}, but {1} is stated",
                     DimsText(literal.nesting), DimsText(dims));

  bool zeros = literal.form == Form::kZeros || literal.form == Form::kCut;
  std::vector<std::string> strings;
  std::string bytes = literal.bytes;
  int64_t written = literal.elements.size();
  if (literal.form == Form::kElements) {
    bool splat = literal.nesting.empty() && written == 1;
    if (!splat && written != *count)
      return MakeError("{0} elements are written, the shape {1} has {2}", written, DimsText(dims),
                       *count);
    for (const Element& element : literal.elements) {
      bool fits = element.is_string == (dtype == proto::DT_STRING);
      if (fits && element.is_string) strings.push_back(element.text);
      if (!fits || (!element.is_string && !AppendElementBytes(element.text, dtype, &bytes)))
        return MakeError("'{0}' is not of type {1}", element.text, DataTypeName(dtype));
    }
  } else if (literal.form == Form::kBase64) {
    if (dtype == proto::DT_STRING) return MakeError("strings are not written in base64");
    if (bytes.size() != *count * DataTypeSize(dtype))
      return MakeError("the base64 text decodes to {0} bytes, {1}{2} needs {3}", bytes.size(),
                       DataTypeName(dtype), DimsText(dims), *count * DataTypeSize(dtype));
    written = *count;
  }
  std::string out;
  AppendVarintField(&out, 1, dtype);
  AppendBytesField(&out, 2, Shape(dims).ToProto().SerializeAsString());
  if (zeros) {
    // The TensorProto has a shape but no elements, which means zeros or empty strings. This also
    // applies to a text that cuts elements short.
    return out;
  }
  for (const std::string& text : strings) AppendBytesField(&out, 8, text);
  if (bytes.empty()) return out;
  bool as_values = literal.encoding == Encoding::kValues ||
                   (literal.encoding == Encoding::kUsual && written == 1);
  if (!as_values) {
    AppendBytesField(&out, 4, bytes);
    return out;
  }
  out += Literal::TypedValues(dtype, bytes);
  return out;
}

namespace {

// Returns the elements from `begin` up to `end` as nested lists with the dimensions `dims`.
std::string NestedText(const Literal& literal, llvm::ArrayRef<int64_t> dims, int64_t begin,
                       int64_t end) {
  if (dims.empty()) return ElementText(literal, begin);
  std::string text = "[";
  int64_t step = dims[0] ? (end - begin) / dims[0] : 0;
  for (int64_t i = 0; i < dims[0]; ++i)
    text += (i ? "," : "") +
            NestedText(literal, dims.drop_front(), begin + i * step, begin + (i + 1) * step);
  return text + "]";
}

// Reads `print.text` back and sets `dims_follow` and `type_follows`; returns whether the text gives
// the same tensor.
bool ReadsBackAs(LiteralPrint* print, llvm::StringRef tensor_proto) {
  TextLiteral again;
  TextScanner scanner(print->text);
  if (!ReadLiteral(scanner, &again) || !scanner.AtEnd()) return false;
  print->dims_follow = again.nesting == print->dims;
  print->type_follows = again.NaturalType() == print->dtype && !again.elements.empty();
  again.dims = print->dims;
  auto bytes = TensorProtoOf(again, print->dtype);
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return false;
  }
  if (*bytes == tensor_proto) return true;
  if (bytes->size() != tensor_proto.size()) return false;
  // Messages with the same fields in another order are equal too.
  proto::TensorProto a, b;
  return a.ParseFromString(*bytes) && b.ParseFromArray(tensor_proto.data(), tensor_proto.size()) &&
         a.SerializeAsString() == b.SerializeAsString();
}

LiteralPrint ProtoText(llvm::StringRef tensor_proto) {
  LiteralPrint print;
  print.is_proto = true;
  print.text = "proto \"" + llvm::encodeBase64(tensor_proto) + '"';
  return print;
}

}  // namespace

LiteralPrint PrintLiteral(llvm::StringRef tensor_proto, bool exact, int limit) {
  auto literal = Literal::FromTensorProto(tensor_proto);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return ProtoText(tensor_proto);
  }
  LiteralPrint print;
  print.dtype = literal->dtype();
  print.dims.assign(literal->dims().begin(), literal->dims().end());
  int64_t count = literal->num_elements();
  if (count == 0) {
    print.text = "[]";
  } else if (literal->is_splat()) {
    print.text = ElementText(*literal, 0);
  } else if (count > limit && exact && print.dtype != proto::DT_STRING) {
    print.text = "base64 \"" + llvm::encodeBase64(literal->bytes()) + '"';
  } else if (count > limit && !exact) {
    print.text = "[";
    for (int64_t i = 0; i < limit; ++i) print.text += ElementText(*literal, i) + ",";
    print.text += "...]";
  } else {
    print.text = NestedText(*literal, literal->dims(), 0, count);
  }
  std::string plain = print.text;
  for (const char* encoding : {"", " as values", " as content"}) {
    print.text = plain + encoding;
    if (ReadsBackAs(&print, tensor_proto) || !exact) return print;
  }
  print.text = "zeros";
  if (ReadsBackAs(&print, tensor_proto)) return print;
  return ProtoText(tensor_proto);
}

}  // namespace grapnel
