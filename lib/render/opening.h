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

// The selected nodes of one body, folded and grouped into scopes, and the body's open scopes.
struct BodyPlan {
  const Graph* graph = nullptr;
  const Function* function = nullptr;  // null: main graph
  Node loop;                           // a While whose body or condition this is; null: no loop
  Folding folding;
  std::unique_ptr<ScopeTree> tree;
  bool drawn = false;
  bool is_entry = false;   // it is the body of a signature, which takes the place of the main graph
  std::vector<bool> open;  // by scope; of a chain of only children only the core can be open
  // The children and ops of open scopes that get no box of their own because of --max-boxes; in
  // each open scope, one "rest" box stands for them.
  llvm::DenseSet<ScopeId> rest_scopes;
  llvm::DenseSet<NodeId> rest_ops;
};

// True if a picture shows the body of a signature (options.entry) instead of the main graph,
// because no part of the graph was requested.
bool BeginsAtEntry(const ViewOptions& options);

struct DrawnCall {
  uint32_t body;  // the caller's body: an index in Plan::bodies
  NodeId caller;  // a node that has its own box
  // The attribute whose value is the callee's name: "body", "then_branch"; empty if the callee's
  // name is the caller's op.
  std::string role;
  const Function* callee;
};

struct AskedScope {
  const BodyPlan* body;
  ScopeId scope;  // Scope::core of the requested scope
};

struct Plan {
  std::vector<std::unique_ptr<BodyPlan>> bodies;  // main first; some are not drawn
  std::vector<DrawnCall> calls;
  std::vector<const Function*> closed;  // functions that a call shows as a closed box
  std::vector<AskedScope> asked;        // in the order of ViewOptions::scopes
  std::vector<std::string> notices;     // requested scopes that have no frame, and why
  size_t left_closed = 0;               // scopes and functions that --max-boxes kept closed
};

// Opens the scopes and functions that `options` request, then all down to the depth. Without a
// depth, opens the largest ones instead (if any are requested, only within these) until there are
// some 20 boxes; layers, parts and series may stay closed at 7 or 8. If `only` is not null, draws
// only this body, restricted to the nodes in `selected` (by id; empty: all nodes).
Expected<Plan> MakePlan(const Module& module, const ViewOptions& options, const Graph* only,
                        const std::vector<bool>& selected);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_OPENING_H_
