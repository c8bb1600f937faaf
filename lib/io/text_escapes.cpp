#include "lib/io/text_escapes.h"

#include <array>
#include <optional>

namespace grapnel {
namespace {

// The character that each letter after a backslash stands for; 0: not an escape.
constexpr std::array<char, 256> kEscapes = [] {
  std::array<char, 256> table{};
  table['n'] = '\n', table['r'] = '\r', table['t'] = '\t', table['a'] = '\a', table['b'] = '\b';
  table['f'] = '\f', table['v'] = '\v';
  table['\\'] = '\\', table['\''] = '\'', table['"'] = '"', table['?'] = '?';
  return table;
}();

bool IsOctal(char c) { return c >= '0' && c <= '7'; }

// Reads one to three octal digits at `at` and advances `at`; nullopt for numbers above 255.
std::optional<char> Octal(llvm::StringRef text, size_t* at) {
  const char* digit = text.data() + *at;
  if (*at + 3 <= text.size() && digit[0] >= '0' && digit[0] <= '3' && IsOctal(digit[1]) &&
      IsOctal(digit[2])) {
    *at += 3;
    return static_cast<char>((digit[0] - '0') << 6 | (digit[1] - '0') << 3 | (digit[2] - '0'));
  }
  unsigned value = 0;
  for (int digits = 0; digits < 3 && *at < text.size() && IsOctal(text[*at]); ++digits)
    value = value * 8 + static_cast<unsigned>(text[(*at)++] - '0');
  if (value > 255) return std::nullopt;
  return static_cast<char>(value);
}

}  // namespace

char* Unescape(llvm::StringRef literal, char* to) {
  for (size_t at = 0; at < literal.size();) {
    char c = literal[at++];
    if (c == '\n' || c == '\0') return nullptr;
    if (c != '\\') {
      *to++ = c;
      continue;
    }
    if (at == literal.size()) return nullptr;
    if (IsOctal(literal[at])) {
      auto byte = Octal(literal, &at);
      if (!byte) return nullptr;
      *to++ = *byte;
    } else if (char escaped = kEscapes[static_cast<unsigned char>(literal[at])]) {
      *to++ = escaped;
      ++at;
    } else {
      return nullptr;
    }
  }
  return to;
}

}  // namespace grapnel
