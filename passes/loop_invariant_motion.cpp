// Moves computations that are the same in every iteration out of a loop. Off unless selected by
// name, as in TensorFlow, where no RewriterConfig switches it on.
//
//   Before:  x -> Enter (constant) -> Exp -> Mul(in the loop)
//   After:   x -> Exp -> LoopOptimizer/w_enter_0:Enter (constant) -> Mul(in the loop)
//
// A node is invariant if it depends only on constant Enters, on constants, and on invariant nodes.
// The innermost loops come first, so that a node may leave several.
//
// Refuses: nodes that some node in the loop waits for without reading them; nodes that lead into or
// out of a loop; ops with state, Switch and Merge; nodes that are fetched, fed or kept.
#include <deque>
#include <map>
#include <set>

#include "lib/ir/node_types.h"
#include "lib/pass/rule.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// A loop frame, by the names of the enclosing frames and its own.
using FramePath = std::vector<std::string>;

class Invariants {
 public:
  explicit Invariants(RuleContext& rule)
      : rule_(rule), edit_(rule.edit), graph_(rule.graph), kinds_(rule.kinds) {}

  void Run() {
    FindFrames();
    // Deepest first: a node that leaves a loop may leave the enclosing one too.
    std::vector<FramePath> order;
    for (const auto& [path, enters] : enters_) order.push_back(path);
    llvm::stable_sort(order,
                      [](const FramePath& a, const FramePath& b) { return a.size() > b.size(); });
    for (const FramePath& path : order) {
      if (!rule_.stopped) Move(path);
    }
  }

 private:
  bool IsEnter(const Node& node) const { return node.op() == "Enter" || node.op() == "RefEnter"; }
  bool ChangesFrame(const Node& node) { return kinds_.Is(node, kFrameOp); }

  void FindFrames() {
    std::map<NodeId, FramePath> leaving;
    for (NodeId id : TopologicalOrder(graph_)) {
      Node node = graph_.node(id);
      FramePath path;
      for (Port port : node.inputs()) {
        auto it = leaving.find(port.node);
        if (it != leaving.end() && it->second.size() > path.size()) path = it->second;
      }
      if (IsEnter(node)) {
        path.push_back(node.GetString("frame_name"));
        if (node.GetBool("is_constant")) enters_[path].push_back(id);
      }
      if (node.op() == "LoopCond") conds_[path] = id;
      if ((node.op() == "Exit" || node.op() == "RefExit") && !path.empty()) path.pop_back();
      leaving[id] = path;
    }
  }

  void Move(const FramePath& path) {
    invariant_.clear();
    for (NodeId enter : enters_[path]) Spread(enter);
    TakeBack();
    bool any = llvm::any_of(invariant_, [&](NodeId id) {
      Node node = graph_.node(id);
      return !IsEnter(node) && node.op() != "Const";
    });
    if (!any) return;
    Node first = graph_.node(enters_[path].front());
    const std::string& frame = path.back();
    int64_t parallel = first.GetInt("parallel_iterations", 10);
    std::vector<NodeId> nodes(invariant_.begin(), invariant_.end());
    if (!rule_.BeginAt(first)) return;
    int next = 0;
    for (NodeId id : nodes) {
      Node node = graph_.node(id);
      if (IsEnter(node)) {
        PassBy(node);
      } else if (node.op() == "Const") {
        MoveConstant(node, path);
      } else {
        MoveNode(node, frame, parallel, &next);
      }
    }
    rule_.End();
  }

  // Marks nodes that depend only on invariants, starting from an Enter.
  void Spread(NodeId enter) {
    std::vector<NodeId> open = {enter};
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      invariant_.insert(id);
      for (const Use& use : graph_.node(id).uses()) {
        Node reader = graph_.node(use.node);
        if (invariant_.count(use.node) || ChangesFrame(reader) || edit_.IsPreserved(reader))
          continue;
        bool all = true;
        for (int i = 0; i < reader.num_inputs() && all; ++i) {
          Node input = reader.input_node(i);
          all = invariant_.count(input.id()) || input.op() == "Const";
        }
        if (!all || kinds_.Is(reader, kStatefulOp | kSwitchOp | kMergeOp)) continue;
        for (int i = 0; i < reader.num_inputs(); ++i) {
          if (reader.input_node(i).op() == "Const") invariant_.insert(reader.input(i).node);
        }
        open.push_back(use.node);
      }
    }
  }

  // Takes nodes back out of `invariant_`: those that a varying node waits for, and then the nodes
  // that these wait for or that depend on them.
  void TakeBack() {
    std::deque<NodeId> back;
    for (NodeId id : invariant_) {
      Node node = graph_.node(id);
      if (node.op() == "Const" || IsEnter(node)) continue;
      for (const Use& use : node.uses()) {
        bool waits = graph_.node(use.node).input(use.slot).IsControl();
        if (!waits || invariant_.count(use.node)) continue;
        rule_.RefuseAt(node, "'{0}' in the loop waits for '{1}'\nremove the control edge",
                       graph_.node(use.node).name(), node.name());
        back.push_back(id);
        break;
      }
    }
    while (!back.empty()) {
      Node node = graph_.node(back.front());
      back.pop_front();
      if (!invariant_.erase(node.id())) continue;
      for (int i = 0; i < node.num_controls(); ++i) {
        Node source = node.control(i);
        if (invariant_.count(source.id()) && source.op() != "Const" && !IsEnter(source))
          back.push_back(source.id());
      }
      for (const Use& use : node.uses()) {
        if (invariant_.count(use.node)) back.push_back(use.node);
      }
    }
  }

  // Invariant readers of an Enter read its input directly.
  void PassBy(const Node& enter) {
    llvm::SmallVector<Use, 8> uses(enter.uses().begin(), enter.uses().end());
    for (const Use& use : uses) {
      Node reader = graph_.node(use.node);
      if (!invariant_.count(use.node) || reader.input(use.slot).IsControl()) continue;
      edit_.SetInput(reader, use.slot, enter.input(0));
      edit_.CopyControls(reader, enter);
    }
  }

  // Moves a constant out of the loop; if it also has varying readers, it stays and a copy goes
  // outside.
  void MoveConstant(const Node& node, const FramePath& path) {
    bool all =
        llvm::all_of(node.uses(), [&](const Use& use) { return invariant_.count(use.node) > 0; });
    Node outside = node;
    if (all) {
      edit_.SetInputs(node, {});
    } else {
      outside =
          edit_.AddNode(Editor::NameInScope(node.name(), "LoopOptimizer"), "Const", node.device());
      edit_.CopyAttrs(outside, node);
      llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
      for (const Use& use : uses) {
        Node reader = graph_.node(use.node);
        if (!invariant_.count(use.node)) continue;
        if (reader.input(use.slot).IsControl()) {
          edit_.RemoveControl(reader, node);
          edit_.AddControl(reader, outside);
        } else {
          edit_.SetInput(reader, use.slot, {outside.id(), 0});
        }
      }
    }
    // If the constant is now in an enclosing loop, it must run in each iteration of that loop.
    FramePath parent(path.begin(), path.end() - 1);
    auto cond = conds_.find(parent);
    if (parent.empty() || cond == conds_.end()) return;
    for (const Use& use : graph_.node(cond->second).uses()) {
      Node side = graph_.node(use.node);
      if (side.op() != "Switch") continue;
      edit_.AddControl(outside, rule_.Anchor({side.id(), 1}));
      return;
    }
  }

  // Varying readers of a moved node get its value through a constant Enter.
  void MoveNode(const Node& node, const std::string& frame, int64_t parallel, int* next) {
    for (int i = node.num_controls(); i-- > 0;) {
      if (!invariant_.count(node.control(i).id())) edit_.RemoveControl(node, node.control(i));
    }
    llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
    for (const Use& use : uses) {
      Node reader = graph_.node(use.node);
      Port read = reader.input(use.slot);
      if (invariant_.count(use.node) || read.IsControl()) continue;
      std::string name =
          Editor::NameInScope(frame + "_enter_" + std::to_string((*next)++), "LoopOptimizer");
      Node enter = edit_.AddNode(name, "Enter", node.device());
      edit_.SetAttr(enter, "T", attr::Type(BaseType(edit_.TypeOf(read))));
      edit_.SetAttr(enter, "frame_name", attr::String(frame));
      edit_.SetAttr(enter, "is_constant", attr::Bool(true));
      edit_.SetAttr(enter, "parallel_iterations", attr::Int(parallel));
      edit_.AddInput(enter, read);
      edit_.SetInput(reader, use.slot, {enter.id(), 0});
    }
  }

  RuleContext& rule_;
  Editor& edit_;
  Graph& graph_;
  OpKinds& kinds_;
  std::map<FramePath, std::vector<NodeId>> enters_;  // constant ones
  std::map<FramePath, NodeId> conds_;
  std::set<NodeId> invariant_;
};

Verdict MoveInvariants(RuleContext& rule) {
  Invariants(rule).Run();
  return rule.Done();
}

GRAPNEL_OPTIMIZER((PassInfo{
    .name = "loop_invariant_motion",
    .config_name = "loop_invariant_motion",
    .run_once = true,
    .help = "moves loop-invariant nodes out of a loop",
    .refuses =
        "nodes that the loop waits for, effects, branches, nodes that are fetched, fed or kept"}));

GRAPNEL_RULE(
    {.optimizer = "loop_invariant_motion",
     .after = kFirst,
     .name = "move_invariants",
     .ops = {},
     .help = "nodes that depend only on constant Enters and constants run once, before the loop",
     .refuses =
         "nodes that the loop waits for, effects, branches, nodes that are fetched, fed or kept",
     .apply = MoveInvariants});

}  // namespace
}  // namespace grapnel
