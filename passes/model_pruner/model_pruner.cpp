// Removes nodes that no fetch needs, and nodes that only pass a value on.
//
//   Before:  x -> Sqrt -> Identity -> StopGradient -> Exp -> y      After:  x -> Sqrt -> Exp -> y
//                   \-> Neg                 NoOp --^-/
//
// Refuses: nodes that are fetched, fed or kept; an Identity that has control edges, reads a Switch
// or is read by a Merge; a NoOp or a constant that waits for other nodes; nodes that cross a
// device, pass on a reference to a variable or touch a function call; and nodes whose removal would
// add edges.
//
// A pass of steps, not of rules: each step finds its nodes in a walk over the whole graph before it
// removes any.
#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/pass/bypass.h"
#include "lib/pass/node_order.h"
#include "lib/pass/op_kinds.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/model_pruner/liveness.h"

namespace grapnel {
namespace {

class ModelPruner : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    OpKinds kinds(edit.module());
    edit_ = &edit;
    kinds_ = &kinds;
    bool has_fetches = edit.boundary().has_fetches();
    bool drops = edit.Runs("drop_unreachable") || edit.Runs("prune_identity_n");
    if (has_fetches && drops && !DropUnreachable()) return Error::success();
    if (!Dedup()) return Error::success();
    std::vector<std::pair<NodeId, const char*>> trivial;
    std::vector<NodeId> order = edit.NodesInOrder();
    for (Node node : edit.graph().nodes(order)) {
      const char* rule = RuleFor(node);
      if (rule && edit.Runs(rule)) trivial.emplace_back(node.id(), rule);
    }
    Bypasser bypasser(edit);
    for (auto [id, rule] : trivial) {
      Node node = edit.graph().node(id);
      if (!edit.Begin(rule, node)) return Error::success();
      bypasser.Bypass(node);
      if (has_fetches) edit.RemoveNode(node);
      edit.End();
    }
    return Error::success();
  }

 private:
  // Removes the nodes and the IdentityN ports that no fetch needs. False if --limit is used up.
  bool DropUnreachable() {
    Graph& graph = edit_->graph();
    SetOrder();
    Liveness liveness(*edit_, *kinds_);
    std::vector<NodeId> dead;
    for (Node node : graph.nodes()) {
      if (!liveness.IsLive(node)) dead.push_back(node.id());
    }
    if (!DropUnread(dead, liveness) || !DropLoops(dead, liveness)) return false;
    std::vector<NodeId> half_read = liveness.HalfRead();
    if (!half_read.empty()) {
      // Readers first, so that no remaining node reads an unneeded port.
      std::vector<NodeId> order = GrapplerOrder(graph);
      for (NodeId id : llvm::reverse(order)) {
        if (!std::binary_search(half_read.begin(), half_read.end(), id)) continue;
        std::vector<NodeId> sources;
        for (Port port : graph.node(id).inputs()) sources.push_back(port.node);
        if (!KeepPorts(graph.node(id), liveness) || !DropUnread(sources, liveness)) return false;
        // A loop that only this node read may itself read a port that the next node loses.
        auto is_dead = [&](NodeId source) {
          return graph.IsAlive(source) && !liveness.IsLive(graph.node(source));
        };
        if (llvm::any_of(sources, is_dead) && !DropLoops(dead, liveness)) return false;
      }
    }
    return true;
  }

  bool Dedup() {
    if (!edit_->Runs("dedup_control_inputs")) return true;
    for (Node node : edit_->graph().nodes()) {
      if (node.num_controls() == 0) continue;
      if (!edit_->Begin("dedup_control_inputs", node)) return false;
      DedupControlInputs(*edit_, node);
      edit_->End();
    }
    return true;
  }

  // Grappler leaves the nodes in the reverse of the order in which it visited them from the results
  // back: depth first, the last end and the last input first.
  void SetOrder() {
    Graph& graph = edit_->graph();
    std::vector<NodeId> ends, met, open;
    for (Node node : graph.nodes()) {
      if (edit_->IsPreserved(node)) ends.push_back(node.id());
    }
    llvm::sort(ends,
               [&](NodeId a, NodeId b) { return graph.node(a).name() < graph.node(b).name(); });
    std::vector<bool> seen(graph.end_id());
    for (NodeId end : llvm::reverse(ends)) {
      open.push_back(end);
      while (!open.empty()) {
        NodeId id = open.back();
        open.pop_back();
        if (id == kNoNode || seen[id]) continue;
        seen[id] = true;
        met.push_back(id);
        Node node = graph.node(id);
        graph.Prefetch(id - Graph::kAhead);  // most files have inputs before their readers
        for (int slot = 0, slots = node.num_inputs() + node.num_controls(); slot < slots; ++slot)
          open.push_back(node.input(slot).node);
      }
    }
    edit_->SetOrder(std::vector<NodeId>(met.rbegin(), met.rend()));
  }

  // Drops the nodes in `from` that are dead and unread, and then dead inputs of dropped nodes that
  // have become unread; each node is a rewrite.
  bool DropUnread(const std::vector<NodeId>& from, const Liveness& liveness) {
    if (!edit_->Runs("drop_unreachable")) return true;
    Graph& graph = edit_->graph();
    auto goes = [&](NodeId id) {
      return graph.IsAlive(id) && !liveness.IsLive(graph.node(id)) && graph.node(id).uses().empty();
    };
    std::vector<NodeId> open = from;
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      if (!goes(id)) continue;
      Node node = graph.node(id);
      llvm::SmallVector<Port, 4> inputs = node.inputs();
      if (!edit_->Begin("drop_unreachable", node)) return false;
      edit_->RemoveNode(node);
      edit_->End();
      for (Port input : inputs) {
        if (goes(input.node)) open.push_back(input.node);
      }
    }
    return true;
  }

  // Drops at once the nodes in `dead` that are left, except those that a live node reads, directly
  // or through others: they are in loops, or before loops, and so none of them is unread. Removes
  // dropped nodes from `dead`.
  bool DropLoops(std::vector<NodeId>& dead, const Liveness& liveness) {
    if (!edit_->Runs("drop_unreachable")) return true;
    Graph& graph = edit_->graph();
    llvm::erase_if(dead, [&](NodeId id) { return !graph.IsAlive(id); });
    llvm::DenseSet<NodeId> needed;
    std::vector<NodeId> open;
    auto need = [&](NodeId id) {
      if (!liveness.IsLive(graph.node(id)) && needed.insert(id).second) open.push_back(id);
    };
    for (NodeId id : dead) {
      if (llvm::any_of(graph.node(id).uses(),
                       [&](const Use& use) { return liveness.IsLive(graph.node(use.node)); }))
        need(id);
    }
    while (!open.empty()) {
      Node node = graph.node(open.back());
      open.pop_back();
      for (Port input : node.inputs()) need(input.node);
    }
    std::vector<NodeId> drop;
    llvm::copy_if(dead, std::back_inserter(drop), [&](NodeId id) { return !needed.contains(id); });
    if (drop.empty()) return true;
    if (!edit_->Begin("drop_unreachable", graph.node(drop.front()))) return false;
    for (NodeId id : drop) edit_->SetInputs(graph.node(id), {});
    for (NodeId id : drop) edit_->RemoveNode(graph.node(id));
    edit_->End();
    return true;
  }

  // Removes unneeded ports from an IdentityN, and renumbers the ports that its readers read.
  bool KeepPorts(const Node& node, const Liveness& liveness) {
    if (!edit_->Runs("prune_identity_n")) return true;
    llvm::SmallBitVector ports = liveness.PortsOf(node);
    if (!edit_->Runs("drop_unreachable")) {  // dead readers stay, and so do the ports they read
      for (const Use& use : node.uses()) {
        Port read = edit_->graph().node(use.node).input(use.slot);
        if (!read.IsControl()) ports.set(read.index);
      }
    }
    if (ports.all()) return true;
    auto types = node.FindAttr("T") ? node.FindAttr("T")->AsTypes() : std::nullopt;
    if (!types || static_cast<int>(types->size()) != node.num_inputs()) return true;
    if (!edit_->Begin("prune_identity_n", node)) return false;
    llvm::SmallVector<int, 8> new_port(node.num_inputs(), -1);
    llvm::SmallVector<Port, 8> inputs;
    std::vector<DataType> kept_types;
    for (int port : ports.set_bits()) {
      new_port[port] = static_cast<int>(inputs.size());
      inputs.push_back(node.input(port));
      kept_types.push_back((*types)[port]);
    }
    for (int i = 0; i < node.num_controls(); ++i)
      inputs.push_back({node.control(i).id(), kControlPort});
    llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
    for (const Use& use : uses) {
      Node reader = edit_->graph().node(use.node);
      Port read = reader.input(use.slot);
      // In a live loop, a dead node may read an unneeded port until the IdentityN that reads the
      // dead node loses its port.
      if (read.IsControl() || new_port[read.index] < 0) continue;
      edit_->SetInput(reader, use.slot, {node.id(), new_port[read.index]});
    }
    edit_->SetInputs(node, inputs);
    edit_->SetAttr(node, "T", attr::Types(kept_types));
    edit_->End();
    return true;
  }

  // The rule that removes the node, or null. Refuses a node that looks removable but is not.
  const char* RuleFor(const Node& node) {
    const char* rule = nullptr;
    if (kinds_->Is(node, kStopGradientOp)) {
      rule = "bypass_stop_gradient";
    } else if (kinds_->Is(node, kIdentityOp) || IsIdentityNOfOne(node)) {
      rule = "bypass_identity";
      if (!IsTrivialIdentity(node, rule)) return nullptr;
    } else if (kinds_->Is(node, kAddNOp) && node.num_inputs() == 1) {
      rule = "bypass_add_n";
    } else if (kinds_->Is(node, kNoOpOp)) {
      return CanDrop(node, "drop_no_op");
    } else if (kinds_->Is(node, kConstOp) && !node.HasDataUses()) {
      return CanDrop(node, "drop_unread_constant");
    }
    return rule && CanBypass(node, rule) ? rule : nullptr;
  }

  const char* CanDrop(const Node& node, const char* rule) {
    if (edit_->IsPreserved(node)) {
      edit_->Refuse(
          rule, node,
          "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
          node.name());
      return nullptr;
    }
    if (node.num_controls() > 0) {
      edit_->Refuse(rule, node, "'{0}' waits for '{1}'\nremove the control edge", node.name(),
                    node.control(0).name());
      return nullptr;
    }
    return rule;
  }

  bool IsTrivialIdentity(const Node& node, const char* rule) {
    if (node.num_controls() > 0) {
      edit_->Refuse(rule, node, "'{0}' waits for '{1}'\nremove the control edge", node.name(),
                    node.control(0).name());
      return false;
    }
    if (kinds_->Is(node.input_node(0), kSwitchOp)) {
      edit_->Refuse(rule, node,
                    "nodes may wait for '{0}' so that they run only in that branch of '{1}'",
                    node.name(), node.input_node(0).name());
      return false;
    }
    for (const Use& use : node.uses()) {
      Node reader = edit_->graph().node(use.node);
      bool is_control = static_cast<int>(use.slot) >= reader.num_inputs();
      if (!is_control && !kinds_->Is(reader, kMergeOp)) continue;
      edit_->Refuse(rule, node,
                    is_control ? "'{0}' waits for '{1}'\nremove the control edge"
                               : "'{0}' merges '{1}' with another branch",
                    reader.name(), node.name());
      return false;
    }
    return true;
  }

  bool CanBypass(const Node& node, const char* rule) {
    if (edit_->IsPreserved(node)) {
      edit_->Refuse(
          rule, node,
          "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
          node.name());
      return false;
    }
    size_t in = node.num_inputs() + node.num_controls(), out = node.uses().size();
    if (in * out > in + out) {
      edit_->Refuse(rule, node,
                    "removing it would add edges: it has {0} incoming and {1} outgoing ones\n"
                    "leave it one input or reader",
                    in, out);
      return false;
    }
    for (Port port : node.inputs()) {
      Node input = edit_->graph().node(port.node);
      if (input.device_id() != node.device_id()) {
        edit_->Refuse(
            rule, node, "'{0}' is on {1} and its input '{2}' on {3}\nplace both on one device",
            node.name(), QuotedDevice(node.device()), input.name(), QuotedDevice(input.device()));
        return false;
      }
      if (port.IsControl()) continue;
      if (kinds_->Is(input, kFunctionOp)) {
        edit_->Refuse(rule, node, "its input '{0}' is a function call\nlet the call be inlined",
                      input.name());
        return false;
      }
      if (IsRefType(edit_->TypeOf(port))) {
        edit_->Refuse(rule, node,
                      "'{0}' reads '{1}', a reference to a variable\nuse a resource variable",
                      node.name(), input.name());
        return false;
      }
    }
    for (const Use& use : node.uses()) {
      Node reader = edit_->graph().node(use.node);
      if (static_cast<int>(use.slot) < reader.num_inputs() && kinds_->Is(reader, kFunctionOp)) {
        edit_->Refuse(rule, node, "its reader '{0}' is a function call\nlet the call be inlined",
                      reader.name());
        return false;
      }
    }
    return true;
  }

  Editor* edit_ = nullptr;
  OpKinds* kinds_ = nullptr;
};

GRAPNEL_PASS(
    ModelPruner,
    (PassInfo{
        "model_pruner", "pruning", 1, true, false, "disable_model_pruning",
        "removes nodes that no fetch needs, and nodes that only pass a value on",
        "nodes that are fetched, fed or kept, anchors of control edges, device crossings, "
        "references to variables, neighbors of function calls, removals that would add edges"}),
    {"drop_unreachable", "removes a node that no fetch depends on"},
    {"prune_identity_n", "removes the tensors of an IdentityN that no fetch depends on"},
    {"dedup_control_inputs",
     "drops a control edge that repeats another edge between the same nodes"},
    {"bypass_identity", "readers of an Identity read its input"},
    {"bypass_stop_gradient", "readers of a StopGradient or PreventGradient read its input"},
    {"bypass_add_n", "readers of an AddN of one tensor read its input"},
    {"drop_no_op", "removes a NoOp that waits for nothing"},
    {"drop_unread_constant",
     "removes a constant whose value no node reads and that waits for nothing"},
    {"compress_constant",  // in lib/pass/tidy.cpp
     "stores a constant of equal elements as one element; only in a run of the whole pipeline"});

}  // namespace
}  // namespace grapnel
