// The nodes that passes make, and what they made them for.
#ifndef GRAPNEL_LIB_JOB_MADE_NODES_H_
#define GRAPNEL_LIB_JOB_MADE_NODES_H_

#include <map>
#include <string>

#include "lib/ir/module.h"
#include "lib/pass/rewrite.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {

struct MadeNode {
  std::string origin;      // the node of the graph before the passes that it stands for, or a call
  bool is_helper = false;  // passes on a value or an order where a call, loop or branch was
};

// Listens to the rewrites of a run. Copies that inlining makes of a function's nodes are not new.
class MadeNodes {
 public:
  // For a run without passes.
  MadeNodes() = default;
  // `before`: the graph before the passes.
  explicit MadeNodes(const Module& before);

  void Note(const Rewrite& rewrite);
  // `place`: "NODE", "FUNCTION/NODE". Returns null if the graph had the node, or a function of it.
  const MadeNode* Find(const std::string& place) const;

 private:
  bool WasThere(llvm::StringRef place) const;

  llvm::StringSet<> main_, inner_;  // nodes of the main graph, and of functions
  std::map<std::string, MadeNode> made_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MADE_NODES_H_
