// The transitive reduction of control edges, a step of dependency_optimizer.
#ifndef GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_REDUCTION_H_
#define GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_REDUCTION_H_

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"

namespace grapnel {

// Drops each control edge from a node to another that a path of two or more edges joins. False when
// --limit is used up. Loops' frames and Merge nodes are left alone: which of their inputs ran
// nobody can tell. Cost: nodes and edges a few times; where more would be needed, edges are left.
bool DropImpliedControls(Editor& edit, OpKinds& kinds);

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_DEPENDENCY_OPTIMIZER_REDUCTION_H_
