// Chooses the next node to run, and sends its outputs. The beginning and end of iterations is in
// frame_iterations.cpp, transfers between partitions in frame_transfers.cpp, kernels on other
// threads in frame_offloading.cpp.
#include "lib/exec/frames.h"

#include "lib/exec/frame_state.h"

namespace grapnel {

FrameRunner::FrameRunner(const FramePlan& plan, Client& client, HelperThreads& helpers, int threads)
    : state_(std::make_unique<State>(plan, client, helpers, threads)) {}
FrameRunner::~FrameRunner() = default;

Error FrameRunner::Run() { return state_->Run(); }
void FrameRunner::Begin() { state_->Begin(); }
Error FrameRunner::Continue() { return state_->Continue(); }
Error FrameRunner::FindStuck(int rank) { return state_->FindStuck(rank); }
void FrameRunner::End(bool has_failed) { state_->End(has_failed); }
Rendezvous& FrameRunner::rendezvous() { return state_->rendezvous(); }

FrameRunner::State::State(const FramePlan& plan, Client& client, HelperThreads& helpers,
                          int threads)
    : plan_(plan),
      client_(client),
      cancel_(client.cancel()),
      shares_(plan_.may_share && threads > 1),
      is_watched_(client.IsWatched()),
      spares_(plan_.frames.size()),
      outputs_(plan_.most_outputs),
      offloaded_(
          helpers, threads,
          [](void* state, OffloadedKernels::Call* call) {
            static_cast<State*>(state)->RunCall(static_cast<Call*>(call));
          },
          this) {
  turns_.resize(plan_.items.size());
  receivers_.resize(plan_.num_recvs);
  for (uint32_t id = 0; id < plan_.items.size(); ++id) {
    const Item& item = plan_.items[id];
    if (item.kind == FlowKind::kRecv || item.kind == FlowKind::kCollective)
      receivers_[item.transfer].node = id;
  }
  for (size_t kind = 0; kind < plan_.frames.size(); ++kind) {
    for (uint32_t id : plan_.frames[kind].nodes) {
      const Item& item = plan_.items[id];
      Arrivals arrivals;
      arrivals.waits_for = item.waits_for;
      if (item.alive >= 0) arrivals.alive = static_cast<int32_t>(item.first_cell) + item.alive;
      spares_[kind].fresh.push_back(arrivals);
    }
  }
}

Error FrameRunner::State::Run() {
  Begin();
  Error error = Continue();
  for (int rank = 0; rank < kStuckRanks && !error; ++rank) error = FindStuck(rank);
  End(static_cast<bool>(error));
  return error;
}

void FrameRunner::State::End(bool has_failed) {
  // After an error, helpers may still run kernels, and frames may be open: wait for the kernels,
  // and recycle the frames.
  while (offloaded_.TakeBack()) {
  }
  while (offloaded_.count() > 0) {
    for (OffloadedKernels::Call* call : offloaded_.TakeFinished(true))
      llvm::consumeError(std::move(call->error));
  }
  ready_.Clear();
  ClearTransfers();
  if (root_) Recycle(root_);
  root_ = nullptr;
  if (has_failed) {
    RestoreConstants();
    idle_calls_.clear();
    for (auto& call : calls_) {
      call->outputs.clear();
      idle_calls_.push_back(call.get());
    }
    for (Turns& turns : turns_) turns = Turns();
  }
}

void FrameRunner::State::Begin() {
  outer_call_ = CurrentCall();
  root_ = NewFrame(0, nullptr);
  Iteration* start = AddIteration(root_);
  for (uint32_t id : plan_.frames[0].nodes) EnqueueIfReady(id, start);
}

// Runs nodes until the run is over or all remaining nodes wait for another partition.
Error FrameRunner::State::Continue() {
  for (;;) {
    if (rendezvous_.HasNews()) RETURN_IF_ERROR(ReceiveMessages());
    while (!ready_.empty()) {
      if (rendezvous_.is_stopped()) return MakeError("stopped, because another device failed");
      RETURN_IF_ERROR(StopIfCancelled(cancel_));
      if (offloaded_.count() > 0) RETURN_IF_ERROR(CompleteAll(offloaded_.TakeFinished(false)));
      Instance instance = ready_.Pop();
      if (IsTransfer(plan_.items[instance.node].kind)) {
        ASSIGN_OR_RETURN(bool done, Transfer(instance));
        if (done) Finished(instance.iteration);
        continue;
      }
      if (shares_ && plan_.items[instance.node].may_offload && Offload(instance)) continue;
      RETURN_IF_ERROR(RunOne(instance));
      if (shares_) QueueNextTurn(instance.node);
      Finished(instance.iteration);
    }
    if (rendezvous_.HasNews()) continue;
    if (offloaded_.count() == 0) return Error::success();
    // No other node is ready: this thread itself runs a kernel that no helper has begun.
    if (OffloadedKernels::Call* call = offloaded_.TakeBack()) {
      RunCall(static_cast<Call*>(call));
      RETURN_IF_ERROR(Complete(static_cast<Call*>(call)));
    } else {
      RETURN_IF_ERROR(CompleteAll(offloaded_.TakeFinished(true)));
    }
  }
}

void FrameRunner::State::Queue::Grow() {
  std::vector<Instance> larger(ring_.size() * 2);
  for (size_t at = head_; at != tail_; ++at)
    larger[at & (larger.size() - 1)] = ring_[at & (ring_.size() - 1)];
  ring_ = std::move(larger);
}

// --- One node.

Error FrameRunner::State::RunOne(Instance instance) {
  const Item& item = plan_.items[instance.node];
  const Arrivals& arrivals = instance.iteration->nodes[item.local];
  if (arrivals.is_dead || (item.kind == FlowKind::kMerge && arrivals.alive < 0)) {
    PassDead(instance);
    return Error::success();
  }
  if (item.given.begin != item.given.end) FillGiven(instance.node, instance.iteration);
  if (item.kind == FlowKind::kKernel || item.kind == FlowKind::kTrigger) return RunKernel(instance);
  return PassOn(instance);
}

Error FrameRunner::State::RunKernel(Instance instance) {
  const Item& item = plan_.items[instance.node];
  llvm::MutableArrayRef<Tensor> outputs(outputs_.data(), item.num_outputs);
  std::optional<InCall> in;
  if (is_watched_) in.emplace(CallOf(*instance.iteration));
  if (Error error = client_.RunKernel(instance.node, InputsOf(instance), outputs)) {
    for (Tensor& output : outputs) output = Tensor();
    return InIteration(*instance.iteration, std::move(error));
  }
  ClearInputs(item, instance.iteration);
  SendAll(instance.node, outputs, instance.iteration);
  return Error::success();
}

void FrameRunner::State::FillGiven(uint32_t id, Iteration* iteration) {
  const Item& item = plan_.items[id];
  for (uint32_t i = item.given.begin; i < item.given.end; ++i) {
    int input = plan_.given_inputs[i];
    iteration->cells[item.first_cell + input] = client_.Given(id, input);
  }
}

// Drops the inputs that the node has read. Constants stay in their cells for the next iteration,
// and are restored if the kernel has moved them out.
void FrameRunner::State::ClearInputs(const Item& item, Iteration* iteration) {
  const std::vector<int32_t>& constant_cells = plan_.frames[item.frame].constant_cells;
  for (uint32_t cell = item.first_cell; cell < item.first_cell + item.num_inputs; ++cell) {
    Tensor& input = iteration->cells[cell];
    if (constant_cells[cell] == FramePlan::kSent) {
      if (input) Tensor gone = std::move(input);
    } else if (!input) {
      input = plan_.constants[constant_cells[cell]];
    }
  }
}

// Runs a node without a kernel: it forwards a live input (Switch, Merge, Enter, ...) or a constant.
Error FrameRunner::State::PassOn(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Iteration* iteration = instance.iteration;
  Tensor* inputs = iteration->cells.data() + item.first_cell;
  Tensor* value = inputs;
  uint32_t port = 0;
  if (item.kind == FlowKind::kMerge) {
    value = &iteration->cells[iteration->nodes[item.local].alive];
  } else if (item.kind == FlowKind::kSwitch) {
    auto chosen = ChosenPort(instance.node, inputs[1]);
    if (!chosen) return InIteration(*iteration, chosen.takeError());
    port = *chosen;
  }
  if (item.is_watched) RETURN_IF_ERROR(Watch(instance, port, *value));
  switch (item.kind) {
    case FlowKind::kSwitch: {
      Tensor dead;
      for (uint32_t i = 0; i < item.num_outputs; ++i)
        Send(instance.node, i, i == port ? *value : dead, iteration);
      SendControls(item, false, iteration);
      Tensor gone = std::move(inputs[1]);
      break;
    }
    case FlowKind::kMerge: {
      Tensor number;
      if (item.num_outputs > 1 && (IsRead(item, 1) || iteration->frame->kind == 0))
        number = NumberOfInput(static_cast<uint32_t>(value - inputs));
      Send(instance.node, 0, *value, iteration);
      if (number) Send(instance.node, 1, number, iteration);
      SendControls(item, false, iteration);
      break;
    }
    case FlowKind::kEnter:
      EnterFrame(instance.node, *value, iteration);
      break;
    case FlowKind::kExit:
      if (iteration->frame->parent) iteration->frame->exits_alive.push_back(instance.node);
      SendInto(instance.node, *value,
               iteration->frame->parent ? iteration->frame->parent : iteration);
      break;
    case FlowKind::kNextIteration:
      ToNextIteration(instance.node, *value, iteration);
      break;
    case FlowKind::kConstant: {
      Tensor constant = plan_.constants[instance.node];
      SendInto(instance.node, constant, iteration);
      break;
    }
    default:
      SendInto(instance.node, *value, iteration);
  }
  return Error::success();
}

void FrameRunner::State::PassDead(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Tensor dead;
  if (item.kind == FlowKind::kEnter) return EnterFrame(instance.node, dead, instance.iteration);
  for (uint32_t i = 0; i < item.num_outputs; ++i) Send(instance.node, i, dead, instance.iteration);
  SendControls(item, true, instance.iteration);
}

Expected<uint32_t> FrameRunner::State::ChosenPort(uint32_t id, const Tensor& chosen) const {
  bool fits =
      chosen.rank() == 0 && (chosen.dtype() == proto::DT_BOOL || chosen.dtype() == proto::DT_INT32);
  if (!fits)
    return MakeError(
        "node '{0}' ({1}): input 1 must be a bool or int32 scalar that selects the output",
        plan_.nodes[id].name(), plan_.nodes[id].op());
  int64_t last = plan_.items[id].num_outputs - 1;
  int64_t port = chosen.dtype() == proto::DT_BOOL ? *chosen.data<bool>() : *chosen.data<int32_t>();
  return static_cast<uint32_t>(port < 0 || port > last ? last : port);
}

Error FrameRunner::State::Watch(Instance instance, uint32_t port, const Tensor& value) {
  const Item& item = plan_.items[instance.node];
  llvm::MutableArrayRef<Tensor> outputs(outputs_.data(), item.num_outputs);
  outputs[port] = value;
  if (item.kind == FlowKind::kMerge && outputs.size() > 1) {
    const Tensor* inputs = instance.iteration->cells.data() + item.first_cell;
    outputs[1] = NumberOfInput(static_cast<uint32_t>(&value - inputs));
  }
  InCall in(CallOf(*instance.iteration));
  Error error = client_.Passed(instance.node, InputsOf(instance), outputs);
  for (Tensor& output : outputs) output = Tensor();
  return error ? InIteration(*instance.iteration, std::move(error)) : Error::success();
}

Tensor FrameRunner::State::NumberOfInput(uint32_t number) {
  while (numbers_.size() <= number) {
    int64_t next = static_cast<int64_t>(numbers_.size());
    numbers_.push_back(llvm::cantFail(Tensor::FromLiteral(Literal::Scalar(proto::DT_INT32, next))));
  }
  return numbers_[number];
}

// Adds the enclosing loops, with the number of the iteration in each, to an error.
Error FrameRunner::State::InIteration(const Iteration& iteration, Error error) const {
  for (const Iteration* at = &iteration; at->frame->parent; at = at->frame->parent) {
    const std::string& name = plan_.frames[at->frame->kind].name;
    error = Annotate("loop '" + name + "': iteration " + llvm::Twine(at->number), std::move(error));
  }
  return error;
}

// --- Delivery of values.

void FrameRunner::State::SendAll(uint32_t id, llvm::MutableArrayRef<Tensor> outputs,
                                 Iteration* to) {
  for (size_t port = 0; port < outputs.size(); ++port)
    Send(id, static_cast<uint32_t>(port), outputs[port], to);
  SendControls(plan_.items[id], false, to);
}

// Sends the value that a node forwards as output 0, dead or alive, and then the control edges.
void FrameRunner::State::SendInto(uint32_t id, Tensor& value, Iteration* to) {
  bool is_dead = !value;
  Send(id, 0, value, to);
  SendControls(plan_.items[id], is_dead, to);
}

// Sends an output to its readers; an empty value is dead. If the last edge takes the value, its
// reader gets the value itself, and may overwrite its memory.
void FrameRunner::State::Send(uint32_t id, uint32_t port, Tensor& value, Iteration* to) {
  const FramePlan::Port& edges = plan_.ports[plan_.items[id].first_port + port];
  if (!value) {
    for (uint32_t i = edges.begin_if_dead; i < edges.all.end; ++i)
      DeliverKnown(plan_.edges[i], true, to);
    return;
  }
  if (to->frame->kind == 0) client_.Result(id, static_cast<int>(port), value);
  if (edges.all.begin == edges.all.end) {
    value = Tensor();
    return;
  }
  const Edge& last = plan_.edges[edges.all.end - 1];
  for (uint32_t i = edges.all.begin; i < edges.all.end - 1; ++i) {
    const Edge& edge = plan_.edges[i];
    if (edge.TakesValue())
      Deliver(edge, Tensor(value), to);
    else
      DeliverKnown(edge, false, to);
  }
  if (last.TakesValue()) return Deliver(last, std::move(value), to);
  DeliverKnown(last, false, to);
  value = Tensor();
}

void FrameRunner::State::SendControls(const Item& item, bool is_dead, Iteration* to) {
  uint32_t begin = is_dead ? item.controls.begin_if_dead : item.controls.all.begin;
  for (uint32_t i = begin; i < item.controls.all.end; ++i)
    DeliverKnown(plan_.edges[i], is_dead, to);
}

// Delivers over an edge that needs no value computed by the producer: the signal that the producer
// has run, a constant of the plan, or deadness.
void FrameRunner::State::DeliverKnown(const Edge& edge, bool is_dead, Iteration* to) {
  if (edge.cell == FramePlan::kControl)
    DeliverControl(edge, is_dead, to);
  else if (is_dead)
    DeliverDead(edge, to);
  else if (edge.constant == FramePlan::kInPlace)
    DeliverControl(edge, false, to);
  else
    Deliver(edge, Tensor(plan_.constants[edge.constant]), to);
}

inline void FrameRunner::State::Enqueue(uint32_t id, Arrivals& arrivals, Iteration* iteration) {
  arrivals.is_queued = true;
  ++iteration->open;
  ++iteration->frame->open;
  ready_.Push({id, iteration});
}

bool FrameRunner::State::IsReady(const Item& item, const Arrivals& arrivals) {
  if (arrivals.is_queued || arrivals.waits_for > 0) return false;
  if (item.kind != FlowKind::kMerge) return true;
  return arrivals.alive >= 0 || arrivals.is_dead || arrivals.dead_inputs == item.num_inputs;
}

void FrameRunner::State::EnqueueIfReady(uint32_t id, Iteration* iteration) {
  Arrivals& arrivals = iteration->nodes[plan_.items[id].local];
  if (IsReady(plan_.items[id], arrivals)) Enqueue(id, arrivals, iteration);
}

inline void FrameRunner::State::Deliver(const Edge& edge, Tensor&& value, Iteration* iteration) {
  Arrivals& arrivals = iteration->nodes[edge.local];
  if (edge.kind == FlowKind::kMerge) {
    if (arrivals.is_queued || arrivals.alive >= 0) {
      value = Tensor();  // another input came first
      return;
    }
    arrivals.alive = edge.cell;
    iteration->cells[edge.cell] = std::move(value);
    return EnqueueIfReady(edge.to, iteration);
  }
  iteration->cells[edge.cell] = std::move(value);
  if (--arrivals.waits_for == 0) Enqueue(edge.to, arrivals, iteration);
}

void FrameRunner::State::DeliverDead(const Edge& edge, Iteration* iteration) {
  Arrivals& arrivals = iteration->nodes[edge.local];
  if (edge.kind == FlowKind::kMerge) {
    ++arrivals.dead_inputs;
    // If the Enter is dead, the loop is not entered: no iteration can deliver the Merge's other
    // input.
    if (edge.is_from_enter && !arrivals.is_queued) arrivals.is_dead = true;
    return EnqueueIfReady(edge.to, iteration);
  }
  arrivals.is_dead = true;
  if (--arrivals.waits_for == 0) Enqueue(edge.to, arrivals, iteration);
}

void FrameRunner::State::DeliverControl(const Edge& edge, bool is_dead, Iteration* iteration) {
  Arrivals& arrivals = iteration->nodes[edge.local];
  --arrivals.waits_for;
  bool may_die = edge.kind != FlowKind::kMerge && edge.kind != FlowKind::kTrigger;
  if (is_dead && may_die) arrivals.is_dead = true;
  EnqueueIfReady(edge.to, iteration);
}

}  // namespace grapnel
