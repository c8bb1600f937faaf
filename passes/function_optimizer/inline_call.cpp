// The nodes of a function take the place of a call of it.
//
//   Before:  x, ^c -> PartitionedCall(f) -> y, ^d       f(a) = Exp(Neg(a))
//   After:   x -> Func/PartitionedCall/input/_1 -> PartitionedCall/Neg -> PartitionedCall/Exp
//              -> Func/PartitionedCall/output/_2 -> y
//            ^c -> Func/PartitionedCall/input_control_node/_0, which inputs and nodes without any
//            wait for Func/PartitionedCall/output_control_node/_3 -> ^d, after what the function
//            says must run
//
// Nodes are named after the call, and so are their loop frames and colocations. A call by name is
// on one device, its own; the nodes of a PartitionedCall keep what they ask for, completed from the
// device of the call.
//
// A call marked kOpenWhole is opened to be placed: what its function says against it does not
// count.
//
// Refuses: functions marked `_noinline` (unless function_optimization is AGGRESSIVE); variants of
// one interface (api_implements), among which the runtime chooses; calls that are fed or for XLA;
// functions with an effect that no control output, or nobody who waits for the call, makes happen;
// results that come from a Switch and may be dead; recursion; gradients that have to be derived;
// results that are lists.
#include "lib/function/inlining.h"
#include "lib/pass/library.h"

namespace grapnel {
namespace {

// What the node calls; of a SymbolicGradient, the gradient that the library gives. Refuses.
Call CalleeOf(FunctionRewriter& rule, const Node& node) {
  if (node.op() != "SymbolicGradient") return CallOf(node);
  std::optional<AttrView> f = node.FindAttr("f");
  llvm::StringRef name = f ? f->AsFuncName().value_or("") : "";
  Call callee;
  callee.function = rule.module.FindFunction(CustomGradientOf(rule.module, name));
  callee.direct = true;
  if (!callee.function) rule.Refuse("the gradient of '{0}' would have to be derived", name);
  return callee;
}

Verdict InlineCall(FunctionRewriter& rule, const Node& node) {
  if (node.GetBool(kLower)) return rule.NotMine();
  if (rule.opening == Opening::kSession && !node.GetBool(kPartOfControlFlow)) return rule.NotMine();
  if (rule.is_runtime() && node.op() == "SymbolicGradient") return rule.NotMine();
  Call callee = CalleeOf(rule, node);
  if (!callee.function) return rule.NotMine();
  std::string why_not = WhyNotInline(rule, node, callee);
  if (!why_not.empty()) return rule.Refuse("{0}", why_not);
  Inline(rule, node, std::move(callee));
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "function_optimizer",
              .place = 3,
              .name = "inline_call",
              .ops = {},
              .help = "the nodes of a function take the place of a call",
              .refuses = "functions marked _noinline or for XLA, effects that nothing waits for, "
                         "results that may be dead, recursion",
              .apply = InlineCall});

}  // namespace
}  // namespace grapnel
