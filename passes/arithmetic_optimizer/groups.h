// Trees of one operation, for rules that reorder the operands of the whole tree.
#ifndef GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_GROUPS_H_
#define GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_GROUPS_H_

#include <optional>
#include <vector>

#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

// Boolean attributes that mark nodes that a rule made or processed, so that the rule does not
// process these nodes again.
inline constexpr char kAddOpsRewriteTag[] = "_grappler_ArithmeticOptimizer_AddOpsRewriteStage";
inline constexpr char kMinimizeBroadcastsTag[] = "_grappler_ArithmeticOptimizer_MinimizeBroadcasts";

// A tree of nodes of one device: `root`, the nodes below it (`absorbed`), and the inputs of the
// tree. Only its parent reads the value of a node below the root: `absorbs` of FindGroup must admit
// no other nodes.
struct Group {
  struct Input {
    Port port;
    Shape shape;
  };
  Node root;
  std::vector<Node> absorbed;
  std::vector<Input> inputs;
};

// Returns nothing if the rank of some input is unknown, or if the tree has only the root. `absorbs`
// selects the nodes of the tree.
std::optional<Group> FindGroup(Arithmetic& rule, const Node& root,
                               llvm::function_ref<bool(const Node&)> absorbs);
// True if `node` has no control inputs, and its shape and those of its inputs are known, at least
// as symbols, and can be broadcast.
bool HasBroadcastableInputs(Arithmetic& rule, const Node& node);
void MarkGroup(Arithmetic& rule, const Group& group, const char* tag);

}  // namespace grapnel::arithmetic

#endif  // GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_GROUPS_H_
