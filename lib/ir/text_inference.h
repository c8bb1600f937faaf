// Infers attributes of a node from the dtypes and the number of its inputs, so that a graph's text
// can omit them. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_INFERENCE_H_
#define GRAPNEL_LIB_IR_TEXT_INFERENCE_H_

#include <string>
#include <utility>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/ir/graph.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

// One node of a body, as the inference sees it.
struct InferenceNode {
  struct Input {
    uint32_t node = kNoNode;  // index of the node that gives the input; kNoNode: unknown
    int port = 0;
    llvm::StringRef output;  // if not empty, `port` counts within this output
  };
  const OpInfo* info = nullptr;        // null: an unknown op, or `outputs` is given
  const OpInfo* callee = nullptr;      // the function that gives the outputs; null: none
  llvm::SmallVector<Input, 4> inputs;  // data inputs, in order
  llvm::SmallVector<std::pair<llvm::StringRef, AttrView>, 4> given;
  // True for a constant that is written within a node's inputs. Its dtype is the one that its
  // reader requires; if the reader requires none, `natural`.
  bool is_literal = false;
  DataType natural = proto::DT_INVALID;

  // The result: the attributes that could be inferred, with serialized values.
  llvm::SmallVector<std::pair<llvm::StringRef, std::string>, 2> inferred;
  llvm::SmallVector<DataType, 2> outputs;
  bool resolved = false;

  const std::string* FindInferred(llvm::StringRef key) const;
  // Returns the given, inferred or default value of an attribute, in this order; nullopt if there
  // is none.
  std::optional<AttrView> Find(llvm::StringRef key) const;
  // Returns how many tensors an input or output argument stands for; -1 if unknown.
  int64_t CountOf(const OpArg& arg) const;
};

// Returns the output argument to which a port belongs, and the port's index within it; an empty
// name if it is not known.
std::pair<llvm::StringRef, int> OutputOfPort(const InferenceNode& node, int port);

// Returns the default name of a constant that is written within the inputs of the node `name`:
// t/perm for argument perm of node t, c/values_1 if the argument has several tensors, t/input_0 if
// the op is unknown.
std::string LiteralName(const InferenceNode& node, llvm::StringRef name, int slot);

// True if InferAttributes can set the attribute `key` on a node of this op: it is a dtype, a list
// of dtypes or the number of tensors of an input, or the Tout of a call.
bool CanBeInferred(const OpInfo& info, bool is_call, llvm::StringRef key);

// Sets `inferred` and `outputs` of the nodes, as far as they can be inferred. The same nodes with
// the same attributes give the same result, so a text may omit each attribute that is inferred
// correctly. A type attribute has the dtype of the first input that uses it, not counting constants
// within inputs whose dtype is not stated; if there is none, its default; otherwise the dtype that
// fits the constants. On a cycle, the inputs that are known so far decide. Nearly linear.
void InferAttributes(std::vector<InferenceNode>& nodes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_INFERENCE_H_
