// Which _Recv gets what a _Send sends.
#include <map>

#include "lib/exec/executor_impl.h"

namespace grapnel {
namespace {

std::string KeyOf(const Node& node) {
  return node.GetString("send_device") + ";" + node.GetString("recv_device") + ";" +
         node.GetString("tensor_name");
}

}  // namespace

llvm::DenseMap<NodeId, NodeId> Executor::Impl::SendersIn(const Graph& graph) {
  llvm::DenseMap<NodeId, NodeId> found;
  std::map<std::string, NodeId> senders;
  std::vector<Node> receivers;
  for (Node node : graph.nodes()) {
    FlowKind kind = FlowKindOf(node);
    if (kind == FlowKind::kSend) senders.try_emplace(KeyOf(node), node.id());
    if (kind == FlowKind::kRecv) receivers.push_back(node);
  }
  for (const Node& node : receivers) {
    auto sender = senders.find(KeyOf(node));
    if (sender != senders.end()) found[node.id()] = sender->second;
  }
  return found;
}

Error Executor::Impl::LinkTransfers(llvm::ArrayRef<Impl*> parts) {
  struct End {
    Impl* part;
    uint32_t node;
  };
  std::map<std::string, End> receivers;
  std::map<std::string, Node> senders;
  for (Impl* part : parts) {
    part->receivers.resize(part->nodes.size());
    part->has_sender.resize(part->nodes.size());
    for (uint32_t id = 0; id < part->nodes.size(); ++id) {
      const PlanNode& plan = part->nodes[id];
      if (plan.flow != FlowKind::kRecv) continue;
      auto [it, is_new] = receivers.try_emplace(KeyOf(plan.node), End{part, id});
      if (is_new) continue;
      return MakeError("nodes '{0}' and '{1}' ({2}) both receive '{3}'",
                       it->second.part->nodes[it->second.node].node.name(), plan.node.name(),
                       plan.node.op(), plan.node.GetString("tensor_name"));
    }
  }
  for (Impl* part : parts) {
    for (uint32_t id = 0; id < part->nodes.size(); ++id) {
      const PlanNode& plan = part->nodes[id];
      if (plan.flow != FlowKind::kSend) continue;
      std::string name = plan.node.GetString("tensor_name");
      auto [other, is_new] = senders.try_emplace(KeyOf(plan.node), plan.node);
      if (!is_new) {
        return MakeError("nodes '{0}' and '{1}' ({2}) both send '{3}'", other->second.name(),
                         plan.node.name(), plan.node.op(), name);
      }
      auto to = receivers.find(KeyOf(plan.node));
      if (to == receivers.end()) continue;  // sent to nobody
      const PlanNode& reader = to->second.part->nodes[to->second.node];
      DataType sent = plan.node.GetType("T"), expected = reader.node.GetType("tensor_type");
      if (sent != expected) {
        return MakeError("'{0}': node '{1}' sends {2}, node '{3}' expects {4}", name,
                         plan.node.name(), DataTypeName(sent), reader.node.name(),
                         DataTypeName(expected));
      }
      part->receivers[id] = {&to->second.part->frames->inbox(), to->second.node};
      to->second.part->has_sender[to->second.node] = true;
    }
  }
  return Error::success();
}

}  // namespace grapnel
