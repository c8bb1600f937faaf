// Trains on several GPUs at once: repeats the training step for each replica; the replicas share
// the variables.
//
//   Before:  input -> gradient g -> ApplyGradientDescent o(v, lr)
//   After:   "AutoParallel-Replica-0/g" -> RealDiv by the number of replicas
//            -> "AutoParallel-Replica-0/o"(v), and the same for replica 1, 2, ...
//            o: NoOp(^AutoParallel-Control-Fetch), which waits for every replica's o
//
// The variables are those that an Assign sets. They, all Assigns, and the nodes that the first
// dequeue op depends on are not repeated. If the graph names n GPUs, replica i goes to "/gpu:<i mod
// n>"; if it names none, replicas keep the devices of their originals.
//
// Refuses: graphs without variables that an Assign sets; graphs with a fetch that is neither such
// an Apply op nor a NoOp, because its value would be lost.
#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "lib/pass/pass.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {
namespace {

constexpr const char* kRule = "replicate";

// The index of the gradient input, for the TF1 ops whose dense gradients TensorFlow's pass divides;
// -1 for other ops.
int GradientInput(llvm::StringRef op) {
  return llvm::StringSwitch<int>(op)
      .Case("ApplyGradientDescent", 2)
      .Case("ApplyProximalGradientDescent", 4)
      .Case("ApplyAdadelta", 6)
      .Case("ApplyAdagrad", 3)
      .Case("ApplyProximalAdagrad", 5)
      .Case("ApplyAdagradDA", 3)
      .Case("ApplyFtrl", 3)
      .Case("ApplyMomentum", 3)
      .Case("ApplyAdam", 9)
      .Case("ApplyRMSProp", 7)
      .Case("ApplyCenteredRMSProp", 8)
      .Default(-1);
}

bool IsDequeue(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("QueueDequeue", "QueueDequeueV2", "QueueDequeueMany", "QueueDequeueManyV2", true)
      .Cases("QueueDequeueUpTo", "QueueDequeueUpToV2", true)
      .Default(false);
}

bool IsVariable(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("Variable", "VariableV2", "AutoReloadVariable", "VarHandleOp", true)
      .Default(false);
}

class AutoParallel : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    edit_ = &edit;
    graph_ = &edit.graph();
    replicas_ = std::max(edit.config().auto_parallel().num_replicas(), 1);
    Node reporter = FirstNode();
    if (!reporter || !FindShared(reporter)) return Error::success();
    for (NodeId id : edit.boundary().fetched) {
      Node node = graph_->node(id);
      if (node.op() == "NoOp" || GradientInput(node.op()) >= 0) continue;
      edit.Refuse(kRule, node,
                  "'{0}' is fetched for its value, which would be lost\nfetch another node",
                  node.name());
      return Error::success();
    }
    if (!edit.Begin(kRule, reporter)) return Error::success();
    Rewrite();
    edit.End();
    return Error::success();
  }

 private:
  Node FirstNode() const {
    for (Node node : graph_->nodes()) return node;
    return Node();
  }

  llvm::DenseSet<NodeId> FaninOf(llvm::ArrayRef<NodeId> roots) const {
    llvm::DenseSet<NodeId> found;
    std::vector<NodeId> open(roots.begin(), roots.end());
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      if (id == kNoNode || !found.insert(id).second) continue;
      for (Port port : graph_->node(id).inputs()) open.push_back(port.node);
    }
    return found;
  }

  // Finds the variables that an Assign sets, and all Assigns. False, with a refusal at `reporter`,
  // if there is no such variable.
  bool FindShared(const Node& reporter) {
    for (Node node : graph_->nodes()) {
      if (node.op() != "Assign" && node.op() != "AssignVariableOp") continue;
      shared_.insert(node.id());
      Node variable = node.num_inputs() > 0 ? node.input_node(0) : Node();
      if (!variable || !IsVariable(variable.op())) continue;
      shared_.insert(variable.id());
      has_variables_ = true;
    }
    if (!has_variables_)
      edit_->Refuse(
          kRule, reporter,
          "the graph has no variable that an Assign or AssignVariableOp sets\nuse a training step");
    return has_variables_;
  }

  void Rewrite() {
    edit_->GiveUpFetchedValues();
    DivideGradients();
    std::vector<NodeId> fetches(edit_->boundary().fetched.begin(), edit_->boundary().fetched.end());
    llvm::sort(fetches);
    llvm::DenseSet<NodeId> step = FaninOf(fetches);
    ShareInputsOf(step);
    std::vector<NodeId> replicated;
    for (NodeId id : TopologicalOrder(*graph_)) {
      if (step.contains(id) && !shared_.contains(id)) replicated.push_back(id);
    }
    int num_gpus = CountGpus();
    for (int i = 0; i < replicas_; ++i) AddReplica(replicated, i, num_gpus);
    LetSharedReadFirst(replicated);
    WaitForReplicas(fetches);
    RemoveOriginals(replicated);
  }

  void DivideGradients() {
    std::vector<Node> applies;
    for (Node node : graph_->nodes()) {
      if (GradientInput(node.op()) >= 0) applies.push_back(node);
    }
    llvm::sort(applies, [](const Node& a, const Node& b) { return a.name() < b.name(); });
    Node divisor = edit_->AddConstant("AutoParallel-Div-Const",
                                      Literal::Scalar(proto::DT_FLOAT, replicas_), "");
    for (const Node& apply : applies) {
      int input = GradientInput(apply.op());
      Node div = edit_->AddNode(("AutoParallel-Div-" + apply.name()).str(), "RealDiv", "");
      edit_->AddInput(div, apply.input(input));
      edit_->AddInput(div, {divisor.id(), 0});
      edit_->SetAttr(div, "T", attr::Type(proto::DT_FLOAT));
      edit_->SetInput(apply, input, {div.id(), 0});
    }
  }

  // Shares the nodes that the first dequeue op depends on, such as its queue; each replica dequeues
  // from that queue.
  void ShareInputsOf(const llvm::DenseSet<NodeId>& step) {
    for (NodeId id : TopologicalOrder(*graph_)) {
      if (!step.contains(id) || !IsDequeue(graph_->node(id).op())) continue;
      for (NodeId input : FaninOf(id)) {
        if (input != id) shared_.insert(input);
      }
      return;
    }
  }

  int CountGpus() const {
    llvm::StringSet<> gpus;
    for (Node node : graph_->nodes()) {
      if (MentionsGpu(node.device())) gpus.insert(node.device());
    }
    return static_cast<int>(gpus.size());
  }

  void AddReplica(llvm::ArrayRef<NodeId> nodes, int number, int num_gpus) {
    llvm::DenseMap<NodeId, NodeId> copies;
    std::string prefix = "AutoParallel-Replica-" + std::to_string(number) + "/";
    std::string device = num_gpus > 0 ? "/gpu:" + std::to_string(number % num_gpus) : "";
    for (NodeId id : nodes) {
      Node node = graph_->node(id);
      Node copy = edit_->AddNode(prefix + node.name().str(), node.op(),
                                 num_gpus > 0 ? llvm::StringRef(device) : node.device());
      edit_->CopyAttrs(copy, node);
      copies[id] = copy.id();
    }
    // Loops read later nodes: make all copies before connecting any.
    for (NodeId id : nodes) {
      llvm::SmallVector<Port, 4> inputs = graph_->node(id).inputs();
      for (Port& port : inputs) {
        auto copy = copies.find(port.node);
        if (copy != copies.end()) port.node = copy->second;
      }
      edit_->SetInputs(graph_->node(copies[id]), inputs);
    }
    if (number == 0) first_ = copies;
    all_.push_back(std::move(copies));
  }

  void LetSharedReadFirst(llvm::ArrayRef<NodeId> nodes) {
    llvm::DenseSet<NodeId> replicated(nodes.begin(), nodes.end());
    for (NodeId id : nodes) {
      llvm::SmallVector<Use, 4> uses(graph_->node(id).uses().begin(),
                                     graph_->node(id).uses().end());
      for (const Use& use : uses) {
        if (replicated.contains(use.node)) continue;
        Node reader = graph_->node(use.node);
        Port port = reader.input(static_cast<int>(use.slot));
        edit_->SetInput(reader, static_cast<int>(use.slot), {first_.lookup(id), port.index});
      }
    }
  }

  void WaitForReplicas(llvm::ArrayRef<NodeId> fetches) {
    Node control = edit_->AddNode("AutoParallel-Control-Fetch", "NoOp", "");
    std::vector<Node> awaited;
    for (NodeId fetch : fetches) {
      for (const auto& copies : all_) {
        if (copies.contains(fetch)) awaited.push_back(graph_->node(copies.lookup(fetch)));
      }
    }
    llvm::sort(awaited, [](const Node& a, const Node& b) { return a.name() < b.name(); });
    for (const Node& node : awaited) edit_->AddControl(control, node);
    for (NodeId fetch : fetches) {
      Node node = graph_->node(fetch);
      std::vector<std::string> keys;
      for (const auto& [key, value] : node.Attrs()) keys.push_back(key.str());
      for (const std::string& key : keys) edit_->RemoveAttr(node, key);
      edit_->SetOp(node, "NoOp");
      edit_->SetDevice(node, "");
      edit_->SetInputs(node, Port{control.id(), kControlPort});
    }
  }

  void RemoveOriginals(llvm::ArrayRef<NodeId> nodes) {
    for (NodeId id : llvm::reverse(nodes)) {
      if (edit_->IsFetched(graph_->node(id))) continue;
      edit_->SetInputs(graph_->node(id), {});
    }
    for (NodeId id : nodes) {
      if (!edit_->IsFetched(graph_->node(id))) edit_->RemoveNode(graph_->node(id));
    }
  }

  Editor* edit_ = nullptr;
  Graph* graph_ = nullptr;
  int replicas_ = 1;
  bool has_variables_ = false;
  llvm::DenseSet<NodeId> shared_;
  llvm::DenseMap<NodeId, NodeId> first_;
  std::vector<llvm::DenseMap<NodeId, NodeId>> all_;
};

GRAPNEL_PASS(
    AutoParallel,
    (PassInfo{.name = "auto_parallel",
              .config_name = "autoparallel",
              .order = 17,
              .run_once = true,
              .toggle = "auto_parallel",
              .help = "repeats the training step for each replica",
              .refuses =
                  "graphs without a variable that an Assign or AssignVariableOp sets; graphs with "
                  "a fetch that is neither a NoOp nor a training op such as ApplyGradientDescent"}),
    {kRule, "repeats the training step for each replica"});

}  // namespace
}  // namespace grapnel
