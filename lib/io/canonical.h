// Canonical text: equal for all files that hold the same graph.
#ifndef GRAPNEL_LIB_IO_CANONICAL_H_
#define GRAPNEL_LIB_IO_CANONICAL_H_

#include <vector>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Orders each node after its inputs, data and control; among ready nodes the smallest name comes
// first. Ignores back edges of loops (NextIteration -> Merge). Nodes on any other cycle and their
// successors come last, by name. Depends on names and edges only, not on ids (except for duplicate
// names, which only a broken graph has).
std::vector<NodeId> CanonicalOrder(const Graph& graph);

// Writes the graph as text that parses as a GraphDef: nodes in the order above, functions by name,
// attributes by key, control inputs after data inputs, by name and without duplicates; omits
// attributes that equal the op's defaults and the ":0" of a main graph's input. Keeps names,
// devices and values, so a constant in another encoding makes the graph different. Errors as in
// WriteGraphText.
Error WriteCanonicalText(const Module& module, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CANONICAL_H_
