// Infers attributes of a node from its inputs, so that a graph's text can omit these attributes.
// For lib/ir/text*.cpp.
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
  const OpInfo* info = nullptr;        // null: an unknown op, whose outputs have no dtypes
  const OpInfo* callee = nullptr;      // the function whose results are the node's outputs
  llvm::SmallVector<Input, 4> inputs;  // data inputs, in order
  llvm::SmallVector<std::pair<llvm::StringRef, AttrView>, 4> given;
  // True for a constant written within a node's inputs: its dtype is the one that its reader
  // requires, or else `natural`.
  bool is_literal = false;
  DataType natural = proto::DT_INVALID;

  // The result: the inferred attributes with their serialized values; lacks those that could not be
  // inferred.
  llvm::SmallVector<std::pair<llvm::StringRef, std::string>, 2> inferred;
  llvm::SmallVector<DataType, 2> outputs;
  bool resolved = false;

  const std::string* FindInferred(llvm::StringRef key) const;
  // Returns the given, inferred or default value of an attribute; nullopt if the op is unknown.
  std::optional<AttrView> Find(llvm::StringRef key) const;
  // Returns the number of tensors of an input or output argument; -1 if unknown.
  int64_t CountOf(const OpArg& arg) const;
};

// Returns the output argument of a port and the port's index within that argument; an empty name if
// there is no such port.
std::pair<llvm::StringRef, int> OutputOfPort(const InferenceNode& node, int port);

// Returns the default name of a constant written within the inputs of the node `name`: t/perm for
// the argument perm of t, c/values_1 for one of several tensors of an argument, t/input_0 if the op
// is unknown.
std::string LiteralName(const InferenceNode& node, llvm::StringRef name, int slot);

// True if InferAttributes can set `key` on a node of this op: dtypes, lists of dtypes and counts of
// inputs, and Tout of a call.
bool CanBeInferred(const OpInfo& info, bool is_call, llvm::StringRef key);

// Fills in `inferred` of each node. Deterministic: the same nodes with the same attributes give the
// same result, so a text may omit every attribute that is inferred correctly. A type attribute
// comes from the first input that uses it (from a constant within the inputs only if there is no
// other input), otherwise from its default. On a cycle, the inputs that are already known determine
// it. Nearly linear.
void InferAttributes(std::vector<InferenceNode>& nodes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_INFERENCE_H_
