// What is open when a page is.
#ifndef GRAPNEL_LIB_RENDER_PAGE_OPENING_H_
#define GRAPNEL_LIB_RENDER_PAGE_OPENING_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/scope_tree.h"
#include "lib/support/error.h"

namespace grapnel {

constexpr int kFirstBoxes = 40;  // that a page has by itself, at most

// What a caller wants to be open, each as ViewOptions has it. Nothing: the largest scopes.
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
    std::vector<NodeId> callers;  // ops whose functions are open in their place
  };
  struct Place {
    const Graph* graph = nullptr;
    ScopeId scope = kNoScope;
  };
  const Function* first = nullptr;  // whose body is seen; null: main
  std::vector<Body> bodies;
  // What was asked for first, a scope or the outermost one of a function. None: nothing was.
  std::optional<Place> viewport;
  bool asked = false;  // what is open is wanted, and never closed again to make room
};

// A page shows functions in the ops that call them, so all that is on the way from `first` (null:
// main) to a function that is asked for is open too; one that nothing leads to is seen first
// itself. Errors: a scope or a function that is not there. Linear in the module.
Expected<PageOpening> OpenPage(const Module& module, const Function* first,
                               const OpenRequest& wanted);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_PAGE_OPENING_H_
