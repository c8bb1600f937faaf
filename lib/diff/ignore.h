// What a diff leaves out, as a user says it.
#ifndef GRAPNEL_LIB_DIFF_IGNORE_H_
#define GRAPNEL_LIB_DIFF_IGNORE_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/glob.h"

namespace grapnel {

// Differences that do not count (--ignore). A rule is `device`, `control` (control inputs),
// `node:GLOB` and `op:GLOB` (whole nodes, which are then neither removed, added nor changed), or
// else a glob of attribute names: `value` for constants' values, `_*` for whatever begins so.
struct IgnoreRules {
  static Expected<IgnoreRules> Parse(llvm::ArrayRef<std::string> rules);

  bool Attribute(llvm::StringRef key) const;
  // An error for the first glob of attributes that fits none in either, with what is near: it may
  // be misspelt, or of a list that is for other graphs too.
  Error CheckFits(const Module& a, const Module& b) const;
  // `name` as the diff says it: a function's node is "function/node".
  bool WholeNode(llvm::StringRef name, llvm::StringRef op) const;

  bool device = false, control = false;
  std::vector<Glob> attributes, nodes, ops;
};

// What is looked at (--only). A filter is `op:GLOB`, `function:GLOB` (nodes of these functions), or
// a glob of nodes and scopes: `block_1` is everything in that scope too.
struct OnlyFilters {
  static Expected<OnlyFilters> Parse(llvm::ArrayRef<std::string> filters);

  // An error for the first filter that fits nothing in either: a name that is not there must not
  // read as "the same". It says what is near.
  Error CheckFits(const Module& a, const Module& b) const;

  bool empty() const { return filters.empty(); }
  // Whether any filter fits; `function` is empty in the main graph.
  bool Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const;

  struct Filter {
    bool Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const;

    enum Kind { kName, kOp, kFunction } kind = kName;
    std::string text;  // without the kind
    std::vector<Glob> globs;
  };
  std::vector<Filter> filters;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_IGNORE_H_
