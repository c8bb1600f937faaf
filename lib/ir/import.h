// Converts GraphDef bytes to a Module and back.
#ifndef GRAPNEL_LIB_IR_IMPORT_H_
#define GRAPNEL_LIB_IR_IMPORT_H_

#include <memory>

#include "lib/ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Reads a serialized GraphDef that lies in `file`; copies nothing, as the module keeps the file.
// Recoverable defects (a truncated node, a duplicate name, a missing input) become Problems of the
// module; returns an error only if `graph_def` contains nothing that belongs to a GraphDef. Linear
// in nodes and edges; does not touch constants.
Expected<std::unique_ptr<Module>> ImportGraphDef(std::shared_ptr<const FileBytes> file,
                                                 llvm::StringRef graph_def);

// Writes a GraphDef. Unchanged nodes and functions are written byte for byte as they were read,
// including unknown fields. `order`, if not empty, is the order of the main graph's nodes (removed
// ids are skipped).
void ExportGraphDef(const Module& module, llvm::raw_ostream& os, llvm::ArrayRef<NodeId> order = {});

// Returns one serialized NodeDef. For a node in a function's body pass the function, as inputs are
// then written as "node:output:index".
std::string ExportNodeDef(const Node& node, const Function* function = nullptr);
// Returns one serialized FunctionDef. Its nodes are in topological order, or with `in_order_made`
// in order of creation.
std::string ExportFunctionDef(const Function& function, bool in_order_made = false);

// Returns a port in the input syntax of a main graph: "node", "node:1", "^node".
std::string PortText(const Graph& graph, Port port);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_IMPORT_H_
