#include <map>

#include "lib/ir/serialize.h"
#include "lib/ir/text_number.h"
#include "lib/ir/text_value.h"
#include "lib/ir/wire.h"
#include "lib/proto/attr_value.pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"

namespace grapnel {
namespace {

constexpr int kMaxDepth = 64;  // of lists and attributes of functions within each other

bool IsKind(llvm::StringRef word) {
  return llvm::is_contained(
      {"int", "float", "bool", "string", "type", "shape", "tensor", "func", "list"}, word);
}

// Returns "int" for "list(int)"; empty if the kind is not a list.
llvm::StringRef ElementKind(llvm::StringRef kind) {
  return kind.consume_front("list(") ? kind.drop_back() : llvm::StringRef();
}

class AttrReader {
 public:
  explicit AttrReader(TextScanner& scanner) : scanner_(scanner) {}

  bool Read(llvm::StringRef kind, std::string* value) {
    std::string said;
    if (!ReadKind(&said)) return false;
    if (!said.empty()) kind = said;
    if (++depth_ > kMaxDepth) return scanner_.Fail("lists are nested too deep");
    bool done =
        scanner_.Peek() == '[' && kind != "shape" ? ReadList(kind, value) : ReadOne(kind, value);
    --depth_;
    return done;
  }

 private:
  // If the text states the kind of the value that follows, as `int:` or `list(shape):`, reads it;
  // otherwise leaves `kind` empty.
  bool ReadKind(std::string* kind) {
    llvm::StringRef word = scanner_.PeekWord();
    if (!IsKind(word)) return true;
    char after = scanner_.CharAfterWord();
    if (word == "list" ? after != '(' : after != ':') return true;
    scanner_.TakeWord();
    *kind = word.str();
    if (word == "list") {
      scanner_.Consume("(");
      *kind = ("list(" + scanner_.TakeWord() + ")").str();
      if (!scanner_.Expect(")")) return false;
    }
    return scanner_.Expect(":");
  }

  bool ReadShape(Shape* shape) {
    if (scanner_.Consume("?")) {
      *shape = Shape::Unknown();
      return true;
    }
    if (!scanner_.Expect("[")) return false;
    *shape = Shape::Scalar();
    while (!scanner_.Consume("]")) {
      int64_t dim = kUnknownDim;
      if (shape->rank() && !scanner_.Expect(",")) return false;
      if (!scanner_.Consume("?") && !scanner_.ReadInt(&dim)) return false;
      shape->Append(dim < 0 ? kUnknownDim : dim);
    }
    return true;
  }

  // Reads @name or @name{key=value, ...}, a function in an attribute, into a serialized
  // NameAttrList.
  bool ReadFunction(std::string* name_attr_list) {
    proto::NameAttrList list;
    if (!scanner_.Expect("@") || !scanner_.ReadName(list.mutable_name())) return false;
    if (scanner_.CharAt(0) == '{') {
      scanner_.Consume("{");
      for (bool first = true; !scanner_.Consume("}"); first = false) {
        std::string key, value;
        if (!first && !scanner_.Expect(",")) return false;
        if (!scanner_.ReadName(&key) || !scanner_.Expect("=") || !Read("", &value)) return false;
        if (!(*list.mutable_attr())[key].ParseFromString(value))
          return scanner_.Fail("this is not the value of an attribute");
      }
    }
    *name_attr_list = list.SerializeAsString();
    return true;
  }

  bool ReadOne(llvm::StringRef kind, std::string* value) {
    // Two forms are valid for every kind: $name, which stands for an attribute of the enclosing
    // function, and attr "...", a value that has no other text form.
    if (scanner_.Consume("$")) {
      std::string name;
      if (!scanner_.ReadName(&name)) return false;
      value->clear();
      AppendBytesField(value, 9, name);
      return true;
    }
    if (scanner_.PeekWord() == "attr") return ReadWord(kind, value);
    char next = scanner_.Peek();
    if (kind == "tensor") return ReadTensor(value);
    if (kind == "shape" || next == '?') {
      Shape shape;
      if (!ReadShape(&shape)) return false;
      *value = attr::ShapeOf(shape);
      return true;
    }
    if (next == '"') {
      std::string text;
      if (!scanner_.ReadString(&text)) return false;
      *value = attr::String(text);
      return true;
    }
    if (next == '@') {
      std::string function;
      if (!ReadFunction(&function)) return false;
      value->clear();
      AppendBytesField(value, 10, function);
      return true;
    }
    return ReadWord(kind, value);
  }

  bool ReadWord(llvm::StringRef kind, std::string* value) {
    llvm::StringRef word = scanner_.PeekWord();
    if (word.empty()) return scanner_.Fail("expected an attribute's value");
    int64_t integer;
    if (word == "none") {
      *value = "";
    } else if (word == "true" || word == "false") {
      *value = attr::Bool(word == "true");
    } else if (auto type = ParseDataType(word)) {
      *value = attr::Type(*type);
    } else if (kind != "float" && !word.getAsInteger(10, integer)) {
      *value = attr::Int(integer);
    } else if (auto number = ParseFloat<float>(word)) {
      *value = attr::Float(*number);
    } else if (word == "attr") {
      scanner_.TakeWord();
      return scanner_.ReadBase64(value);
    } else {
      return scanner_.Fail("'" + word + "' is not an attribute value: strings need quotes");
    }
    scanner_.TakeWord();
    return true;
  }

  bool ReadTensor(std::string* value) {
    TextLiteral literal;
    if (!ReadLiteral(scanner_, &literal)) return false;
    auto tensor = TensorProtoOf(literal, literal.NaturalType());
    if (!tensor) return scanner_.FailAt(literal.place, TextOf(tensor.takeError()));
    *value = attr::Tensor(*tensor);
    return true;
  }

  // Reads a list. If no kind is stated, [2,?] is a shape and not a list.
  bool ReadList(llvm::StringRef kind, std::string* value) {
    llvm::StringRef element_kind = ElementKind(kind);
    TextPlace begin = scanner_.place();
    scanner_.Consume("[");
    std::vector<std::string> elements;
    bool open_dims = false;
    while (!scanner_.Consume("]")) {
      if (!elements.empty() && !scanner_.Expect(",")) return false;
      if (scanner_.Consume("...")) return scanner_.FailAt(begin, "this list is cut short ('...')");
      std::string element;
      TextPlace place = scanner_.place();
      // If no kind is stated, a list within a list is a shape.
      llvm::StringRef inner =
          element_kind.empty() && scanner_.Peek() == '[' ? "shape" : element_kind;
      open_dims |= element_kind.empty() && scanner_.Peek() == '?';
      if (!Read(inner, &element)) return false;
      if (!elements.empty() && AttrView(element).kind() != AttrView(elements[0]).kind() &&
          !open_dims)
        return scanner_.FailAt(place, "the elements of a list must be of one kind");
      elements.push_back(std::move(element));
    }
    if (open_dims && !llvm::any_of(elements, [](const std::string& e) {
          auto shape = AttrView(e).AsShape();
          return shape && shape->known_rank();
        })) {
      return ShapeOf(elements, begin, value);
    }
    *value = ListOf(elements);
    return true;
  }

  bool ShapeOf(llvm::ArrayRef<std::string> elements, TextPlace begin, std::string* value) {
    Shape shape = Shape::Scalar();
    for (const std::string& element : elements) {
      AttrView view(element);
      if (view.kind() != AttrKind::kInt && view.kind() != AttrKind::kShape)
        return scanner_.FailAt(begin, "dimensions of a shape must be whole numbers or '?'");
      shape.Append(view.AsInt().value_or(kUnknownDim));
    }
    *value = attr::ShapeOf(shape);
    return true;
  }

  // Builds the AttrValue of a list from the AttrValues of its elements. Numbers are packed, as
  // protobuf writes them.
  static std::string ListOf(llvm::ArrayRef<std::string> elements) {
    proto::AttrValue list;
    auto* out = list.mutable_list();
    for (const std::string& bytes : elements) {
      proto::AttrValue element;
      element.ParseFromString(bytes);
      switch (AttrView(bytes).kind()) {
        case AttrKind::kString:
          out->add_s(element.s());
          break;
        case AttrKind::kInt:
          out->add_i(element.i());
          break;
        case AttrKind::kFloat:
          out->add_f(element.f());
          break;
        case AttrKind::kBool:
          out->add_b(element.b());
          break;
        case AttrKind::kType:
          out->add_type(element.type());
          break;
        case AttrKind::kShape:
          *out->add_shape() = element.shape();
          break;
        case AttrKind::kTensor:
          *out->add_tensor() = element.tensor();
          break;
        case AttrKind::kFunc:
          *out->add_func() = element.func();
          break;
        default:
          break;
      }
    }
    return list.SerializeAsString();
  }

  TextScanner& scanner_;
  int depth_ = 0;
};

std::string FunctionText(const proto::NameAttrList& list) {
  std::string text = "@" + NameText(list.name());
  // Sorted by name, as a protobuf map has no order.
  std::map<std::string, std::string> attrs;
  for (const auto& [key, value] : list.attr()) {
    std::string bytes = value.SerializeAsString();
    attrs[key] = AttrText(AttrView(bytes), "");
  }
  if (attrs.empty()) return text;
  text += "{";
  for (const auto& [key, value] : attrs)
    text += (text.back() == '{' ? "" : ", ") + NameText(key) + "=" + value;
  return text + "}";
}

std::string TensorLiteralText(llvm::StringRef tensor_proto) {
  LiteralPrint print = PrintLiteral(tensor_proto, /*exact=*/true, /*limit=*/256);
  if (print.is_proto) return print.text;
  return (DataTypeName(print.dtype) + (print.dims_follow ? "" : DimsText(print.dims)) + " " +
          print.text)
      .str();
}

// Returns the text of one AttrValue that is not a list.
std::string ScalarText(const proto::AttrValue& value) {
  switch (value.value_case()) {
    case proto::AttrValue::kS:
      return QuotedText(value.s());
    case proto::AttrValue::kI:
      return std::to_string(value.i());
    case proto::AttrValue::kF:
      return FloatText(value.f());
    case proto::AttrValue::kB:
      return value.b() ? "true" : "false";
    case proto::AttrValue::kType:
      return DataTypeName(value.type()).str();
    case proto::AttrValue::kShape:
      return Shape::FromProto(value.shape()).ToString();
    case proto::AttrValue::kTensor:
      return TensorLiteralText(value.tensor().SerializeAsString());
    case proto::AttrValue::kFunc:
      return FunctionText(value.func());
    case proto::AttrValue::kPlaceholder:
      return "$" + NameText(value.placeholder());
    default:
      return "none";
  }
}

llvm::StringRef ValueKindOf(const proto::AttrValue& value) {
  switch (value.value_case()) {
    case proto::AttrValue::kS:
      return "string";
    case proto::AttrValue::kI:
      return "int";
    case proto::AttrValue::kF:
      return "float";
    case proto::AttrValue::kB:
      return "bool";
    case proto::AttrValue::kType:
      return "type";
    case proto::AttrValue::kShape:
      return "shape";
    case proto::AttrValue::kTensor:
      return "tensor";
    case proto::AttrValue::kFunc:
      return "func";
    default:
      return "";
  }
}

// Splits a list into one AttrValue per element. First come all elements of one field of the list
// (strings), then those of the next.
std::vector<proto::AttrValue> ElementsOf(const proto::AttrValue::ListValue& list) {
  std::vector<proto::AttrValue> elements;
  auto add = [&](auto&& set) { set(elements.emplace_back()); };
  for (const std::string& s : list.s()) add([&](proto::AttrValue& v) { v.set_s(s); });
  for (int64_t i : list.i()) add([&](proto::AttrValue& v) { v.set_i(i); });
  for (float f : list.f()) add([&](proto::AttrValue& v) { v.set_f(f); });
  for (bool b : list.b()) add([&](proto::AttrValue& v) { v.set_b(b); });
  for (int t : list.type()) add([&](proto::AttrValue& v) { v.set_type(static_cast<DataType>(t)); });
  for (const auto& shape : list.shape())
    add([&](proto::AttrValue& v) { *v.mutable_shape() = shape; });
  for (const auto& tensor : list.tensor())
    add([&](proto::AttrValue& v) { *v.mutable_tensor() = tensor; });
  for (const auto& func : list.func()) add([&](proto::AttrValue& v) { *v.mutable_func() = func; });
  return elements;
}

bool AttrReadsAs(llvm::StringRef text, llvm::StringRef kind, llvm::StringRef bytes) {
  TextScanner scanner(text);
  std::string again;
  return ReadAttr(scanner, kind, &again) && scanner.AtEnd() && SameAttr(again, bytes);
}

}  // namespace

bool ReadAttr(TextScanner& scanner, llvm::StringRef kind, std::string* value) {
  return AttrReader(scanner).Read(kind, value);
}

bool SameAttr(llvm::StringRef a, llvm::StringRef b) {
  if (a == b) return true;
  proto::AttrValue x, y;
  if (!x.ParseFromArray(a.data(), a.size()) || !y.ParseFromArray(b.data(), b.size())) return false;
  return SerializeInOrder(x) == SerializeInOrder(y);
}

std::string AttrText(AttrView value, llvm::StringRef kind) {
  proto::AttrValue message;
  std::string text, own_kind;
  if (message.ParseFromArray(value.bytes().data(), value.bytes().size())) {
    own_kind = ValueKindOf(message).str();
    if (message.has_list()) {
      own_kind = "list(int)";
      text = "[";
      for (const proto::AttrValue& element : ElementsOf(message.list())) {
        if (text == "[") own_kind = ("list(" + ValueKindOf(element) + ")").str();
        text += (text == "[" ? "" : ",") + ScalarText(element);
      }
      text += "]";
    } else {
      text = ScalarText(message);
    }
    if (AttrReadsAs(text, kind, value.bytes())) return text;
    text = own_kind + ":" + text;
    if (!own_kind.empty() && AttrReadsAs(text, kind, value.bytes())) return text;
  }
  return "attr \"" + llvm::encodeBase64(value.bytes()) + '"';
}

bool ReadClaim(TextScanner& scanner, TensorClaim* claim) {
  claim->place = scanner.place();
  if (!scanner.Consume("?")) {
    auto type = ParseDataType(scanner.PeekWord());
    if (!type) return scanner.Fail("expected a dtype, got '" + scanner.PeekWord() + "'");
    claim->dtype = *type;
    scanner.TakeWord();
  }
  if (scanner.CharAt(0) != '[') return true;
  scanner.Consume("[");
  claim->shape = Shape::Scalar();
  while (!scanner.Consume("]")) {
    int64_t dim = kUnknownDim;
    if (claim->shape.rank() && !scanner.Expect(",")) return false;
    llvm::StringRef word = scanner.PeekWord();
    // The text may state sizes by symbols such as s1; dimensions with the same symbol have the same
    // unknown size.
    unsigned symbol;
    if (scanner.Consume("?")) {
    } else if (word.consume_front("s") && !word.getAsInteger(10, symbol)) {
      scanner.TakeWord();
    } else if (!scanner.ReadInt(&dim)) {
      return false;
    }
    claim->shape.Append(dim < 0 ? kUnknownDim : dim);
  }
  return true;
}

}  // namespace grapnel
