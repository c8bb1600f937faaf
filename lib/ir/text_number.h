// Prints floating-point numbers so that they read back as the same numbers.
#ifndef GRAPNEL_LIB_IR_TEXT_NUMBER_H_
#define GRAPNEL_LIB_IR_TEXT_NUMBER_H_

#include <charconv>
#include <cstdlib>
#include <optional>
#include <string>
#include <type_traits>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the shortest text that reads back as the same `value`. The text contains a decimal point,
// an exponent or a word (inf, nan), so it cannot be taken for an integer.
template <typename T>
std::string FloatText(T value) {
  char buffer[64];
  std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  if (llvm::StringRef(text).find_first_not_of("-0123456789") == llvm::StringRef::npos) text += ".0";
  return text;
}

// Returns the number in `text`; nullopt if the text is not a number. A number that is too large
// becomes infinity, one that is too small becomes 0.
template <typename T>
std::optional<T> ParseFloat(llvm::StringRef text) {
  text.consume_front("+");
  T value;
  auto [end, error] = std::from_chars(text.begin(), text.end(), value);
  if (end != text.end() || text.empty()) return std::nullopt;
  if (error == std::errc()) return value;
  std::string owned = text.str();
  if constexpr (std::is_same_v<T, float>) return std::strtof(owned.c_str(), nullptr);
  return std::strtod(owned.c_str(), nullptr);
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_NUMBER_H_
