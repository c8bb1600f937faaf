// Shell-style name patterns.
#ifndef GRAPNEL_LIB_SUPPORT_GLOB_H_
#define GRAPNEL_LIB_SUPPORT_GLOB_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/GlobPattern.h"

namespace grapnel {

// A pattern with its text, which LLVM's matcher points into. Copies share the text and the matcher.
//
// `*` matches any run of characters, `?` one character, `[abc]` and `[a-c]` one of these, `[^abc]`
// and `[!abc]` any other one; `\` takes the next character literally. Other characters match
// themselves. '/' is not special, so `dense*` matches dense/kernel.
class GRAPNEL_PUBLIC Glob {
 public:
  // Errors quote the pattern and say what is wrong with it.
  static Expected<Glob> Parse(llvm::StringRef text);
  static Expected<std::vector<Glob>> ParseAll(llvm::ArrayRef<std::string> texts);

  const std::string& text() const { return *text_; }
  // True if the pattern has no wildcards and no escapes, so that it is a plain name.
  bool IsName() const { return text().find_first_of("*?[\\") == std::string::npos; }
  // True if the pattern matches `name`, or if `name` is the text of the pattern itself, wildcards
  // included.
  bool Fits(llvm::StringRef name) const { return name == text() || pattern_->match(name); }

 private:
  Glob(std::shared_ptr<const std::string> text, llvm::GlobPattern pattern)
      : text_(std::move(text)),
        pattern_(std::make_shared<const llvm::GlobPattern>(std::move(pattern))) {}

  std::shared_ptr<const std::string> text_;
  std::shared_ptr<const llvm::GlobPattern> pattern_;
};

// True if at least one of `globs` matches.
GRAPNEL_PUBLIC bool FitsAny(llvm::ArrayRef<Glob> globs, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_GLOB_H_
