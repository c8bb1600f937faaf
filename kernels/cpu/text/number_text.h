// Number parsing of ops that read numbers from text.
#ifndef GRAPNEL_KERNELS_CPU_TEXT_NUMBER_TEXT_H_
#define GRAPNEL_KERNELS_CPU_TEXT_NUMBER_TEXT_H_

#include <charconv>
#include <cstdlib>
#include <string>
#include <system_error>
#include <type_traits>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Parses floats as strtod does, integers as decimal, ignoring surrounding whitespace. False if
// `whole` contains anything else, or an integer that does not fit T.
template <typename T>
bool ParseNumber(llvm::StringRef whole, T& value) {
  llvm::StringRef text = whole.trim(" \t\n\v\f\r");
  if (text.empty()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    std::string copy = text.str();
    char* end = nullptr;
    if constexpr (std::is_same_v<T, float>)
      value = std::strtof(copy.c_str(), &end);
    else
      value = std::strtod(copy.c_str(), &end);
    return end == copy.c_str() + copy.size();
  } else {
    if (text.front() == '+' && text.take_front(2) != "+-") text = text.drop_front();
    auto [end, error] = std::from_chars(text.begin(), text.end(), value);
    return error == std::errc() && end == text.end();
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_TEXT_NUMBER_TEXT_H_
