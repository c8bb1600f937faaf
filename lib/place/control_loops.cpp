#include "lib/place/control_loops.h"

#include <algorithm>
#include <map>

#include "lib/ir/literal.h"
#include "lib/ir/module.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

bool IsEnter(llvm::StringRef op) { return op == "Enter" || op == "RefEnter"; }
bool IsExit(llvm::StringRef op) { return op == "Exit" || op == "RefExit"; }
bool IsNextIteration(llvm::StringRef op) {
  return op == "NextIteration" || op == "RefNextIteration";
}
bool IsSwitch(llvm::StringRef op) { return op == "Switch" || op == "RefSwitch"; }

// Adds the control loops to the graph.
class Maker {
 public:
  Maker(Graph* graph, const std::function<std::string(llvm::StringRef)>& new_name)
      : graph_(*graph),
        new_name_(new_name),
        frames_(FindLoopFrames(*graph, TopologicalOrder(*graph))) {}

  Expected<std::vector<LoopPivot>> Run() {
    std::vector<std::pair<NodeId, NodeId>> crossing;  // edges in a loop between devices
    for (Node reader : graph_.nodes()) {
      for (Port port : reader.inputs()) {
        if (port.node == kNoNode || OutputFrame(port.node) == 0) continue;
        bool same_frame = OutputFrame(port.node) == InputFrame(reader.id());
        if (same_frame && graph_.node(port.node).device_id() != reader.device_id())
          crossing.push_back({port.node, reader.id()});
      }
    }
    for (auto [from, reader] : crossing) RETURN_IF_ERROR(AddFor(from, reader));
    std::vector<LoopPivot> pivots(graph_.end_id());
    for (auto [from, reader] : crossing) {
      LoopPivot& pivot = pivots[reader];
      pivot.merge = loops_.at({InputFrame(reader), graph_.node(reader).device_id()}).merge;
      ++pivot.edges;
    }
    for (const auto& [place, loop] : loops_) {
      StringId condition = graph_.node(graph_.node(loop.turn).input(1).node).device_id();
      if (condition != place.second) pivots[loop.turn] = {loop.merge, 1};
    }
    return pivots;
  }

 private:
  struct Loop {
    NodeId enter = kNoNode, merge = kNoNode, turn = kNoNode;
  };

  // The output of an Exit and the inputs of an Enter are in the parent of the node's own frame.
  int OutputFrame(NodeId id) const { return FrameOf(id, IsExit(graph_.node(id).op())); }
  int InputFrame(NodeId id) const { return FrameOf(id, IsEnter(graph_.node(id).op())); }
  int FrameOf(NodeId id, bool outside) const {
    int frame = frames_.of[id];
    return outside ? std::max(0, frames_.frames[frame].parent) : frame;
  }

  // Adds loops for the edge's frame and the frames around it, up to the first frame that already
  // has a control loop on the reader's device.
  Error AddFor(NodeId from, NodeId reader) {
    StringId device = graph_.node(reader).device_id();
    Loop inner;
    for (int frame = OutputFrame(from); frame != 0; frame = frames_.frames[frame].parent) {
      auto there = loops_.find({frame, device});
      if (there != loops_.end()) {
        if (inner.enter != kNoNode) graph_.AddInput(inner.enter, {there->second.merge, 0});
        return Error::success();
      }
      ASSIGN_OR_RETURN(Loop loop, AddLoop(frame, reader));
      loops_[{frame, device}] = loop;
      if (inner.enter != kNoNode) graph_.AddInput(inner.enter, {loop.merge, 0});
      inner = loop;
    }
    if (inner.enter == kNoNode) return Error::success();
    NodeId start = Add(new_name_(NameOf(reader)), "Const", reader);
    graph_.SetAttr(start, "dtype", attr::Type(proto::DT_FLOAT));
    graph_.SetAttr(start, "value",
                   attr::Tensor(Literal::Make(proto::DT_FLOAT, {0}, "").ToTensorProto(false)));
    graph_.AddInput(inner.enter, {start, 0});
    return Error::success();
  }

  Expected<Loop> AddLoop(int number, NodeId reader) {
    const LoopFrames::Frame& frame = frames_.frames[number];
    if (frame.condition == kNoNode) {
      return MakeError(
          "loop '{0}' runs on several devices, which requires a LoopCond, but has none",
          frame.name);
    }
    auto name = [&] { return "_cloop" + new_name_(NameOf(reader)); };
    Loop loop;
    loop.enter = Add(name(), "Enter", reader);
    loop.merge = Add(name(), "Merge", reader);
    loop.turn = Add(name(), "Switch", reader);
    NodeId next = Add(name(), "NextIteration", reader);
    for (NodeId id : {loop.enter, loop.merge, loop.turn, next})
      graph_.SetAttr(id, "T", attr::Type(proto::DT_FLOAT));
    Node first = graph_.node(frame.enter);
    graph_.SetAttr(loop.enter, "frame_name", attr::String(frame.name));
    graph_.SetAttr(loop.enter, "is_constant", attr::Bool(false));
    graph_.SetAttr(loop.enter, "parallel_iterations",
                   attr::Int(first.GetInt("parallel_iterations", 10)));
    graph_.SetAttr(loop.merge, "N", attr::Int(2));
    graph_.SetInputs(loop.merge, {{loop.enter, 0}, {next, 0}});
    graph_.SetInputs(loop.turn, {{loop.merge, 0}, {frame.condition, 0}});
    graph_.SetInputs(next, {{loop.turn, 1}});
    return loop;
  }

  NodeId Add(const std::string& name, llvm::StringRef op, NodeId beside) {
    return graph_.AddNode(name, op, graph_.node(beside).device());
  }
  std::string NameOf(NodeId id) const { return graph_.node(id).name().str(); }

  Graph& graph_;
  const std::function<std::string(llvm::StringRef)>& new_name_;
  LoopFrames frames_;
  std::map<std::pair<int, StringId>, Loop> loops_;  // by frame and device
};

}  // namespace

LoopFrames FindLoopFrames(const Graph& graph, llvm::ArrayRef<NodeId> topological) {
  LoopFrames result;
  result.frames.emplace_back();
  result.of.assign(graph.end_id(), 0);
  std::map<std::pair<int, std::string>, int> known;
  for (NodeId id : topological) {
    Node node = graph.node(id);
    // The frame of the inputs. They are all in one frame, but the second input of a loop's Merge
    // comes from a later node, whose frame is not known yet and counts as 0.
    int frame = 0;
    for (Port port : node.inputs()) {
      if (port.node == kNoNode) continue;
      Node input = graph.node(port.node);
      int of = result.of[port.node];
      if (IsExit(input.op())) of = std::max(0, result.frames[of].parent);
      frame = std::max(frame, of);
    }
    if (IsEnter(node.op())) {
      std::string name = node.GetString("frame_name");
      auto [it, added] = known.try_emplace({frame, name}, static_cast<int>(result.frames.size()));
      if (added) result.frames.push_back({name, frame, id, kNoNode});
      frame = it->second;
    }
    if (node.op() == "LoopCond") result.frames[frame].condition = id;
    result.of[id] = frame;
  }
  return result;
}

void ColocateControlFlow(Graph* graph) {
  for (NodeId id : TopologicalOrder(*graph)) {
    Node node = graph->node(id);
    llvm::StringRef op = node.op();
    NodeId other = kNoNode;
    if (IsSwitch(op) || IsExit(op)) {
      if (node.num_inputs() > 0) other = node.input(0).node;
    } else if (op == "Enter" || IsNextIteration(op)) {
      for (const Use& use : node.uses()) {
        bool is_data = !graph->node(use.node).input(static_cast<int>(use.slot)).IsControl();
        if (is_data) other = std::min(other, use.node);
      }
    }
    if (other != kNoNode && graph->node(other).device_id() != node.device_id())
      graph->SetDevice(id, graph->node(other).device());
  }
}

Expected<std::vector<LoopPivot>> AddControlLoops(
    Graph* graph, const std::function<std::string(llvm::StringRef)>& new_name) {
  return Maker(graph, new_name).Run();
}

}  // namespace grapnel
