#include "lib/support/glob.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// True if the text ends in a \ that is not itself escaped: LLVM before 17 reads beyond the end of
// such a pattern.
bool EndsInEscape(llvm::StringRef text) { return (text.size() - text.rtrim('\\').size()) % 2 == 1; }

}  // namespace

Expected<Glob> Glob::Parse(llvm::StringRef text) {
  if (EndsInEscape(text))
    return MakeError("'{0}' is not a pattern: a character was expected after the last \\", text);
  auto kept = std::make_shared<const std::string>(text);
  auto pattern = llvm::GlobPattern::create(*kept);
  if (!pattern) {
    llvm::consumeError(pattern.takeError());  // LLVM's text differs between its versions
    return MakeError(
        "'{0}' is not a pattern: [ and ] with characters, or a range such as a-z, between them "
        "were "
        "expected (\\[ is the character itself)",
        text);
  }
  return Glob(std::move(kept), std::move(*pattern));
}

Expected<std::vector<Glob>> Glob::ParseAll(llvm::ArrayRef<std::string> texts) {
  std::vector<Glob> globs;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Glob glob, Parse(text));
    globs.push_back(std::move(glob));
  }
  return globs;
}

bool FitsAny(llvm::ArrayRef<Glob> globs, llvm::StringRef name) {
  return llvm::any_of(globs, [&](const Glob& glob) { return glob.Fits(name); });
}

}  // namespace grapnel
