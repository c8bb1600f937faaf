// Changes that TensorFlow's MetaOptimizer itself makes to a body, in addition to running passes.
#ifndef GRAPNEL_LIB_PASS_TIDY_H_
#define GRAPNEL_LIB_PASS_TIDY_H_

#include "lib/pass/editor.h"

namespace grapnel {

// Stores each constant of 64 or more equal elements as one element.
void CompressConstants(Editor& edit);

// True if any node requests colocation with another (`_class`).
bool HasColocations(Graph& graph);

// Normalizes colocation: nodes that must share a device, through any chain of requests, all name
// the same node of their group; a node left alone in its group names no node. Needed because passes
// remove nodes that others name.
void ReassignColocations(Editor& edit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_TIDY_H_
