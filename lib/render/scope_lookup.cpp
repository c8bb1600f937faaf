#include "lib/render/scope_lookup.h"

#include <string>

#include "lib/support/printable.h"
#include "lib/support/suggest.h"

namespace grapnel {
namespace {

// Lists up to five scopes that are in the innermost existing scope of `path`: for "a/b/x", those in
// a/b or, if there is no a/b, in a.
std::string ScopesThere(const ScopeTree& tree, llvm::StringRef path) {
  ScopeId nearest = kRootScope;
  for (llvm::StringRef up = path; !up.empty() && nearest == kRootScope;) {
    size_t slash = up.rfind('/');
    up = slash == llvm::StringRef::npos ? "" : up.substr(0, slash);
    if (ScopeId found = tree.Find(up); found != kNoScope) nearest = found;
  }
  const Scope& scope = tree.scope(nearest);
  std::string names;
  for (uint32_t i = 0; i < scope.num_children && i < 5; ++i) {
    names += (i ? ", " : "") + tree.TypedText(scope.first_child + i);
  }
  if (scope.num_children > 5) names += ", ...";
  std::string where = nearest == kRootScope ? "" : " in '" + tree.PathText(nearest) + "'";
  return names.empty() ? "; there are no scopes" + where : "; scopes" + where + " are " + names;
}

}  // namespace

std::string WhyNoFrame(const ScopeTree& tree, llvm::StringRef path, ScopeId scope,
                       const Graph& graph) {
  if (tree.IsDissolved(path)) {
    std::string around = Printable(tree.PathText(tree.RealScope(scope)));
    return Sentence(
        "scope '{0}' has no box, because data flows out of it and back into it: its nodes are {1}",
        Printable(path), around.empty() ? "at the top level" : "in '" + around + "'");
  }
  const Scope& inner = tree.scope(tree.scope(scope).core);
  if (inner.num_shown > 1 || scope == kRootScope) return "";
  if (inner.num_shown == 0) {
    return Sentence("scope '{0}' has no box, because its nodes are drawn in their readers",
                    Printable(path));
  }
  return Sentence("scope '{0}' has only one node with a box: '{1}' is drawn without a frame",
                  Printable(path),
                  Printable(graph.node(tree.Ops(tree.scope(scope).core)[0]).name()));
}

Error NoSuchScope(const ScopeTree& tree, llvm::StringRef path) {
  std::string hint = DidYouMean(path, [&](NameSink take) {
    for (ScopeId id = kRootScope + 1; id < tree.size(); ++id) take(tree.TypedText(id));
  });
  if (hint.empty()) hint = ScopesThere(tree, path);
  return MakeError("scope '{0}' not found{1}", path, hint);
}

}  // namespace grapnel
