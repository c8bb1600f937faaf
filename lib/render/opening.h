// Decides what is open: scopes and functions, so that a reader can take in what is drawn.
#ifndef GRAPNEL_LIB_RENDER_OPENING_H_
#define GRAPNEL_LIB_RENDER_OPENING_H_

#include <memory>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/render/picture.h"
#include "lib/render/scope_tree.h"
#include "lib/render/selection.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// The part of one body that may be drawn, and what of it is open.
struct BodyPlan {
  const Graph* graph = nullptr;
  const Function* function = nullptr;  // null: main
  Folding folding;
  std::unique_ptr<ScopeTree> tree;
  bool drawn = false;
  std::vector<bool> open;  // by scope; of a chain of lone scopes only the core
  // Children and ops of open scopes that --max-boxes folds into one box of their scope.
  llvm::DenseSet<ScopeId> rest_scopes;
  llvm::DenseSet<NodeId> rest_ops;
};

// Whether a picture begins at the body of a signature: nothing else is asked for.
bool BeginsAtEntry(const ViewOptions& options);

struct DrawnCall {
  uint32_t body;     // of the caller, an index of Plan::bodies
  NodeId caller;     // an op that has its own box
  std::string role;  // the attribute: "body", "then_branch"; empty when the function is the op
  const Function* callee;
};

struct AskedScope {
  const BodyPlan* body;
  ScopeId scope;  // its core
};

struct Plan {
  std::vector<std::unique_ptr<BodyPlan>> bodies;  // main first; some not drawn
  std::vector<DrawnCall> calls;
  std::vector<const Function*> closed;  // called, and drawn as a box
  std::vector<AskedScope> asked;        // as ViewOptions::scopes
  size_t left_closed = 0;  // scopes and functions that --depth asked for and --max-boxes forbade
};

// Opens what `options` ask for; without scopes and depth the largest first, until some 15 to 40
// boxes are there. `selected` (by id; may be empty: all) restricts the body of `only`, and no other
// body is drawn; null: all bodies.
Expected<Plan> MakePlan(const Module& module, const ViewOptions& options, const Graph* only,
                        const std::vector<bool>& selected);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_OPENING_H_
