// A person's own check of a graph: a shell command that is given a file.
#ifndef GRAPNEL_TOOLS_CHECK_COMMAND_H_
#define GRAPNEL_TOOLS_CHECK_COMMAND_H_

#include <string>

#include "lib/ir/module.h"

namespace grapnel {

class CheckCommand {
 public:
  // `{}` in `command` becomes the file's path; without it the path comes last.
  CheckCommand(std::string command, int timeout_s);
  ~CheckCommand();
  CheckCommand(const CheckCommand&) = delete;
  CheckCommand& operator=(const CheckCommand&) = delete;

  struct Outcome {
    int exit_code = 0;  // -1: ended by a signal, or by the timeout
    std::string text;   // the last line that it printed, for a message
    // What it printed last, without numbers and quoted names: the same for the same kind of
    // failure.
    std::string kind;
  };
  // Writes `module` to a temporary file and runs the command on it. An error when it cannot be
  // started.
  Expected<Outcome> Run(const Module& module);

 private:
  std::string command_, graph_, output_;
  int timeout_s_;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_CHECK_COMMAND_H_
