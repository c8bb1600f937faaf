// Converts a serialized GraphDef to a Module and back.
#ifndef GRAPNEL_LIB_IR_IMPORT_H_
#define GRAPNEL_LIB_IR_IMPORT_H_

#include <memory>

#include "lib/ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Reads a serialized GraphDef that lies in `file`. Copies no nodes: the module keeps the file, and
// they point into it. Defects (a truncated node, a duplicate name, a missing input) become Problems
// of the module; it is an error only if the first field of `graph_def` cannot be read. Linear in
// nodes and edges; does not read constants.
Expected<std::unique_ptr<Module>> ImportGraphDef(std::shared_ptr<const FileBytes> file,
                                                 llvm::StringRef graph_def);

// Writes a GraphDef. Unchanged nodes and functions are written byte for byte as they were read,
// including unknown fields. `order`, if not empty, is the order of the main graph's nodes (removed
// ids are skipped).
void ExportGraphDef(const Module& module, llvm::raw_ostream& os, llvm::ArrayRef<NodeId> order = {});

// Returns a node as a serialized NodeDef. For a node in a function's body, `function` is that
// function: its inputs are then written as "node:output:index".
std::string ExportNodeDef(const Node& node, const Function* function = nullptr);
// Returns a function as a serialized FunctionDef: an unchanged function as it was read; otherwise
// with its nodes in topological order, or in the order of their creation if `in_order_made` or if
// the body has a cycle other than a loop.
std::string ExportFunctionDef(const Function& function, bool in_order_made = false);

// Returns a port as a NodeDef of a main graph names it: "node", "node:1", "^node".
std::string PortText(const Graph& graph, Port port);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_IMPORT_H_
