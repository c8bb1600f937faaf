// Simplifies arithmetic: what cancels goes, what is computed twice over is computed once, and what
// has a cheaper form gets it.
//
//   Before:  Neg(Neg(x)) * Neg(Neg(x)) -> y       After:  Square(x) -> y
//
// Nodes are looked at from the results back, and again when something near them changed. Each rule
// is a file of this folder; the first that is done with a node ends the visit. A rule either
// changes the node in place or makes another, "ArithmeticOptimizer/<Stage>_<node>" in the node's
// scope, which all readers then read. The node that was replaced stays where it is for the pruner.
//
// Refuses, beside what each rule says: shapes are not trusted of what is fed, unless
// arithmetic_optimization is AGGRESSIVE.
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {
namespace {

class ArithmeticOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Arithmetic arithmetic(edit);
    RuleTable rules(edit, Arithmetic::kOptimizer);
    std::vector<NodeId> order = edit.NodesInOrder();
    edit.SetOrder(order);
    for (NodeId id : order) arithmetic.Enqueue(edit.graph().node(id));
    while (Node node = arithmetic.Pop()) {
      Visit(arithmetic, rules, node);
      if (arithmetic.stopped) break;
    }
    return Error::success();
  }

 private:
  static void Visit(Arithmetic& arithmetic, const RuleTable& rules, const Node& node) {
    StringId op = node.op_id();
    llvm::ArrayRef<const Rule*> left = rules.Of(op);
    while (!left.empty()) {
      const Rule& rule = *left.front();
      left = left.drop_front();
      Verdict verdict =
          arithmetic.Apply(rule, node, [&](Port by) { arithmetic.Replace(node, by); });
      arithmetic.EndRewrite();
      if (verdict.kind == Verdict::kDone || arithmetic.stopped) break;
      if (node.op_id() == op) continue;
      op = node.op_id();
      left = rules.Of(op).drop_while([&](const Rule* other) { return other->place <= rule.place; });
    }
  }
};

GRAPNEL_PASS(ArithmeticOptimizer,
             (PassInfo{
                 .name = "arithmetic_optimizer",
                 .config_name = "arithmetic",
                 .order = 11,
                 .default_on = true,
                 .toggle = "arithmetic_optimization",
                 .help = "simplifies arithmetic: removes what cancels, puts cheaper forms in place",
                 .refuses = "nodes that are fetched, fed or read elsewhere; shapes that are not "
                            "known; some need a device or AGGRESSIVE"}), );

}  // namespace
}  // namespace grapnel::arithmetic
