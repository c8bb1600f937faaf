#include "lib/exec/frame_plan.h"

#include <algorithm>
#include <map>

#include "lib/exec/collectives.h"
#include "lib/ir/graph.h"
#include "lib/support/name_list.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

FlowKind FlowKindOf(llvm::StringRef op) {
  if (IsCollective(op)) return FlowKind::kCollective;
  return llvm::StringSwitch<FlowKind>(op)
      .Cases("Switch", "RefSwitch", "_SwitchN", FlowKind::kSwitch)
      .Cases("Merge", "RefMerge", FlowKind::kMerge)
      .Cases("Enter", "RefEnter", FlowKind::kEnter)
      .Cases("Exit", "RefExit", FlowKind::kExit)
      .Cases("NextIteration", "RefNextIteration", FlowKind::kNextIteration)
      .Case("LoopCond", FlowKind::kPass)
      .Case("ControlTrigger", FlowKind::kTrigger)
      .Cases("_Send", "_HostSend", FlowKind::kSend)
      .Cases("_Recv", "_HostRecv", FlowKind::kRecv)
      .Default(FlowKind::kKernel);
}

Error CheckCanFeed(const Node& node) {
  auto reads = [&](FlowKind kind, llvm::StringRef op) {
    for (int i = 0; i < node.num_inputs(); ++i) {
      Node input = node.input_node(i);
      if (input && FlowKindOf(input.op()) == kind && (op.empty() || input.op() == op)) return true;
    }
    return false;
  };
  FlowKind kind = FlowKindOf(node.op());
  bool makes_loop = kind == FlowKind::kEnter || kind == FlowKind::kNextIteration ||
                    node.op() == "LoopCond" ||
                    (kind == FlowKind::kMerge && reads(FlowKind::kNextIteration, "")) ||
                    (kind == FlowKind::kSwitch && reads(FlowKind::kPass, "LoopCond"));
  if (!makes_loop) return Error::success();
  if (Error error = FeedInLoop(node)) return error;
  return MakeError("feed '{0}' ({1}) makes a loop that no Enter begins, so it cannot be fed",
                   node.name(), node.op());
}

namespace {

// Returns an Enter of the innermost loop around a node; no node if there is none.
Node EnterOfLoop(const Node& node) {
  const Graph& graph = node.graph();
  std::map<NodeId, int> seen = {{node.id(), 0}};  // with how many inner loops were left
  std::vector<NodeId> todo = {node.id()};
  for (size_t i = 0; i < todo.size(); ++i) {
    Node at = graph.node(todo[i]);
    int depth = seen[at.id()];
    FlowKind kind = FlowKindOf(at.op());
    if (kind == FlowKind::kEnter && depth-- == 0) return at;
    if (kind == FlowKind::kExit) ++depth;
    auto visit = [&](const Node& input) {
      if (input && seen.try_emplace(input.id(), depth).second) todo.push_back(input.id());
    };
    for (int k = 0; k < at.num_inputs(); ++k) visit(at.input_node(k));
    for (int k = 0; k < at.num_controls(); ++k) visit(at.control(k));
  }
  return Node();
}

}  // namespace

Error FeedInLoop(const Node& node) {
  Node enter = EnterOfLoop(node);
  if (!enter) return Error::success();
  std::string loop = enter.GetString("frame_name");
  std::vector<std::string> entering;
  for (Node other : node.graph().nodes()) {
    if (FlowKindOf(other.op()) != FlowKind::kEnter || other.GetString("frame_name") != loop)
      continue;
    Node from = other.num_inputs() > 0 ? other.input_node(0) : Node();
    if (from && !llvm::is_contained(entering, from.name())) entering.push_back(from.name().str());
  }
  return MakeError(
      "feed '{0}' ({1}) is in loop '{2}', where it has a value in each iteration: feed what enters "
      "the loop ({3}), or what an Exit brings out of it",
      node.name(), node.op(), loop, NameList(entering, 4));
}

Expected<FramePlan> FramePlan::Make(llvm::ArrayRef<FlowNode> flow) {
  FramePlan plan(flow.size());
  RETURN_IF_ERROR(plan.FindFrames(flow));
  plan.Connect(flow);
  return plan;
}

Error FramePlan::FindFrames(llvm::ArrayRef<FlowNode> flow) {
  std::vector<int> output_frame(flow.size(), 0);
  for (uint32_t id = 0; id < flow.size(); ++id) {
    const FlowNode& node = flow[id];
    Item& item = items[id];
    nodes.push_back(node.node);
    constants.push_back(node.constant);
    item.kind = node.kind;
    item.is_watched = node.is_watched;
    item.may_offload = node.may_offload;
    int64_t source = -1;
    for (const FlowNode::Input& input : node.inputs) {
      bool is_back_edge = input.maker >= static_cast<int64_t>(id);
      if (input.maker >= 0 && !is_back_edge) source = input.maker;
    }
    if (source < 0 && !node.controls.empty()) source = node.controls[0];
    item.frame = source < 0 ? 0 : output_frame[source];
    output_frame[id] = item.frame;
    if (node.kind == FlowKind::kEnter) {
      int child = ChildOf(item.frame, node.node.GetString("frame_name"));
      Frame& entered = frames[child];
      output_frame[id] = child;
      item.child = entered.number;
      item.is_constant = node.node.GetBool("is_constant");
      ++entered.num_enters;
      // The first Enter sets the limit of overlapping iterations, which is at least 1.
      if (entered.max_iterations == 0)
        entered.max_iterations = std::max<int64_t>(node.node.GetInt("parallel_iterations", 10), 1);
    }
    Frame& frame = frames[item.frame];
    if (node.kind == FlowKind::kExit) {
      output_frame[id] = std::max(frame.parent, 0);
      frame.exits.push_back(id);
    }
    if (node.kind == FlowKind::kSend) item.transfer = frame.num_sends++;
    if (node.kind == FlowKind::kRecv || node.kind == FlowKind::kCollective)
      item.transfer = num_recvs++;
    may_share &= item.frame == 0 || !node.has_state;
    item.local = frame.nodes.size();
    frame.nodes.push_back(id);
    item.first_cell = frame.num_cells;
    item.num_inputs = node.inputs.size();
    frame.num_cells += item.num_inputs;
  }
  return CheckFrames(flow, output_frame);
}

// Errors: a node reads a value from another frame, or waits for a node there. Such a value would
// never arrive, since values are stored in an iteration of the reader's frame.
Error FramePlan::CheckFrames(llvm::ArrayRef<FlowNode> flow,
                             llvm::ArrayRef<int> output_frame) const {
  auto check = [&](uint32_t id, int64_t maker) -> Error {
    if (maker < 0 || output_frame[maker] == items[id].frame) return Error::success();
    auto where = [&](int frame) {
      return frame == 0 ? "outside of any loop" : "in loop '" + frames[frame].name + "'";
    };
    return MakeError(
        "node '{0}' ({1}) runs {2} and waits for '{3}' {4}: the inputs of a node must be "
        "in its own loop; an Enter brings a value into a loop",
        flow[id].node.name(), flow[id].node.op(), where(items[id].frame), flow[maker].node.name(),
        where(output_frame[maker]));
  };
  for (uint32_t id = 0; id < flow.size(); ++id) {
    for (const FlowNode::Input& input : flow[id].inputs) RETURN_IF_ERROR(check(id, input.maker));
    for (uint32_t control : flow[id].controls) RETURN_IF_ERROR(check(id, control));
  }
  return Error::success();
}

int FramePlan::ChildOf(int frame, const std::string& name) {
  for (int child : frames[frame].children) {
    if (frames[child].name == name) return child;
  }
  int made = static_cast<int>(frames.size());
  Frame child;
  child.parent = frame;
  child.number = static_cast<int>(frames[frame].children.size());
  child.name = name;
  frames[frame].children.push_back(made);
  frames.push_back(std::move(child));
  return made;
}

FramePlan::EdgesByPort FramePlan::FindEdges(llvm::ArrayRef<FlowNode> flow) {
  EdgesByPort by_port(flow.size());
  for (uint32_t id = 0; id < flow.size(); ++id) by_port[id].resize(flow[id].num_outputs + 1);
  for (uint32_t id = 0; id < flow.size(); ++id) {
    const FlowNode& node = flow[id];
    Item& item = items[id];
    auto edge = [&](uint32_t from, int32_t cell) {
      bool from_enter = flow[from].kind == FlowKind::kEnter;
      return Edge{id, item.local, cell, kSent, item.kind, from_enter};
    };
    item.given.begin = given_inputs.size();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const FlowNode::Input& input = node.inputs[i];
      if (input.maker < 0) {
        given_inputs.push_back(static_cast<int>(i));
        if (node.kind == FlowKind::kMerge && item.alive < 0) item.alive = static_cast<int32_t>(i);
        continue;
      }
      by_port[input.maker][input.port].push_back(
          edge(input.maker, static_cast<int32_t>(item.first_cell + i)));
      if (node.kind != FlowKind::kMerge) ++item.waits_for;
    }
    item.given.end = given_inputs.size();
    for (uint32_t control : node.controls) {
      by_port[control].back().push_back(edge(control, kControl));
      ++item.waits_for;
    }
  }
  return by_port;
}

void FramePlan::Connect(llvm::ArrayRef<FlowNode> flow) {
  EdgesByPort by_port = FindEdges(flow);
  for (Frame& frame : frames) frame.constant_cells.assign(frame.num_cells, kSent);
  Shorten(flow, by_port);
  for (const auto& ports_of_one : by_port) {
    for (const std::vector<Edge>& list : ports_of_one) {
      for (const Edge& edge : list) {
        if (edge.cell != kControl && edge.constant != kInPlace)
          frames[items[edge.to].frame].value_cells.push_back(edge.cell);
      }
    }
  }
  LayOut(flow, by_port);
}

// Writes the edges into one array, grouped by port.
void FramePlan::LayOut(llvm::ArrayRef<FlowNode> flow, EdgesByPort& by_port) {
  for (uint32_t id = 0; id < flow.size(); ++id) {
    Item& item = items[id];
    for (uint32_t i = item.given.begin; i < item.given.end; ++i)
      frames[item.frame].value_cells.push_back(item.first_cell + given_inputs[i]);
    item.first_port = ports.size();
    item.num_outputs = flow[id].num_outputs;
    most_outputs = std::max(most_outputs, item.num_outputs);
    for (std::vector<Edge>& list : by_port[id]) {
      auto ignores_death = [&](const Edge& edge) {
        return items[edge.to].frame != 0 &&
               (edge.kind == FlowKind::kExit || edge.kind == FlowKind::kNextIteration);
      };
      auto rest = std::stable_partition(list.begin(), list.end(), ignores_death);
      Port port;
      port.all.begin = edges.size();
      port.begin_if_dead = port.all.begin + (rest - list.begin());
      edges.insert(edges.end(), list.begin(), list.end());
      port.all.end = edges.size();
      ports.push_back(port);
    }
    item.controls = ports.back();
    ports.pop_back();
  }
}

// Makes this edge deliver constant `id`. For a kernel, the constant stays in the input's cell in
// every iteration, and the edge only signals that the kernel may run.
void FramePlan::PutInPlace(uint32_t id, Edge& edge) {
  edge.constant = static_cast<int32_t>(id);
  if (edge.kind != FlowKind::kKernel) return;
  frames[items[edge.to].frame].constant_cells[edge.cell] = edge.constant;
  edge.constant = kInPlace;
}

// Removes constants and pass-through nodes of a loop that are not watched and wait for one edge:
// the producer of such a node sends its value, or the constant, to the node's readers instead.
// Later nodes are removed first, so that a chain is removed as a whole.
void FramePlan::Shorten(llvm::ArrayRef<FlowNode> flow, EdgesByPort& by_port) {
  auto goes = [&](uint32_t id) {
    bool hands_on = flow[id].kind == FlowKind::kPass || flow[id].kind == FlowKind::kConstant;
    return hands_on && items[id].frame != 0 && !flow[id].is_watched && items[id].waits_for == 1;
  };
  for (uint32_t id = flow.size(); id-- > 0;) {
    if (!goes(id)) continue;
    bool is_constant = flow[id].kind == FlowKind::kConstant;
    bool from_input = !flow[id].inputs.empty() && flow[id].inputs[0].maker >= 0;
    uint32_t maker =
        from_input ? static_cast<uint32_t>(flow[id].inputs[0].maker) : flow[id].controls[0];
    std::vector<Edge>& to_it =
        from_input ? by_port[maker][flow[id].inputs[0].port] : by_port[maker].back();
    auto at = llvm::find_if(to_it, [&](const Edge& edge) { return edge.to == id; });
    at = to_it.erase(at);
    std::vector<Edge> beyond;
    for (const std::vector<Edge>& list : by_port[id]) {
      for (Edge edge : list) {
        if (is_constant && edge.cell != kControl && edge.constant == kSent) PutInPlace(id, edge);
        beyond.push_back(edge);
      }
    }
    to_it.insert(at, beyond.begin(), beyond.end());
    for (std::vector<Edge>& list : by_port[id]) list.clear();
  }
}

}  // namespace grapnel
