#include "lib/job/call_places.h"

#include "lib/function/call.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

// The functions that a call, If, Case or While calls; none for other ops, such as datasets.
std::vector<std::pair<const Function*, CallKind>> CalleesOf(const Node& node) {
  if (const Function* function = CallOf(node).function) return {{function, CallKind::kCall}};
  using Attrs = std::vector<std::pair<const char*, CallKind>>;
  Attrs attrs =
      llvm::StringSwitch<Attrs>(node.op())
          .Cases("If", "StatelessIf",
                 {{"then_branch", CallKind::kBranch}, {"else_branch", CallKind::kBranch}})
          .Cases("Case", "StatelessCase", {{"branches", CallKind::kBranch}})
          .Cases("While", "StatelessWhile", {{"body", CallKind::kBody}, {"cond", CallKind::kCond}})
          .Default({});
  std::vector<std::pair<const Function*, CallKind>> callees;
  for (const auto& [key, kind] : attrs) {
    auto attr = node.FindAttr(key);
    if (!attr) continue;
    for (llvm::StringRef name : attr->FuncNames())
      if (const Function* function = node.graph().module().FindFunction(name))
        callees.emplace_back(function, kind);
  }
  return callees;
}

}  // namespace

CallPlaces::CallPlaces(const Module& module, const std::vector<NodeId>& nodes) : module_(module) {
  for (Node node : module.main.nodes(nodes)) AddPlacesOf(node, -1);
  for (size_t i = 0; i < places_.size(); ++i) {
    for (Node node : places_[i].function->body.nodes()) AddPlacesOf(node, static_cast<int>(i));
  }
}

void CallPlaces::AddPlacesOf(const Node& node, int outer) {
  // A model with many nested calls has more paths than anyone looks for; so has a recursion.
  constexpr size_t kMost = 20000;
  if (!MayCallFunctions(node)) return;
  for (const auto& [function, kind] : CalleesOf(node)) {
    if (places_.size() == kMost) return;
    std::string prefix = outer < 0 ? "" : places_[outer].prefix;
    places_.push_back({function, node, kind, outer, prefix + node.name().str() + "/"});
  }
}

bool CallPlaces::HasCallOf(const Function& function) const {
  return llvm::any_of(places_, [&](const CallPlace& at) { return at.function == &function; });
}

void CallPlaces::Trace(int* place, Port* port) const {
  while (*place >= 0) {
    const CallPlace& at = places_[*place];
    Node node = at.function->body.node(port->node);
    if (node.op() == "_Retval" && node.num_inputs() > 0) {
      *port = node.input(0);
      continue;
    }
    bool is_loop = at.kind == CallKind::kBody || at.kind == CallKind::kCond;
    if (node.op() != "_Arg" || is_loop) return;
    int slot = at.kind == CallKind::kBranch ? 1 : 0;  // the first input of a branch chooses
    for (NodeId id : at.function->args) {
      if (id == node.id()) break;
      slot += std::max(1, NumOutputs(at.function->body.node(id)));
    }
    slot += port->index;
    if (slot >= at.caller.num_inputs()) return;
    *port = at.caller.input(slot);
    *place = at.outer;
  }
}

InnerFetch CallPlaces::FetchOf(int place, Port port) const {
  InnerFetch fetch;
  for (int at = place; at >= 0; at = places_[at].outer) {
    fetch.calls.push_back(
        {places_[at].caller.name().str(), places_[at].function->name().str(), places_[at].kind});
  }
  std::reverse(fetch.calls.begin(), fetch.calls.end());
  fetch.node = BodyAt(place).node(port.node).name().str();
  fetch.output = port.index;
  fetch.name = fetch.Path();
  return fetch;
}

}  // namespace grapnel
