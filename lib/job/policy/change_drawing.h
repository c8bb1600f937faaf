// What differs between two graphs, as a drawing that a pull request shows. Private to lib/job.
#ifndef GRAPNEL_LIB_JOB_POLICY_CHANGE_DRAWING_H_
#define GRAPNEL_LIB_JOB_POLICY_CHANGE_DRAWING_H_

#include <string>

#include "lib/diff/diff.h"

namespace grapnel {

// A flowchart in Mermaid's language: what was added, removed and changed, with what it reads. A box
// is a node or, where there are more than kMostBoxes, a scope. Empty: nothing differs.
constexpr size_t kMostBoxes = 60;
std::string DrawChange(const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_POLICY_CHANGE_DRAWING_H_
