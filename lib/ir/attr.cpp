#include "lib/ir/attr.h"

#include <cstring>

#include "lib/ir/wire.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {
namespace {

// Field numbers of AttrValue and of AttrValue.ListValue.
enum {
  kListField = 1,
  kStringField = 2,
  kIntField = 3,
  kFloatField = 4,
  kBoolField = 5,
  kTypeField = 6,
  kShapeField = 7,
  kTensorField = 8,
  kPlaceholderField = 9,
  kFuncField = 10,
  kListFuncField = 9
};

// If a message is a single field with a one-byte tag and a one-byte number or length, as nearly all
// attribute values are, returns the field's tag; otherwise 0.
uint32_t OnlyTag(llvm::StringRef bytes) {
  if (bytes.size() < 2) return 0;
  uint8_t tag = static_cast<uint8_t>(bytes[0]), second = static_cast<uint8_t>(bytes[1]);
  if (tag >= 0x80 || second >= 0x80 || tag < 8) return 0;
  size_t size = (tag & 7) == static_cast<uint8_t>(WireType::kVarint)  ? 2
                : (tag & 7) == static_cast<uint8_t>(WireType::kBytes) ? 2 + size_t{second}
                                                                      : 0;
  return bytes.size() == size ? tag : 0;
}

Shape ParseShape(llvm::StringRef bytes) {
  // Reads the fields of TensorShapeProto: dim (2), each with a size (1), and unknown_rank (3).
  Shape shape = Shape::Scalar();
  WireReader reader(bytes);
  while (reader.Next()) {
    if (reader.Is(3, WireType::kVarint) && reader.number()) return Shape::Unknown();
    if (!reader.Is(2, WireType::kBytes)) continue;
    int64_t size = 0;
    WireReader dim(reader.bytes());
    while (dim.Next()) {
      if (dim.Is(1, WireType::kVarint)) size = static_cast<int64_t>(dim.number());
    }
    shape.Append(size < 0 ? kUnknownDim : size);
  }
  return shape;
}

// Calls visit(number) for each element of a repeated numeric field, packed or not. `fixed32`: the
// numbers are floats of 4 bytes; otherwise varints.
template <typename Visit>
void ForEachListNumber(llvm::StringRef list, uint32_t field, bool fixed32, Visit visit) {
  WireReader reader(list);
  while (reader.Next()) {
    if (reader.field() != field) continue;
    if (reader.type() != WireType::kBytes) {
      visit(reader.number());
    } else if (fixed32) {
      for (size_t i = 0; i + 4 <= reader.bytes().size(); i += 4) {
        uint32_t bits;
        std::memcpy(&bits, reader.bytes().data() + i, 4);
        visit(bits);
      }
    } else {
      WireReader packed(reader.bytes());
      uint64_t number;
      while (!packed.AtEnd() && packed.Varint(&number)) visit(number);
    }
  }
}

float FloatOf(uint64_t number) {
  uint32_t bits = static_cast<uint32_t>(number);
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}

llvm::StringRef FuncNameOf(llvm::StringRef name_attr_list) {
  llvm::StringRef name;
  WireReader reader(name_attr_list);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kBytes)) name = reader.bytes();
  }
  return name;
}

std::string Quoted(llvm::StringRef text) {
  std::string out;
  llvm::raw_string_ostream os(out);
  os << '"';
  llvm::printEscapedString(text.size() > 60 ? text.take_front(57) : text, os);
  os << (text.size() > 60 ? "...\"" : "\"");
  return out;
}

template <typename List, typename ToText>
std::string Join(const List& list, ToText to_text) {
  std::string text = "[";
  size_t i = 0;
  for (const auto& element : list) {
    if (i++) text += ",";
    if (i > 16) return text + "... " + std::to_string(list.size()) + " in all]";
    text += to_text(element);
  }
  return text + "]";
}

std::string NineDigits(float value) {
  return llvm::formatv("{0}", llvm::format("%.9g", value)).str();
}

// Returns text such as `dense<float[3,3]>`, without reading the tensor's elements.
std::string DenseTypeText(llvm::StringRef tensor) {
  DataType type = proto::DT_INVALID;
  Shape shape = Shape::Scalar();
  WireReader reader(tensor);
  while (reader.Next()) {
    if (reader.Is(1, WireType::kVarint)) type = static_cast<DataType>(reader.number());
    if (reader.Is(2, WireType::kBytes)) shape = ParseShape(reader.bytes());
  }
  return ("dense<" + DataTypeName(type) + shape.ToString() + ">").str();
}

std::string Wrap(uint32_t field, llvm::StringRef bytes) {
  std::string out;
  AppendBytesField(&out, field, bytes);
  return out;
}

std::string WrapNumber(uint32_t field, uint64_t number) {
  std::string out;
  AppendVarintField(&out, field, number);
  return out;
}

// Returns a serialized TensorShapeProto. Faster than building and serializing the message.
std::string ShapeBytes(const Shape& shape) {
  constexpr uint32_t kDim = 2, kSize = 1, kUnknownRank = 3;
  std::string out, dim;
  for (int64_t size : shape.dims()) {
    dim.clear();
    if (size != 0) AppendVarintField(&dim, kSize, static_cast<uint64_t>(size < 0 ? -1 : size));
    AppendBytesField(&out, kDim, dim);
  }
  if (!shape.known_rank()) AppendVarintField(&out, kUnknownRank, 1);
  return out;
}

}  // namespace

std::optional<llvm::StringRef> AttrView::Field(uint32_t field) const {
  if (OnlyTag(bytes_) == TagOf(field, WireType::kBytes)) return bytes_.drop_front(2);
  std::optional<llvm::StringRef> found;
  WireReader reader(bytes_);
  while (reader.Next()) {
    if (reader.Is(field, WireType::kBytes)) found = reader.bytes();
  }
  return found;
}

std::optional<uint64_t> AttrView::Number(uint32_t field) const {
  if (OnlyTag(bytes_) == TagOf(field, WireType::kVarint)) return static_cast<uint8_t>(bytes_[1]);
  std::optional<uint64_t> found;
  WireReader reader(bytes_);
  while (reader.Next()) {
    if (reader.field() == field && reader.type() != WireType::kBytes) found = reader.number();
  }
  return found;
}

AttrKind AttrView::kind() const {
  // Here and in each As...(), a number in a bytes field, or the reverse, counts as no value.
  auto is_value = [](uint32_t field, WireType type) {
    if (field < kListField || field > kFuncField) return false;
    bool is_number = field >= kIntField && field <= kTypeField;
    return is_number == (type != WireType::kBytes);
  };
  if (uint32_t tag = OnlyTag(bytes_); tag != 0)
    return is_value(tag >> 3, static_cast<WireType>(tag & 7)) ? static_cast<AttrKind>(tag >> 3)
                                                              : AttrKind::kNone;
  AttrKind kind = AttrKind::kNone;
  WireReader reader(bytes_);
  while (reader.Next()) {
    if (is_value(reader.field(), reader.type())) kind = static_cast<AttrKind>(reader.field());
  }
  return kind;
}

std::optional<llvm::StringRef> AttrView::AsString() const { return Field(kStringField); }
std::optional<int64_t> AttrView::AsInt() const {
  auto number = Number(kIntField);
  return number ? std::optional<int64_t>(static_cast<int64_t>(*number)) : std::nullopt;
}
std::optional<float> AttrView::AsFloat() const {
  auto number = Number(kFloatField);
  return number ? std::optional<float>(FloatOf(*number)) : std::nullopt;
}
std::optional<bool> AttrView::AsBool() const {
  auto number = Number(kBoolField);
  return number ? std::optional<bool>(*number != 0) : std::nullopt;
}
std::optional<DataType> AttrView::AsType() const {
  auto number = Number(kTypeField);
  return number ? std::optional<DataType>(static_cast<DataType>(*number)) : std::nullopt;
}
std::optional<Shape> AttrView::AsShape() const {
  auto bytes = Field(kShapeField);
  return bytes ? std::optional<Shape>(ParseShape(*bytes)) : std::nullopt;
}
std::optional<llvm::StringRef> AttrView::AsTensor() const { return Field(kTensorField); }
std::optional<llvm::StringRef> AttrView::AsFuncName() const {
  auto bytes = Field(kFuncField);
  return bytes ? std::optional<llvm::StringRef>(FuncNameOf(*bytes)) : std::nullopt;
}

std::optional<std::vector<int64_t>> AttrView::AsInts() const {
  auto list = Field(kListField);
  if (!list) return std::nullopt;
  std::vector<int64_t> values;
  ForEachListNumber(*list, kIntField, false,
                    [&](uint64_t n) { values.push_back(static_cast<int64_t>(n)); });
  return values;
}
std::optional<std::vector<float>> AttrView::AsFloats() const {
  auto list = Field(kListField);
  if (!list) return std::nullopt;
  std::vector<float> values;
  ForEachListNumber(*list, kFloatField, true, [&](uint64_t n) { values.push_back(FloatOf(n)); });
  return values;
}
std::optional<std::vector<DataType>> AttrView::AsTypes() const {
  auto list = Field(kListField);
  if (!list) return std::nullopt;
  std::vector<DataType> values;
  ForEachListNumber(*list, kTypeField, false,
                    [&](uint64_t n) { values.push_back(static_cast<DataType>(n)); });
  return values;
}
std::optional<std::vector<llvm::StringRef>> AttrView::AsStrings() const {
  auto list = Field(kListField);
  if (!list) return std::nullopt;
  std::vector<llvm::StringRef> values;
  WireReader reader(*list);
  while (reader.Next()) {
    if (reader.Is(kStringField, WireType::kBytes)) values.push_back(reader.bytes());
  }
  return values;
}
std::optional<std::vector<Shape>> AttrView::AsShapes() const {
  auto list = Field(kListField);
  if (!list) return std::nullopt;
  std::vector<Shape> values;
  WireReader reader(*list);
  while (reader.Next()) {
    if (reader.Is(kShapeField, WireType::kBytes)) values.push_back(ParseShape(reader.bytes()));
  }
  return values;
}

std::vector<llvm::StringRef> AttrView::FuncNames() const {
  std::vector<llvm::StringRef> names;
  std::optional<llvm::StringRef> function, list;
  WireReader reader(bytes_);
  while (reader.Next()) {
    if (reader.Is(kFuncField, WireType::kBytes)) function = reader.bytes();
    if (reader.Is(kListField, WireType::kBytes)) list = reader.bytes();
  }
  if (function) names.push_back(FuncNameOf(*function));
  if (!list) return names;
  WireReader elements(*list);
  while (elements.Next()) {
    if (elements.Is(kListFuncField, WireType::kBytes))
      names.push_back(FuncNameOf(elements.bytes()));
  }
  return names;
}

std::string AttrView::ToString() const {
  switch (kind()) {
    case AttrKind::kString:
      return Quoted(*AsString());
    case AttrKind::kInt:
      return std::to_string(*AsInt());
    case AttrKind::kFloat:
      return NineDigits(*AsFloat());
    case AttrKind::kBool:
      return *AsBool() ? "true" : "false";
    case AttrKind::kType:
      return DataTypeName(*AsType()).str();
    case AttrKind::kShape:
      return AsShape()->ToString();
    case AttrKind::kTensor:
      return DenseTypeText(*AsTensor());
    case AttrKind::kFunc:
      return ("@" + *AsFuncName()).str();
    case AttrKind::kPlaceholder:
      return ("$" + *Field(kPlaceholderField)).str();
    case AttrKind::kNone:
      return "none";
    case AttrKind::kList:
      break;
  }
  if (auto v = *AsStrings(); !v.empty()) return Join(v, Quoted);
  if (auto v = *AsInts(); !v.empty()) return Join(v, [](int64_t i) { return std::to_string(i); });
  if (auto v = *AsFloats(); !v.empty()) return Join(v, NineDigits);
  if (auto v = *AsTypes(); !v.empty())
    return Join(v, [](DataType t) { return DataTypeName(t).str(); });
  if (auto v = *AsShapes(); !v.empty()) return Join(v, [](const Shape& s) { return s.ToString(); });
  if (auto v = FuncNames(); !v.empty())
    return Join(v, [](llvm::StringRef f) { return ("@" + f).str(); });
  std::vector<int64_t> bools;
  ForEachListNumber(*Field(kListField), kBoolField, false, [&](uint64_t n) { bools.push_back(n); });
  return Join(bools, [](int64_t b) { return std::string(b ? "true" : "false"); });
}

namespace attr {

std::string String(llvm::StringRef value) { return Wrap(kStringField, value); }
std::string Int(int64_t value) { return WrapNumber(kIntField, static_cast<uint64_t>(value)); }
std::string Float(float value) {
  std::string out;
  AppendTag(&out, kFloatField, WireType::kFixed32);
  out.append(reinterpret_cast<const char*>(&value), 4);
  return out;
}
std::string Bool(bool value) { return WrapNumber(kBoolField, value); }
std::string Type(DataType value) { return WrapNumber(kTypeField, value); }
std::string ShapeOf(const Shape& value) { return Wrap(kShapeField, ShapeBytes(value)); }
std::string TensorHead(size_t tensor_proto_size) {
  std::string out;
  AppendTag(&out, kTensorField, WireType::kBytes);
  AppendVarint(&out, tensor_proto_size);
  return out;
}
std::string Tensor(llvm::StringRef tensor_proto) { return Wrap(kTensorField, tensor_proto); }
std::string Func(llvm::StringRef name) { return Wrap(kFuncField, Wrap(1, name)); }
std::string Ints(llvm::ArrayRef<int64_t> values) {
  std::string packed;
  for (int64_t value : values) AppendVarint(&packed, static_cast<uint64_t>(value));
  return Wrap(kListField, values.empty() ? "" : Wrap(kIntField, packed));
}
std::string Floats(llvm::ArrayRef<float> values) {
  llvm::StringRef packed(reinterpret_cast<const char*>(values.data()), 4 * values.size());
  return Wrap(kListField, values.empty() ? "" : Wrap(kFloatField, packed));
}
std::string Bools(const std::vector<bool>& values) {
  std::string packed;
  for (bool value : values) packed.push_back(value ? 1 : 0);
  return Wrap(kListField, values.empty() ? "" : Wrap(kBoolField, packed));
}
std::string Funcs(llvm::ArrayRef<std::string> names) {
  constexpr uint32_t kFuncInList = 9;
  std::string list;
  for (const std::string& name : names) list += Wrap(kFuncInList, Wrap(1, name));
  return Wrap(kListField, list);
}
std::string Types(llvm::ArrayRef<DataType> values) {
  std::string packed;
  for (DataType value : values) AppendVarint(&packed, value);
  return Wrap(kListField, values.empty() ? "" : Wrap(kTypeField, packed));
}
std::string Strings(llvm::ArrayRef<llvm::StringRef> values) {
  std::string list;
  for (llvm::StringRef value : values) list += Wrap(kStringField, value);
  return Wrap(kListField, list);
}
std::string Shapes(llvm::ArrayRef<Shape> values) {
  std::string list;
  for (const Shape& value : values) list += Wrap(kShapeField, ShapeBytes(value));
  return Wrap(kListField, list);
}

}  // namespace attr
}  // namespace grapnel
