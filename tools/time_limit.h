// `--timeout SECONDS`: how long a command's work may take.
#ifndef GRAPNEL_TOOLS_TIME_LIMIT_H_
#define GRAPNEL_TOOLS_TIME_LIMIT_H_

#include <string>

#include "lib/support/deadline.h"
#include "tools/command.h"

namespace grapnel {

struct TimeLimit {
  double seconds = 0;  // 0: none
  void AddTo(CommandLine& line, const char* help);
  // "not done after 5 s (--timeout)".
  std::string Text() const;
  // Sets `cancel` in time, and ends the process with `what` and Text() as its error where a kernel
  // does not look at the flag. All outlive the deadline, which ends with the work.
  Deadline Begin(CancelFlag& cancel, const std::string& what, Invocation& invocation) const;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TIME_LIMIT_H_
