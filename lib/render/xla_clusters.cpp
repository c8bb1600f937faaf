#include "lib/render/xla_clusters.h"

#include <optional>
#include <vector>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kCompiles[] = {"_XlaMustCompile", "_XlaCompiledKernel"};

bool IsCompiled(const Function& function) {
  for (const auto& [key, value] : function.Attrs()) {
    if (llvm::is_contained(kCompiles, key) && value.AsBool().value_or(false)) return true;
  }
  return false;
}

bool CompilesCallee(const Node& node) {
  return llvm::any_of(kCompiles, [&](llvm::StringRef key) { return node.GetBool(key); });
}

// Returns the cluster that the node's own attributes name; "" if they name none. No op defines a
// default for these attributes.
std::string NamedCluster(const Node& node) {
  for (const char* key : {"_XlaCluster", "_xla_compile_id"}) {
    std::optional<AttrView> name = node.FindAttr(key);
    if (name && !name->AsString().value_or("").empty()) return name->AsString()->str();
  }
  return "";
}

std::string ClusterOfFunction(llvm::StringRef name) { return "function " + name.str(); }

// Returns the functions that a node calls, named by its attributes or by its op.
std::vector<const Function*> Callees(const Module& module, const Node& node) {
  std::vector<const Function*> callees;
  if (const Function* callee = module.FindFunction(node.op())) callees.push_back(callee);
  if (!MayCallFunctions(node)) return callees;
  for (llvm::StringRef name : CalledFunctions(node)) {
    const Function* callee = module.FindFunction(name);
    if (callee && !llvm::is_contained(callees, callee)) callees.push_back(callee);
  }
  return callees;
}

}  // namespace

XlaClusters::XlaClusters(const Module& module) : module_(module) {
  for (const auto& function : module.functions)
    if (IsCompiled(*function)) Compile(*function, ClusterOfFunction(function->name()));
  auto look = [&](const Graph& graph) {
    for (Node node : graph.nodes()) {
      named_ = named_ || !NamedCluster(node).empty();
      if (!MayCallFunctions(node) && !module.FindFunction(node.op())) continue;
      if (!CompilesCallee(node)) continue;
      for (const Function* callee : Callees(module, node))
        Compile(*callee, ClusterOfFunction(callee->name()));
    }
  };
  look(module.main);
  for (const auto& function : module.functions) look(function->body);
}

void XlaClusters::Compile(const Function& function, const std::string& cluster) {
  std::vector<const Function*> stack = {&function};
  while (!stack.empty()) {
    const Function* here = stack.back();
    stack.pop_back();
    if (!of_body_.try_emplace(&here->body, cluster).second) continue;
    for (Node node : here->body.nodes()) {
      for (const Function* callee : Callees(module_, node)) stack.push_back(callee);
    }
  }
}

std::string XlaClusters::Of(const Node& node) const {
  if (named_) {
    if (std::string name = NamedCluster(node); !name.empty()) return name;
  }
  auto around = of_body_.find(&node.graph());
  if (around != of_body_.end()) return around->second;
  if (of_body_.empty()) return "";
  for (const Function* callee : Callees(module_, node)) {
    auto found = of_body_.find(&callee->body);
    if (found != of_body_.end()) return found->second;
  }
  return "";
}

}  // namespace grapnel
