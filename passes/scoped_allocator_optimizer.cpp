// Lets the inputs of several collectives share one buffer, so that they can be reduced as one.
//
// TensorFlow leaves this out of builds with oneDNN, which 2.21's are: there the switch does
// nothing, and asked for by name it is passed over. So it is here: the pass says which nodes it
// would look at and leaves them.
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
                       .help = "nothing: builds of TensorFlow with oneDNN leave it out",
                       .refuses = "everything"}),
             {"share_buffers", "never: only says which nodes were asked for"});

}  // namespace
}  // namespace grapnel
