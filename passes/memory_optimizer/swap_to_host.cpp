// Moves a tensor that is not needed for a while to the host.
//
//   Before:  b -> e {_swap_to_host=0};  b -> d;  c -> e
//   After:   b -> _CopyFromGpuToHost swap_out_e_0 -> _CopyFromHostToGpu swap_in_e_0(^c) -> e
//            b -> d(^swap_out_e_0)
//
// The copy to the host runs before the next reader; the copy back runs after the last node before
// `e` that leaves enough time for it. Run times are estimates: one nanosecond for each byte that a
// node reads and writes, and for every sixteen bytes of a copy.
//
// Refuses: nodes that are not on a GPU; references; inputs without other readers, or that are
// swapped already; nodes before which there is no time to copy back.
#include "lib/ir/device_name.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/memory_optimizer/memory_optimizer.h"

namespace grapnel::memory_optimizer {
namespace {

constexpr const char* kAttr = "_swap_to_host";

bool ChangesFrameOrBranches(const Node& node) {
  return llvm::StringSwitch<bool>(node.op())
      .Cases("Enter", "RefEnter", "Exit", "RefExit", true)
      .Cases("NextIteration", "RefNextIteration", true)
      .Cases("Switch", "RefSwitch", "_SwitchN", "Merge", "RefMerge", "_XlaMerge", true)
      .Default(false);
}

class Swapping {
 public:
  explicit Swapping(RuleContext& rule) : rule_(rule), edit_(rule.edit), graph_(rule.graph) {}

  void Run() {
    if (!graph_.MayHaveAttr(kAttr)) return;
    std::vector<Node> marked;
    for (Node node : graph_.nodes()) {
      if (node.FindAttr(kAttr)) marked.push_back(node);
    }
    if (marked.empty()) return;
    GuessTimes();
    for (const Node& node : marked) SwapInputsOf(node);
  }

 private:
  int64_t BytesOf(Port port) {
    const Shape& shape = edit_.ShapeOf(port);
    int64_t bytes = static_cast<int64_t>(DataTypeSize(BaseType(edit_.TypeOf(port))));
    if (!shape.known_rank()) return bytes;
    llvm::SmallVector<int64_t, 6> dims;
    for (int64_t dim : shape.dims()) dims.push_back(std::max<int64_t>(dim, 1));
    return bytes * NumElements(dims).value_or(1);
  }

  void GuessTimes() {
    end_.assign(graph_.end_id(), 0);
    for (NodeId id : TopologicalOrder(graph_)) {
      Node node = graph_.node(id);
      int64_t start = 0, bytes = 1;
      for (Port port : node.inputs()) start = std::max(start, end_[port.node]);
      bool is_free = node.op() == "Identity" || node.num_inputs() == 0;
      for (int i = 0; i < node.num_inputs() && !is_free; ++i) bytes += BytesOf(node.input(i));
      for (int i = 0; i < NumOutputs(node) && !is_free; ++i) bytes += BytesOf({id, i});
      end_[id] = start + bytes;
    }
  }

  std::vector<int64_t> MarkedInputs(const Node& node) {
    auto attr = node.FindAttr(kAttr);
    auto list = attr->AsInts();
    std::vector<int64_t> inputs = list ? *list : std::vector<int64_t>{attr->AsInt().value_or(-1)};
    llvm::erase_if(inputs, [&](int64_t i) { return i < 0 || i >= node.num_inputs(); });
    return inputs;
  }

  void SwapInputsOf(const Node& node) {
    std::vector<int64_t> inputs = MarkedInputs(node);
    if (!MentionsGpu(node.device())) {
      rule_.RefuseAt(node, "'{0}' is on {1}, a GPU was expected\nplace it on a GPU", node.name(),
                     QuotedDevice(node.device()));
      return;
    }
    Node back = TriggerOfCopyBack(node, inputs);
    if (!back) {
      rule_.RefuseAt(node, "there is no time to copy back before '{0}'", node.name());
      return;
    }
    for (int64_t i : inputs) Swap(node, static_cast<int>(i), back);
  }

  void Swap(const Node& node, int input, const Node& back) {
    Port port = node.input(input);
    std::string tensor = llvm::formatv("{0}_{1}", node.name(), input).str();
    Node next = NextReader(port, node);
    if (!next || IsRefType(edit_.TypeOf(port)) || rule_.Exists("swap_out_" + tensor)) {
      rule_.RefuseAt(node,
                     "input {0} of '{1}' is a reference, already swapped, or has no other reader",
                     input, node.name());
      return;
    }
    if (!rule_.BeginAt(node)) return;
    std::string type = attr::Type(edit_.TypeOf(port));
    Node out = edit_.AddNode("swap_out_" + tensor, "_CopyFromGpuToHost", node.device());
    Node in = edit_.AddNode("swap_in_" + tensor, "_CopyFromHostToGpu", node.device());
    edit_.AddInput(out, port);
    edit_.AddInput(in, {out.id(), 0});
    for (const Node& copy : {out, in}) {
      edit_.SetAttr(copy, "T", type);
      edit_.SetAttr(copy, "_class", attr::Strings({"loc@" + tensor}));
    }
    AddClass(node, "loc@" + tensor);
    edit_.SetInput(node, input, {in.id(), 0});
    edit_.AddControl(next, out);
    edit_.AddControl(in, back);
    rule_.End();
  }

  void AddClass(const Node& node, const std::string& group) {
    auto attr = node.FindAttr("_class");
    auto old = attr ? attr->AsStrings() : std::nullopt;
    std::vector<std::string> owned;
    if (old) {
      for (llvm::StringRef name : *old) owned.push_back(name.str());
    }
    owned.push_back(group);
    edit_.SetAttr(node, "_class",
                  attr::Strings(std::vector<llvm::StringRef>(owned.begin(), owned.end())));
  }

  Node NextReader(Port port, const Node& node) {
    Node next;
    for (const Use& use : graph_.node(port.node).UsesOf(port.index)) {
      if (use.node == node.id() || use.node >= end_.size()) continue;
      if (!next || end_[use.node] < end_[next.id()]) next = graph_.node(use.node);
    }
    return next;
  }

  // The last node before `node` that ends early enough to leave time for the copy back; no node if
  // there is none.
  Node TriggerOfCopyBack(const Node& node, llvm::ArrayRef<int64_t> swapped) {
    int64_t latest = 0, bytes = 0;
    llvm::DenseSet<NodeId> seen;
    std::vector<NodeId> open;
    for (Port port : node.inputs()) latest = std::max(latest, end_[port.node]);
    for (int64_t i : swapped) {
      bytes += BytesOf(node.input(static_cast<int>(i)));
      seen.insert(node.input(static_cast<int>(i)).node);
    }
    latest -= bytes / 16;
    for (Port port : node.inputs()) {
      if (!seen.contains(port.node)) open.push_back(port.node);
    }
    Node best;  // not a node that makes a swapped tensor: those are in `seen`
    while (!open.empty()) {
      Node current = graph_.node(open.back());
      open.pop_back();
      if (!seen.insert(current.id()).second || ChangesFrameOrBranches(current)) continue;
      if (end_[current.id()] >= latest) {
        for (Port port : current.inputs()) open.push_back(port.node);
      } else if (!best || end_[current.id()] > end_[best.id()]) {
        best = current;
      }
    }
    return best;
  }

  RuleContext& rule_;
  Editor& edit_;
  Graph& graph_;
  std::vector<int64_t> end_;  // estimated end of the node, in nanoseconds from the start
};

Verdict SwapToHost(RuleContext& rule) {
  if (!WantedOf(rule.edit.config()).swaps) return rule.NotMine();
  Swapping(rule).Run();
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "memory_optimizer",
     .after = "recompute",
     .name = "swap_to_host",
     .ops = {},
     .help = "moves a marked input to the host until it is needed",
     .refuses = "nodes that are not on a GPU; references; inputs without other readers, or that "
                "are swapped already; nodes before which there is no time to copy back",
     .apply = SwapToHost});

}  // namespace
}  // namespace grapnel::memory_optimizer
