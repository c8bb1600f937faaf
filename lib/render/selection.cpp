#include "lib/render/selection.h"

#include <algorithm>
#include <utility>

#include "lib/ir/function_ends.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

namespace {

// Returns, by node id, whether a node is reachable from `start` over readers (`forward`) or inputs.
std::vector<bool> Reach(const Node& start, bool forward) {
  const Graph& graph = start.graph();
  std::vector<bool> reached(graph.end_id(), false);
  std::vector<NodeId> stack = {start.id()};
  reached[start.id()] = true;
  auto visit = [&](NodeId id) {
    if (id == kNoNode || reached[id]) return;
    reached[id] = true;
    stack.push_back(id);
  };
  while (!stack.empty()) {
    Node node = graph.node(stack.back());
    stack.pop_back();
    if (forward) {
      for (const Use& use : node.uses()) visit(use.node);
    } else {
      for (Port port : node.inputs()) visit(port.node);
    }
  }
  return reached;
}

// True for a variable, or for a resource argument of a function.
bool IsHandle(const Node& node) {
  return IsVariable(node) || (node.op() == "_Arg" && node.GetType("T") == proto::DT_RESOURCE);
}

bool Reads(const Node& node) { return node.op() == "Identity" || node.op() == "ReadVariableOp"; }

class Folder {
 public:
  Folder(const Graph& graph, const std::vector<bool>& selected, const FoldOptions& options)
      : graph_(graph), options_(options) {
    folding_.uses.assign(graph.end_id(), NodeUse::kOutside);
    folding_.waits.assign(graph.end_id(), kNoNode);
    for (Node node : graph.nodes()) {
      if (selected.empty() || selected[node.id()]) folding_.uses[node.id()] = NodeUse::kShown;
    }
  }

  Folding Run() && {
    if (options_.constants) FoldConstants();
    if (options_.constants && options_.of_loop) FoldInvariants();
    if (options_.no_ops) {
      FoldIdleNoOps();
      if (IsOfSignature()) FoldEnds();
      FoldNoOps();
    }
    if (options_.hidden) Hide();
    return std::move(folding_);
  }

 private:
  void Hide() {
    for (Node node : graph_.nodes()) {
      if (folding_.uses[node.id()] == NodeUse::kOutside || !options_.hidden->Hides(node)) continue;
      if (folding_.uses[node.id()] == NodeUse::kFolded) --CountOf(node);
      folding_.uses[node.id()] = NodeUse::kOutside;
      folding_.waits[node.id()] = kNoNode;
    }
  }

  // Returns the counter of Folding that includes a folded node like this one.
  size_t& CountOf(const Node& node) {
    if (node.op() == "NoOp") return folding_.no_ops;
    if (folding_.waits[node.id()] != kNoNode) return folding_.forwards;
    if (IsResult(node) || (options_.of_loop && IsArgument(node))) return folding_.invariants;
    if (node.num_inputs() > 0) return folding_.constant_reads;
    return IsConstant(node) || IsCaptured(node) ? folding_.constants : folding_.variables;
  }

  bool MayFold(const Node& node) const {
    return folding_.uses[node.id()] == NodeUse::kShown &&
           (options_.keep.empty() || !options_.keep[node.id()]);
  }

  // True if a selected node reads this node. Otherwise it must not be folded: a folded node is
  // shown only in a note of its reader.
  bool IsRead(const Node& node) const {
    for (const Use& use : node.uses()) {
      bool data = static_cast<int>(use.slot) < graph_.node(use.node).num_inputs();
      if (data && folding_.uses[use.node] != NodeUse::kOutside) return true;
    }
    return false;
  }

  bool IsOfSignature() const {
    return options_.signature && options_.signature->graph == &graph_ &&
           options_.signature->function;
  }

  // True for an argument of the body for which the main graph passes a constant.
  bool IsCaptured(const Node& node) const {
    Node given = options_.signature ? options_.signature->GivenByMain(node) : Node();
    return given && IsConstant(given);
  }

  void FoldConstants() {
    std::vector<NodeId> folded;
    auto fold = [&](const Node& node, size_t* count) {
      if (!MayFold(node) || !IsRead(node)) return;
      folding_.uses[node.id()] = NodeUse::kFolded;
      folded.push_back(node.id());
      ++*count;
    };
    for (Node node : graph_.nodes()) {
      // A constant with an input is an error in the graph, and may even read itself: do not fold
      // it.
      if (node.num_inputs() > 0) continue;
      if (IsConstant(node) || IsCaptured(node)) fold(node, &folding_.constants);
      if (IsHandle(node)) fold(node, &folding_.variables);
    }
    while (!folded.empty()) {
      Node constant = graph_.node(folded.back());
      folded.pop_back();
      for (const Use& use : constant.uses()) {
        Node reader = graph_.node(use.node);
        if (Reads(reader) && reader.num_inputs() == 1 && reader.num_controls() == 0) {
          fold(reader, &folding_.constant_reads);
        }
      }
    }
  }

  // Folds NoOps that wait only for folded nodes. Those are constants, variables, reads of these,
  // and what a loop does not change: nothing has to wait for them.
  void FoldIdleNoOps() {
    for (Node node : graph_.nodes()) {
      if (node.op() != "NoOp" || !MayFold(node) || node.num_controls() == 0 || node.uses().empty())
        continue;
      bool idle = true;
      for (Port port : node.inputs())
        idle &= port.node != kNoNode && folding_.uses[port.node] == NodeUse::kFolded;
      if (!idle) continue;
      folding_.uses[node.id()] = NodeUse::kFolded;
      ++folding_.no_ops;
    }
  }

  // Returns the argument that a result forwards; kNoNode if it does not forward one.
  NodeId Forwarded(const Node& result) const {
    NodeId id = result.num_inputs() > 0 ? result.input(0).node : kNoNode;
    for (int steps = 0; id != kNoNode && steps < 8; ++steps) {
      Node node = graph_.node(id);
      if (IsArgument(node)) return id;
      if (node.op() != "Identity" || node.num_inputs() != 1) return kNoNode;
      id = node.input(0).node;
    }
    return kNoNode;
  }

  void FoldInvariants() {
    std::vector<bool> invariant(graph_.end_id(), false);
    bool leaves_some = false;
    for (Node node : graph_.nodes()) {
      if (!IsResult(node)) continue;
      NodeId argument = Forwarded(node);
      bool is_invariant =
          argument != kNoNode && graph_.node(argument).GetInt("index") == node.GetInt("index");
      if (!is_invariant) leaves_some = true;
      if (!is_invariant) continue;
      invariant[node.id()] = true;
      for (NodeId id = node.input(0).node; id != argument; id = graph_.node(id).input(0).node) {
        auto is_known = [&](const Use& use) { return invariant[use.node]; };
        if (llvm::all_of(graph_.node(id).uses(), is_known)) invariant[id] = true;
      }
    }
    if (!leaves_some) return;
    for (Node node : graph_.nodes()) {
      auto is_known = [&](const Use& use) { return invariant[use.node]; };
      if (IsArgument(node) && llvm::all_of(node.uses(), is_known)) invariant[node.id()] = true;
    }
    for (Node node : graph_.nodes()) {
      if (!invariant[node.id()] || !MayFold(node)) continue;
      folding_.uses[node.id()] = NodeUse::kFolded;
      ++folding_.invariants;
    }
  }

  bool Forwards(const Node& node) const {
    llvm::ArrayRef<Use> uses = node.uses();
    return node.op() == "Identity" && node.num_inputs() == 1 && node.input(0).node != kNoNode &&
           uses.size() == 1 && IsResult(graph_.node(uses[0].node));
  }

  // TensorFlow makes each result wait for all ops with state, and then forwards it.
  void FoldEnds() {
    std::vector<bool> needed(graph_.end_id(), false);
    std::vector<NodeId> stack;
    auto need = [&](NodeId id) {
      if (id == kNoNode || needed[id]) return;
      needed[id] = true;
      stack.push_back(id);
    };
    for (Node node : graph_.nodes()) {
      if (IsResult(node)) need(node.id());
    }
    while (!stack.empty()) {
      Node node = graph_.node(stack.back());
      stack.pop_back();
      for (int slot = 0; slot < node.num_inputs(); ++slot) need(node.input(slot).node);
    }
    for (Node node : graph_.nodes()) {
      if (node.op() != "NoOp" || !MayFold(node) || node.uses().empty()) continue;
      bool at_end = std::all_of(node.uses().begin(), node.uses().end(), [&](const Use& use) {
        Node reader = graph_.node(use.node);
        return Forwards(reader) || IsResult(reader);
      });
      bool idle = at_end;
      for (Port port : node.inputs())
        idle &= port.node != kNoNode &&
                (needed[port.node] || folding_.uses[port.node] == NodeUse::kFolded);
      if (!idle) continue;
      folding_.uses[node.id()] = NodeUse::kFolded;
      ++folding_.no_ops;
    }
    for (Node node : graph_.nodes()) {
      if (!Forwards(node) || !MayFold(node)) continue;
      NodeId result = node.uses()[0].node;
      if (folding_.uses[result] != NodeUse::kShown) continue;
      folding_.uses[node.id()] = NodeUse::kFolded;
      folding_.waits[node.id()] = result;
      ++folding_.forwards;
    }
  }

  void FoldNoOps() {
    for (Node node : graph_.nodes()) {
      if (node.op() != "NoOp" || !MayFold(node) || node.num_controls() == 0) continue;
      llvm::ArrayRef<Use> uses = node.uses();
      if (uses.size() != 1 || uses[0].node == node.id()) continue;
      NodeId waits = uses[0].node;
      if (folding_.uses[waits] == NodeUse::kFolded && graph_.node(waits).op() != "NoOp" &&
          folding_.waits[waits] != kNoNode)
        waits = folding_.waits[waits];
      if (folding_.uses[waits] != NodeUse::kShown) continue;
      folding_.waits[node.id()] = waits;
    }
    // If a NoOp waits for a NoOp and so on, all of them get the shown node at the end of the chain.
    // A ring of NoOps (a broken graph) is not folded.
    std::vector<NodeId> chain;
    for (NodeId id = 0; id < graph_.end_id(); ++id) {
      if (folding_.waits[id] == kNoNode || folding_.uses[id] == NodeUse::kFolded) continue;
      chain.clear();
      NodeId end = id;
      while (folding_.waits[end] != kNoNode && folding_.uses[end] == NodeUse::kShown) {
        folding_.uses[end] = NodeUse::kFolded;
        chain.push_back(end);
        end = folding_.waits[end];
      }
      bool ring = folding_.uses[end] == NodeUse::kFolded &&
                  std::find(chain.begin(), chain.end(), end) != chain.end();
      if (!ring && folding_.uses[end] == NodeUse::kFolded) end = folding_.waits[end];
      for (NodeId no_op : chain) {
        folding_.waits[no_op] = ring ? kNoNode : end;
        if (ring) folding_.uses[no_op] = NodeUse::kShown;
        folding_.no_ops += !ring;
      }
    }
  }

  const Graph& graph_;
  const FoldOptions& options_;
  Folding folding_;
};

}  // namespace

std::vector<bool> NodesAround(const Node& center, int hops) {
  const Graph& graph = center.graph();
  std::vector<bool> near(graph.end_id(), false);
  std::vector<NodeId> ring = {center.id()};
  near[center.id()] = true;
  for (int hop = 0; hop < hops && !ring.empty(); ++hop) {
    std::vector<NodeId> next;
    auto visit = [&](NodeId id) {
      if (id == kNoNode || near[id]) return;
      near[id] = true;
      next.push_back(id);
    };
    for (NodeId id : ring) {
      for (Port port : graph.node(id).inputs()) visit(port.node);
      for (const Use& use : graph.node(id).uses()) visit(use.node);
    }
    ring = std::move(next);
  }
  return near;
}

Expected<std::vector<bool>> NodesBetween(const Node& from, const Node& to) {
  if (&from.graph() != &to.graph()) {
    return MakeError("'{0}' and '{1}' are in different functions", from.name(), to.name());
  }
  std::vector<bool> after = Reach(from, true), before = Reach(to, false);
  if (!after[to.id()]) {
    bool backwards = before[to.id()] && Reach(from, false)[to.id()];
    return MakeError("there is no path from '{0}' to '{1}'{2}", from.name(), to.name(),
                     backwards ? "; there is one the other way" : "");
  }
  for (size_t i = 0; i < after.size(); ++i) after[i] = after[i] && before[i];
  return after;
}

llvm::DenseMap<const Graph*, Node> LoopGraphs(const Module& module) {
  llvm::DenseMap<const Graph*, Node> loops;
  auto visit = [&](const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (node.op() != "While" && node.op() != "StatelessWhile") continue;
      for (llvm::StringRef name : CalledFunctions(node)) {
        if (const Function* function = module.FindFunction(name))
          loops.try_emplace(&function->body, node);
      }
    }
  };
  visit(module.main);
  for (const auto& function : module.functions) visit(function->body);
  return loops;
}

Folding Fold(const Graph& graph, const std::vector<bool>& selected, const FoldOptions& options) {
  return Folder(graph, selected, options).Run();
}

}  // namespace grapnel
