#include "lib/job/made_nodes.h"

#include "lib/ir/name_parts.h"

namespace grapnel {

MadeNodes::MadeNodes(const Module& before) {
  for (Node node : before.main.nodes()) main_.insert(node.name());
  for (const auto& function : before.functions)
    for (Node node : function->body.nodes()) inner_.insert(node.name());
}

bool MadeNodes::WasThere(llvm::StringRef place) const {
  return main_.contains(place) ||
         AnyEnd(place, [&](llvm::StringRef end) { return inner_.contains(end); });
}

void MadeNodes::Note(const Rewrite& rewrite) {
  std::string scope = rewrite.function.empty() ? "" : rewrite.function + "/";
  std::string origin = scope + rewrite.node;
  auto before = made_.find(origin);
  if (before != made_.end()) origin = before->second.origin;
  bool is_helper = rewrite.pass == "function_optimizer";
  for (const std::string& node : rewrite.made)
    if (!WasThere(scope + node)) made_[scope + node] = {origin, is_helper};
}

const MadeNode* MadeNodes::Find(const std::string& place) const {
  auto found = made_.find(place);
  return found == made_.end() ? nullptr : &found->second;
}

}  // namespace grapnel
