// Splits the bytes of a node into the parts that are printed. For lib/ir/text*.cpp.
#ifndef GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_
#define GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_

#include <map>
#include <string>

#include "lib/ir/module.h"

namespace grapnel {

// Serialized AttrValues by key.
using TextAttrs = std::map<llvm::StringRef, llvm::StringRef>;

// Returns the text ` fields "..."` with the bytes in base64.
std::string FieldsText(llvm::StringRef bytes);
// Returns a device for the text: cpu:0 for /device:CPU:0, and unless `exact` also for that device's
// full name in a process without a cluster. Quotes a name whose end the reader could not recognize.
std::string DeviceText(llvm::StringRef device, bool exact);

// The fields of a NodeDef other than name, op and device. `inputs` and `attrs` are views of the
// node's bytes: in the file, or in `owned` if the node has changed.
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
