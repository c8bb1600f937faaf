#include "lib/io/printed_text.h"

#include <charconv>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "google/protobuf/io/strtod.h"
#include "lib/io/text_escapes.h"
#include "lib/ir/wire.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;

// A longer text may give more than 2 GiB, protobuf's limit: "i:-1 " takes eleven bytes.
constexpr size_t kLongestText = size_t{1} << 29;
constexpr int kDeepestText = 64;  // protobuf's limit is above

struct MessageType;
using EnumValues = llvm::StringMap<int32_t>;

struct Field {
  llvm::StringRef name;
  FieldDescriptor::Type type;
  uint64_t number;
  bool repeated, packed, is_map;
  bool has_presence;                     // written even if it has the default value
  uint32_t oneof = 0;                    // a bit for the oneof that the field belongs to; or 0
  const MessageType* message = nullptr;  // of a message or map entry
  const EnumValues* values = nullptr;    // of an enum
  mutable size_t bytes_of_size = 1;      // of the last message: the next one is often as long
};

struct MessageType {
  std::vector<Field> fields;  // in the order of their numbers
};

// The types of messages that a type consists of.
class Types {
 public:
  const MessageType* Of(const Descriptor& of) {
    std::unique_ptr<MessageType>& kept = messages_[&of];
    if (kept) return kept.get();
    kept = std::make_unique<MessageType>();
    MessageType* type = kept.get();
    for (int i = 0; i < of.field_count(); ++i) type->fields.push_back(FieldOf(*of.field(i)));
    llvm::sort(type->fields, [](const Field& a, const Field& b) { return a.number < b.number; });
    return type;
  }

 private:
  Field FieldOf(const FieldDescriptor& of) {
    Field field = {
        of.name(),      of.type(),   static_cast<uint64_t>(of.number()),   of.is_repeated(),
        of.is_packed(), of.is_map(), of.has_presence() || of.is_repeated()};
    if (const auto* oneof = of.real_containing_oneof()) field.oneof = 1u << (oneof->index() % 32);
    if (const Descriptor* message = of.message_type()) field.message = Of(*message);
    if (const EnumDescriptor* values = of.enum_type()) field.values = ValuesOf(*values);
    return field;
  }

  const EnumValues* ValuesOf(const EnumDescriptor& of) {
    auto [it, is_new] = enums_.try_emplace(&of);
    for (int i = 0; is_new && i < of.value_count(); ++i)
      it->second[of.value(i)->name()] = of.value(i)->number();
    return &it->second;
  }

  std::map<const Descriptor*, std::unique_ptr<MessageType>> messages_;
  std::map<const EnumDescriptor*, EnumValues> enums_;
};

bool IsWordPart(char c) { return llvm::isAlnum(c) || c == '_'; }
bool IsNumberPart(char c) { return IsWordPart(c) || c == '.' || c == '+' || c == '-'; }
bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

// Reads a decimal number without leading zeros; a leading zero would make it octal.
template <typename Number>
bool ReadInteger(llvm::StringRef text, Number* number) {
  llvm::StringRef digits = text;
  digits.consume_front("-");
  if (digits.size() > 1 && digits[0] == '0') return false;
  auto [end, error] = std::from_chars(text.begin(), text.end(), *number);
  return error == std::errc() && end == text.end();
}

bool ReadDouble(llvm::StringRef text, double* number) {
  llvm::StringRef magnitude = text;
  bool is_negative = magnitude.consume_front("-");
  if (magnitude == "inf" || (magnitude == "nan" && !is_negative)) {
    *number = magnitude == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                 : std::numeric_limits<double>::infinity();
    if (is_negative) *number = -*number;
    return true;
  }
  llvm::StringRef whole = magnitude.take_while(llvm::isDigit);
  if (whole.empty() || (whole.size() > 1 && whole[0] == '0')) return false;
  auto [end, error] = std::from_chars(text.begin(), text.end(), *number);
  return error == std::errc() && end == text.end();
}

class Converter {
 public:
  explicit Converter(llvm::StringRef text) : at_(text.begin()), end_(text.end()) {
    out_.reserve(text.size() / 2);
  }

  bool Run(const MessageType& type) { return ReadFields(type, 0) && at_ == end_; }
  std::string Take() { return std::move(out_); }

 private:
  void SkipSpace() {
    while (at_ != end_ && IsSpace(*at_)) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  template <typename IsPart>
  llvm::StringRef TakeWhile(IsPart is_part) {
    SkipSpace();
    const char* begin = at_;
    while (at_ != end_ && is_part(*at_)) ++at_;
    return {begin, static_cast<size_t>(at_ - begin)};
  }

  // A field of bytes whose size is not known yet: where the size begins, and the room for it.
  struct Open {
    const Field& field;
    size_t at, room;
  };
  Open Begin(const Field& field) {
    AppendTag(&out_, static_cast<uint32_t>(field.number), WireType::kBytes);
    Open open{field, out_.size(), field.bytes_of_size};
    out_.append(open.room, '\0');
    return open;
  }
  void End(const Open& open) {
    size_t size = out_.size() - open.at - open.room, needed = VarintSize(size);
    if (needed != open.room) out_.replace(open.at, open.room, needed, '\0');
    PutVarint(out_.data() + open.at, size);
    open.field.bytes_of_size = needed;
  }

  // Reads the fields of a message up to its closing brace, or to the end of the text.
  bool ReadFields(const MessageType& type, int depth) {
    size_t next = 0;  // the field that comes next is this one or a later one
    uint32_t oneofs = 0;
    MapKeys keys;
    while (true) {
      SkipSpace();
      if (at_ == end_) return depth == 0;
      if (*at_ == '}') return depth > 0;
      llvm::StringRef name = TakeWhile(IsWordPart);
      size_t found = next;
      while (found < type.fields.size() && type.fields[found].name != name) ++found;
      if (found == type.fields.size()) return false;
      const Field& field = type.fields[found];
      if (field.oneof & oneofs) return false;
      oneofs |= field.oneof;
      if (found != next) keys = {};
      next = field.repeated ? found : found + 1;
      if (field.is_map   ? !ReadEntry(field, depth, &keys)
          : field.packed ? !ReadPacked(field)
                         : !ReadValue(field, depth))
        return false;
    }
  }

  bool ReadMessage(const Field& field, int depth) {
    if (depth >= kDeepestText || !Take('{')) return false;
    Open open = Begin(field);
    if (!ReadFields(*field.message, depth + 1) || !Take('}')) return false;
    End(open);
    return true;
  }

  // The key of the last entry of a map.
  struct MapKeys {
    bool any = false;
    std::string text;
    uint64_t number = 0;
  };

  // Reads an entry of a map: "{ key: K value ... }".
  bool ReadEntry(const Field& field, int depth, MapKeys* last) {
    const Field &key = field.message->fields[0], &value = field.message->fields[1];
    if (!Take('{') || TakeWhile(IsWordPart) != "key" || !Take(':')) return false;
    Open open = Begin(field);
    if (key.type == FieldDescriptor::TYPE_STRING) {
      llvm::StringRef text;
      if (!ReadLiteral(/*is_text=*/true, &text)) return false;
      if (last->any && text <= last->text) return false;
      last->text = text.str();
      AppendBytesField(&out_, 1, text);
    } else {
      uint32_t number;
      if (key.type != FieldDescriptor::TYPE_UINT32 ||
          !ReadInteger(TakeWhile(IsNumberPart), &number))
        return false;
      if (last->any && number <= last->number) return false;
      last->number = number;
      AppendVarintField(&out_, 1, number);
    }
    last->any = true;
    if (TakeWhile(IsWordPart) != "value" || !ReadValue(value, depth + 1, /*is_in_map=*/true))
      return false;
    End(open);
    return Take('}');
  }

  // Reads the values of a repeated field of numbers: each has the field's name before it.
  bool ReadPacked(const Field& field) {
    Open open = Begin(field);
    const char* before;
    do {
      uint64_t bits;
      if (!Take(':') || !ReadNumber(field, &bits)) return false;
      AppendNumber(field, bits);
      before = at_;
    } while (TakeWhile(IsWordPart) == field.name);
    at_ = before;
    End(open);
    return true;
  }

  bool ReadValue(const Field& field, int depth, bool is_in_map = false) {
    bool is_written = field.has_presence || is_in_map;
    switch (field.type) {
      case FieldDescriptor::TYPE_MESSAGE:
        return ReadMessage(field, depth);
      case FieldDescriptor::TYPE_STRING:
      case FieldDescriptor::TYPE_BYTES: {
        llvm::StringRef text;
        if (!Take(':') || !ReadLiteral(field.type == FieldDescriptor::TYPE_STRING, &text))
          return false;
        if (is_written || !text.empty())
          AppendBytesField(&out_, static_cast<uint32_t>(field.number), text);
        return true;
      }
      default: {
        uint64_t bits;
        if (!Take(':') || !ReadNumber(field, &bits)) return false;
        if (!is_written && bits == 0) return true;
        AppendTag(&out_, static_cast<uint32_t>(field.number), TypeInWire(field));
        AppendNumber(field, bits);
        return true;
      }
    }
  }

  static WireType TypeInWire(const Field& field) {
    if (field.type == FieldDescriptor::TYPE_FLOAT) return WireType::kFixed32;
    if (field.type == FieldDescriptor::TYPE_DOUBLE) return WireType::kFixed64;
    return WireType::kVarint;
  }

  // Returns the bits of a varint, a float or a double.
  bool ReadNumber(const Field& field, uint64_t* bits) {
    llvm::StringRef text = TakeWhile(IsNumberPart);
    auto as_signed = [&](auto number) {
      if (!ReadInteger(text, &number)) return false;
      *bits = static_cast<uint64_t>(static_cast<int64_t>(number));
      return true;
    };
    auto as_unsigned = [&](auto number) {
      if (!ReadInteger(text, &number)) return false;
      *bits = number;
      return true;
    };
    switch (field.type) {
      case FieldDescriptor::TYPE_INT32:
        return as_signed(int32_t{});
      case FieldDescriptor::TYPE_INT64:
        return as_signed(int64_t{});
      case FieldDescriptor::TYPE_UINT32:
        return as_unsigned(uint32_t{});
      case FieldDescriptor::TYPE_UINT64:
        return as_unsigned(uint64_t{});
      case FieldDescriptor::TYPE_BOOL:
        *bits = text == "true";
        return text == "true" || text == "false";
      case FieldDescriptor::TYPE_ENUM: {
        auto value = field.values->find(text);
        if (value == field.values->end()) return false;
        *bits = static_cast<uint64_t>(static_cast<int64_t>(value->second));
        return true;
      }
      case FieldDescriptor::TYPE_FLOAT:
      case FieldDescriptor::TYPE_DOUBLE: {
        double number;
        if (!ReadDouble(text, &number)) return false;
        *bits = 0;
        if (field.type == FieldDescriptor::TYPE_DOUBLE) {
          std::memcpy(bits, &number, sizeof(number));
        } else {
          float narrow = google::protobuf::io::SafeDoubleToFloat(number);
          std::memcpy(bits, &narrow, sizeof(narrow));
        }
        return true;
      }
      default:
        return false;
    }
  }

  void AppendNumber(const Field& field, uint64_t bits) {
    switch (TypeInWire(field)) {
      case WireType::kFixed32:
        out_.append(reinterpret_cast<const char*>(&bits), 4);
        return;
      case WireType::kFixed64:
        out_.append(reinterpret_cast<const char*>(&bits), 8);
        return;
      default:
        AppendVarint(&out_, bits);
    }
  }

  // Reads a literal in double quotes. Its contents are valid until the next call. `is_text`: the
  // contents must be ASCII, since protobuf reports text that is not UTF-8.
  bool ReadLiteral(bool is_text, llvm::StringRef* contents) {
    if (!Take('"')) return false;
    const char* begin = at_;
    unsigned char all = 0;
    bool has_escapes = false;
    for (; at_ != end_ && *at_ != '"'; ++at_) {
      auto c = static_cast<unsigned char>(*at_);
      if (c < ' ') return false;
      all |= c;
      if (c != '\\') continue;
      has_escapes = true;
      if (++at_ == end_) return false;
    }
    if (at_ == end_) return false;
    *contents = {begin, static_cast<size_t>(at_ - begin)};
    ++at_;
    if (has_escapes) {
      unescaped_.resize(std::max(unescaped_.size(), contents->size()));
      const char* to = Unescape(*contents, unescaped_.data());
      if (!to) return false;
      *contents = {unescaped_.data(), static_cast<size_t>(to - unescaped_.data())};
      if (is_text) {
        for (char c : *contents) all |= static_cast<unsigned char>(c);
      }
    }
    return !is_text || all < 0x80;
  }

  const char *at_, *end_;
  std::string out_, unescaped_;
};

}  // namespace

std::optional<std::string> PrintedTextToWire(llvm::StringRef text, const Descriptor& type) {
  if (text.size() > kLongestText) return std::nullopt;
  Types types;
  Converter converter(text);
  if (!converter.Run(*types.Of(type))) return std::nullopt;
  return converter.Take();
}

}  // namespace grapnel
