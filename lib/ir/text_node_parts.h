// A node's bytes taken apart, for printing. For lib/ir/text*.cpp.
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
// cpu:0 for /device:CPU:0; unless `exact` also for a whole name on this host. In quotes where
// reading could not tell its end.
std::string DeviceText(llvm::StringRef device, bool exact);

// A NodeDef; views of its bytes, which are the file's or, of a node that was changed, its own.
struct NodeParts {
  NodeParts(const Node& node, const Function* function);
  NodeParts(const NodeParts&) = delete;

  std::string owned;
  llvm::SmallVector<llvm::StringRef, 4> inputs;  // in the file's order
  TextAttrs attrs;                               // of a key that is there twice the last
  std::string fields;                            // all others
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_TEXT_NODE_PARTS_H_
