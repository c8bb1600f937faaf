// Passes: what one is, and how it registers itself. A pass sees the whole graph; one that is a
// schedule of rules is called an optimizer (lib/pass/rule.h).
#ifndef GRAPNEL_LIB_PASS_PASS_H_
#define GRAPNEL_LIB_PASS_PASS_H_

#include <memory>
#include <vector>

#include "lib/pass/editor.h"
#include "lib/support/public.h"

namespace grapnel {

// A fresh instance runs each time. An optimizer shows its rules the nodes. A pass that is no
// schedule of rules wraps each rewrite in edit.Begin(step, node) / edit.End(), says
// edit.Refuse(step, node, why) where a pattern matched and a condition failed, and leaves out the
// steps that edit.Runs() does not want.
class GRAPNEL_PUBLIC GraphPass {
 public:
  virtual ~GraphPass() = default;
  virtual Error Run(Editor& edit) = 0;
};

// When a pass runs. TensorFlow's order, toggles and names: MetaOptimizer of 2.21. All text is a
// literal.
struct GRAPNEL_PUBLIC PassInfo {
  const char* name;              // as in dumps and --passes: "model_pruner"
  const char* config_name = "";  // in RewriterConfig.optimizers ("pruning"); --passes takes it too
  int order = 0;                 // in the default pipeline, TensorFlow's numbering; 0: not in it
  bool default_on = false;       // false: only when the RewriterConfig or --passes asks
  bool run_once = false;         // only in the first iteration
  const char* toggle = "";       // field of RewriterConfig that switches it, or several ("a,b"),
                                 // of which each must; "" for none
  const char* help;              // what it does, one line
  const char* refuses = "";      // what it leaves alone, one line
};

// What a pass that is no schedule of rules reports as a rule.
struct GRAPNEL_PUBLIC PassStep {
  const char* name;
  const char* help;
  const char* refuses = "";
  const char* plugin = "";  // set by the registry: the file that it came with
};

GRAPNEL_PUBLIC bool RegisterPass(PassInfo info, std::unique_ptr<GraphPass> (*make)(),
                                 std::vector<PassStep> steps);

// At namespace scope, the steps if the pass has any:
//   GRAPNEL_PASS(ModelPruner, (PassInfo{.name = "model_pruner", ...}),
//                {"drop_unreachable", "removes ..."}, {...});
#define GRAPNEL_PASS(type, info, ...)                                                         \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(pass_registered_, __COUNTER__) =          \
      ::grapnel::RegisterPass(                                                                \
          info,                                                                               \
          []() -> std::unique_ptr<::grapnel::GraphPass> { return std::make_unique<type>(); }, \
          {__VA_ARGS__})

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_PASS_H_
