// Names as parts between slashes: "scope/inner/node".
#ifndef GRAPNEL_LIB_IR_NAME_PARTS_H_
#define GRAPNEL_LIB_IR_NAME_PARTS_H_

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// True if `name` is `end`, or ends with the whole parts of `end`: "a/b/c" with "b/c".
inline bool EndsWithParts(llvm::StringRef name, llvm::StringRef end) {
  return name.consume_back(end) && (name.empty() || name.ends_with("/"));
}

// True if `name` is in the scope, not the scope itself: "a/b/c" in "a/b".
inline bool IsInScope(llvm::StringRef name, llvm::StringRef scope) {
  return name.consume_front(scope) && name.starts_with("/");
}

// Calls `visit` with the name and with each end of whole parts, from the longest, until it returns
// true. Returns whether it did.
inline bool AnyEnd(llvm::StringRef name, llvm::function_ref<bool(llvm::StringRef)> visit) {
  for (;;) {
    if (visit(name)) return true;
    size_t at = name.find('/');
    if (at == llvm::StringRef::npos) return false;
    name = name.drop_front(at + 1);
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NAME_PARTS_H_
