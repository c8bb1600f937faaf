// Message formatting with names that come from a graph.
#ifndef GRAPNEL_LIB_SUPPORT_SENTENCE_H_
#define GRAPNEL_LIB_SUPPORT_SENTENCE_H_

#include <string>
#include <type_traits>
#include <utility>

#include "lib/support/printable.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/FormatAdapters.h"
#include "llvm/Support/FormatVariadic.h"

namespace grapnel {

class GRAPNEL_PUBLIC NameAdapter : public llvm::FormatAdapter<llvm::StringRef> {
 public:
  explicit NameAdapter(llvm::StringRef name)
      : llvm::FormatAdapter<llvm::StringRef>(llvm::StringRef(name)) {}
  void format(llvm::raw_ostream& os, llvm::StringRef /*style*/) override { os << Printable(Item); }
};

template <typename T>
decltype(auto) AsWord(T&& value) {
  if constexpr (std::is_same_v<std::remove_cvref_t<T>, llvm::StringRef>) {
    return NameAdapter(llvm::StringRef(value));
  } else {
    return std::forward<T>(value);
  }
}

// Like llvm::formatv, but a llvm::StringRef argument is a name and cannot break the line:
// characters that a terminal would not show become \xNN. A std::string is text and may contain line
// ends.
template <typename... Args>
std::string Sentence(const char* format, Args&&... args) {
  return llvm::formatv(format, AsWord(std::forward<Args>(args))...).str();
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_SENTENCE_H_
