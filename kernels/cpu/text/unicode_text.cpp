#include "kernels/cpu/text/unicode_text.h"

#include <iconv.h>

#include <cerrno>

namespace grapnel {
namespace {

unsigned char Byte(llvm::StringRef text, size_t i) { return static_cast<unsigned char>(text[i]); }

class Utf8Decoder : public TextDecoder {
 public:
  void Decode(llvm::StringRef text, Found found) override {
    for (size_t at = 0; at < text.size();) {
      size_t start = at;
      found(Next(text, &at), start);
    }
  }

 private:
  // Unicode 15, table 3-7: what may follow which first byte.
  static int32_t Next(llvm::StringRef text, size_t* at) {
    int32_t first = Byte(text, (*at)++), code = 0;
    int more = 0, low = 0x80, high = 0xbf;  // bytes to come, bounds of the next one
    if (first < 0x80) return first;
    if (first >= 0xc2 && first <= 0xdf) more = 1;
    if (first >= 0xe0 && first <= 0xef) more = 2;
    if (first >= 0xf0 && first <= 0xf4) more = 3;
    if (more == 0) return -1;
    code = first & (0x3f >> more);
    if (first == 0xe0) low = 0xa0;
    if (first == 0xed) high = 0x9f;
    if (first == 0xf0) low = 0x90;
    if (first == 0xf4) high = 0x8f;
    for (; more > 0; --more, low = 0x80, high = 0xbf) {
      if (*at == text.size() || Byte(text, *at) < low || Byte(text, *at) > high) return -1;
      code = code << 6 | (Byte(text, (*at)++) & 0x3f);
    }
    return code;
  }
};

// UTF-16 and UTF-32 of either order; `marked`: a byte order mark at the start says which, and is
// no character.
class WideDecoder : public TextDecoder {
 public:
  WideDecoder(size_t unit, bool big, bool marked) : unit_(unit), big_(big), marked_(marked) {}

  void Decode(llvm::StringRef text, Found found) override {
    size_t at = 0;
    bool big = big_;
    if (marked_ && text.size() >= unit_) {
      int64_t mark = UnitAt(text, 0, true), turned = unit_ == 2 ? 0xfffe : 0xfffe0000;
      if (mark == 0xfeff || mark == turned) at = unit_;
      if (mark == turned) big = false;
      if (mark == 0xfeff) big = true;
    }
    while (at < text.size()) {
      size_t start = at;
      if (text.size() - at < unit_) {
        found(-1, start);
        return;
      }
      int64_t code = UnitAt(text, at, big);
      at += unit_;
      if (unit_ == 2 && code >= 0xd800 && code < 0xdc00) {
        if (text.size() - at == 1) ++at;  // half of the second unit: one error, with the first
        int64_t low = text.size() - at >= 2 ? UnitAt(text, at, big) : 0;
        if (low >= 0xdc00 && low < 0xe000) {
          code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
          at += 2;
        }
      }
      bool good = code <= 0x10ffff && IsCharacter(static_cast<int32_t>(code));
      found(good ? static_cast<int32_t>(code) : -1, start);
    }
  }

 private:
  int64_t UnitAt(llvm::StringRef text, size_t at, bool big) const {
    int64_t code = 0;
    for (size_t i = 0; i < unit_; ++i)
      code = code << 8 | Byte(text, at + (big ? i : unit_ - 1 - i));
    return code;
  }

  size_t unit_;
  bool big_, marked_;
};

// One character at a time, so that each has its place: no character of iconv's takes more bytes.
constexpr size_t kLongest = 16;

class IconvDecoder : public TextDecoder {
 public:
  explicit IconvDecoder(iconv_t state) : state_(state) {}
  IconvDecoder(const IconvDecoder&) = delete;
  IconvDecoder& operator=(const IconvDecoder&) = delete;
  ~IconvDecoder() override { iconv_close(state_); }

  void Decode(llvm::StringRef text, Found found) override {
    iconv(state_, nullptr, nullptr, nullptr, nullptr);
    for (size_t at = 0; at < text.size();) at += Step(text, at, found);
  }

 private:
  // The bytes taken.
  size_t Step(llvm::StringRef text, size_t at, Found found) {
    for (size_t n = 1; n <= std::min(kLongest, text.size() - at); ++n) {
      unsigned char out[32];
      char *in = const_cast<char*>(text.data() + at), *to = reinterpret_cast<char*>(out);
      size_t left = n, room = sizeof out;
      size_t result = iconv(state_, &in, &left, &to, &room);
      size_t made = sizeof out - room;
      for (size_t i = 0; i + 4 <= made; i += 4) {
        found(static_cast<int32_t>(out[i]) << 24 | out[i + 1] << 16 | out[i + 2] << 8 | out[i + 3],
              at);
      }
      if (left < n) return n - left;
      if (result == static_cast<size_t>(-1) && errno != EINVAL) break;
    }
    found(-1, at);
    // Bytes that begin a character that never ends are one error.
    return text.size() - at < kLongest && errno == EINVAL ? text.size() - at : 1;
  }

  iconv_t state_;
};

}  // namespace

Expected<std::unique_ptr<TextDecoder>> TextDecoder::Make(const std::string& encoding) {
  std::string name;  // without what spellings differ in
  for (char c : llvm::StringRef(encoding).upper()) {
    if (c != '-' && c != '_') name += c;
  }
  std::unique_ptr<TextDecoder> decoder;
  if (name == "UTF8") return std::unique_ptr<TextDecoder>(new Utf8Decoder);
  for (size_t unit : {2, 4}) {
    std::string base = unit == 2 ? "UTF16" : "UTF32";
    if (name != base && name != base + "BE" && name != base + "LE") continue;
    return std::unique_ptr<TextDecoder>(new WideDecoder(unit, name != base + "LE", name == base));
  }
  iconv_t state = iconv_open("UTF-32BE", encoding.c_str());
  // NOLINTNEXTLINE(performance-no-int-to-ptr): how POSIX says that there is none
  if (state == reinterpret_cast<iconv_t>(-1))
    return MakeError("could not create converter for input encoding: {0}", encoding);
  return std::unique_ptr<TextDecoder>(new IconvDecoder(state));
}

Expected<UnicodeForm> UnicodeFormOf(llvm::StringRef name) {
  if (name == "UTF-8") return UnicodeForm::kUtf8;
  if (name == "UTF-16-BE") return UnicodeForm::kUtf16;
  if (name == "UTF-32-BE") return UnicodeForm::kUtf32;
  return MakeError("output_encoding '{0}' is not UTF-8, UTF-16-BE or UTF-32-BE", name);
}

bool IsCharacter(int32_t code_point) {
  return code_point >= 0 && code_point <= 0x10ffff && (code_point < 0xd800 || code_point > 0xdfff);
}

void AppendCharacter(int32_t code_point, UnicodeForm form, std::string* text) {
  auto append = [&](int32_t byte) { text->push_back(static_cast<char>(byte & 0xff)); };
  auto append_unit = [&](int32_t unit) {
    append(unit >> 8);
    append(unit);
  };
  if (form == UnicodeForm::kUtf32) {
    append_unit(code_point >> 16);
    append_unit(code_point);
  } else if (form == UnicodeForm::kUtf16) {
    if (code_point >= 0x10000) {
      append_unit(0xd800 + ((code_point - 0x10000) >> 10));
      append_unit(0xdc00 + ((code_point - 0x10000) & 0x3ff));
    } else {
      append_unit(code_point);
    }
  } else if (code_point < 0x80) {
    append(code_point);
  } else {
    int more = code_point < 0x800 ? 1 : code_point < 0x10000 ? 2 : 3;
    append(0xff << (7 - more) | code_point >> (6 * more));
    while (more-- > 0) append(0x80 | (code_point >> (6 * more) & 0x3f));
  }
}

}  // namespace grapnel
