// TensorFlow's pass of this name lets the inputs of several collectives share one buffer, so that
// they can be reduced as one.
//
// TensorFlow omits the pass from builds with oneDNN, such as 2.21's: in these builds the toggle
// does nothing, and selecting the pass by name has no effect. In grapnel the pass has no effect
// either: it only records a refusal for each node that it would consider.
//
// Refuses everything.
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class ScopedAllocator : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    const auto& ops = edit.config().scoped_allocator_opts().enable_op();
    for (Node node : edit.graph().nodes()) {
      if (!llvm::is_contained(ops, node.op().str())) continue;
      edit.Refuse("share_buffers", node, "'{0}' stays: builds with oneDNN have no scoped allocator",
                  node.name());
    }
    return Error::success();
  }
};

GRAPNEL_PASS(ScopedAllocator,
             (PassInfo{.name = "scoped_allocator_optimizer",
                       .config_name = "scoped_allocator",
                       .order = 18,
                       .run_once = true,
                       .toggle = "scoped_allocator_optimization",
                       .help = "does nothing: builds of TensorFlow with oneDNN omit it",
                       .refuses = "everything"}),
             {"share_buffers", "never rewrites: only reports the nodes with the ops of enable_op"});

}  // namespace
}  // namespace grapnel
