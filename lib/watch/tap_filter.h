// Which tensors are tapped.
#ifndef GRAPNEL_LIB_WATCH_TAP_FILTER_H_
#define GRAPNEL_LIB_WATCH_TAP_FILTER_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/glob.h"
#include "lib/support/public.h"

namespace grapnel {

// Each list fits what one of its globs fits; an empty one fits all. A tensor is tapped when all
// fit.
struct GRAPNEL_PUBLIC TapFilter {
  std::vector<Glob> names;      // of nodes; in a function's body the node's alone
  std::vector<Glob> ops;        // "Conv2D"
  std::vector<Glob> functions;  // whose body the node is in; the main graph is called ""
  std::vector<Glob> dtypes;     // "float", "int*"

  bool FitsNode(const Node& node) const;
  bool FitsDtype(DataType dtype) const;
  // Why the node is not tapped: "its name fits no --tap"; empty where it is.
  std::string WhyNot(const Node& node) const;
};

// What was typed: a name or pattern that fits no node, op, function or dtype is an error, which
// says what is near.
GRAPNEL_PUBLIC Error CheckTapped(const Module& module, const TapFilter& filter);
// The same of nodes alone, which `flag` names.
GRAPNEL_PUBLIC Error CheckNodes(const Module& module, llvm::ArrayRef<Glob> globs,
                                 const char* flag);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_FILTER_H_
