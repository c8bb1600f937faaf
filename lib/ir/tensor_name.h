// The parser of tensor names: "x", "x:1", "^x". All other code uses it.
#ifndef GRAPNEL_LIB_IR_TENSOR_NAME_H_
#define GRAPNEL_LIB_IR_TENSOR_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A parsed name; points into the text. A tensor is an output of a node:
//
//   x       the first output of node x, the same as x:0
//   x:1     its second output; the digits after the last ':' have no sign
//   ^x      a control edge: after x has run. Everything after ^ is the node's name
//   x:y     the first output of a node named "x:y" (invalid in a graph); the same holds for "x:",
//           ":0", "x:-1" and "x:99999999999"
//
// These are the rules of TensorFlow's ParseTensorName, except that it reads "^x:1" as output 1 of a
// node "^x". Any text parses: only a graph can tell whether the tensor exists, and a lookup in a
// graph also finds a node named "x:1" (FindTensor in lib/ir/find.h).
struct TensorName {
  llvm::StringRef node;
  llvm::StringRef output;  // only in a function's body: "product" in "mul:product:0"
  int32_t index = 0;       // among the node's outputs, or the tensors of `output` if set
  bool has_index = false;  // the index is written: "x:0"
  bool control = false;
};

TensorName ReadTensorName(llvm::StringRef text);
// Parses an input in a FunctionDef: "node:output:1", "node:output" (the first tensor of that
// output) and "argument"; with "^" as in TensorName. For "x:1" sets the index and no output.
TensorName ReadFunctionTensorName(llvm::StringRef text);

// The name that tfdbg v1 gives a tensor watched by a debug op: "scope/x:0:DebugIdentity".
// ReadWatchedName returns nullopt for a text of another form.
struct WatchedName {
  llvm::StringRef node, debug_op;
  int32_t index = 0;
};
std::optional<WatchedName> ReadWatchedName(llvm::StringRef text);

// Returns the name of an output with its index, "x:0" or "x:1", as users and tools write it.
std::string OutputName(llvm::StringRef node, int32_t index);
// Returns the name of an output as the inputs of a NodeDef contain it: "x" for output 0, "x:1", and
// "^x" for kControlPort.
std::string NodeDefInput(llvm::StringRef node, int32_t index);
// Returns the name of a tensor without ":0" at its end: "x" for "x:0". So a tensor has only one
// name.
llvm::StringRef WithoutZeroIndex(llvm::StringRef tensor);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TENSOR_NAME_H_
