// Splits a node's bytes for printing. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_
#define GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_

#include <map>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Serialized AttrValues by key.
using TextAttrs = std::map<llvm::StringRef, llvm::StringRef>;

// ` fields "..."`.
std::string FieldsText(llvm::StringRef bytes);
// Returns cpu:0 for /device:CPU:0; unless `exact`, also for a full name on this host. Quotes the
// name if the reader could not find its end.
std::string DeviceText(llvm::StringRef device, bool exact);

// The fields of a NodeDef; views of its bytes in the file, or in `owned` for a changed node.
struct NodeParts {
  NodeParts(const Node& node, const Function* function);
  NodeParts(const NodeParts&) = delete;

  std::string owned;
  llvm::SmallVector<llvm::StringRef, 4> inputs;  // in the file's order
  TextAttrs attrs;                               // for a duplicate key the last value
  std::string fields;                            // all other fields
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_
