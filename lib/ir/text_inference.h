// Infers attributes from a node's inputs, so that a graph's text can omit them. For
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

// One node of a body as input to the inference.
struct InferenceNode {
  struct Input {
    uint32_t node = kNoNode;  // index of the input's node; kNoNode: unknown
    int port = 0;
    llvm::StringRef output;  // if not empty, `port` counts within this output
  };
  const OpInfo* info = nullptr;        // null: an unknown op, whose outputs have no dtypes
  const OpInfo* callee = nullptr;      // the function that gives the outputs and thus Tout
  llvm::SmallVector<Input, 4> inputs;  // data inputs, in order
  llvm::SmallVector<std::pair<llvm::StringRef, AttrView>, 4> given;
  // A constant within a node's inputs: its dtype is the one that its reader requires, or else
  // `natural`.
  bool is_literal = false;
  DataType natural = proto::DT_INVALID;

  // The result: inferred attributes with their serialized values, without those that could not be
  // inferred.
  llvm::SmallVector<std::pair<llvm::StringRef, std::string>, 2> inferred;
  llvm::SmallVector<DataType, 2> outputs;
  bool resolved = false;

  const std::string* FindInferred(llvm::StringRef key) const;
  // Returns the given, inferred or default value; nullopt if the op is unknown.
  std::optional<AttrView> Find(llvm::StringRef key) const;
  // The number of ports of an input or output argument; -1 if unknown.
  int64_t CountOf(const OpArg& arg) const;
};

// Returns the output argument of a port and the index within it; an empty name if there is no such
// port.
std::pair<llvm::StringRef, int> OutputOfPort(const InferenceNode& node, int port);

// The default name of a constant within the inputs of node `name`: t/perm, or c/values_1 for one of
// several; t/input_0 for an unknown op.
std::string LiteralName(const InferenceNode& node, llvm::StringRef name, int slot);

// True if InferAttributes sets `key` on a node of this op: dtypes, lists of dtypes and counts of
// its inputs, and a call's Tout.
bool CanBeInferred(const OpInfo& info, bool is_call, llvm::StringRef key);

// Fills in the results. Deterministic: the same nodes with the same attributes give the same
// results, so a text may omit every attribute that agrees. A type attribute comes from the first
// input that uses it (from a literal only if there is no other), otherwise from its default. On a
// cycle, the inputs that are known decide. Nearly linear.
void InferAttributes(std::vector<InferenceNode>& nodes);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_INFERENCE_H_
