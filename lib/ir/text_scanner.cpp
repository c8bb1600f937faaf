#include "lib/ir/text_scanner.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/Error.h"

namespace grapnel {
namespace {

bool IsWordChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '.' || c == '>' || c == '+' || c == '-';
}

constexpr llvm::StringLiteral kStatements[] = {"func",          "fetch",        "feed",    "return",
                                               "producer",      "min_consumer", "library", "fields",
                                               "bad_consumers", "versions"};

bool IsLegalUtf8(llvm::StringRef text) {
  const auto* at = reinterpret_cast<const llvm::UTF8*>(text.begin());
  return llvm::isLegalUTF8String(&at, reinterpret_cast<const llvm::UTF8*>(text.end()));
}

}  // namespace

std::string TextPlace::ToString() const {
  return (llvm::Twine(line) + ":" + llvm::Twine(column)).str();
}

void TextScanner::SkipSpace() {
  while (at_ != end_) {
    if (*at_ == '\n') {
      ++line_;
      line_begin_ = ++at_;
    } else if (llvm::isSpace(*at_)) {
      ++at_;
    } else if (*at_ == '#') {
      at_ = std::find(at_, end_, '\n');
    } else {
      return;
    }
  }
}

char TextScanner::Peek() {
  SkipSpace();
  return at_ == end_ ? '\0' : *at_;
}

bool TextScanner::Consume(llvm::StringRef text) {
  SkipSpace();
  llvm::StringRef rest(at_, end_ - at_);
  if (rest.substr(0, text.size()) != text) return false;
  at_ += text.size();
  return true;
}

bool TextScanner::ConsumeWord(llvm::StringRef word) {
  if (PeekWord() != word) return false;
  at_ += word.size();
  return true;
}

bool TextScanner::Expect(llvm::StringRef text) {
  return Consume(text) || Fail("expected '" + text + "'");
}

llvm::StringRef TextScanner::PeekWord() {
  SkipSpace();
  const char* word_end = std::find_if_not(at_, end_, IsWordChar);
  return {at_, static_cast<size_t>(word_end - at_)};
}

llvm::StringRef TextScanner::TakeWord() {
  llvm::StringRef word = PeekWord();
  at_ += word.size();
  return word;
}

char TextScanner::CharAfterWord() { return CharAt(PeekWord().size()); }

bool TextScanner::IsNameChar(char c) {
  return llvm::isAlnum(c) || llvm::StringRef("_./>\\-").contains(c);
}

bool TextScanner::IsBareName(llvm::StringRef name) {
  return !name.empty() && llvm::all_of(name, IsNameChar);
}

bool TextScanner::ReadName(std::string* name, bool* quoted) {
  if (quoted) *quoted = Peek() == '"';
  if (Peek() == '"') return ReadString(name);
  const char* name_end = std::find_if_not(at_, end_, IsNameChar);
  if (name_end == at_) return Fail("expected a name");
  name->assign(at_, name_end);
  at_ = name_end;
  return true;
}

bool TextScanner::ReadString(std::string* value) {
  if (Peek() != '"') return Fail("expected a string in quotes");
  TextPlace start = place();
  value->clear();
  for (++at_; at_ != end_ && *at_ != '\n'; ++at_) {
    if (*at_ == '"') {
      ++at_;
      return true;
    }
    if (*at_ != '\\') {
      value->push_back(*at_);
      continue;
    }
    if (++at_ == end_) break;
    switch (*at_) {
      case 'n':
        value->push_back('\n');
        break;
      case 'r':
        value->push_back('\r');
        break;
      case 't':
        value->push_back('\t');
        break;
      case '"':
      case '\\':
        value->push_back(*at_);
        break;
      case 'x':
        if (end_ - at_ > 2 && llvm::isHexDigit(at_[1]) && llvm::isHexDigit(at_[2])) {
          value->push_back(static_cast<char>(llvm::hexFromNibbles(at_[1], at_[2])));
          at_ += 2;
          break;
        }
        [[fallthrough]];
      default:
        return Fail("expected one of \\n \\r \\t \\\" \\\\ \\xHH");
    }
  }
  return FailAt(start, "a quote is missing at the end of this text");
}

bool TextScanner::ReadInt(int64_t* value) {
  llvm::StringRef word = PeekWord();
  if (word.empty() || word.getAsInteger(10, *value)) return Fail("expected a whole number");
  TakeWord();
  return true;
}

bool TextScanner::ReadBase64(std::string* bytes) {
  TextPlace start = place();
  std::string text;
  std::vector<char> decoded;
  if (!ReadString(&text)) return false;
  if (llvm::Error error = llvm::decodeBase64(text, decoded)) {
    llvm::consumeError(std::move(error));
    return FailAt(start, "this is not base64");
  }
  bytes->assign(decoded.begin(), decoded.end());
  return true;
}

TextPlace TextScanner::place() {
  SkipSpace();
  return {line_, static_cast<int>(at_ - line_begin_) + 1};
}

bool TextScanner::Fail(const llvm::Twine& message) { return FailAt(place(), message); }

bool TextScanner::FailAt(TextPlace where, const llvm::Twine& message) {
  if (error_.empty()) {
    error_ = message.str();
    error_place_ = where;
  }
  return false;
}

void TextScanner::Recover() {
  error_.clear();
  auto at_statement = [this] {
    return Peek() == '%' || Peek() == '}' || llvm::is_contained(kStatements, PeekWord());
  };
  // The error may be at the start of the next statement, because a token is missing at the end of
  // the previous one. In that case the next statement is not skipped.
  SkipSpace();
  bool begins_line = llvm::StringRef(line_begin_, at_ - line_begin_).trim().empty();
  if (begins_line && at_ != recovered_at_ && at_statement()) {
    recovered_at_ = at_;
    return;
  }
  do {
    at_ = std::find(at_, end_, '\n');
  } while (!AtEnd() && !at_statement());
  recovered_at_ = at_;
}

std::string QuotedText(llvm::StringRef text) {
  bool utf8 = IsLegalUtf8(text);
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else if (llvm::isPrint(c) || (utf8 && static_cast<unsigned char>(c) >= 0x80)) {
      out += c;
    } else {
      out += "\\x" + llvm::toHex(llvm::StringRef(&c, 1));
    }
  }
  return out + '"';
}

std::string NameText(llvm::StringRef name) {
  return TextScanner::IsBareName(name) ? name.str() : QuotedText(name);
}

}  // namespace grapnel
