// Flags that select what to run, shared by the commands that run one graph on values.
#ifndef GRAPNEL_TOOLS_RUN_FLAGS_H_
#define GRAPNEL_TOOLS_RUN_FLAGS_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/job/run.h"
#include "tools/command_line.h"
#include "tools/onednn_flag.h"

namespace grapnel {

struct RunFlags {
  std::string graph, signature, function, variables;
  std::vector<std::string> feeds, fetches;  // NAME=FILE; optional FILE for fetches
  OneDnnFlag onednn;
  // Adds --graph, --signature, --function, --feed, --fetch and --onednn. `fetch`: the help of
  // --fetch; `fetch_shown_as`: the name of its value in the help.
  void AddTo(CommandLine& line, const char* fetch, const char* fetch_shown_as);
  void AddVariablesTo(CommandLine& line);
  // Makes the function of --function, if given, what the request runs (UseGivenFunction).
  Error Use(OpenedGraph* opened) const;
  // Returns a request with feeds, fetches, signature, variables and the choice of oneDNN. Errors: a
  // feed without a file.
  Expected<RunRequest> Request() const;
};

// Splits "name=file" into (name, file); without '=' the file is empty.
std::pair<std::string, std::string> SplitAssignment(llvm::StringRef text);

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_RUN_FLAGS_H_
