// The ends of a function's graph. TensorFlow's runtime dumps a function as a GraphDef in which its
// arguments and results are nodes (_Arg, _Retval), so such a graph says itself what goes in and
// what comes out; other unread nodes are not outputs.
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

// Whether the graph has arguments or results as nodes.
bool IsFunctionGraph(const Graph& graph);

struct FunctionEnds {
  std::vector<NodeId> arguments, results;  // in order of their attribute `index`
  // Ops with state or effects, those of inlined calls too, in the graph's order. Reads of
  // variables are among them, as the runtime keeps those.
  std::vector<NodeId> stateful;
  // The nodes to run so that all of `stateful` run: the function's own, and for each inlined call
  // its NoOp, which waits for that call's.
  std::vector<NodeId> targets;
};
FunctionEnds EndsOfFunctionGraph(const Graph& graph);

// Ops of a resource, or of a variable of TensorFlow 1, that leave it as it is.
bool OnlyReadsState(llvm::StringRef op);

// What an argument takes, as far as its attributes say.
struct ArgumentType {
  DataType dtype = proto::DT_INVALID;
  Shape shape;
  // Of a handle of a variable: the variable's values. DT_INVALID for any other argument.
  DataType held = proto::DT_INVALID;
  Shape held_shape;
  // "float[2,3]", "resource of float[2,3]"; a shape that is not known is left out.
  std::string ToString() const;
};
ArgumentType TypeOfArgument(const Node& argument);

// Finds an argument or result by its node's name or its index ("x", "x:0", "0"); a name wins over
// an index. Returns no node if there is none.
Node FindArgument(const Graph& graph, llvm::StringRef text);
Node FindResult(const Graph& graph, llvm::StringRef text);

// The port that a feed or a fetch names: "x", "x:1", and for "^x", which must run and gives no
// value, x's control port. Errors: FindTensor's and FindNode's.
Expected<Port> FindEnd(const Graph& graph, llvm::StringRef end);
// The port that has a fetch's value: FindEnd's, or of a result what it reads.
Expected<Port> FindFetch(const Graph& graph, llvm::StringRef fetch);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_FUNCTION_ENDS_H_
