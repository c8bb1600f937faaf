#include "lib/support/error.h"

#include "lib/support/memory_budget.h"
#include "llvm/ADT/Twine.h"

namespace grapnel {

Error FormatError(const char* format, llvm::ArrayRef<SentenceArgument> arguments) {
  return llvm::make_error<llvm::StringError>(FormatSentence(format, arguments),
                                             llvm::inconvertibleErrorCode());
}

Error Annotate(const llvm::Twine& where, Error error) {
  if (!error) return error;
  bool is_memory = error.isA<OutOfMemory>();
  std::string text = (where + ": ").str() + TextOf(std::move(error));
  return is_memory ? llvm::make_error<OutOfMemory>(text) : MakeError("{0}", text);
}

std::string TextOf(Error error) { return llvm::toString(std::move(error)); }

}  // namespace grapnel
