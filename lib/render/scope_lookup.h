// The error for a scope that does not exist.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_
#define GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_

#include "lib/render/scope_tree.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Returns the error for `path`; it suggests scopes with similar names, or else lists existing
// scopes.
Error NoSuchScope(const ScopeTree& tree, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_
