// Decides which scopes and functions are open when a page loads.
#ifndef GRAPNEL_LIB_RENDER_PAGE_OPENING_H_
#define GRAPNEL_LIB_RENDER_PAGE_OPENING_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/signature.h"
#include "lib/ir/module.h"
#include "lib/render/box_layers.h"
#include "lib/render/scope_tree.h"
#include "lib/support/error.h"

namespace grapnel {

constexpr int kFirstBoxes = 40;  // the largest number of boxes, unless the user requests more

// The scopes and functions that the caller requests to be open, as in ViewOptions. If empty, the
// largest scopes are open.
struct OpenRequest {
  std::vector<std::string> scopes, functions;
  int depth = -1;
  int max_boxes = kFirstBoxes;
  bool empty() const { return scopes.empty() && functions.empty() && depth < 0; }
};

// The facts besides the nodes that determine the boxes of a page; either may be null.
struct PageBoxes {
  const BoxLayers* layers = nullptr;
  const SignatureBody* signature = nullptr;  // see FoldOptions
};

struct PageOpening {
  struct Body {
    const Graph* graph = nullptr;
    std::vector<ScopeId> scopes;  // open scopes, in ascending order
    std::vector<NodeId> callers;  // nodes that show the bodies of functions that they call
  };
  struct Place {
    const Graph* graph = nullptr;
    ScopeId scope = kNoScope;
  };
  const Function* first = nullptr;  // the function whose body is shown; null: main graph
  std::vector<Body> bodies;
  // The first requested scope; without requested scopes, the outermost scope with more than one
  // entity of the first requested function. nullopt if the page shows that function first, if the
  // functions are "all", and if neither a scope nor a function was requested.
  std::optional<Place> viewport;
  bool asked = false;  // the user requested the open scopes: do not close them for room
  std::vector<std::string> notices;  // requested scopes that have no frame, and why
};

// A page shows a function's body within the node that calls the function, so all callers between
// `first` (null: main graph) and a requested function are open too. If no call leads from `first`
// to the requested function, the page shows that function first. Errors: a scope or a function that
// does not exist. Linear in the module.
Expected<PageOpening> OpenPage(const Module& module, const Function* first,
                               const OpenRequest& wanted, const PageBoxes& boxes = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_OPENING_H_
