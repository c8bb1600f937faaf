#include "lib/check/coverage.h"

#include <map>

#include "lib/exec/kernel.h"
#include "lib/exec/op_reference.h"
#include "lib/pass/library.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

std::vector<UnsupportedOp> UnsupportedOps(const Module& module, llvm::StringRef device) {
  std::map<std::pair<std::string, std::string>, UnsupportedOp> found;
  auto look = [&](const Graph& graph, const std::string& prefix) {
    for (Node node : graph.nodes()) {
      if (IsExecutorsOwn(node.op())) continue;
      auto def = KernelRegistry::Get().Find(node, device);
      if (def) continue;
      std::string reason = TextOf(def.takeError());
      UnsupportedOp& op = found[{node.op().str(), reason}];
      if (op.nodes++ == 0) op.first = prefix + node.name().str();
      op.op = node.op().str();
      op.reason = std::move(reason);
    }
  };
  look(module.main, "");
  FunctionSet reached = ReachableFunctions(module, /*choices=*/false);
  for (const auto& function : module.functions) {
    if (reached.contains(function.get())) look(function->body, function->name().str() + "/");
  }
  std::vector<UnsupportedOp> list;
  list.reserve(found.size());
  for (auto& [key, op] : found) list.push_back(std::move(op));
  llvm::stable_sort(list, [](const auto& a, const auto& b) { return a.nodes > b.nodes; });
  return list;
}

void WriteUnsupportedJson(llvm::ArrayRef<UnsupportedOp> ops, llvm::json::OStream& json) {
  json.attributeArray("ops", [&] {
    for (const UnsupportedOp& op : ops) {
      json.object([&] {
        json.attribute("op", llvm::json::fixUTF8(op.op));
        json.attribute("nodes", op.nodes);
        json.attribute("reason", llvm::json::fixUTF8(op.reason));
        json.attribute("first", llvm::json::fixUTF8(op.first));
      });
    }
  });
}

std::string UnsupportedTable(llvm::ArrayRef<UnsupportedOp> ops) {
  std::vector<std::vector<std::string>> rows;
  rows.reserve(ops.size());
  for (const UnsupportedOp& op : ops)
    rows.push_back({op.op, Plural(op.nodes, "node") + ", first '" + op.first + "'", op.reason});
  return Table(rows, "  ");
}

}  // namespace grapnel
