// Makes nodes wait for no more than they must.
//
//   Before:  x -> Sqrt -^> NoOp -^> y        k = Const -^> y        x -> n -> y, x -^> y
//   After:   x -^> y                         (k is gone)            x -> n -> y
//
// Two rounds, as in TensorFlow, each: control edges that a longer path implies go; nodes that are
// only waited for become NoOps; NoOps and Identities are bypassed where that makes no more edges
// and no more device crossings; control edges from several nodes of another device go through one
// NoOp there.
//
// Refuses: fetched nodes, ops with effects, reads of variables, anchors in a branch of a Switch,
// device crossings.
#include "lib/pass/bypass.h"
#include "lib/pass/op_kinds.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "passes/dependency_optimizer/grouping.h"
#include "passes/dependency_optimizer/reduction.h"

namespace grapnel {
namespace {

// Nodes to look at, the last one put in first; none is in it twice.
class WorkStack {
 public:
  bool empty() const { return nodes_.empty(); }
  void Push(const Node& node) {
    if (in_.size() <= node.id()) in_.resize(node.id() + 1);
    if (in_[node.id()]) return;
    in_[node.id()] = true;
    nodes_.push_back(node.id());
  }
  NodeId Pop() {
    NodeId id = nodes_.back();
    nodes_.pop_back();
    in_[id] = false;
    return id;
  }

 private:
  std::vector<NodeId> nodes_;
  std::vector<bool> in_;
};

class DependencyOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    OpKinds kinds(edit.module());
    edit_ = &edit;
    kinds_ = &kinds;
    has_fetches_ = edit.boundary().has_fetches();
    for (int round = 0; round < 2; ++round) {
      edit.SetOrder(GrapplerOrder(edit.graph(), edit.ranks()));
      bool go_on = Dedup() && DropImpliedControls(edit, kinds) && Simplify() && Dedup() &&
                   GroupCrossDeviceControls(edit, /*by_host=*/false) &&
                   GroupCrossDeviceControls(edit, /*by_host=*/true);
      if (!go_on) break;
    }
    return Error::success();
  }

 private:
  bool Dedup() {
    for (Node node : edit_->graph().nodes()) {
      if (!DedupControlInputs(*edit_, node, "dedup_control_inputs")) return false;
    }
    return true;
  }

  // Each step below is false when --limit is used up.
  bool Simplify() {
    Bypasser bypasser(*edit_);
    bypasser_ = &bypasser;
    Graph& graph = edit_->graph();
    for (NodeId id : GrapplerOrder(graph, edit_->ranks())) {
      Node node = graph.node(id);
      if (kinds_->Is(node, kNoOpOp | kIdentityOp | kIdentityNOp | kConstOp) || CanBecomeNoOp(node))
        work_.Push(node);
    }
    while (!work_.empty()) {
      NodeId id = work_.Pop();
      if (graph.IsAlive(id) && !SimplifyNode(graph.node(id))) return false;
    }
    return true;
  }

  bool SimplifyNode(const Node& node) {
    bool has_inputs = node.num_inputs() + node.num_controls() > 0;
    if (kinds_->Is(node, kConstOp) && !has_inputs) return DropControlsFrom(node);
    if (!kinds_->Is(node, kNoOpOp) && CanBecomeNoOp(node)) return BecomeNoOp(node);
    bool is_identity = kinds_->Is(node, kIdentityOp | kIdentityNOp);
    if (!kinds_->Is(node, kNoOpOp) && !is_identity) return true;
    const char* rule = is_identity ? "bypass_identity" : "bypass_no_op";
    if (!IsBeneficial(rule, node) || (is_identity && !CanRemoveIdentity(rule, node))) return true;
    if (!edit_->Begin(rule, node)) return false;
    for (const Use& use : node.uses()) work_.Push(edit_->graph().node(use.node));
    for (int i = 0; i < node.num_controls(); ++i) work_.Push(node.control(i));
    bypasser_->Bypass(node);
    if (has_fetches_ && !edit_->IsPreserved(node)) edit_->RemoveNode(node);
    edit_->End();
    return true;
  }

  // A constant is there before anything runs.
  bool DropControlsFrom(const Node& constant) {
    llvm::SmallVector<NodeId, 8> waiting;
    for (const Use& use : constant.uses()) {
      if (edit_->graph().node(use.node).input(use.slot).IsControl()) waiting.push_back(use.node);
    }
    bool goes =
        has_fetches_ && !edit_->IsPreserved(constant) && waiting.size() == constant.uses().size();
    if (waiting.empty() && !goes) return true;
    if (!edit_->Begin("drop_wait_for_constant", constant)) return false;
    for (NodeId id : waiting) work_.Push(edit_->graph().node(id));
    for (size_t i = constant.uses().size(); i-- > 0;) {
      Use use = constant.uses()[i];
      Node reader = edit_->graph().node(use.node);
      if (reader.input(use.slot).IsControl()) edit_->SetControlSlot(reader, use.slot, Node());
    }
    if (goes) edit_->RemoveNode(constant);
    edit_->End();
    return true;
  }

  bool CanBecomeNoOp(const Node& node) {
    constexpr uint32_t kKnownPure = kKnownOp | kPureOp | kHasOutputsOp;
    bool is_right_op = kinds_->IsAll(node, kKnownPure) &&
                       !kinds_->Is(node, kSwitchOp | kMergeOp | kFrameOp | kRetvalOp);
    if (!is_right_op || !has_fetches_ || edit_->IsPreserved(node) || node.HasDataUses())
      return false;
    static const char* const kNever[] = {"_Arg", "_ParallelConcatUpdate", "TPUExecute",
                                         "TPUCompile", "ControlTrigger"};
    if (llvm::is_contained(kNever, node.op())) return false;
    return !kinds_->Is(node, kIdentityOp | kIdentityNOp) || CanRemoveIdentity("become_no_op", node);
  }

  bool BecomeNoOp(const Node& node) {
    if (!edit_->Begin("become_no_op", node)) return false;
    llvm::SmallVector<Port, 4> controls;
    llvm::DenseSet<NodeId> seen;
    for (Port port : node.inputs()) {
      Node source = port.IsControl() ? edit_->graph().node(port.node) : AnchorOf(port);
      if (!seen.insert(source.id()).second) continue;
      controls.push_back({source.id(), kControlPort});
    }
    llvm::SmallVector<Port, 4> inputs = node.inputs();
    edit_->SetInputs(node, controls);
    edit_->SetOp(node, "NoOp");
    for (const auto& [key, value] : node.Attrs()) edit_->RemoveAttr(node, key);
    edit_->End();
    for (Port port : inputs) {
      if (!port.IsControl()) work_.Push(edit_->graph().node(port.node));
    }
    work_.Push(node);
    return true;
  }

  // Who waits for a tensor waits for its node; but a Switch has run even where its output is dead,
  // so there for an Identity that reads the output.
  Node AnchorOf(Port port) {
    Graph& graph = edit_->graph();
    Node source = graph.node(port.node);
    if (!kinds_->Is(source, kSwitchOp)) return source;
    NodeId anchor = kNoNode;
    for (const Use& use : source.UsesOf(port.index)) {
      Node reader = graph.node(use.node);
      bool is_anchor = kinds_->Is(reader, kIdentityOp) || IsIdentityNOfOne(reader);
      if (is_anchor) anchor = std::min(anchor, use.node);
    }
    if (anchor != kNoNode) return graph.node(anchor);
    std::string name =
        ("ConstantFoldingCtrl/" + source.name() + "_" + llvm::Twine(port.index)).str();
    Node made = edit_->AddNode(name, "Identity", source.device());
    edit_->SetInputs(made, port);
    edit_->SetAttr(made, "T", attr::Type(source.GetType("T")));
    return made;
  }

  bool CanRemoveIdentity(const char* rule, const Node& node) {
    if (edit_->IsPreserved(node) || !has_fetches_ || node.num_inputs() < 1) return false;
    Node input = node.input_node(0);
    if (kinds_->Is(input, kVariableOp | kRecvOp)) {
      edit_->Refuse(rule, node, "'{0}' fixes the value of '{1}' at this point", node.name(),
                    input.name());
      return false;
    }
    bool has_more_inputs = node.num_inputs() + node.num_controls() > 1,
         after_switch = kinds_->Is(input, kSwitchOp);
    if (!has_more_inputs && !after_switch) return true;
    for (const Use& use : node.uses()) {
      Node reader = edit_->graph().node(use.node);
      if (has_more_inputs && kinds_->Is(reader, kRetvalOp | kMergeOp)) {
        edit_->Refuse(rule, node, "'{0}' would have to wait for the control inputs of '{1}'",
                      reader.name(), node.name());
        return false;
      }
      if (after_switch && reader.input(use.slot).IsControl()) {
        edit_->Refuse(rule, node, "'{0}' waits for '{1}', an anchor in the branch of '{2}'",
                      reader.name(), node.name(), input.name());
        return false;
      }
    }
    return true;
  }

  // Distinct readers, but no more than `limit` + 1 of them.
  llvm::SmallVector<Node, 4> ReadersOf(const Node& node, size_t limit) const {
    llvm::SetVector<NodeId, std::vector<NodeId>, llvm::DenseSet<NodeId>> readers;
    for (const Use& use : node.uses()) {
      readers.insert(use.node);
      if (readers.size() > limit) break;
    }
    llvm::SmallVector<Node, 4> nodes;
    for (NodeId id : readers) nodes.push_back(edit_->graph().node(id));
    return nodes;
  }

  // Whether taking the node out makes no more edges and no more of them from device to device.
  bool IsBeneficial(const char* rule, const Node& node) {
    size_t in = node.num_inputs() + node.num_controls();
    bool has_ports = kinds_->Is(node, kIdentityNOp) && !IsIdentityNOfOne(node);
    // in * out <= in + out only for 1 of either, or 2 of both.
    size_t limit = in <= 1 || has_ports ? node.uses().size() : in == 2 ? 2 : 1;
    llvm::SmallVector<Node, 4> readers = ReadersOf(node, limit);
    size_t out = readers.size();
    size_t edges_after = in * out;
    if (has_ports) {
      edges_after = node.num_inputs() + node.num_controls() * out;
      for (const Use& use : node.uses())
        edges_after += edit_->graph().node(use.node).input(use.slot).IsControl() ? in : 1;
    }
    if (edges_after > in + out) {
      edit_->Refuse(rule, node,
                    "'{0}' has {1} inputs and {2}{3} readers: without it there would be more edges",
                    node.name(), in, out, out > limit ? " or more" : "");
      return false;
    }
    if (!CrossesNoMoreDevices(node, readers)) {
      edit_->Refuse(rule, node, "without '{0}' more edges would cross from device to device",
                    node.name());
      return false;
    }
    return true;
  }

  bool CrossesNoMoreDevices(const Node& node, llvm::ArrayRef<Node> readers) {
    llvm::SmallVector<StringId, 8> inputs;
    for (Port port : node.inputs()) inputs.push_back(edit_->graph().node(port.node).device_id());
    StringId device = node.device_id();
    if (inputs.size() == 1 && readers.size() > 1 && inputs[0] != device) return false;
    if (inputs.size() > 1 && readers.size() == 1 && readers[0].device_id() != device) return false;
    size_t in = llvm::count_if(inputs, [&](StringId id) { return id != device; });
    size_t out =
        llvm::count_if(readers, [&](const Node& reader) { return reader.device_id() != device; });
    size_t after = 0;
    for (StringId id : inputs) {
      for (const Node& reader : readers) after += id != reader.device_id();
    }
    if (after > in + out) return false;
    // The tensor comes from another device once and is read here by several: a reception that is
    // shared.
    bool is_identity = kinds_->Is(node, kIdentityOp | kIdentityNOp);
    return !(is_identity && in > 0 && out > 0 && after > 0);
  }

  Editor* edit_ = nullptr;
  OpKinds* kinds_ = nullptr;
  Bypasser* bypasser_ = nullptr;
  WorkStack work_;
  bool has_fetches_ = false;
};

GRAPNEL_PASS(DependencyOptimizer,
             (PassInfo{"dependency_optimizer", "dependency", 15, true, false,
                       "dependency_optimization", "makes nodes wait for no more than they must",
                       "fetched nodes, ops with effects, reads of variables, anchors in branches, "
                       "device crossings"}),
             {"become_no_op", "a node that is only waited for computes nothing"},
             {"bypass_identity", "readers of an Identity read its input"},
             {"bypass_no_op", "who waits for a NoOp waits for what it waits for"},
             {"dedup_control_inputs", "drops a control edge from a node that is an input anyway"},
             {"drop_implied_control",
              "drops a control edge between nodes that a longer path joins"},
             {"drop_wait_for_constant",
              "drops control edges from a constant, and the constant if nobody reads it"},
             {"group_cross_device_controls",
              "control edges from several nodes of another device go through one NoOp there"});

}  // namespace
}  // namespace grapnel
