// The selection of tensors to tap.
#ifndef GRAPNEL_LIB_WATCH_TAP_FILTER_H_
#define GRAPNEL_LIB_WATCH_TAP_FILTER_H_

#include <string>
#include <vector>

#include "lib/ir/node_selection.h"
#include "lib/support/glob.h"
#include "lib/support/public.h"

namespace grapnel {

// A tensor is tapped if each list is empty or has a glob that matches. `chosen` and `names` are one
// list.
struct GRAPNEL_PUBLIC TapFilter {
  std::vector<Glob> names;  // node names, without the name of the function that has the node
  // What --tap names in another way: layers, scopes, patterns, FUNCTION/NODE and CALL/NODE.
  std::vector<NodeSelection> chosen;
  std::vector<Glob> ops;        // "Conv2D"
  std::vector<Glob> functions;  // the function that has the node; "" for the main graph
  std::vector<Glob> dtypes;     // "float", "int*"

  bool FitsName(const Node& node) const;
  bool FitsNode(const Node& node) const;
  bool FitsDtype(DataType dtype) const;
  // Explains why outputs of the node are not tapped: "its name matches no --tap"; empty if the node
  // matches.
  std::string WhyNot(const Node& node) const;
};

// Errors: a glob matches no node, op or function of the module, or no dtype; the error suggests
// similar names.
GRAPNEL_PUBLIC Error CheckTapped(const Module& module, const TapFilter& filter);
// Errors: a glob for node names matches no node of the module. `flag` is the command-line flag that
// has the globs, for the error.
GRAPNEL_PUBLIC Error CheckNodes(const Module& module, llvm::ArrayRef<Glob> globs, const char* flag);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_FILTER_H_
