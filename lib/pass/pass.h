// The interface of passes, and their registration. A pass sees the whole graph; a pass that only
// applies rules is called an optimizer (lib/pass/rule.h).
#ifndef GRAPNEL_LIB_PASS_PASS_H_
#define GRAPNEL_LIB_PASS_PASS_H_

#include <memory>
#include <vector>

#include "lib/pass/editor.h"
#include "lib/support/public.h"

namespace grapnel {

// A new instance is made for each run over a body. An optimizer applies its rules to nodes. Any
// other pass names its kinds of rewrites (PassStep), wraps each rewrite in edit.Begin(step, node) /
// edit.End(), calls edit.Refuse(step, node, why) where a pattern matched and a condition failed,
// and skips steps for which edit.Runs() is false.
class GRAPNEL_PUBLIC GraphPass {
 public:
  virtual ~GraphPass() = default;
  virtual Error Run(Editor& edit) = 0;
};

// When a pass runs, with the order, toggles and names of TensorFlow's MetaOptimizer (2.21). All
// text is a literal.
struct GRAPNEL_PUBLIC PassInfo {
  const char* name;              // as in dumps and --passes: "model_pruner"
  const char* config_name = "";  // in RewriterConfig.optimizers ("pruning"); --passes takes it too
  int order = 0;                 // position in the default pipeline, as in TensorFlow; 0: not in it
  bool default_on = false;       // false: runs only if the RewriterConfig or --passes asks for it
  bool run_once = false;         // only in the first iteration
  // The field of RewriterConfig that enables the pass, or several that must all enable it ("a,b").
  // "": `default_on` decides.
  const char* toggle = "";
  const char* help;          // one line: what the pass does
  const char* refuses = "";  // one line: what the pass leaves alone
};

// A kind of rewrite of a pass without rules, reported like a rule.
struct GRAPNEL_PUBLIC PassStep {
  const char* name;
  const char* help;
  const char* refuses = "";
  const char* plugin = "";  // set by the registry: the file that registered it
};

GRAPNEL_PUBLIC bool RegisterPass(PassInfo info, std::unique_ptr<GraphPass> (*make)(),
                                 std::vector<PassStep> steps);

// Use at namespace scope; pass the steps if the pass has any:
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
