#include "lib/serve/work/node_links.h"

#include "lib/render/labels.h"
#include "lib/support/printable.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

std::vector<const Graph*> BodiesOf(const Module& module) {
  std::vector<const Graph*> bodies = {&module.main};
  for (const auto& function : module.functions) bodies.push_back(&function->body);
  return bodies;
}

size_t BodyNumber(const Module& module, const Graph& graph) {
  std::vector<const Graph*> bodies = BodiesOf(module);
  return llvm::find(bodies, &graph) - bodies.begin();
}

void WriteNodeLink(size_t body, const Node& node, llvm::json::OStream& json) {
  json.object([&] {
    json.attribute("body", body);
    json.attribute("id", node.id());
    json.attribute("op", Printable(node.op()));
    json.attribute("name", Printable(node.name()));
  });
}

}  // namespace grapnel
