// The user's filters for a diff (--ignore and --only).
#ifndef GRAPNEL_LIB_DIFF_IGNORE_H_
#define GRAPNEL_LIB_DIFF_IGNORE_H_

#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/ir/node_selection.h"
#include "lib/support/glob.h"

namespace grapnel {

// The differences to ignore (--ignore). A rule is `device`, `control` (control inputs), `node:GLOB`
// or `op:GLOB` (whole nodes, which then do not count as removed, added or changed), or a glob of
// attribute names: `value` for the values of constants, `_*` for names that begin with an
// underscore.
struct IgnoreRules {
  static Expected<IgnoreRules> Parse(llvm::ArrayRef<std::string> rules);

  bool Attribute(llvm::StringRef key) const;
  // Returns an error for the first attribute glob that matches no attribute in either graph, with
  // similar names. The caller decides whether that is an error: the list may be meant for other
  // graphs too.
  Error CheckFits(const Module& a, const Module& b) const;
  // True if a rule ignores the whole node. `name` is as in the diff: "function/node" for a node of
  // a function.
  bool WholeNode(llvm::StringRef name, llvm::StringRef op) const;

  bool device = false, control = false;
  std::vector<Glob> attributes, nodes, ops;
};

// The nodes to compare (--only). A filter is `op:GLOB`, `function:GLOB` (nodes of these functions),
// or a glob of nodes and scopes: `block_1` includes everything in that scope. The nodes that
// another name means, such as that of a layer, come from `find`.
struct OnlyFilters {
  // Returns the nodes that a name means in a graph. Errors: an ambiguous name.
  using Find = llvm::function_ref<Expected<NodeSelection>(const Module&, llvm::StringRef)>;

  static Expected<OnlyFilters> Parse(llvm::ArrayRef<std::string> filters);

  // Finds what names mean that match no node in either graph. Returns an error, with similar names,
  // for the first filter that has no nodes then: a misspelled name would look like two equal
  // graphs.
  Error Resolve(const Module& a, const Module& b, Find find);

  bool empty() const { return filters.empty(); }
  // True if at least one filter matches the node; `function` is empty in the main graph.
  bool Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const;

  struct Filter {
    bool Fits(llvm::StringRef name, llvm::StringRef op, llvm::StringRef function) const;

    enum Kind { kName, kOp, kFunction } kind = kName;
    std::string text;  // the filter without "op:" or "function:"
    std::vector<Glob> globs;
    std::vector<NodeSelection> chosen;
  };
  std::vector<Filter> filters;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DIFF_IGNORE_H_
