// The record of one rewrite: which rule made which nodes from which.
#ifndef GRAPNEL_LIB_PASS_REWRITE_H_
#define GRAPNEL_LIB_PASS_REWRITE_H_

#include <string>
#include <vector>

#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC Rewrite {
  int number = 0;  // from 1, over the run; in parallel, over the body
  int iteration = 0;
  std::string pass, rule;
  std::string function;  // the function that was rewritten; empty for the main graph
  std::string node;      // the node that the rule was applied to; empty: the body
  // Names, each list sorted and without duplicates. `used` are the nodes that the result was made
  // from; nodes in `used` but not in `removed` still exist.
  std::vector<std::string> used, made, changed, removed;
  std::vector<std::string> functions;  // library functions that were made, dropped or inlined
  std::string note;                    // additional remarks; usually empty
};

// A rule that matched but did not fire, and the condition that failed.
struct GRAPNEL_PUBLIC Refusal {
  std::string pass, rule, function, node, reason;
  std::string remedy{};  // what would make the condition hold, "fetch another node"; may be empty
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_REWRITE_H_
