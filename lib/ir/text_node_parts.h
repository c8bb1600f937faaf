// Splits a node's bytes for printing. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_
#define GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_

#include <map>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Serialized AttrValues by key.
using TextAttrs = std::map<llvm::StringRef, llvm::StringRef>;

// Returns the text ` fields "..."` with the bytes in base64; empty if there are no bytes.
std::string FieldsText(llvm::StringRef bytes);
// Returns cpu:0 for /device:CPU:0; unless `exact`, also for the full name of that device on this
// host. Quotes the name if the reader could not tell where it ends.
std::string DeviceText(llvm::StringRef device, bool exact);

// The fields of a NodeDef, as views of the node's bytes in the file, or in `owned` for a changed
// node.
struct NodeParts {
  NodeParts(const Node& node, const Function* function);
  NodeParts(const NodeParts&) = delete;

  std::string owned;
  llvm::SmallVector<llvm::StringRef, 4> inputs;  // in the file's order
  TextAttrs attrs;                               // if a key occurs twice, with the last value
  std::string fields;                            // all other fields
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_
