// Decides what is open when a page loads.
#ifndef GRAPNEL_LIB_RENDER_PAGE_OPENING_H_
#define GRAPNEL_LIB_RENDER_PAGE_OPENING_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/scope_tree.h"
#include "lib/support/error.h"

namespace grapnel {

constexpr int kFirstBoxes = 40;  // at most, unless the user requests more

// The scopes and functions that a caller wants open, as in ViewOptions. Empty: the largest scopes.
struct OpenRequest {
  std::vector<std::string> scopes, functions;
  int depth = -1;
  int max_boxes = kFirstBoxes;
  bool empty() const { return scopes.empty() && functions.empty() && depth < 0; }
};

struct PageOpening {
  struct Body {
    const Graph* graph = nullptr;
    std::vector<ScopeId> scopes;  // each ascending
    std::vector<NodeId> callers;  // ops that show the bodies of their functions
  };
  struct Place {
    const Graph* graph = nullptr;
    ScopeId scope = kNoScope;
  };
  const Function* first = nullptr;  // the function that is shown; null: main
  std::vector<Body> bodies;
  // The first requested scope, or the outermost one of a requested function. None: nothing was
  // requested.
  std::optional<Place> viewport;
  bool asked = false;  // open scopes were requested, so never close them to make room
};

// A page shows functions in the ops that call them, so everything on the way from `first` (null:
// main) to a requested function is open too. A function that nothing calls is shown first itself.
// Errors: a scope or a function that does not exist. Linear in the module.
Expected<PageOpening> OpenPage(const Module& module, const Function* first,
                               const OpenRequest& wanted);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_OPENING_H_
