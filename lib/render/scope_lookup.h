// What is said of a scope that is not there.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_
#define GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_

#include "lib/render/scope_tree.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// With the scopes that may have been meant, else those that are near.
Error NoSuchScope(const ScopeTree& tree, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_
