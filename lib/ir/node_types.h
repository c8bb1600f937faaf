// What a node takes and gives: dtypes of its inputs and outputs, from the op's definition and the
// node's attributes.
#ifndef GRAPNEL_LIB_IR_NODE_TYPES_H_
#define GRAPNEL_LIB_IR_NODE_TYPES_H_

#include "lib/ir/module.h"
#include "lib/proto/op_def.pb.h"

namespace grapnel {

// The definition of the node's op: of the op table, or of the function of that name. nullptr: a
// custom op.
const OpInfo* DefinitionOf(const Node& node);

OpInfo OpInfoFromProto(const proto::OpDef& op_def);

// How many tensors an argument of the node stands for. Errors name the attribute that is missing or
// wrong, not the node.
Expected<int64_t> NumTensors(const Node& node, const OpArg& arg);

struct NodeTypes {
  llvm::SmallVector<DataType, 4> inputs, outputs;
};
// Errors name the attribute that is missing or wrong, not the node.
Expected<NodeTypes> TypesOf(const Node& node, const OpInfo& info);

// The dtype of a port; DT_INVALID when the op is unknown or has no such port. Reads the definition
// each time: who asks for all nodes uses TypesOf.
DataType TypeOfPort(const Graph& graph, Port port);
int NumOutputs(const Node& node);  // -1 when the op is unknown

// "out_arg", i <-> port: how inputs are written inside a function's body. -1 / empty name when
// there is none.
int PortOfOutput(const Node& node, const OpInfo& info, llvm::StringRef output, int index);
std::pair<llvm::StringRef, int> OutputOfPort(const Node& node, const OpInfo& info, int port);

// The argument that a data input belongs to; empty when there is none.
llvm::StringRef ArgumentOfInput(const Node& node, const OpInfo& info, int slot);

// Whether it makes a variable: VarHandleOp or, in graphs of TensorFlow 1, VariableV2 and Variable.
bool IsVariable(const Node& node);

// Functions that the node mentions: its op if that is one, and those of its attributes. Names, not
// checked.
std::vector<llvm::StringRef> CalledFunctions(const Node& node);
// Whether nodes of this op can mention any; false lets who walks a large graph skip the others by
// their op.
bool MayCallFunctions(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_TYPES_H_
