// Dtypes of a node's inputs and outputs, from the op's definition and the node's attributes.
#ifndef GRAPNEL_LIB_IR_NODE_TYPES_H_
#define GRAPNEL_LIB_IR_NODE_TYPES_H_

#include "lib/ir/module.h"
#include "lib/proto/op_def.pb.h"

namespace grapnel {

// Returns the definition of the node's op: from the op table, or from the function of that name.
// Null for a custom op.
const OpInfo* DefinitionOf(const Node& node);

OpInfo OpInfoFromProto(const proto::OpDef& op_def);

// Returns the number of tensors for an argument of the node. Errors name the missing or wrong
// attribute, not the node.
Expected<int64_t> NumTensors(const Node& node, const OpArg& arg);

struct NodeTypes {
  llvm::SmallVector<DataType, 4> inputs, outputs;
};
// Returns the dtypes of all inputs and outputs of the node. Errors name the missing or wrong
// attribute, not the node.
Expected<NodeTypes> TypesOf(const Node& node, const OpInfo& info);

// Returns the dtype of a port; DT_INVALID if the op is unknown or has no such port. Reads the op's
// definition each time: loops over all nodes should use TypesOf.
DataType TypeOfPort(const Graph& graph, Port port);
int NumOutputs(const Node& node);  // -1 if the op is unknown

// Convert between an output ("out_arg", i), as inputs in a function's body name it, and a port.
// Return -1 or an empty name if there is no such output.
int PortOfOutput(const Node& node, const OpInfo& info, llvm::StringRef output, int index);
std::pair<llvm::StringRef, int> OutputOfPort(const Node& node, const OpInfo& info, int port);

// Returns the name of the argument that a data input belongs to; empty if not found.
llvm::StringRef ArgumentOfInput(const Node& node, const OpInfo& info, int slot);

// True if the op creates a variable: VarHandleOp, or VariableV2 and Variable in TF1 graphs.
bool IsVariable(const Node& node);

// Returns the names of the functions that the node calls: its op if that is a function, and the
// functions in its attributes. The functions need not exist.
std::vector<llvm::StringRef> CalledFunctions(const Node& node);
// True if nodes of this node's op can call functions; walks over large graphs use it to skip other
// ops.
bool MayCallFunctions(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_TYPES_H_
