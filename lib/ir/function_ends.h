// Finds the arguments and results of a function's graph. TensorFlow's runtime dumps a function as a
// GraphDef in which arguments and results are nodes (_Arg, _Retval). These are the graph's inputs
// and outputs; another node is not an output even if no node reads it.
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

// True if the graph has nodes for which IsArgument or IsResult is true.
bool IsFunctionGraph(const Graph& graph);

struct FunctionEnds {
  std::vector<NodeId> arguments, results;  // in order of attribute `index`
  // The nodes with stateful ops, in order of id, including those of inlined calls and reads of
  // variables, which the runtime keeps; without arguments, results and variable handles.
  std::vector<NodeId> stateful;
  // The nodes to run so that all of `stateful` run: those outside of inlined calls, and the NoOp of
  // each outermost inlined call, which waits for the nodes of the call.
  std::vector<NodeId> targets;
};
FunctionEnds EndsOfFunctionGraph(const Graph& graph);

// True for the common ops that take a resource or a TF1 variable and only read it.
bool OnlyReadsState(llvm::StringRef op);

// The type of a function's argument, as far as the attributes of the _Arg node state it.
struct ArgumentType {
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  // For a variable's handle: the dtype of the variable. DT_INVALID if it is not known, and for
  // other arguments.
  DataType held = proto::DT_INVALID;
  Shape held_shape;
  // Returns "float[2,3]" or "resource of float[2,3]"; omits an unknown shape.
  std::string ToString() const;
};
ArgumentType TypeOfArgument(const Node& argument);

// Finds an argument (FindResult: a result) by the name of its node or by its index: "x", "x:0",
// "0". If any node has the name "0", the text means that node and not the index. Returns an empty
// Node if there is no such argument.
Node FindArgument(const Graph& graph, llvm::StringRef text);
Node FindResult(const Graph& graph, llvm::StringRef text);

// Returns the port that a feed or a fetch states: output 0 of x for "x", output 1 for "x:1", and
// the control port for "^x" (run x without a value). Errors are those of FindTensor and FindNode.
Expected<Port> FindEnd(const Graph& graph, llvm::StringRef end);
// Returns the port whose value a fetch yields: that of FindEnd, or for a result node (_Retval) the
// port that this node reads.
Expected<Port> FindFetch(const Graph& graph, llvm::StringRef fetch);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FUNCTION_ENDS_H_
