#include "lib/diff/callees_first.h"

#include "lib/ir/node_types.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

std::vector<std::vector<int32_t>> Callees(const Module& module) {
  llvm::StringMap<int32_t> by_name;
  for (size_t i = 0; i < module.functions.size(); ++i)
    by_name.try_emplace(module.functions[i]->name(), static_cast<int32_t>(i + 1));
  std::vector<std::vector<int32_t>> callees(1 + module.functions.size());
  if (by_name.empty()) return callees;
  for (size_t i = 0; i < callees.size(); ++i) {
    const Graph& graph = i == 0 ? module.main : module.functions[i - 1]->body;
    for (Node node : graph.nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        auto it = by_name.find(name);
        if (it != by_name.end()) callees[i].push_back(it->second);
      }
    }
  }
  return callees;
}

}  // namespace

std::vector<int32_t> CalleesFirst(const Module& module) {
  std::vector<std::vector<int32_t>> callees = Callees(module);
  std::vector<int32_t> order;
  std::vector<bool> seen(callees.size());
  std::vector<std::pair<int32_t, size_t>> stack;  // body, number of visited callees
  for (size_t root = 0; root < callees.size(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back({static_cast<int32_t>(root), 0});
    while (!stack.empty()) {
      auto& [body, tried] = stack.back();
      if (tried == callees[body].size()) {
        order.push_back(body);
        stack.pop_back();
        continue;
      }
      int32_t callee = callees[body][tried++];
      if (seen[callee]) continue;
      seen[callee] = true;
      stack.push_back({callee, 0});
    }
  }
  return order;
}

}  // namespace grapnel
