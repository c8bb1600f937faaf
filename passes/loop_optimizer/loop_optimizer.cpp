// Takes out of loops and branches what never runs, and stacks that nobody reads.
//
//   Before:  true, x -> Switch -> :0 -> Exp \             After:  x, ^true -> Identity -> Sin
//                              \> :1 -> Sin -> Merge -> y               -> Identity -> y
//
// Runs once. One file a rule.
//
// Refuses: Switches that are fetched or kept, branches that hold what must stay, Merges of which
// somebody reads which branch it was, stacks that are popped.
#include "passes/loop_optimizer/loop_optimizer.h"

#include "lib/pass/pass.h"

namespace grapnel {
namespace {

class LoopOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    if (RemoveStackPushes(edit)) RemoveDeadBranches(edit);
    return Error::success();
  }
};

GRAPNEL_PASS(LoopOptimizer,
             (PassInfo{"loop_optimizer", "loop", 14, true, true, "loop_optimization",
                       "removes branches and loops that never run, and pushes on stacks that "
                       "nobody pops",
                       "branches that hold what is fetched or kept, Merges whose choice is read, "
                       "stacks that are popped"}),
             {"remove_dead_branches", "removes what follows the dead side of a Switch"},
             {"remove_stack_push", "a push on a stack that nobody pops hands its value on"});

}  // namespace

Node LoopAnchor(Editor& edit, OpKinds& kinds, Port port) {
  Node node = edit.graph().node(port.node);
  if (port.IsControl() || !kinds.Is(node, kSwitchOp)) return node;
  for (const Use& use : node.UsesOf(port.index)) {
    Node reader = edit.graph().node(use.node);
    if (kinds.Is(reader, kIdentityOp) || IsIdentityNOfOne(reader)) return reader;
  }
  std::string name = ("ConstantFoldingCtrl/" + node.name() + "_" + llvm::Twine(port.index)).str();
  Node anchor = edit.AddNode(name, "Identity", node.device());
  edit.SetAttr(anchor, "T", attr::Type(BaseType(node.GetType("T"))));
  edit.AddInput(anchor, port);
  return anchor;
}

}  // namespace grapnel
