// One text for all files that hold the same graph.
#ifndef GRAPNEL_LIB_IO_CANONICAL_H_
#define GRAPNEL_LIB_IO_CANONICAL_H_

#include <vector>

#include "lib/ir/module.h"
#include "lib/support/error.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Each node after its inputs, data and control; among those that are ready the least name comes
// first. Back edges of loops (NextIteration -> Merge) do not count. Nodes on any other cycle, and
// what follows them, come last, by name. Depends on names and edges only, not on ids (but for nodes
// of one name, which only a broken graph has).
std::vector<NodeId> CanonicalOrder(const Graph& graph);

// The graph as text that is a GraphDef again: nodes in the order above, functions by name,
// attributes by key, control inputs after data inputs, by name and once; attributes that say what
// the op's definition has as default are left out, and so is ":0" of a main graph's input. Names,
// devices and values stay: a constant that is encoded in another way is another graph here. Errors
// as WriteGraphText.
Error WriteCanonicalText(const Module& module, llvm::raw_ostream& os);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_CANONICAL_H_
