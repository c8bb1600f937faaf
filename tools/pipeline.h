// Flags that say which passes run on what: opt, bisect, passes --why-not.
#ifndef GRAPNEL_TOOLS_PIPELINE_H_
#define GRAPNEL_TOOLS_PIPELINE_H_

#include <string>
#include <vector>

#include "lib/job/optimize.h"
#include "tools/command.h"
#include "tools/onednn_flag.h"

namespace grapnel {

struct PipelineFlags {
  OptimizeRequest request;         // all but the feeds
  std::vector<std::string> feeds;  // "NAME" or "NAME=FILE.npy"
  OneDnnFlag onednn;

  void AddTo(CommandLine& line);
  void AddDeviceTo(CommandLine& line);
  void AddValuesTo(CommandLine& line);  // how values are compared
  // What the flags ask for.
  OptimizeRequest Request(const Invocation& invocation) const;
};

// Says which pass runs, to who waits, and ends the work between two passes when who called no
// longer waits; null where there is neither.
std::unique_ptr<Instrumentation> MakePassProgress(Invocation& invocation);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PIPELINE_H_
