// Names of tensors: "x", "x:1", "^x". Nobody else takes one apart.
#ifndef GRAPNEL_LIB_IR_TENSOR_NAME_H_
#define GRAPNEL_LIB_IR_TENSOR_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A name taken apart; borrows from the text. A tensor is an output of a node:
//
//   x       the first output of node x, the same as x:0
//   x:1     its second output; what stands after the last ':' is a number without a sign
//   ^x      a control edge: after x has run. All that follows is the node's name
//   x:y     the first output of a node that is called "x:y" (no valid graph has one); so are "x:",
//           ":0", "x:-1" and "x:99999999999"
//
// Those are the rules of TensorFlow's ParseTensorName, but that it takes "^x:1" for output 1 of a
// node "^x". Any text is a name: whether there is such a tensor only a graph can say, and there a
// node that is called "x:1" is found as well (FindTensor in lib/ir/find.h).
struct TensorName {
  llvm::StringRef node;
  llvm::StringRef output;  // in a function's body alone: "product" of "mul:product:0"
  int32_t index = 0;       // of the output; of those called `output`, if that is said
  bool has_index = false;  // it is written: "x:0"
  bool control = false;
};

TensorName ReadTensorName(llvm::StringRef text);
// What a node of a FunctionDef reads: "node:output:1", "node:output" (the first of that name) and
// "argument"; with "^" as above. In "x:1" the index is written and no output.
TensorName ReadFunctionTensorName(llvm::StringRef text);

// What a debug op of tfdbg v1 watched: "scope/x:0:DebugIdentity". Nullopt: it is no such name.
struct WatchedName {
  llvm::StringRef node, debug_op;
  int32_t index = 0;
};
std::optional<WatchedName> ReadWatchedName(llvm::StringRef text);

// "x:0", "x:1": as people and tools name a tensor.
std::string OutputName(llvm::StringRef node, int32_t index);
// "x", "x:1", and "^x" for kControlPort: as a NodeDef names what it reads.
std::string NodeDefInput(llvm::StringRef node, int32_t index);
// Of a name as it was written: "x" of "x:0", all else as it is. Equal for names of one tensor.
llvm::StringRef WithoutZeroIndex(llvm::StringRef tensor);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TENSOR_NAME_H_
