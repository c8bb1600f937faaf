#include "lib/render/device_scopes.h"

#include <algorithm>

#include "lib/ir/device_name.h"
#include "lib/ir/tensor_name.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the name of the scope of a node's device, as GroupByDevice describes it.
std::string BoxOf(const Node& node) {
  auto name = DeviceSpec::Parse(node.device());
  if (!name) {
    llvm::consumeError(name.takeError());
    return node.device().str();  // TensorFlow cannot parse the name
  }
  if (name->IsOpen()) return "no device";
  std::string box = name->type ? name->type.text().str() : "any";
  if (name->id >= 0) box += ":" + std::to_string(name->id);
  if (!name->job || name->job.text() == "localhost") return box;
  return (name->job.text() + ":" + llvm::Twine(std::max(name->task, 0)) + ":" + box).str();
}

}  // namespace

void GroupByDevice(Module& module, ViewOptions& view) {
  view.keep_outermost = true;  // although data flows back and forth between devices
  auto follow = [&](std::string& name) {
    if (Node found = module.main.Find(ReadTensorName(name).node)) name = BoxOf(found) + "/" + name;
  };
  for (std::vector<std::string>* names : {&view.feeds, &view.fetches})
    llvm::for_each(*names, follow);
  for (std::string* name : {&view.around, &view.path_from, &view.path_to}) follow(*name);
  std::vector<Node> nodes;
  for (Node node : module.main.nodes()) nodes.push_back(node);
  // Renaming makes names longer. Renames the longest names first, so that a new name never equals
  // the name of a node that is still to be renamed.
  llvm::stable_sort(nodes,
                    [](const Node& a, const Node& b) { return a.name().size() > b.name().size(); });
  for (const Node& node : nodes)
    module.main.Rename(node.id(), BoxOf(node) + "/" + node.name().str());
}

}  // namespace grapnel
