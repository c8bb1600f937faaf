// Makes the texts that describe scopes in the page's documents.
#ifndef GRAPNEL_LIB_RENDER_SCOPE_TEXTS_H_
#define GRAPNEL_LIB_RENDER_SCOPE_TEXTS_H_

#include <string>

#include "lib/render/page_body.h"

namespace grapnel {

// Returns the text about a scope's nodes at any depth (PageTextKind::kAbout): {"ops", "siblings":
// "alike", "inputs", "neighbors" or "named" for a group, "taken": Scope::num_taken, "kinds": "3
// Conv2D, 3 Relu", "group": of colors, for a layer, "devices": {device: nodes}, "clusters":
// {cluster: nodes}, "flops", "bytes"}; without devices or clusters if no node has one, else "none"
// counts the nodes without one. Linear in the nodes of the scope.
std::string AboutText(const PageBody& body, ScopeId scope);

// The contents of an opened scope.
struct ContentsText {
  // PageTextKind::kContents. Ids of nodes in it are less `anchor`, ids of scopes less the scope's,
  // so that scopes of equal contents have one text, wherever in the graph they are:
  //   {"scopes": [child scopes], "alone": [for each: its node, if it is drawn as its only op, else
  //    null], "ops": [nodes], "above": [indices of the kept ones of these], "sources": [ports],
  //    "sinks": [ports], "edges": [[from, to, count, flags, label]], "labels",
  //    "unseen": [[entity, in, out]]}
  // A port is [node], [scope, node or null], or [] for the rest. An edge's flags are 1 for control,
  // 2 for handles, 4 for an edge that closes a loop; its label is an index in "labels" from 1.
  // Absent fields, and absent numbers at the end of an edge, are empty or 0; a count, 1. The
  // browser assigns layers (lib/render/web/view_layers.js).
  std::string text;
  NodeId anchor = 0;  // the least id of the nodes drawn as boxes directly in it; 0 if none is
};
// `scope` must be a core (Scope::core).
ContentsText ContentsOf(const BodyScopes& scopes, ScopeId scope);

// Adds to `counts`, by kind, the number of marked nodes in a scope, at any depth.
void CountMarked(const PageBody& body, ScopeId scope, llvm::MutableArrayRef<int32_t> counts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_SCOPE_TEXTS_H_
