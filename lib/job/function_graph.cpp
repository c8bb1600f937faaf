#include "lib/job/function_graph.h"

#include <set>
#include <vector>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"

namespace grapnel {
namespace {

// Returns the functions that a graph calls, directly or indirectly.
std::set<const Function*> ReachedFrom(const Graph& graph) {
  std::set<const Function*> reached;
  std::vector<const Graph*> left = {&graph};
  while (!left.empty()) {
    const Graph& body = *left.back();
    left.pop_back();
    for (Node node : body.nodes()) {
      if (!MayCallFunctions(node)) continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        const Function* callee = body.module().FindFunction(name);
        if (callee && reached.insert(callee).second) left.push_back(&callee->body);
      }
    }
  }
  return reached;
}

}  // namespace

Expected<const Function*> FindTracedFunction(const Module& module, llvm::StringRef name) {
  std::string trace = "__inference_" + name.str();
  for (char& c : trace)
    if (c == ' ') c = '_';
  if (!module.FindFunction(name))
    if (const Function* function = module.FindFunction(trace)) return function;
  return FindFunction(module, name);
}

Expected<std::string> TakeFunction(llvm::StringRef name, OpenedGraph* opened) {
  auto found = FindTracedFunction(opened->module(), name);
  if (!found) return Annotate(opened->model().path, found.takeError());
  std::string taken = (*found)->name().str();
  std::unique_ptr<Module> module = opened->module().Copy();
  const Graph& body = module->FindFunction(taken)->body;
  module->main.CopyNodes(body, [](llvm::StringRef bytes) { return bytes; });
  std::set<const Function*> reached = ReachedFrom(module->main);
  module->RetainFunctions([&](const Function& function) { return reached.count(&function) != 0; });
  opened->WorkOn(std::move(module));
  return taken;
}

}  // namespace grapnel
