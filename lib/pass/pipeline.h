// Which passes a RewriterConfig asks for.
#ifndef GRAPNEL_LIB_PASS_PIPELINE_H_
#define GRAPNEL_LIB_PASS_PIPELINE_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/pass/registry.h"
#include "lib/proto/rewriter_config.pb.h"

namespace grapnel {

// Names of passes in the order in which TensorFlow's MetaOptimizer runs them: those that
// `optimizers` lists, or those whose toggles are on if it lists none, and then the config's
// `custom_optimizers` but for custom ones that `optimizers` has named. TensorFlow skips an unknown
// name in silence; here it is a warning to `sink`, which may be empty.
std::vector<std::string> PipelineOf(const proto::RewriterConfig& config,
                                    const PassRegistry& registry, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_PIPELINE_H_
