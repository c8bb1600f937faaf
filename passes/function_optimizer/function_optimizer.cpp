// Inlines functions: calls become the nodes of the function; functional If, Case and While become
// the Switch, Merge and loop nodes that the executor runs; a call that must stay calls a
// specialized function.
//
//   Before:  x -> PartitionedCall(f) -> y          f(a) = Exp(Neg(a))
//   After:   x -> Func/PartitionedCall/input/_0 -> PartitionedCall/Neg -> PartitionedCall/Exp
//              -> Func/PartitionedCall/output/_1 -> y
//
// Each node is visited once, and then the nodes that the rules made. Then the remaining calls get
// functions of their own.
//
// Refuses: functions marked `_noinline`, nodes that are fed or marked for XLA, variants of one
// interface (api_implements), effects that might not happen after inlining, outputs that may be
// dead, recursion; see also the rules.
#include "lib/function/function_rewriter.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class FunctionOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    if (edit.module().functions.empty()) return Error::success();
    FunctionRewriter rewriter(edit);
    OpenCalls(rewriter);
    llvm::erase_if(rewriter.nodes, [&](NodeId id) { return !rewriter.graph.IsAlive(id); });
    edit.SetOrder(rewriter.nodes);
    RuleTable of_body(edit, edit.pass(), FunctionRewriter::kWholeBody);
    for (const Rule* rule : of_body.all()) {
      if (!rewriter.stopped) rewriter.Apply(*rule);
    }
    return Error::success();
  }
};

GRAPNEL_PASS(
    FunctionOptimizer,
    (PassInfo{
        .name = "function_optimizer",
        .config_name = "function",
        .order = 4,
        .default_on = true,
        .toggle = "function_optimization",
        .help = "replaces calls with the nodes of their functions, and makes "
                "specialized functions for the other calls",
        .refuses = "functions marked _noinline, effects that nothing waits for (both unless "
                   "AGGRESSIVE), variants of one interface, calls that are fed or for XLA, outputs "
                   "that may be dead, recursion, gradients that the library does not define"}), );

}  // namespace

}  // namespace grapnel
