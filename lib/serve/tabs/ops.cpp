// The tab with the ops of the model: nodes, FLOPs and bytes of each op, the most expensive first.
#include <map>

#include "lib/render/costs.h"
#include "lib/render/labels.h"
#include "lib/serve/routes/tab.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

struct Sum {
  size_t nodes = 0;
  Cost cost;
};

// Returns {"ops": [[op, nodes, FLOPs, bytes]]}, counting each function's body once. Takes time
// linear in the model.
Expected<std::string> OpsJson(Page& page) {
  ASSIGN_OR_RETURN(const GraphPage* drawing, page.Drawing());
  std::map<llvm::StringRef, Sum> sums;
  for (size_t body = 0; body < drawing->num_bodies(); ++body) {
    const Graph& graph = drawing->graph(body);
    const ShapeMap& shapes = drawing->shapes(body);
    for (Node node : graph.nodes()) {
      Sum& sum = sums[node.op()];
      ++sum.nodes;
      sum.cost += CostOf(node, shapes);
    }
  }
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("ops", [&] {
        for (const auto& [op, sum] : sums) {
          json.array([&, &op = op, &sum = sum] {
            json.value(Printable(op));
            json.value(sum.nodes);
            json.value(sum.cost.flops);
            json.value(sum.cost.bytes);
          });
        }
      });
    });
  });
}

Expected<Document> Ops(const RouteCall& call) { return OpsJson(*call.page); }

Error Write(const PageSet&, Page& page, FileDocuments& file) {
  ASSIGN_OR_RETURN(std::string ops, OpsJson(page));
  file.Put("ops", ops);
  return Error::success();
}

GRAPNEL_TAB({.place = 45,
             .name = "ops",
             .routes = {{Method::kGet, "{entry}/ops", kNoBody, Ops}},
             .write = Write});

}  // namespace
}  // namespace grapnel
