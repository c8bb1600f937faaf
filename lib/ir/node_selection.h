// The nodes that a name, a layer or a pattern means.
#ifndef GRAPNEL_LIB_IR_NODE_SELECTION_H_
#define GRAPNEL_LIB_IR_NODE_SELECTION_H_

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/support/glob.h"
#include "lib/support/public.h"

namespace grapnel {

// A set of nodes by name, so that they are found in a copy of the graph too, after calls were
// inlined, and among the nodes that passes make. NameResolver::Nodes (lib/job/name_resolver.h)
// makes it.
class GRAPNEL_PUBLIC NodeSelection {
 public:
  // The name as the user wrote it.
  const std::string& text() const { return text_; }
  // The nodes of the graph in which the name was resolved, in its order. They are valid as long as
  // the graph does not change.
  const std::vector<Node>& nodes() const { return nodes_; }

  // `name`: NODE, FUNCTION/NODE, or the name that a node has after inlining, CALL/NODE. If the user
  // named a node in one call, only the name in this call belongs to the selection.
  bool Has(llvm::StringRef name) const;
  // `node`: of any copy of the graph. A node of a function is the same in all calls.
  bool Has(const Node& node) const;

 private:
  friend class NameResolver;
  std::string text_;
  std::vector<Node> nodes_;
  std::set<std::string> names_;           // of nodes(), in all calls that are meant
  std::set<std::string> function_names_;  // of nodes(), by NameWithFunction
  std::vector<std::string> scopes_;       // all nodes in these scopes belong to it
  std::optional<Glob> glob_;              // of the end of a name
  std::string end_;                       // a name, or the end of one, that the graph does not have
};

// Returns "FUNCTION/NODE", or for a node of the main graph "NODE": names that NameResolver takes.
GRAPNEL_PUBLIC std::string NameWithFunction(const Node& node);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IR_NODE_SELECTION_H_
