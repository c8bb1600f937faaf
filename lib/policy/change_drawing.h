// Draws the differences between two graphs for a pull request. Private to lib/policy.
#ifndef GRAPNEL_LIB_POLICY_CHANGE_DRAWING_H_
#define GRAPNEL_LIB_POLICY_CHANGE_DRAWING_H_

#include <string>

#include "lib/diff/diff.h"

namespace grapnel {

// Returns a Mermaid flowchart of the added, removed and changed nodes, with the edges between them;
// empty if nothing differs. If there are more than kMostBoxes nodes, some boxes stand for all
// these nodes of a scope, and boxes and edges beyond the limits are only counted.
constexpr size_t kMostBoxes = 60;
std::string DrawChange(const Diff& diff);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_POLICY_CHANGE_DRAWING_H_
