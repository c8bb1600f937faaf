// GraphDef bytes -> Module, and back.
#ifndef GRAPNEL_LIB_IR_IMPORT_H_
#define GRAPNEL_LIB_IR_IMPORT_H_

#include <memory>

#include "lib/ir/module.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Reads a serialized GraphDef that lies in `file`; nothing is copied, the module keeps the file.
// What is broken but can be passed over (a node cut off, a name twice, an input that is nowhere)
// becomes a Problem of the module; an error only when nothing in `graph_def` is a GraphDef. Linear
// in nodes and edges; constants are not touched.
Expected<std::unique_ptr<Module>> ImportGraphDef(std::shared_ptr<const FileBytes> file,
                                                 llvm::StringRef graph_def);

// Writes a GraphDef. Nodes and functions that did not change are written byte for byte as they were
// read, unknown fields included. `order`, when given, is the order of the main graph's nodes (ids
// that are gone are skipped).
void ExportGraphDef(const Module& module, llvm::raw_ostream& os, llvm::ArrayRef<NodeId> order = {});

// One serialized NodeDef. In a function's body inputs are written "node:output:index"; pass the
// function then.
std::string ExportNodeDef(const Node& node, const Function* function = nullptr);
// One serialized FunctionDef. Its nodes come before their readers, or in the order in which they
// were made.
std::string ExportFunctionDef(const Function& function, bool in_order_made = false);

// "node", "node:1", "^node": how the main graph writes an input.
std::string PortText(const Graph& graph, Port port);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_IMPORT_H_
