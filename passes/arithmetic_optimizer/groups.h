// Trees of one operation, which rules that choose an order of operands take as a whole.
#ifndef GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_GROUPS_H_
#define GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_GROUPS_H_

#include <optional>
#include <vector>

#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

// Boolean attributes that mark what a rule made or took in, so that it is not taken up again.
inline constexpr char kAddOpsRewriteTag[] = "_grappler_ArithmeticOptimizer_AddOpsRewriteStage";
inline constexpr char kMinimizeBroadcastsTag[] = "_grappler_ArithmeticOptimizer_MinimizeBroadcasts";

// A tree of nodes of one device under `root`, each with the next above as its only reader, and what
// the tree reads.
struct Group {
  struct Input {
    Port port;
    Shape shape;
  };
  Node root;
  std::vector<Node> absorbed;
  std::vector<Input> inputs;
};

// Nothing when the rank of something that it reads is not known, or nothing belongs to it but the
// root. `absorbs` says which nodes do.
std::optional<Group> FindGroup(Arithmetic& rule, const Node& root,
                               llvm::function_ref<bool(const Node&)> absorbs);
// Whether the shapes of `node` and of all that it reads are known and go together.
bool HasBroadcastableInputs(Arithmetic& rule, const Node& node);
void MarkGroup(Arithmetic& rule, const Group& group, const char* tag);

}  // namespace grapnel::arithmetic

#endif  // GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_GROUPS_H_
