#include "lib/support/printable.h"

#include <algorithm>
#include <cstdint>

#include "llvm/Support/ConvertUTF.h"

namespace grapnel {
namespace {

constexpr char kHex[] = "0123456789abcdef";
constexpr llvm::StringLiteral kColors[] = {"\033[0m", "\033[31m", "\033[32m", "\033[33m",
                                           "\033[36m"};

bool IsPlain(char c) { return c >= 0x20 && c < 0x7f; }

// Decodes a UTF-8 character of two or three bytes. Returns 0 for one of four bytes, because none of
// these is hidden.
uint32_t CodePoint(llvm::StringRef sequence) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 2) return (byte(0) & 0x1fu) << 6 | (byte(1) & 0x3fu);
  if (sequence.size() == 3)
    return (byte(0) & 0x0fu) << 12 | (byte(1) & 0x3fu) << 6 | (byte(2) & 0x3fu);
  return 0;
}

// True for the characters that could change what a terminal shows: C1 controls (U+0080 to U+009F),
// line and paragraph separators, and bidirectional formatting characters.
bool IsHidden(uint32_t c) {
  return (c >= 0x80 && c <= 0x9f) || c == 0x61c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

// Returns the length in bytes of the character at the start of `text`; 0 if the bytes there are not
// valid UTF-8.
size_t CharacterSize(llvm::StringRef text) {
  const auto* at = reinterpret_cast<const llvm::UTF8*>(text.begin());
  const auto* end = reinterpret_cast<const llvm::UTF8*>(text.end());
  unsigned size = llvm::getNumBytesForUTF8(*at);
  return size <= text.size() && llvm::isLegalUTF8Sequence(at, end) ? size : 0;
}

// Appends the first character of `text` to `out`, escaped unless it is printable or in `kept`;
// returns how many bytes of `text` it takes.
size_t AppendFirst(llvm::StringRef text, llvm::StringRef kept, std::string* out) {
  char first = text[0];
  if (IsPlain(first) || kept.contains(first)) {
    *out += first;
    return 1;
  }
  size_t size = CharacterSize(text);
  auto byte = static_cast<unsigned char>(first);
  if (size == 0 || (size == 1 && first != 0x7f)) {
    *out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    return 1;
  }
  uint32_t code = first == 0x7f ? 0x7f : CodePoint(text.take_front(size));
  if (code == 0x7f || IsHidden(code)) {
    *out += {'\\',           'u', kHex[code >> 12 & 15], kHex[code >> 8 & 15], kHex[code >> 4 & 15],
             kHex[code & 15]};
  } else {
    *out += text.take_front(size);
  }
  return size;
}

std::string PrintableBut(llvm::StringRef text, llvm::StringRef kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    llvm::StringRef plain = text.take_while(IsPlain);
    out += plain;
    text = text.drop_front(plain.size());
    if (!text.empty()) text = text.drop_front(AppendFirst(text, kept, &out));
  }
  return out;
}

// Returns how many bytes at the end of `text` are the beginning of a UTF-8 character whose other
// bytes are missing.
size_t CutAtEnd(llvm::StringRef text) {
  for (size_t size = 1; size <= std::min<size_t>(3, text.size()); ++size) {
    auto byte = static_cast<unsigned char>(text[text.size() - size]);
    if ((byte & 0xc0) != 0x80) return llvm::getNumBytesForUTF8(byte) > size ? size : 0;
  }
  return 0;
}

}  // namespace

std::string Printable(llvm::StringRef text) { return PrintableBut(text, ""); }
std::string PrintableLines(llvm::StringRef text) { return PrintableBut(text, "\n"); }

PrintableStream::~PrintableStream() {
  flush();
  os_ << Printable(cut_);
}

void PrintableStream::write_impl(const char* data, size_t size) {
  std::string joined;
  llvm::StringRef text(data, size);
  if (!cut_.empty()) text = joined = cut_ + text.str();
  cut_ = text.take_back(CutAtEnd(text)).str();
  text = text.drop_back(cut_.size());
  while (!text.empty()) {
    llvm::StringRef plain = text.take_while([](char c) { return IsPlain(c) || c == '\n'; });
    os_ << plain;
    text = text.drop_front(plain.size());
    if (text.empty()) break;
    const auto* color = std::find_if(std::begin(kColors), std::end(kColors), [&](auto paint) {
      return text.take_front(paint.size()) == paint;
    });
    if (color_ && color != std::end(kColors)) {
      os_ << *color;
      text = text.drop_front(color->size());
    } else {
      std::string shown;
      text = text.drop_front(AppendFirst(text, "\n\t", &shown));
      os_ << shown;
    }
  }
  os_.flush();
}

}  // namespace grapnel
