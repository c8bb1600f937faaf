// Writes a graph as canonical text, which is the same for all files that contain the same graph.
#ifndef GRAPNEL_LIB_IO_CANONICAL_H_
#define GRAPNEL_LIB_IO_CANONICAL_H_

#include <vector>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Returns the nodes in an order in which each comes after its inputs, data and control; among nodes
// whose inputs have all been listed, the smallest name comes first. Ignores back edges of loops
// (NextIteration -> Merge). Nodes on other cycles and their successors come last, by name. Depends
// on names and edges only, not on ids (except for nodes of the same name, which only a broken graph
// has).
std::vector<NodeId> CanonicalOrder(const Graph& graph);

// Writes the graph as text that parses as a GraphDef: nodes in CanonicalOrder, functions by name,
// attributes by key, control inputs after data inputs, by name and without duplicates; omits
// attributes that equal the op's defaults and the ":0" of a main graph's input. Keeps names,
// devices and values, so the same constant in another encoding counts as a difference. Errors as in
// WriteGraphText.
Error WriteCanonicalText(const Module& module, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CANONICAL_H_
