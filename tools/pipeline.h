// Flags that say which passes run on what: opt, replay --optimize, passes --why-not.
#ifndef GRAPNEL_TOOLS_PIPELINE_H_
#define GRAPNEL_TOOLS_PIPELINE_H_

#include <string>
#include <vector>

#include "lib/check/value_check.h"
#include "lib/pass/pass_manager.h"
#include "tools/input.h"

namespace grapnel {

struct PipelineFlags {
  std::string rewriter_config, signature;
  std::vector<std::string> feeds, fetches, passes;
  int limit = -1;
  double rtol = 1e-4, atol = 1e-5;

  void AddTo(CommandLine& line);
  void AddValuesTo(CommandLine& line);  // how values are compared
  // Feeds and fetches of the case or signature fill in for flags that are not given. Without
  // --rewriter-config small graphs are optimised too.
  Expected<OptimizeOptions> Options(const OpenedGraph& input) const;
  // Values of the feeds (from --feed NAME=FILE.npy, else from the case, else made up), to compare
  // the fetches of `optimize` by; without fetches, what nobody reads.
  Expected<ValueCheckOptions> ValueOptions(const OpenedGraph& input,
                                           const OptimizeOptions& optimize, ThreadPool& pool) const;
};

// Dumps of each stage to `folder`, else to where TF_DUMP_GRAPH_PREFIX says; TensorFlow's other
// variables (TF_DUMP_GRAPH_NAME_FILTER, TF_DUMP_GRAPH_FMT) count too. Neither given: none. What the
// pass `partition` splits goes there too, a graph a device.
struct DumpRequest {
  std::string folder, graph_name;
  MessageSink sink;
  bool stages_alone = false;  // see DumpOptions
};
Error AddDump(const DumpRequest& request, Module& module, const OptimizeOptions& optimize,
              PassManager* manager);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PIPELINE_H_
