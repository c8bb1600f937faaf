// Replaces a call with the nodes of the function.
//
//   Before:  x, ^c -> PartitionedCall(f) -> y, ^d       f(a) = Exp(Neg(a))
//   After:   x -> Func/PartitionedCall/input/_1 -> PartitionedCall/Neg -> PartitionedCall/Exp
//              -> Func/PartitionedCall/output/_2 -> y
//            ^c -> Func/PartitionedCall/input_control_node/_0, which inputs and nodes without any
//            wait for
//            Func/PartitionedCall/output_control_node/_3 -> ^d, after the nodes that the function
//            requires to run
//
// Names of inlined nodes, of their loop frames and in their colocation requests get the call's name
// as a prefix. If the call's op is the function's name, the nodes go to the device of the call; the
// nodes of a PartitionedCall keep their requested devices, completed from the device of the call.
//
// A call marked kOpenWhole (lib/function/function_rewriter.h) is inlined even if its function is
// marked `_noinline`; placement marks calls so.
//
// Refuses: functions marked `_noinline`, and functions with an effect if nothing waits for the call
// or if no control output (for a direct call: no result) depends on the effect, both unless
// function_optimization is AGGRESSIVE; variants of one interface (api_implements), among which the
// runtime chooses; calls that are fed or for XLA; results that come from a Switch and may be dead;
// recursion; gradients that the library does not define; results that are lists, and other calls
// that do not match the function's signature.
#include "lib/function/inlining.h"
#include "lib/pass/library.h"

namespace grapnel {
namespace {

// The callee of the node; for a SymbolicGradient, the gradient that the library defines: if there
// is none, a refusal is recorded.
Call CalleeOf(FunctionRewriter& rule, const Node& node) {
  if (node.op() != "SymbolicGradient") return CallOf(node);
  std::optional<AttrView> f = node.FindAttr("f");
  llvm::StringRef name = f ? f->AsFuncName().value_or("") : "";
  Call callee;
  callee.function = rule.module.FindFunction(CustomGradientOf(rule.module, name));
  callee.direct = true;
  if (!callee.function) rule.Refuse("the library defines no gradient for '{0}'\nadd one", name);
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
              .phase = FunctionRewriter::kOpenCalls,
              .after = "lower_while",
              .name = "inline_call",
              .ops = {},
              .help = "replaces a call with the nodes of its function",
              .refuses = "functions marked _noinline, effects that nothing waits for or no output "
                         "depends on (all unless AGGRESSIVE); variants of one interface; calls "
                         "that are fed or for XLA; results that may be dead; recursion; gradients "
                         "that the library does not define; calls that do not match the signature",
              .apply = InlineCall});

}  // namespace
}  // namespace grapnel
