// Simplifies arithmetic: removes operations that cancel, merges repeated computations, and uses
// cheaper forms.
//
//   Before:  Neg(Neg(x)) * Neg(Neg(x)) -> y       After:  Square(x) -> y
//
// Nodes are visited from the results back, and again when a node near them changes. Each rule is a
// file in this folder; the first rule that is done with a node ends the visit. A rule changes the
// node in place, or lets its readers read another node: one that exists, or a new one, usually
// named "ArithmeticOptimizer/<Stage>_<node>" in the node's scope. The replaced node stays until the
// pruner removes it.
//
// Refuses, in addition to the rules' own conditions: shapes of fed nodes are not trusted, unless
// arithmetic_optimization is AGGRESSIVE; most rules leave a node alone if a node with the name of
// the new one exists.
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
      left = rules.After(rule, op);
    }
  }
};

GRAPNEL_PASS(
    ArithmeticOptimizer,
    (PassInfo{.name = "arithmetic_optimizer",
              .config_name = "arithmetic",
              .order = 11,
              .default_on = true,
              .toggle = "arithmetic_optimization",
              .help = "simplifies arithmetic: removes operations that cancel, uses cheaper forms",
              .refuses = "in most rules, nodes that are fetched, fed, kept or read elsewhere, and "
                         "unknown shapes; some rules need a device or AGGRESSIVE"}), );

}  // namespace
}  // namespace grapnel::arithmetic
