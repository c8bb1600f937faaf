// Attributes that follow from a node's inputs: what a graph's text leaves out. For
// lib/ir/text*.cpp.
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

// One node of a body as the inference sees it.
struct InferenceNode {
  struct Input {
    uint32_t node = kNoNode;  // index of the node that is read; kNoNode: not known
    int port = 0;
    llvm::StringRef output;  // when not empty: `port` counts within this output
  };
  const OpInfo* info = nullptr;    // null: an op that is not known, whose outputs have no dtypes
  const OpInfo* callee = nullptr;  // the function whose results are the outputs: gives Tout
  llvm::SmallVector<Input, 4> inputs;  // data inputs, in order
  llvm::SmallVector<std::pair<llvm::StringRef, AttrView>, 4> given;
  // A constant within a node's inputs: its dtype is what the reader demands, else `natural`.
  bool is_literal = false;
  DataType natural = proto::DT_INVALID;

  // The result. Attributes that follow, with their serialized values; those that could not be
  // worked out are missing.
  llvm::SmallVector<std::pair<llvm::StringRef, std::string>, 2> inferred;
  llvm::SmallVector<DataType, 2> outputs;
  bool resolved = false;

  const std::string* FindInferred(llvm::StringRef key) const;
  // Given, else inferred, else the definition's default; nullopt when the op is not known.
  std::optional<AttrView> Find(llvm::StringRef key) const;
  // The ports of an argument, an input's or an output's; -1 when that is not known.
  int64_t CountOf(const OpArg& arg) const;
};

// The output that a port belongs to, and its place there; no name when there is no such port.
std::pair<llvm::StringRef, int> OutputOfPort(const InferenceNode& node, int port);

// What a constant within the inputs of node `name` is called when the text does not say: t/perm, or
// c/values_1 for one of several. With an op that is not known: t/input_0.
std::string LiteralName(const InferenceNode& node, llvm::StringRef name, int slot);

// Whether `key` is one of the attributes that InferAttributes gives to a node of this op: dtypes,
// lists of dtypes and numbers of its inputs, and Tout of a call.
bool CanBeInferred(const OpInfo& info, bool is_call, llvm::StringRef key);

// Fills in the results. The same nodes with the same attributes give the same results, so what
// agrees with them may be left out of a text. A type attribute is that of the first input that has
// it (a literal only if there is no other), else its default. On a cycle, what is known of some
// inputs decides. Nearly linear.
void InferAttributes(std::vector<InferenceNode>& nodes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_INFERENCE_H_
