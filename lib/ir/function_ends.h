// Arguments and results of a function's graph. TensorFlow's runtime dumps a function as a GraphDef
// whose arguments and results are nodes (_Arg, _Retval). Such a graph thus defines its own inputs
// and outputs: other nodes that no node reads are not outputs.
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

// True if the graph has _Arg or _Retval nodes.
bool IsFunctionGraph(const Graph& graph);

struct FunctionEnds {
  std::vector<NodeId> arguments, results;  // in order of attribute `index`
  // Ops with state or effects, including those of inlined calls, in the graph's order. Includes
  // reads of variables, because the runtime keeps such reads.
  std::vector<NodeId> stateful;
  // The nodes to run so that all of `stateful` run: those outside of inlined calls, and for each
  // inlined call its NoOp, which waits for the call's ops.
  std::vector<NodeId> targets;
};
FunctionEnds EndsOfFunctionGraph(const Graph& graph);

// True for ops that take a resource or a TF1 variable and do not modify it.
bool OnlyReadsState(llvm::StringRef op);

// The type of an argument, as far as the attributes of its node give it.
struct ArgumentType {
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  // For a variable's handle: the dtype of the variable. DT_INVALID for all other arguments.
  DataType held = proto::DT_INVALID;
  Shape held_shape;
  // Returns "float[2,3]" or "resource of float[2,3]"; omits an unknown shape.
  std::string ToString() const;
};
ArgumentType TypeOfArgument(const Node& argument);

// Finds an argument or result by the name of its node or by its index ("x", "x:0", "0"); a node of
// that name comes before an index. Returns no node if not found.
Node FindArgument(const Graph& graph, llvm::StringRef text);
Node FindResult(const Graph& graph, llvm::StringRef text);

// Returns the port that a feed or a fetch names: "x", "x:1"; "^x" (run x, fetch no value) is the
// control port of x. Errors are those of FindTensor and FindNode.
Expected<Port> FindEnd(const Graph& graph, llvm::StringRef end);
// Returns the port whose value a fetch returns: the port of FindEnd, but for a result node the port
// that it reads.
Expected<Port> FindFetch(const Graph& graph, llvm::StringRef fetch);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FUNCTION_ENDS_H_
