#include "lib/ir/node_instances.h"

#include "llvm/ADT/Twine.h"

namespace grapnel {

std::vector<Node> InstancesOf(const Graph& graph, llvm::StringRef function, llvm::StringRef name) {
  std::vector<Node> found;
  std::string end = ("/" + name).str();
  llvm::StringRef own = name;
  if (own.consume_front(function) && !own.consume_front("/")) own = name;
  for (Node node : graph.nodes()) {
    if (node.name().ends_with(end) || (!function.empty() && node.name() == own))
      found.push_back(node);
  }
  return found;
}

}  // namespace grapnel
