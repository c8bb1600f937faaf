#include "lib/support/error.h"

#include "llvm/ADT/Twine.h"

namespace grapnel {

Error Annotate(const llvm::Twine& where, Error error) {
  if (!error) return error;
  return MakeError("{0}: {1}", where.str(), TextOf(std::move(error)));
}

std::string TextOf(Error error) { return llvm::toString(std::move(error)); }

}  // namespace grapnel
