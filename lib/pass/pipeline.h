// Finds the passes that a RewriterConfig selects.
#ifndef GRAPNEL_LIB_PASS_PIPELINE_H_
#define GRAPNEL_LIB_PASS_PIPELINE_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/pass/registry.h"
#include "lib/proto/rewriter_config.pb.h"

namespace grapnel {

// Returns the names of passes in the order in which TensorFlow's MetaOptimizer runs them: those in
// `optimizers`, or those whose toggles are on if that list is empty, followed by the config's
// `custom_optimizers`, except passes that TensorFlow does not have and `optimizers` already names.
// TensorFlow silently skips an unknown name; here it causes a warning to `sink`, which may be
// empty.
std::vector<std::string> PipelineOf(const proto::RewriterConfig& config,
                                    const PassRegistry& registry, const MessageSink& sink);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_PIPELINE_H_
