// Decides which scopes and functions are open, so that the picture stays readable.
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

// The part of one body that may be drawn, and its open scopes.
struct BodyPlan {
  const Graph* graph = nullptr;
  const Function* function = nullptr;  // null: main
  Folding folding;
  std::unique_ptr<ScopeTree> tree;
  bool drawn = false;
  std::vector<bool> open;  // by scope; in a chain of single scopes only the core
  // Children and ops of open scopes that --max-boxes collects in one box of their scope.
  llvm::DenseSet<ScopeId> rest_scopes;
  llvm::DenseSet<NodeId> rest_ops;
};

// True if a picture begins at the body of a signature because nothing else was requested.
bool BeginsAtEntry(const ViewOptions& options);

struct DrawnCall {
  uint32_t body;     // of the caller, an index of Plan::bodies
  NodeId caller;     // an op that has its own box
  std::string role;  // the attribute: "body", "then_branch"; empty if the op is the function
  const Function* callee;
};

struct AskedScope {
  const BodyPlan* body;
  ScopeId scope;  // its core
};

struct Plan {
  std::vector<std::unique_ptr<BodyPlan>> bodies;  // main first; some not drawn
  std::vector<DrawnCall> calls;
  std::vector<const Function*> closed;  // called and drawn as a box
  std::vector<AskedScope> asked;        // in the order of ViewOptions::scopes
  size_t left_closed = 0;               // opened by --depth but closed by --max-boxes
};

// Opens what `options` request; without scopes and depth the largest scopes, until there are some
// 15 to 40 boxes. `selected` (by id; empty: all) restricts the body of `only`, and no other body is
// drawn; null: all bodies.
Expected<Plan> MakePlan(const Module& module, const ViewOptions& options, const Graph* only,
                        const std::vector<bool>& selected);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_OPENING_H_
