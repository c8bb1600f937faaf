// Flags that spread a run over devices, shared by the commands that run graphs.
#ifndef GRAPNEL_TOOLS_SPREAD_FLAGS_H_
#define GRAPNEL_TOOLS_SPREAD_FLAGS_H_

#include <string>

#include "lib/job/run.h"
#include "tools/command_line.h"

namespace grapnel {

struct SpreadFlags {
  std::string devices;
  bool hard = false, log_placement = false;
  void AddTo(CommandLine& line);
  Error CheckCombination() const;  // --hard requires --devices
  // Checks the devices, and warns if GPUs are simulated, for a command that runs several graphs.
  Error Announce(const RunRequest& request, const MessageSink& sink) const;
  // Sets the fields of `request`. The placement log goes to standard error. `device`: the flag with
  // which the command selects another device, for errors.
  void Fill(RunRequest* request, const char* device) const;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_SPREAD_FLAGS_H_
