#include "lib/io/long_literals.h"

#include <cstring>
#include <optional>

#include "lib/io/text_escapes.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr size_t kLong = 4096;
// The beginning of a short literal: "grapnel literal <7>" replaces the long literal 7. A text that
// already contains this mark stays unchanged.
constexpr llvm::StringRef kLiteralMark = "grapnel literal <";
constexpr size_t kNowhere = llvm::StringRef::npos;

// Returns the end of the string literal whose opening quote is at `begin`.
size_t EndOfLiteral(llvm::StringRef text, size_t begin) {
  for (size_t at = begin + 1; (at = text.find(text[begin], at)) != kNowhere; ++at) {
    size_t escapes = 0;
    while (text[at - 1 - escapes] == '\\') ++escapes;
    if (escapes % 2 == 0) return at;
  }
  return kNowhere;
}

// Returns the contents of a literal; nullopt for one that protobuf must parse (see Unescape).
std::optional<std::string> Unescaped(llvm::StringRef literal) {
  std::string out;
  out.resize(literal.size());
  char* end = Unescape(literal, out.data());
  if (!end) return std::nullopt;
  out.resize(static_cast<size_t>(end - out.data()));
  return out;
}

}  // namespace

std::string LongLiterals::TakeOut(llvm::StringRef text) {
  std::string out;
  if (text.contains(kLiteralMark)) return text.str();
  size_t copied = 0;
  for (size_t at = 0; (at = text.find_first_of("\"'#", at)) != kNowhere;) {
    if (text[at] == '#') {
      at = text.find('\n', at);
      continue;
    }
    size_t end = EndOfLiteral(text, at);
    if (end == kNowhere) break;
    if (end - at > kLong) {
      if (auto value = Unescaped(text.slice(at + 1, end))) {
        out += text.slice(copied, at + 1);
        out += kLiteralMark.str() + std::to_string(values_.size()) + ">";
        copied = end;
        values_.push_back(std::move(*value));
      }
    }
    at = end + 1;
  }
  out += text.substr(copied);
  return out;
}

// Replaces the marks in a parsed value. Adjacent literals form one value, so it may contain several
// marks, and other text around them.
void LongLiterals::PutBackIn(std::string* value) {
  llvm::StringRef rest = *value;
  if (!rest.contains(kLiteralMark)) return;
  std::string whole;
  for (size_t at; (at = rest.find(kLiteralMark)) != kNowhere;) {
    whole += rest.take_front(at);
    rest = rest.drop_front(at + kLiteralMark.size());
    llvm::StringRef after = rest;
    size_t number = values_.size();
    bool is_ours =
        !rest.consumeInteger(10, number) && number < values_.size() && rest.consume_front(">");
    whole += is_ours ? llvm::StringRef(values_[number]) : kLiteralMark;
    if (is_ours) {
      ++met_[number];
    } else {
      rest = after;
    }
  }
  *value = whole + rest.str();
}

bool LongLiterals::PutBack(google::protobuf::Message* message) {
  met_.assign(values_.size(), 0);
  PutBackIn(message);
  return llvm::all_of(met_, [](size_t times) { return times == 1; });
}

void LongLiterals::PutBackIn(google::protobuf::Message* message) {
  using Field = google::protobuf::FieldDescriptor;
  const google::protobuf::Reflection& reflection = *message->GetReflection();
  std::vector<const Field*> fields;
  reflection.ListFields(*message, &fields);
  for (const Field* field : fields) {
    bool is_text = field->cpp_type() == Field::CPPTYPE_STRING;
    if (!is_text && field->cpp_type() != Field::CPPTYPE_MESSAGE) continue;
    int count = field->is_repeated() ? reflection.FieldSize(*message, field) : 1;
    for (int i = 0; i < count; ++i) {
      if (!is_text) {
        PutBackIn(field->is_repeated() ? reflection.MutableRepeatedMessage(message, field, i)
                                       : reflection.MutableMessage(message, field));
        continue;
      }
      std::string value = field->is_repeated() ? reflection.GetRepeatedString(*message, field, i)
                                               : reflection.GetString(*message, field);
      if (!llvm::StringRef(value).contains(kLiteralMark)) continue;
      PutBackIn(&value);
      if (field->is_repeated()) {
        reflection.SetRepeatedString(message, field, i, std::move(value));
      } else {
        reflection.SetString(message, field, std::move(value));
      }
    }
  }
}

}  // namespace grapnel
