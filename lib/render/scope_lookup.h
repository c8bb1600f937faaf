// The errors and notices about scopes that a user names.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_
#define GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_

#include "lib/render/scope_tree.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Says why the scope that `path` names, which Find has found as `scope`, has no frame that can be
// open; empty if it has one.
std::string WhyNoFrame(const ScopeTree& tree, llvm::StringRef path, ScopeId scope,
                       const Graph& graph);

// Returns the error for `path`; it suggests scopes with similar names, or else lists existing
// scopes.
Error NoSuchScope(const ScopeTree& tree, llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_LOOKUP_H_
