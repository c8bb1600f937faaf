// Regular expressions for names: POSIX extended, with \d, \w and \s. The page has the same
// (lib/serve/web/filter_words.js).
#ifndef GRAPNEL_LIB_RENDER_NAME_REGEX_H_
#define GRAPNEL_LIB_RENDER_NAME_REGEX_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Regex.h"

namespace grapnel {

class NameRegex {
 public:
  // True for "/.../".
  static bool IsWord(llvm::StringRef word) {
    return word.size() > 1 && word.front() == '/' && word.back() == '/';
  }
  // Parses "/REGEX/". Errors quote the word and say why it is invalid.
  static Expected<NameRegex> Parse(llvm::StringRef word, bool ignore_case = false);
  // True if a part of the name matches.
  bool Matches(llvm::StringRef name) const;

 private:
  std::shared_ptr<const llvm::Regex> regex_;
  // Texts that each matching name contains. A name without one of them is rejected before the
  // slower regex is tried.
  std::vector<std::string> literals_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_NAME_REGEX_H_
