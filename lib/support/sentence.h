// Message formatting with names that come from a graph.
#ifndef GRAPNEL_LIB_SUPPORT_SENTENCE_H_
#define GRAPNEL_LIB_SUPPORT_SENTENCE_H_

#include <string>

#include "lib/support/public.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatProviders.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {

// One argument of Sentence: a pointer to a value, and the function that prints values of its type.
// The class does not depend on the type, so the compiler generates code once for each type of
// argument, not for each combination of types in a message. Valid only within the expression that
// makes it.
class GRAPNEL_PUBLIC SentenceArgument {
 public:
  template <typename T>
  SentenceArgument(const T& value)  // NOLINT(google-explicit-constructor): an argument is a value
      : value_(&value), print_(PrintAs<T>) {}
  SentenceArgument(const llvm::StringRef& name)  // NOLINT(google-explicit-constructor)
      : value_(&name), print_(PrintName) {}
  SentenceArgument(const std::string& text)  // NOLINT(google-explicit-constructor)
      : value_(&text), print_(PrintText) {}
  SentenceArgument(const char* text)  // NOLINT(google-explicit-constructor)
      : value_(text), print_(PrintLiteral) {}

  void Print(llvm::raw_ostream& os, llvm::StringRef style) const { print_(value_, os, style); }

 private:
  using Printer = void (*)(const void* value, llvm::raw_ostream& os, llvm::StringRef style);

  template <typename T>
  static void PrintAs(const void* value, llvm::raw_ostream& os, llvm::StringRef style) {
    // Not const, because the format function of an adapter such as llvm::fmt_align is not const.
    auto& held = *const_cast<T*>(static_cast<const T*>(value));
    llvm::support::detail::build_format_adapter(held).format(os, style);
  }
  static void PrintName(const void* value, llvm::raw_ostream& os, llvm::StringRef style);
  static void PrintText(const void* value, llvm::raw_ostream& os, llvm::StringRef style);
  static void PrintLiteral(const void* value, llvm::raw_ostream& os, llvm::StringRef style);

  const void* value_;
  Printer print_;
};

extern template void SentenceArgument::PrintAs<int>(const void*, llvm::raw_ostream&,
                                                    llvm::StringRef);
extern template void SentenceArgument::PrintAs<unsigned>(const void*, llvm::raw_ostream&,
                                                         llvm::StringRef);
extern template void SentenceArgument::PrintAs<long>(const void*, llvm::raw_ostream&,  // NOLINT
                                                     llvm::StringRef);
extern template void SentenceArgument::PrintAs<unsigned long>(  // NOLINT: int64_t and size_t
    const void*, llvm::raw_ostream&, llvm::StringRef);
extern template void SentenceArgument::PrintAs<double>(const void*, llvm::raw_ostream&,
                                                       llvm::StringRef);

[[gnu::cold]] GRAPNEL_PUBLIC std::string FormatSentence(const char* format,
                                                        llvm::ArrayRef<SentenceArgument> arguments);

// Formats like llvm::formatv, except that an llvm::StringRef argument is a name and must not break
// the line: Printable replaces characters that a terminal would not show. A std::string argument is
// text and may contain line ends.
template <typename... Args>
[[gnu::always_inline]] inline std::string Sentence(const char* format, const Args&... args) {
  if constexpr (sizeof...(args) == 0) {
    return FormatSentence(format, {});
  } else {
    return FormatSentence(format, {SentenceArgument(args)...});
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SENTENCE_H_
