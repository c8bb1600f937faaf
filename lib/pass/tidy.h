// What TensorFlow's MetaOptimizer itself does to a body, beside running passes.
#ifndef GRAPNEL_LIB_PASS_TIDY_H_
#define GRAPNEL_LIB_PASS_TIDY_H_

#include "lib/pass/editor.h"

namespace grapnel {

// Constants whose elements are all the same are written as one element, of 64 elements on.
void CompressConstants(Editor& edit);

// Whether any node asks to be placed where another one is (`_class`).
bool HasColocations(Graph& graph);

// Nodes that are to be on one device, through whatever chain of requests, all ask for the same node
// of their number; one that is left alone asks for none. Passes take away nodes that others ask
// for.
void ReassignColocations(Editor& edit);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PASS_TIDY_H_
