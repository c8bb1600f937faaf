// A user-defined check of a graph: a shell command that gets the path of a graph file.
#ifndef GRAPNEL_TOOLS_CHECK_COMMAND_H_
#define GRAPNEL_TOOLS_CHECK_COMMAND_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

class CheckCommand {
 public:
  // Replaces `{}` in `command` by the file's path; without `{}`, appends the path.
  CheckCommand(std::string command, int timeout_s);
  ~CheckCommand();
  CheckCommand(const CheckCommand&) = delete;
  CheckCommand& operator=(const CheckCommand&) = delete;

  struct Outcome {
    int exit_code = 0;  // -1: a signal or the timeout ended the command
    std::string text;   // last line of the command's output, for messages
    // `text` without numbers and quoted names: equal for failures of the same kind.
    std::string kind;
  };
  // Writes `module` to a temporary file and runs the command on it. Errors: the file cannot be
  // written; the command cannot be started.
  Expected<Outcome> Run(const Module& module);

 private:
  std::string command_, graph_, output_;
  int timeout_s_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_CHECK_COMMAND_H_
