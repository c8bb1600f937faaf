// Flags that spread a run over devices, the same in every command that runs graphs.
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
  // The log goes to standard error. `device`: the flag with which this command selects another
  // device, for errors.
  void Fill(RunRequest* request, const char* device) const;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_SPREAD_FLAGS_H_
