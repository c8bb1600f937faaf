// Removes unnecessary waits between nodes.
//
//   Before:  x -> Sqrt -^> NoOp -^> y        k = Const -^> y        x -> n -> y, x -^> y
//   After:   x -^> y                         (k is gone)            x -> n -> y
//
// There are two rounds, as in TensorFlow. In each round, control edges that a longer path implies
// are dropped; nodes that are only waited for become NoOps, including reads of variables; NoOps and
// Identities are bypassed if that adds no edges and no device crossings; control edges from several
// nodes of another device, then of another task, go through one NoOp there.
//
// Refuses: fetched nodes, ops with effects, Identities of variables, anchors in a branch of a
// Switch, device crossings.
#include "passes/dependency_optimizer/dependency_optimizer.h"

#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

class DependencyOptimizer : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    for (int round = 0; round < 2; ++round) {
      edit.SetOrder(edit.NodesInOrder());
      Dependencies context(edit);
      RuleTable before(edit, edit.pass(), kDuplicateEdges);
      Dedup(context, before);
      OfBody(context, before);
      Simplify(context);
      Dedup(context, before);
      OfBody(context, RuleTable(edit, edit.pass(), kAfterwards));
      if (context.stopped) break;
    }
    return Error::success();
  }

 private:
  static void Dedup(Dependencies& context, const RuleTable& rules) {
    for (const Rule* rule : rules.all()) {
      if (rule->apply.of_body()) continue;
      for (Node node : context.graph.nodes()) {
        if (context.stopped) return;
        if (!rule->may_apply || rule->may_apply(node)) context.Apply(*rule, node);
      }
    }
  }

  static void OfBody(Dependencies& context, const RuleTable& rules) {
    for (const Rule* rule : rules.all()) {
      if (rule->apply.of_body() && !context.stopped) context.Apply(*rule);
    }
  }

  static void Simplify(Dependencies& context) {
    Graph& graph = context.graph;
    RuleTable rules(context.edit, Dependencies::kOptimizer, kNodes);
    std::vector<NodeId> order = context.edit.NodesInOrder();
    for (Node node : graph.nodes(order)) {
      if (context.kinds.Is(node, kNoOpOp | kIdentityOp | kIdentityNOp | kConstOp) ||
          context.CanBecomeNoOp(node))
        context.Push(node);
    }
    while (context.has_work() && !context.stopped) {
      NodeId id = context.Pop();
      if (graph.IsAlive(id)) ApplyRules(context, rules, graph.node(id));
    }
  }
};

GRAPNEL_PASS(
    DependencyOptimizer,
    (PassInfo{.name = "dependency_optimizer",
              .config_name = "dependency",
              .order = 15,
              .default_on = true,
              .toggle = "dependency_optimization",
              .help = "removes unnecessary waits between nodes, and NoOps and Identities",
              .refuses = "nodes that are fetched, fed or kept, ops with effects, Identities that "
                         "read variables or mark a branch of a Switch, device crossings"}), );

}  // namespace

bool Dependencies::AreOnOneDevice(const Graph& graph) {
  StringId device = kNoString;
  for (Node node : graph.nodes()) {
    if (device != kNoString && node.device_id() != device) return false;
    device = node.device_id();
  }
  return true;
}

void Dependencies::Push(const Node& node) {
  if (in_work_.size() <= node.id()) in_work_.resize(node.id() + 1);
  if (in_work_[node.id()]) return;
  in_work_[node.id()] = true;
  work_.push_back(node.id());
}

NodeId Dependencies::Pop() {
  NodeId id = work_.back();
  work_.pop_back();
  in_work_[id] = false;
  return id;
}

// Reads of variables are stateful, but unread ones can be dropped.
static bool ReadsVariable(llvm::StringRef op) {
  return op == "ReadVariableOp" || op == "_ReadVariablesOp" || op == "ResourceGather" ||
         op == "ResourceGatherNd";
}

bool Dependencies::CanBecomeNoOp(const Node& node) {
  bool is_right_op = kinds.IsAll(node, kKnownOp | kHasOutputsOp) &&
                     (kinds.Is(node, kPureOp) || ReadsVariable(node.op())) &&
                     !kinds.Is(node, kSwitchOp | kMergeOp | kFrameOp | kRetvalOp);
  if (!is_right_op || !has_fetches || IsPreserved(node) || node.HasDataUses()) return false;
  static const char* const kNever[] = {"_Arg", "_ParallelConcatUpdate", "TPUExecute", "TPUCompile",
                                       "ControlTrigger"};
  if (llvm::is_contained(kNever, node.op())) return false;
  return !kinds.Is(node, kIdentityOp | kIdentityNOp) || CanRemoveIdentity(node);
}

bool Dependencies::CanRemoveIdentity(const Node& node) {
  if (IsPreserved(node) || !has_fetches || node.num_inputs() < 1) return false;
  Node input = node.input_node(0);
  if (kinds.Is(input, kVariableOp | kRecvOp))
    return Fails(
        "'{0}' reads '{1}' (a variable, a read of one, or a receive) and fixes its value at this "
        "point\nmake the variable a constant: --freeze",
        node.name(), input.name());
  bool has_more_inputs = node.num_inputs() + node.num_controls() > 1,
       after_switch = kinds.Is(input, kSwitchOp);
  if (!has_more_inputs && !after_switch) return true;
  for (const Use& use : node.uses()) {
    Node reader = graph.node(use.node);
    if (has_more_inputs && kinds.Is(reader, kRetvalOp | kMergeOp))
      return Fails(
          "'{0}' would have to wait for the other inputs of '{1}', and a {2} cannot\n"
          "remove the control edges of '{1}'",
          reader.name(), node.name(), reader.op());
    if (after_switch && reader.input(use.slot).IsControl())
      return Fails(
          "'{0}' waits for '{1}' so that it runs only in that branch of '{2}'\n"
          "leave the branch out",
          reader.name(), node.name(), input.name());
  }
  return true;
}

}  // namespace grapnel
