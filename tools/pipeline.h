// Flags that say which passes run on what: opt, replay --optimize, passes --why-not.
#ifndef GRAPNEL_TOOLS_PIPELINE_H_
#define GRAPNEL_TOOLS_PIPELINE_H_

#include <string>
#include <vector>

#include "lib/pass/pass_manager.h"
#include "tools/input.h"

namespace grapnel {

struct PipelineFlags {
  std::string rewriter_config, signature;
  std::vector<std::string> feeds, fetches, passes;
  int limit = -1;

  void AddTo(CLI::App& app);
  // Feeds and fetches of the case or signature fill in for flags that are not given. Without
  // --rewriter-config small graphs are optimised too.
  Expected<OptimizeOptions> Options(const InputGraph& input) const;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PIPELINE_H_
