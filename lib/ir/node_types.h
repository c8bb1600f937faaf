// Dtypes of a node's inputs and outputs, from the op's definition and the node's attributes.
#ifndef GRAPNEL_LIB_IR_NODE_TYPES_H_
#define GRAPNEL_LIB_IR_NODE_TYPES_H_

#include "lib/ir/module.h"
#include "lib/proto/op_def.pb.h"

namespace grapnel {

// Returns the definition of the node's op: the signature of the module's function of that name, or
// else the op table's entry. Null for a custom op.
const OpInfo* DefinitionOf(const Node& node);

OpInfo OpInfoFromProto(const proto::OpDef& op_def);

// Returns how many tensors the argument `arg` stands for in this node. Errors name the missing or
// wrong attribute, not the node.
Expected<int64_t> NumTensors(const Node& node, const OpArg& arg);

struct NodeTypes {
  llvm::SmallVector<DataType, 4> inputs, outputs;
};
// Returns the dtypes of all inputs and outputs of the node. Errors name the missing or wrong
// attribute, not the node.
Expected<NodeTypes> TypesOf(const Node& node, const OpInfo& info);

// Returns the dtype of a port; DT_INVALID for a control port, if the op is unknown or has no such
// port, or if an attribute that states the dtype or a number of outputs is missing or wrong. Goes
// through the op's output arguments on each call, so loops over all nodes should use TypesOf.
DataType TypeOfPort(const Graph& graph, Port port);
// Returns -1 if the op is unknown or an attribute that states the number is missing or wrong.
int NumOutputs(const Node& node);

// PortOfOutput converts ("out_arg", i), which names an output as a function's body does, to a port;
// -1 if it finds no such output. OutputOfPort converts a port back; an empty name if it finds no
// such port, which it does not check if the op's only output argument is a list of dtypes.
int PortOfOutput(const Node& node, const OpInfo& info, llvm::StringRef output, int index);
std::pair<llvm::StringRef, int> OutputOfPort(const Node& node, const OpInfo& info, int port);

// Returns the name of the argument that a data input belongs to; empty if not found.
llvm::StringRef ArgumentOfInput(const Node& node, const OpInfo& info, int slot);

// True if the node is a variable: VarHandleOp, or VariableV2 or Variable in TF1 graphs.
bool IsVariable(const Node& node);
bool IsConstant(const Node& node);  // Const, HostConst

// Returns the names of the functions that the node calls: its op if that is a function, and all
// functions in its attributes. The module may lack these functions.
std::vector<llvm::StringRef> CalledFunctions(const Node& node);
// True if the node's op has an attribute for functions, or is not in the op table: such nodes can
// call functions. Walks over large graphs skip nodes for which it is false.
bool MayCallFunctions(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_TYPES_H_
