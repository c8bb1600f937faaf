// Changes that TensorFlow's MetaOptimizer itself makes to a body, in addition to running passes.
#ifndef GRAPNEL_LIB_PASS_TIDY_H_
#define GRAPNEL_LIB_PASS_TIDY_H_

#include "lib/pass/editor.h"

namespace grapnel {

// Stores each numeric constant of 64 or more bitwise equal elements as one element, and zeros
// without any.
void CompressConstants(Editor& edit);

// True if any node has the attribute `_class`, with which nodes request colocation.
bool HasColocations(Graph& graph);

// Normalizes colocation: of the nodes that must share a device, through any chain of requests, all
// name the same one, which itself names none; this one may be a node that passes removed.
// TensorFlow does this because passes remove nodes that others name.
void ReassignColocations(Editor& edit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_TIDY_H_
