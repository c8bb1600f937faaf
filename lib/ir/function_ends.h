// Arguments and results of a function's graph. TensorFlow's runtime dumps a function as a GraphDef
// whose arguments and results are nodes (_Arg, _Retval); such a graph thus defines its own inputs
// and outputs, and other unread nodes are not outputs.
#ifndef GRAPNEL_LIB_IR_FUNCTION_ENDS_H_
#define GRAPNEL_LIB_IR_FUNCTION_ENDS_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/ir/shape.h"
#include "lib/support/error.h"

namespace grapnel {

bool IsArgument(const Node& node);  // _Arg, _DeviceArg
bool IsResult(const Node& node);    // _Retval, _DeviceRetval

// True if the graph has arguments or results as nodes.
bool IsFunctionGraph(const Graph& graph);

struct FunctionEnds {
  std::vector<NodeId> arguments, results;  // in order of their attribute `index`
  // Ops with state or effects, also those of inlined calls, in the graph's order. Includes reads of
  // variables, because the runtime keeps them.
  std::vector<NodeId> stateful;
  // The nodes to run so that all of `stateful` run: the function's own ones, and for each inlined
  // call its NoOp, which waits for the call's ops.
  std::vector<NodeId> targets;
};
FunctionEnds EndsOfFunctionGraph(const Graph& graph);

// True for ops that take a resource or a TF1 variable and do not modify it.
bool OnlyReadsState(llvm::StringRef op);

// The type of an argument, as far as its attributes tell.
struct ArgumentType {
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  // For a variable's handle: the dtype of the variable. DT_INVALID for any other argument.
  DataType held = proto::DT_INVALID;
  Shape held_shape;
  // "float[2,3]", "resource of float[2,3]"; omits an unknown shape.
  std::string ToString() const;
};
ArgumentType TypeOfArgument(const Node& argument);

// Finds an argument or result by its node's name or its index ("x", "x:0", "0"); a name wins over
// an index. Returns no node if not found.
Node FindArgument(const Graph& graph, llvm::StringRef text);
Node FindResult(const Graph& graph, llvm::StringRef text);

// Returns the port that a feed or a fetch names: "x", "x:1"; "^x" (run it, fetch no value) is x's
// control port. Errors are those of FindTensor and FindNode.
Expected<Port> FindEnd(const Graph& graph, llvm::StringRef end);
// Returns the port that holds a fetch's value: that of FindEnd, or for a result the port that it
// reads.
Expected<Port> FindFetch(const Graph& graph, llvm::StringRef fetch);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FUNCTION_ENDS_H_
