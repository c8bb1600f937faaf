// `--timeout SECONDS`: the time limit of a command.
#ifndef GRAPNEL_TOOLS_TIME_LIMIT_H_
#define GRAPNEL_TOOLS_TIME_LIMIT_H_

#include <string>

#include "lib/support/deadline.h"
#include "tools/command.h"

namespace grapnel {

struct TimeLimit {
  double seconds = 0;  // 0: no limit
  void AddTo(CommandLine& line, const char* help);
  // Returns "not done after 5 s (--timeout)".
  std::string Text() const;
  // Starts a deadline that sets `cancel` when the time is over, and then, if a kernel does not
  // check the flag, ends the process with `what` and Text() as the error; in an embedded call,
  // calls Caller::give_up instead. This object and all arguments must outlive the deadline.
  Deadline Begin(CancelFlag& cancel, const std::string& what, Invocation& invocation) const;
};

}  // namespace grapnel

#endif  // GRAPNEL_TOOLS_TIME_LIMIT_H_
