// Flags of `opt`, `bisect` and `passes --why-not` that select passes and their settings.
#ifndef GRAPNEL_TOOLS_PIPELINE_H_
#define GRAPNEL_TOOLS_PIPELINE_H_

#include <string>
#include <vector>

#include "lib/job/optimize.h"
#include "tools/command.h"
#include "tools/onednn_flag.h"

namespace grapnel {

struct PipelineFlags {
  OptimizeRequest request;         // everything except the flags below
  std::vector<std::string> feeds;  // "NAME" or "NAME=FILE.npy"
  std::string function;
  OneDnnFlag onednn;

  void AddTo(CommandLine& line);
  void AddDeviceTo(CommandLine& line);
  void AddValuesTo(CommandLine& line);  // adds the flags for comparing values
  // Makes the function of --function, if given, what the passes optimize (UseGivenFunction).
  Error Use(OpenedGraph* opened) const;
  // Makes the network that these flags or the default choose the graph, without what saves,
  // restores and initializes the model.
  Error TakeNetwork(OpenedGraph* opened) const;
  // Returns the request that the flags describe.
  OptimizeRequest Request(const Invocation& invocation) const;
};

// Returns an Instrumentation that reports the running pass as progress, and stops between two
// passes if the command is canceled; null if the command shows no progress and cannot be canceled.
std::unique_ptr<Instrumentation> MakePassProgress(Invocation& invocation);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_PIPELINE_H_
