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

const Function* FindLibraryFunction(const Module& module, llvm::StringRef name) {
  if (const Function* function = module.FindFunction(name)) return function;
  std::string trace = "__inference_" + name.str();
  for (char& c : trace)
    if (c == ' ') c = '_';
  return module.FindFunction(trace);
}

Expected<std::string> TakeLibraryFunction(llvm::StringRef name, OpenedGraph* opened) {
  const Function* found = FindLibraryFunction(opened->module(), name);
  if (!found) {
    Error error = FindFunction(opened->module(), name).takeError();
    return Annotate(opened->model().path, std::move(error));
  }
  std::string taken = found->name().str();
  std::unique_ptr<Module> module = opened->module().Copy();
  const Graph& body = module->FindFunction(taken)->body;
  module->main.CopyNodes(body, [](llvm::StringRef bytes) { return bytes; });
  std::set<const Function*> reached = ReachedFrom(module->main);
  module->RetainFunctions([&](const Function& function) { return reached.count(&function) != 0; });
  GraphInFile file;
  file.title = opened->file().title;
  file.path = opened->file().path;
  file.module = std::move(module);
  file.tensorflow_version = opened->file().tensorflow_version;
  opened->ContinueInstead(std::move(file), [taken](OpenedGraph* again) {
    return TakeLibraryFunction(taken, again).takeError();
  });
  return taken;
}

}  // namespace grapnel
