// The tab with the ops of the model: nodes, FLOPs and bytes of each op, the most expensive first.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/ir/node_types.h"
#include "lib/render/costs.h"
#include "lib/render/graph_page.h"
#include "lib/render/labels.h"
#include "lib/serve/routes/tab.h"
#include "lib/support/printable.h"

namespace grapnel {
namespace {

struct Sum {
  size_t nodes = 0;
  Cost cost;
};

// The nodes of the network: of the body that the page shows first and of the functions that it
// calls, or of all bodies. The main graph of a SavedModel also saves and restores variables: nodes
// that do not belong to the network.
class NetworkOps {
 public:
  explicit NetworkOps(GraphPage& drawing) : drawing_(drawing) {
    const SignatureBody* entry = drawing.entry();
    if (!entry) {
      for (size_t body = 0; body < drawing.num_bodies(); ++body) AddBody(body, nullptr);
      return;
    }
    Call(entry->function ? entry->function->name() : llvm::StringRef(), entry);
    while (!open_.empty()) {
      std::string called = std::move(open_.back());
      open_.pop_back();
      Call(called, nullptr);
    }
  }
  const std::map<llvm::StringRef, Sum>& sums() const { return sums_; }

 private:
  void Call(llvm::StringRef function, const SignatureBody* entry) {
    std::optional<size_t> body = 0;
    if (!function.empty()) body = drawing_.FindBody(function);
    if (body && done_.insert(*body).second) AddBody(*body, entry);
  }

  void AddBody(size_t body, const SignatureBody* entry) {
    for (Node node : drawing_.graph(body).nodes()) {
      if (entry && !entry->needed.empty() && !entry->needed[node.id()]) continue;
      for (llvm::StringRef called : CalledFunctions(node)) open_.push_back(called.str());
      ++sums_[node.op()].nodes;
      Cost cost = drawing_.CostOf(body, node.id());
      sums_[cost.bytes > 0 ? GivenOp(node, entry) : node.op()].cost += cost;
    }
  }

  // The op to which a node's cost belongs: that of the variable that an argument receives.
  static llvm::StringRef GivenOp(const Node& node, const SignatureBody* entry) {
    Node given = entry ? entry->GivenByMain(node) : Node();
    return given ? given.op() : node.op();
  }

  GraphPage& drawing_;
  std::map<llvm::StringRef, Sum> sums_;
  std::set<size_t> done_;
  std::vector<std::string> open_;  // functions that are called
};

// Returns {"ops": [[op, nodes, FLOPs, bytes]]}, counting each function's body once. Takes time
// linear in the model.
Expected<std::string> OpsJson(Page& page) {
  ASSIGN_OR_RETURN(GraphPage * drawing, page.Drawing());
  NetworkOps network(*drawing);
  return PageDocument([&](llvm::json::OStream& json) {
    json.object([&] {
      json.attributeArray("ops", [&] {
        for (const auto& [op, sum] : network.sums()) {
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
