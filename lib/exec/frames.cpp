#include "lib/exec/frames.h"

#include <deque>
#include <map>

#include "lib/support/denormals.h"
#include "llvm/ADT/StringSwitch.h"

namespace grapnel {

FlowKind FlowKindOf(const Node& node) {
  return llvm::StringSwitch<FlowKind>(node.op())
      .Cases("Switch", "RefSwitch", "_SwitchN", FlowKind::kSwitch)
      .Cases("Merge", "RefMerge", FlowKind::kMerge)
      .Cases("Enter", "RefEnter", FlowKind::kEnter)
      .Cases("Exit", "RefExit", FlowKind::kExit)
      .Cases("NextIteration", "RefNextIteration", FlowKind::kNextIteration)
      .Case("LoopCond", FlowKind::kLoopCond)
      .Case("ControlTrigger", FlowKind::kTrigger)
      .Default(FlowKind::kKernel);
}

FrameRunner::FrameRunner(std::vector<FlowNode> nodes) : nodes_(std::move(nodes)) {
  infos_.resize(nodes_.size());
  frames_.emplace_back();
  std::vector<int> output_frame(nodes_.size(), 0);
  for (uint32_t id = 0; id < nodes_.size(); ++id) {
    const FlowNode& node = nodes_[id];
    Info& info = infos_[id];
    info.edges.resize(node.num_outputs);
    int64_t source = -1;
    for (const FlowNode::Input& input : node.inputs) {
      bool is_back_edge = input.maker >= static_cast<int64_t>(id);
      if (input.maker >= 0 && !is_back_edge) source = input.maker;
    }
    if (source < 0 && !node.controls.empty()) source = node.controls[0];
    info.frame = source < 0 ? 0 : output_frame[source];
    output_frame[id] = info.frame;
    if (node.kind == FlowKind::kEnter) {
      output_frame[id] = ChildOf(info.frame, node.node.GetString("frame_name"));
      ++frames_[output_frame[id]].num_enters;
    }
    Frame& frame = frames_[info.frame];
    if (node.kind == FlowKind::kExit) {
      output_frame[id] = std::max(frame.parent, 0);
      frame.exits.push_back(id);
    }
    info.local = frame.nodes.size();
    frame.nodes.push_back(id);
    info.first_input = frame.num_inputs;
    frame.num_inputs += node.inputs.size();
  }
  for (uint32_t id = 0; id < nodes_.size(); ++id) {
    const FlowNode& node = nodes_[id];
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const FlowNode::Input& input = node.inputs[i];
      if (input.maker < 0) continue;
      infos_[input.maker].edges[input.port].push_back({id, static_cast<int32_t>(i)});
      if (node.kind != FlowKind::kMerge) ++infos_[id].waits_for;
    }
    for (uint32_t control : node.controls) {
      infos_[control].controls.push_back({id, kControlPort});
      ++infos_[id].waits_for;
    }
  }
}

FrameRunner::~FrameRunner() = default;

int FrameRunner::ChildOf(int frame, const std::string& name) {
  for (size_t i = 1; i < frames_.size(); ++i) {
    if (frames_[i].parent == frame && frames_[i].name == name) return static_cast<int>(i);
  }
  Frame child;
  child.parent = frame;
  child.name = name;
  frames_.push_back(std::move(child));
  return static_cast<int>(frames_.size()) - 1;
}

// One run.
class FrameRunner::State {
 public:
  State(const FrameRunner& runner, Given given, Kernel kernel, Result result)
      : runner_(runner), given_(given), kernel_(kernel), result_(result) {}

  Error Run() {
    FlushDenormals flush;
    root_.kind = 0;
    Round* start = AddRound(&root_);
    for (uint32_t id : runner_.frames_[0].nodes) {
      if (IsReady(id, start->nodes[InfoOf(id).local])) Enqueue(id, start);
    }
    while (!ready_.empty()) {
      Instance instance = ready_.front();
      ready_.pop_front();
      RETURN_IF_ERROR(RunOne(instance));
      Finished(instance.round);
    }
    return Error::success();
  }

 private:
  struct RunFrame;
  struct Arrivals {
    uint32_t waits_for = 0;
    int32_t alive = -1;        // of a Merge: the input that came; -1: none yet
    uint32_t dead_inputs = 0;  // of a Merge
    bool is_dead = false;      // something it needs is dead
    bool is_queued = false;
  };
  // What arrived for the nodes of one frame in one round of it.
  struct Round {
    RunFrame* frame = nullptr;
    int number = 0;
    std::vector<Arrivals> nodes;  // by number in the frame
    std::vector<Tensor> inputs;
    int open = 0;  // nodes that are queued, and frames entered from here
    std::map<int, std::unique_ptr<RunFrame>> children;
  };
  struct RunFrame {
    int kind = 0;
    Round* parent = nullptr;
    std::deque<std::unique_ptr<Round>> rounds;
    int enters_left = 0;
    int open = 0;
    std::vector<std::pair<uint32_t, Tensor>> constants;  // by Enter; an empty one is dead
    std::vector<uint32_t> exits_alive;
  };
  struct Instance {
    uint32_t node;
    Round* round;
  };
  // Rounds that are over, by frame, and one that never began.
  struct Spare {
    std::unique_ptr<Round> fresh;
    std::vector<std::unique_ptr<Round>> used;
  };

  const FlowNode& NodeOf(uint32_t id) const { return runner_.nodes_[id]; }
  const Info& InfoOf(uint32_t id) const { return runner_.infos_[id]; }

  // As every round of a frame begins.
  std::unique_ptr<Round> NewRound(int kind) const {
    const Frame& frame = runner_.frames_[kind];
    auto round = std::make_unique<Round>();
    round->nodes.resize(frame.nodes.size());
    round->inputs.resize(frame.num_inputs);
    for (uint32_t id : frame.nodes) {
      Arrivals& arrivals = round->nodes[InfoOf(id).local];
      arrivals.waits_for = InfoOf(id).waits_for;
      if (NodeOf(id).kind != FlowKind::kMerge) continue;
      for (size_t i = 0; i < NodeOf(id).inputs.size(); ++i) {
        if (NodeOf(id).inputs[i].maker < 0 && arrivals.alive < 0)
          arrivals.alive = static_cast<int32_t>(i);
      }
    }
    return round;
  }

  Round* AddRound(RunFrame* frame) {
    Spare& spare = spares_[frame->kind];
    if (!spare.fresh) spare.fresh = NewRound(frame->kind);
    std::unique_ptr<Round> round;
    if (spare.used.empty()) {
      round = NewRound(frame->kind);
    } else {  // its memory is there: a loop allocates nothing for its rounds
      round = std::move(spare.used.back());
      spare.used.pop_back();
      round->nodes = spare.fresh->nodes;
      for (Tensor& input : round->inputs) {
        if (input) input = Tensor();
      }
    }
    round->frame = frame;
    round->number = frame->rounds.empty() ? 0 : frame->rounds.back()->number + 1;
    frame->rounds.push_back(std::move(round));
    Round* made = frame->rounds.back().get();
    for (const auto& [enter, value] : frame->constants) Send(enter, 0, value, made);
    return made;
  }

  bool IsReady(uint32_t id, const Arrivals& arrivals) const {
    if (arrivals.is_queued || arrivals.waits_for > 0) return false;
    if (NodeOf(id).kind != FlowKind::kMerge) return true;
    return arrivals.alive >= 0 || arrivals.is_dead ||
           arrivals.dead_inputs == NodeOf(id).inputs.size();
  }

  void Enqueue(uint32_t id, Round* round) {
    round->nodes[InfoOf(id).local].is_queued = true;
    ++round->open;
    ++round->frame->open;
    ready_.push_back({id, round});
  }

  // An edge from `from` brings `value`, or that there is none.
  void Deliver(uint32_t from, const Edge& edge, Tensor value, bool is_dead, Round* round) {
    FlowKind kind = NodeOf(edge.to).kind;
    const Info& info = InfoOf(edge.to);
    Arrivals& arrivals = round->nodes[info.local];
    if (arrivals.is_queued) return;
    bool is_merge = kind == FlowKind::kMerge;
    if (edge.input == kControlPort) {
      --arrivals.waits_for;
      if (is_dead && !is_merge && kind != FlowKind::kTrigger) arrivals.is_dead = true;
    } else if (is_merge) {
      if (is_dead) {
        ++arrivals.dead_inputs;
        // A loop that is not entered has no round that could bring the other input.
        if (NodeOf(from).kind == FlowKind::kEnter) arrivals.is_dead = true;
      } else if (arrivals.alive < 0) {
        arrivals.alive = edge.input;
        round->inputs[info.first_input + edge.input] = std::move(value);
      }
    } else {
      --arrivals.waits_for;
      if (is_dead) arrivals.is_dead = true;
      round->inputs[info.first_input + edge.input] = std::move(value);
    }
    if (IsReady(edge.to, arrivals)) Enqueue(edge.to, round);
  }

  // The last reader gets the value itself, and may write in its memory.
  void Send(uint32_t from, int port, Tensor value, Round* round) {
    const Info& info = InfoOf(from);
    bool is_dead = !value;
    if (round->frame->kind == 0 && value) result_(from, port, value);
    llvm::ArrayRef<Edge> edges = info.edges[port];
    if (!edges.empty()) {
      for (const Edge& edge : edges.drop_back()) Deliver(from, edge, value, is_dead, round);
      Deliver(from, edges.back(), std::move(value), is_dead, round);
    }
    if (port != 0) return;
    // Node by node, not output by output: a Switch has run even if an output is dead.
    is_dead &= NodeOf(from).kind != FlowKind::kSwitch;
    for (const Edge& edge : info.controls) Deliver(from, edge, {}, is_dead, round);
  }

  Error RunOne(const Instance& instance) {
    const FlowNode& node = NodeOf(instance.node);
    const Info& info = InfoOf(instance.node);
    Round* round = instance.round;
    const Arrivals& arrivals = round->nodes[info.local];
    bool is_dead = arrivals.is_dead || (node.kind == FlowKind::kMerge && arrivals.alive < 0);
    inputs_.clear();
    outputs_.clear();
    outputs_.resize(node.num_outputs);
    if (!is_dead) {
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (node.inputs[i].maker < 0)
          inputs_.push_back(given_(instance.node, i));
        else
          inputs_.push_back(std::move(round->inputs[info.first_input + i]));
      }
      RETURN_IF_ERROR(Decide(node, arrivals.alive));
      bool is_kernel = node.kind == FlowKind::kKernel || node.kind == FlowKind::kTrigger;
      if (is_kernel || node.is_watched) {
        if (Error error = kernel_(instance.node, inputs_, outputs_))
          return InRound(*round, std::move(error));
      }
    }
    Propagate(instance, is_dead);
    return Error::success();
  }

  // Which loops an error came out of, and in which round of each.
  Error InRound(const Round& round, Error error) const {
    for (const Round* at = &round; at->frame->parent; at = at->frame->parent) {
      const std::string& name = runner_.frames_[at->frame->kind].name;
      error =
          Annotate("loop '" + name + "': iteration " + llvm::Twine(at->number), std::move(error));
    }
    return error;
  }

  // The input handed on; who watches wants to see it still.
  Tensor Handed(const FlowNode& node, int input) {
    return node.is_watched ? inputs_[input] : std::move(inputs_[input]);
  }

  // The outputs of what is no kernel.
  Error Decide(const FlowNode& node, int32_t alive) {
    switch (node.kind) {
      case FlowKind::kKernel:
      case FlowKind::kTrigger:
        return Error::success();
      case FlowKind::kSwitch: {
        const Tensor& chosen = inputs_[1];
        bool fits = chosen.num_elements() == 1 &&
                    (chosen.dtype() == proto::DT_BOOL || chosen.dtype() == proto::DT_INT32);
        if (!fits)
          return MakeError("node '{0}' ({1}): input 1 is no scalar that says where to go",
                           node.node.name(), node.node.op());
        int64_t last = static_cast<int64_t>(outputs_.size()) - 1;
        int64_t port =
            chosen.dtype() == proto::DT_BOOL ? *chosen.data<bool>() : *chosen.data<int32_t>();
        if (port < 0 || port > last) port = last;
        outputs_[port] = Handed(node, 0);
        return Error::success();
      }
      case FlowKind::kMerge: {
        outputs_[0] = Handed(node, alive);
        if (outputs_.size() < 2) return Error::success();
        while (static_cast<int32_t>(numbers_.size()) <= alive) {
          int64_t next = numbers_.size();
          numbers_.push_back(*Tensor::FromLiteral(Literal::Scalar(proto::DT_INT32, next)));
        }
        outputs_[1] = numbers_[alive];
        return Error::success();
      }
      default:
        outputs_[0] = Handed(node, 0);
        return Error::success();
    }
  }

  void Propagate(const Instance& instance, bool is_dead) {
    const FlowNode& node = NodeOf(instance.node);
    Round* to = instance.round;
    RunFrame* frame = to->frame;
    if (node.kind == FlowKind::kEnter) {
      RunFrame* child = ChildOf(to, node.node.GetString("frame_name"));
      --child->enters_left;
      if (node.node.GetBool("is_constant")) {
        child->constants.emplace_back(instance.node, outputs_[0]);
        for (const auto& round : child->rounds) Send(instance.node, 0, outputs_[0], round.get());
      } else {
        Send(instance.node, 0, std::move(outputs_[0]), child->rounds.front().get());
      }
      FinishIfDone(child);
      return;
    }
    if (node.kind == FlowKind::kExit && frame->parent) {
      if (is_dead) return;
      frame->exits_alive.push_back(instance.node);
      to = frame->parent;
    } else if (node.kind == FlowKind::kNextIteration && frame->parent) {
      if (is_dead) return;
      int next = to->number + 1;
      if (frame->rounds.back()->number < next) AddRound(frame);
      to = frame->rounds[next - frame->rounds.front()->number].get();
    }
    for (int port = 0; port < node.num_outputs; ++port)
      Send(instance.node, port, std::move(outputs_[port]), to);
    if (node.num_outputs > 0) return;
    for (const Edge& edge : InfoOf(instance.node).controls)
      Deliver(instance.node, edge, {}, is_dead, to);
  }

  RunFrame* ChildOf(Round* round, const std::string& name) {
    int kind = -1;
    for (size_t i = 1; i < runner_.frames_.size(); ++i) {
      const Frame& frame = runner_.frames_[i];
      if (frame.parent == round->frame->kind && frame.name == name) kind = static_cast<int>(i);
    }
    std::unique_ptr<RunFrame>& child = round->children[kind];
    if (child) return child.get();
    child = std::make_unique<RunFrame>();
    child->kind = kind;
    child->parent = round;
    child->enters_left = runner_.frames_[kind].num_enters;
    ++round->open;
    ++round->frame->open;
    AddRound(child.get());
    return child.get();
  }

  void Finished(Round* round) {
    RunFrame* frame = round->frame;
    --round->open;
    --frame->open;
    while (frame->rounds.size() > 1 && frame->enters_left == 0 &&
           frame->rounds.front()->open == 0) {
      spares_[frame->kind].used.push_back(std::move(frame->rounds.front()));
      frame->rounds.pop_front();
    }
    FinishIfDone(frame);
  }

  void FinishIfDone(RunFrame* frame) {
    if (!frame->parent || frame->open > 0 || frame->enters_left > 0) return;
    Round* parent = frame->parent;
    for (uint32_t exit : runner_.frames_[frame->kind].exits) {
      if (!llvm::is_contained(frame->exits_alive, exit)) Send(exit, 0, {}, parent);
    }
    parent->children.erase(frame->kind);
    Finished(parent);
  }

  const FrameRunner& runner_;
  Given given_;
  Kernel kernel_;
  Result result_;
  std::map<int, Spare> spares_;
  std::vector<Tensor> numbers_;  // 0, 1, ...: which input a Merge took
  RunFrame root_;
  std::deque<Instance> ready_;
  llvm::SmallVector<Tensor, 8> inputs_, outputs_;  // of the node that runs
};

Error FrameRunner::Run(Given given, Kernel kernel, Result result) {
  return State(*this, given, kernel, result).Run();
}

}  // namespace grapnel
