// Finds the frame (while loop) in which each node runs, and checks that all inputs of a node come
// from that frame.
#include <map>

#include "lib/ir/verify_parts.h"

namespace grapnel {
namespace {

bool IsEnter(llvm::StringRef op) { return op == "Enter" || op == "RefEnter"; }
bool IsExit(llvm::StringRef op) { return op == "Exit" || op == "RefExit"; }

// True for constants and placeholders without control inputs: their values exist before the run, so
// nodes in any frame may read them.
bool IsGiven(const Node& node) {
  llvm::StringRef op = node.op();
  bool is_given =
      op == "Const" || op == "HostConst" || op == "Placeholder" || op == "PlaceholderV2";
  return is_given && node.num_controls() == 0;
}

class Frames {
 public:
  explicit Frames(const Graph& graph) : graph_(graph), frames_(1), left_(graph.end_id(), 0) {
    for (NodeId id : TopologicalOrder(graph)) left_[id] = FrameLeftBy(graph.node(id));
  }

  void Check(llvm::function_ref<void(const Node&, std::string)> report) const {
    for (Node node : graph_.nodes()) {
      NodeId first = kNoNode;
      for (Port port : node.inputs()) {
        if (port.node == kNoNode || IsGiven(graph_.node(port.node))) continue;
        if (left_[port.node] == kAnywhere) continue;
        if (first == kNoNode) first = port.node;
        if (left_[port.node] == left_[first]) continue;
        report(node, llvm::formatv("reads '{0}' {1} and '{2}' {3}: all inputs of a node must be "
                                   "in one loop, and an Enter brings a value into it",
                                   graph_.node(first).name(), Where(first),
                                   graph_.node(port.node).name(), Where(port.node))
                         .str());
        break;
      }
    }
  }

 private:
  // The frame of a node whose inputs all are available in any frame. Constant folding can leave
  // such nodes.
  static constexpr int kAnywhere = -1;
  struct Frame {
    int parent = 0;
    std::string name;
  };

  // Returns the frame in which a node runs, which is that of its inputs. Ignores inputs from a
  // NextIteration, whose frame is not known yet; Check compares it later.
  int FrameOf(const Node& node) const {
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) continue;
      Node input = graph_.node(port.node);
      if (IsGiven(input) || left_[port.node] == kAnywhere) continue;
      if (!input.op().ends_with("NextIteration")) return left_[port.node];
    }
    return node.inputs().empty() ? 0 : kAnywhere;
  }

  int FrameLeftBy(const Node& node) {
    int frame = FrameOf(node);
    if (IsEnter(node.op())) frame = std::max(frame, 0);
    if (IsExit(node.op())) return frame == kAnywhere ? kAnywhere : frames_[frame].parent;
    if (!IsEnter(node.op())) return frame;
    std::string name = node.GetString("frame_name");
    auto [it, added] = numbers_.try_emplace({frame, name}, static_cast<int>(frames_.size()));
    if (added) frames_.push_back({frame, name});
    return it->second;
  }

  std::string Where(NodeId id) const {
    int frame = left_[id];
    return frame == 0 ? "outside of any loop" : "of loop '" + frames_[frame].name + "'";
  }

  const Graph& graph_;
  std::vector<Frame> frames_;                           // 0: outside of loops
  std::vector<int> left_;                               // the frame of a node's outputs, by id
  std::map<std::pair<int, std::string>, int> numbers_;  // by parent frame and name
};

}  // namespace

bool HasFrames(const Graph& graph) {
  const StringTable& strings = graph.module().strings;
  if (strings.Find("Enter") == kNoString && strings.Find("RefEnter") == kNoString) return false;
  for (Node node : graph.nodes()) {
    if (EntersFrame(node)) return true;
  }
  return false;
}

bool EntersFrame(const Node& node) { return IsEnter(node.op()); }

void CheckFrames(const Graph& graph, llvm::function_ref<void(const Node&, std::string)> report) {
  Frames(graph).Check(report);
}

}  // namespace grapnel
