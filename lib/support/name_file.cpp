#include "lib/support/name_file.h"

#include "lib/support/memory_budget.h"
#include "llvm/ADT/Twine.h"

namespace grapnel {

Error NameFile(llvm::StringRef path, Error error) {
  if (!error) return error;
  bool is_memory = error.isA<OutOfMemory>();
  std::string text = TextOf(std::move(error));
  if (!llvm::StringRef(text).starts_with((path + ": ").str())) text = (path + ": " + text).str();
  return is_memory ? llvm::make_error<OutOfMemory>(text) : MakeError("{0}", text);
}

}  // namespace grapnel
