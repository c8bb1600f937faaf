// Links each _Send to the _Recv that receives the value.
#include <map>

#include "lib/exec/plan.h"

namespace grapnel {
namespace {

// Returns the attributes that identify a transfer: a _Send and its _Recv have the same.
std::string KeyOf(const Node& node) {
  return node.GetString("send_device") + ";" + node.GetString("recv_device") + ";" +
         node.GetString("tensor_name");
}

// A _Send or _Recv of one of the partitions.
struct End {
  ExecutionPlan* plan;
  uint32_t id;
  const Node& node() const { return plan->nodes[id].node; }
};
using EndsByKey = std::map<std::string, End>;

// Returns the nodes of one kind by key. Errors: two nodes have the same key; the error says what
// both do with `verb` ("send").
Expected<EndsByKey> FindEnds(llvm::ArrayRef<ExecutionPlan*> partitions, FlowKind kind,
                             llvm::StringRef verb) {
  EndsByKey ends;
  for (ExecutionPlan* plan : partitions) {
    for (uint32_t id = 0; id < plan->nodes.size(); ++id) {
      const Node& node = plan->nodes[id].node;
      if (plan->nodes[id].flow != kind) continue;
      auto [other, is_new] = ends.try_emplace(KeyOf(node), End{plan, id});
      if (is_new) continue;
      return MakeError("nodes '{0}' and '{1}' ({2}) both {3} '{4}'", other->second.node().name(),
                       node.name(), node.op(), verb, node.GetString("tensor_name"));
    }
  }
  return ends;
}

}  // namespace

llvm::DenseMap<NodeId, NodeId> SendersIn(const Graph& graph) {
  llvm::DenseMap<NodeId, NodeId> found;
  std::map<std::string, NodeId> senders;
  std::vector<Node> receivers;
  for (Node node : graph.nodes()) {
    FlowKind kind = FlowKindOf(node.op());
    if (kind == FlowKind::kSend) senders.try_emplace(KeyOf(node), node.id());
    if (kind == FlowKind::kRecv) receivers.push_back(node);
  }
  for (const Node& node : receivers) {
    auto sender = senders.find(KeyOf(node));
    if (sender != senders.end()) found[node.id()] = sender->second;
  }
  return found;
}

Error LinkTransfers(llvm::ArrayRef<ExecutionPlan*> partitions) {
  ASSIGN_OR_RETURN(EndsByKey receivers, FindEnds(partitions, FlowKind::kRecv, "receive"));
  ASSIGN_OR_RETURN(EndsByKey senders, FindEnds(partitions, FlowKind::kSend, "send"));
  for (ExecutionPlan* plan : partitions) {
    plan->receivers.resize(plan->nodes.size());
    plan->has_sender.resize(plan->nodes.size());
  }
  for (const auto& [key, sender] : senders) {
    auto to = receivers.find(key);
    if (to == receivers.end()) continue;  // this _Send has no receiver
    End receiver = to->second;
    DataType sent = sender.node().GetType("T"), expected = receiver.node().GetType("tensor_type");
    if (sent != expected) {
      return MakeError("tensor '{0}': node '{1}' sends dtype {2}, but node '{3}' expects {4}",
                       sender.node().GetString("tensor_name"), sender.node().name(),
                       DataTypeName(sent), receiver.node().name(), DataTypeName(expected));
    }
    sender.plan->receivers[sender.id] = {receiver.plan->partition, receiver.id};
    receiver.plan->has_sender[receiver.id] = true;
  }
  return Error::success();
}

}  // namespace grapnel
