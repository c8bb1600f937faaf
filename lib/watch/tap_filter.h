// The selection of tensors to tap.
#ifndef GRAPNEL_LIB_WATCH_TAP_FILTER_H_
#define GRAPNEL_LIB_WATCH_TAP_FILTER_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/glob.h"
#include "lib/support/public.h"

namespace grapnel {

// A list matches what one of its globs matches; an empty list matches everything. A tensor is
// tapped if all lists match.
struct GRAPNEL_PUBLIC TapFilter {
  std::vector<Glob> names;      // of nodes, without the function's name in a body
  std::vector<Glob> ops;        // "Conv2D"
  std::vector<Glob> functions;  // of the body that the node is in; the main graph is ""
  std::vector<Glob> dtypes;     // "float", "int*"

  bool FitsNode(const Node& node) const;
  bool FitsDtype(DataType dtype) const;
  // Explains why the node is not tapped: "its name matches no --tap"; empty if it is tapped.
  std::string WhyNot(const Node& node) const;
};

// Errors: a name or pattern that matches no node, op, function or dtype, with the nearest names.
GRAPNEL_PUBLIC Error CheckTapped(const Module& module, const TapFilter& filter);
// The same for globs of nodes, given by `flag`.
GRAPNEL_PUBLIC Error CheckNodes(const Module& module, llvm::ArrayRef<Glob> globs, const char* flag);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_FILTER_H_
