#include "lib/check/pair_backwards.h"

#include <algorithm>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

// The limit of the length of chains of Identity, and of paths between a Switch and its Merge.
constexpr int kLongestPath = 10'000;

bool IsEnd(const Node& node) {
  return llvm::none_of(node.uses(), [&](const Use& use) {
    return static_cast<int>(use.slot) < node.graph().node(use.node).num_inputs();
  });
}

// Looks through Identity nodes. The number of steps is limited, since a broken graph may have a
// cycle.
Port Source(const Graph& graph, Port port) {
  for (int i = 0; i < kLongestPath && port.node != kNoNode; ++i) {
    Node node = graph.node(port.node);
    if (node.op() != "Identity" || node.num_inputs() == 0) break;
    port = node.input(0);
  }
  return port;
}

bool IsOfLoop(const Node& merge) {
  for (int i = 0; i < merge.num_inputs(); ++i) {
    if (merge.input(i).node != kNoNode && merge.input_node(i).op() == "NextIteration") return true;
  }
  return false;
}

// Returns the output (0 or 1) of the Switch from which a path leads to `port`, an input of a Merge;
// -1 if it is not found. Every node in a branch depends on the Switch, by data or by control edges.
int SideOf(const Graph& graph, Port port) {
  int open = 0;  // inner conditionals whose Merge was passed, but not yet their Switch
  for (int i = 0; i < kLongestPath && port.node != kNoNode; ++i) {
    Node node = graph.node(port.node);
    if (node.op() == "Switch") {
      bool is_of_loop = node.num_inputs() > 1 && node.input(1).node != kNoNode &&
                        node.input_node(1).op() == "LoopCond";
      if (!is_of_loop && open-- == 0) return port.index;
    } else if (node.op() == "Merge" && !IsOfLoop(node)) {
      ++open;
    }
    if (node.inputs().empty()) return -1;
    // A node without data inputs has a control input from the branch's pivot, an Identity that
    // reads the Switch: follow that.
    port = node.inputs().front();
  }
  return -1;
}

// Returns the name of a LoopCond's loop: "while" for "while/LoopCond" and "while/LoopCond/_14"; for
// a name without "/LoopCond" the name itself, for others empty.
llvm::StringRef LoopName(const Node& loop_cond) {
  auto [loop, after] = loop_cond.name().split("/LoopCond");
  return after.empty() || after.starts_with("/_") ? loop : llvm::StringRef();
}

// A variable of a loop: the Merge that has its value in each iteration, and its initial value.
struct LoopVariable {
  Node merge;
  Port start;
};

std::vector<LoopVariable> VariablesOf(const Node& loop_cond) {
  const Graph& graph = loop_cond.graph();
  std::vector<LoopVariable> variables;
  for (const Use& use : loop_cond.uses()) {
    Node node = graph.node(use.node);
    if (node.op() != "Switch" || node.input(0).node == kNoNode) continue;
    Node merge = node.input_node(0);
    if (merge.op() != "Merge" || merge.num_inputs() == 0) continue;
    Port enter = Source(graph, merge.input(0));
    Node entered = enter.node == kNoNode ? Node() : graph.node(enter.node);
    if (entered && entered.op() == "Enter" && entered.num_inputs() > 0)
      variables.push_back({merge, Source(graph, entered.input(0))});
  }
  llvm::sort(variables, [](const LoopVariable& x, const LoopVariable& y) {
    return x.merge.id() < y.merge.id();
  });
  return variables;
}

class Pairing {
 public:
  Pairing(const Graph& a, const Graph& b) : a_(a), b_(b) {}

  std::vector<std::pair<Node, Node>> Run() {
    AddEnds([](const Node& x, const Node& y) { return IsEnd(x) && IsEnd(y); });
    AddEnds([](const Node& x, const Node& y) { return IsEnd(x) || IsEnd(y); });
    AddLoops();
    GoBack();
    return std::move(pairs_);
  }

 private:
  void Add(const Node& x, const Node& y) {
    if (of_a_.count(x.id()) || of_b_.count(y.id())) return;
    of_a_[x.id()] = y.id();
    of_b_.insert(y.id());
    pairs_.emplace_back(x, y);
  }

  void AddEnds(llvm::function_ref<bool(const Node&, const Node&)> are_ends) {
    for (Node x : a_.nodes()) {
      Node y = b_.Find(x.name());
      if (y && x.op() == y.op() && are_ends(x, y)) Add(x, y);
    }
    GoBack();
  }

  void GoBack() {
    for (; next_ < pairs_.size(); ++next_) {
      auto [x, y] = pairs_[next_];
      int count = std::min(x.num_inputs(), y.num_inputs());
      bool is_turned = IsTurned(x, y);
      for (int i = 0; i < count; ++i)
        Consider(Source(a_, x.input(i)), Source(b_, y.input(is_turned ? count - 1 - i : i)));
    }
  }

  // Pairs loops whose results do not lead to paired ends (for instance, because they are in
  // TensorArrays): the LoopConds by the loops' names, and the loop variables by their initial
  // values.
  void AddLoops() {
    llvm::StringMap<NodeId> loops_of_b;
    for (Node y : b_.nodes()) {
      if (y.op() == "LoopCond" && !LoopName(y).empty()) loops_of_b.try_emplace(LoopName(y), y.id());
    }
    for (Node x : a_.nodes()) {
      if (x.op() != "LoopCond") continue;
      auto paired = of_a_.find(x.id());
      auto named = loops_of_b.find(LoopName(x));
      if (paired == of_a_.end() && named == loops_of_b.end()) continue;
      Node y = b_.node(paired != of_a_.end() ? paired->second : named->second);
      Add(x, y);
      GoBack();
      AddVariables(VariablesOf(x), VariablesOf(y));
    }
  }

  // Pairs the variables that have the same initial value in order of node ids, if both loops have
  // equally many of them.
  void AddVariables(llvm::ArrayRef<LoopVariable> of_x, llvm::ArrayRef<LoopVariable> of_y) {
    for (const LoopVariable& x : of_x) {
      auto is_x = [&](const LoopVariable& other) { return other.start == x.start; };
      auto is_y = [&](const LoopVariable& y) { return BeginsAlike(x.start, y.start); };
      if (llvm::count_if(of_x, is_x) != llvm::count_if(of_y, is_y)) continue;
      int64_t rank = llvm::count_if(of_x, [&](const LoopVariable& other) {
        return is_x(other) && other.merge.id() < x.merge.id();
      });
      for (const LoopVariable& y : of_y) {
        if (is_y(y) && rank-- == 0) Add(x.merge, y.merge);
      }
    }
  }

  bool BeginsAlike(Port x, Port y) const {
    if (x.node == kNoNode || y.node == kNoNode || x.index != y.index) return false;
    auto paired = of_a_.find(x.node);
    if (paired != of_a_.end()) return paired->second == y.node;
    return a_.node(x.node).name() == b_.node(y.node).name();
  }

  // True if the two Merges have their inputs in opposite order: TensorFlow 1 puts the value for a
  // false condition first, the lowering of If puts it last.
  bool IsTurned(const Node& x, const Node& y) const {
    if (x.op() != "Merge" || y.op() != "Merge" || x.num_inputs() != 2 || y.num_inputs() != 2)
      return false;
    if (IsOfLoop(x) || IsOfLoop(y)) return false;
    int of_x = SideOf(a_, x.input(0)), of_y = SideOf(b_, y.input(0));
    return of_x >= 0 && of_y >= 0 && of_x != of_y;
  }

  void Consider(Port from_a, Port from_b) {
    if (from_a.node == kNoNode || from_b.node == kNoNode || from_a.index != from_b.index) return;
    Node x = a_.node(from_a.node), y = b_.node(from_b.node);
    if (x.num_inputs() == y.num_inputs() && (x.op() == y.op() || ReadAlike(x, y))) Add(x, y);
  }

  bool ReadAlike(const Node& x, const Node& y) const {
    for (int i = 0; i < x.num_inputs(); ++i) {
      Port of_x = Source(a_, x.input(i)), of_y = Source(b_, y.input(i));
      if (of_x.node == kNoNode || of_y.node == kNoNode || of_x.index != of_y.index) return false;
      if (a_.node(of_x.node).op() != b_.node(of_y.node).op()) return false;
    }
    return x.num_inputs() > 0;
  }

  const Graph &a_, &b_;
  llvm::DenseMap<NodeId, NodeId> of_a_;  // by paired node of A: the node of B
  llvm::DenseSet<NodeId> of_b_;
  std::vector<std::pair<Node, Node>> pairs_;
  size_t next_ = 0;  // the first pair whose inputs have not been considered
};

}  // namespace

std::vector<std::pair<Node, Node>> PairBackwards(const Graph& a, const Graph& b) {
  return Pairing(a, b).Run();
}

}  // namespace grapnel
