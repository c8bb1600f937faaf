// Running: which node is next, and where its outputs go. Frames and rounds are in frame_rounds.cpp.
#include "lib/exec/frames.h"

#include "lib/exec/frame_state.h"

namespace grapnel {

FrameRunner::FrameRunner(llvm::ArrayRef<FlowNode> nodes, Client& client, HelperThreads& helpers,
                         int threads)
    : state_(std::make_unique<State>(nodes, client, helpers, threads)) {}
FrameRunner::~FrameRunner() = default;

Error FrameRunner::Run() { return state_->Run(); }
void FrameRunner::Begin() { state_->Begin(); }
Error FrameRunner::Continue() { return state_->Continue(); }
Error FrameRunner::FindStuck(int rank) { return state_->FindStuck(rank); }
void FrameRunner::End(bool has_failed) { state_->End(has_failed); }
Mailbox& FrameRunner::inbox() { return state_->inbox(); }

FrameRunner::State::State(llvm::ArrayRef<FlowNode> nodes, Client& client, HelperThreads& helpers,
                          int threads)
    : plan_(nodes),
      client_(client),
      shares_(plan_.may_share && threads > 1),
      spares_(plan_.frames.size()),
      outputs_(plan_.most_outputs),
      away_(
          helpers, threads,
          [](void* state, KernelsAway::Flight* flight) {
            static_cast<State*>(state)->RunFlight(static_cast<Flight*>(flight));
          },
          this) {
  lines_.resize(plan_.items.size());
  desks_.resize(plan_.num_recvs);
  for (uint32_t id = 0; id < plan_.items.size(); ++id) {
    const Item& item = plan_.items[id];
    if (item.kind == FlowKind::kRecv || item.kind == FlowKind::kCollective)
      desks_[item.transfer].node = id;
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
  // After an error helpers may be at it still, and loops are left as they stood.
  while (away_.TakeBack()) {
  }
  while (away_.count() > 0) {
    for (KernelsAway::Flight* flight : away_.Back(true))
      llvm::consumeError(std::move(flight->error));
  }
  ready_.Clear();
  ClearTransfers();
  if (root_) Recycle(root_);
  root_ = nullptr;
  if (has_failed) {
    RestoreConstants();
    idle_flights_.clear();
    for (auto& flight : flights_) {
      flight->outputs.clear();
      idle_flights_.push_back(flight.get());
    }
    for (Line& line : lines_) line = Line();
  }
}

void FrameRunner::State::Begin() {
  root_ = NewFrame(0, nullptr);
  Round* start = AddRound(root_);
  for (uint32_t id : plan_.frames[0].nodes) EnqueueIfReady(id, start);
}

// As far as it goes without another part.
Error FrameRunner::State::Continue() {
  for (;;) {
    if (inbox_.HasNews()) RETURN_IF_ERROR(TakeNews());
    while (!ready_.empty()) {
      if (inbox_.is_stopped()) return MakeError("stopped, because another device failed");
      if (away_.count() > 0) RETURN_IF_ERROR(LandAll(away_.Back(false)));
      Instance instance = ready_.Pop();
      if (IsTransfer(plan_.items[instance.node].kind)) {
        ASSIGN_OR_RETURN(bool done, Transfer(instance));
        if (done) Finished(instance.round);
        continue;
      }
      if (shares_ && plan_.items[instance.node].may_leave && GoesAway(instance)) continue;
      RETURN_IF_ERROR(RunOne(instance));
      if (shares_) CallNext(instance.node);
      Finished(instance.round);
    }
    if (inbox_.HasNews()) continue;
    if (away_.count() == 0) return Error::success();
    // Nothing else to do: what no helper has begun is done here.
    if (KernelsAway::Flight* flight = away_.TakeBack()) {
      RunFlight(static_cast<Flight*>(flight));
      RETURN_IF_ERROR(Land(static_cast<Flight*>(flight)));
    } else {
      RETURN_IF_ERROR(LandAll(away_.Back(true)));
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
  const Arrivals& arrivals = instance.round->nodes[item.local];
  if (arrivals.is_dead || (item.kind == FlowKind::kMerge && arrivals.alive < 0)) {
    PassDead(instance);
    return Error::success();
  }
  if (item.given.begin != item.given.end) FillGiven(instance.node, instance.round);
  if (item.kind == FlowKind::kKernel || item.kind == FlowKind::kTrigger) return RunKernel(instance);
  return PassOn(instance);
}

Error FrameRunner::State::RunKernel(Instance instance) {
  const Item& item = plan_.items[instance.node];
  llvm::MutableArrayRef<Tensor> outputs(outputs_.data(), item.num_outputs);
  if (Error error = client_.RunKernel(instance.node, InputsOf(instance), outputs)) {
    for (Tensor& output : outputs) output = Tensor();
    return InRound(*instance.round, std::move(error));
  }
  ClearInputs(item, instance.round);
  SendAll(instance.node, outputs, instance.round);
  return Error::success();
}

void FrameRunner::State::FillGiven(uint32_t id, Round* round) {
  const Item& item = plan_.items[id];
  for (uint32_t i = item.given.begin; i < item.given.end; ++i) {
    int input = plan_.given_inputs[i];
    round->cells[item.first_cell + input] = client_.Given(id, input);
  }
}

// What lies there in every round stays, or comes back if the kernel has taken it.
void FrameRunner::State::ClearInputs(const Item& item, Round* round) {
  const std::vector<int32_t>& lasting = plan_.frames[item.frame].lasting;
  for (uint32_t cell = item.first_cell; cell < item.first_cell + item.num_inputs; ++cell) {
    Tensor& input = round->cells[cell];
    if (lasting[cell] == FramePlan::kSent) {
      if (input) Tensor gone = std::move(input);
    } else if (!input) {
      input = plan_.constants[lasting[cell]];
    }
  }
}

// A node that hands an input on, alive.
Error FrameRunner::State::PassOn(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Round* round = instance.round;
  Tensor* inputs = round->cells.data() + item.first_cell;
  Tensor* value = inputs;
  uint32_t port = 0;
  if (item.kind == FlowKind::kMerge) {
    value = &round->cells[round->nodes[item.local].alive];
  } else if (item.kind == FlowKind::kSwitch) {
    auto chosen = ChosenPort(instance.node, inputs[1]);
    if (!chosen) return InRound(*round, chosen.takeError());
    port = *chosen;
  }
  if (item.is_watched) RETURN_IF_ERROR(Watch(instance, port, *value));
  switch (item.kind) {
    case FlowKind::kSwitch: {
      Tensor dead;
      for (uint32_t i = 0; i < item.num_outputs; ++i)
        Send(instance.node, i, i == port ? *value : dead, round);
      Tell(item, false, round);
      Tensor gone = std::move(inputs[1]);
      break;
    }
    case FlowKind::kMerge: {
      Tensor number;
      if (item.num_outputs > 1 && (IsRead(item, 1) || round->frame->kind == 0))
        number = NumberOfInput(static_cast<uint32_t>(value - inputs));
      Send(instance.node, 0, *value, round);
      if (number) Send(instance.node, 1, number, round);
      Tell(item, false, round);
      break;
    }
    case FlowKind::kEnter:
      EnterFrame(instance.node, *value, round);
      break;
    case FlowKind::kExit:
      if (round->frame->parent) round->frame->exits_alive.push_back(instance.node);
      SendInto(instance.node, *value, round->frame->parent ? round->frame->parent : round);
      break;
    case FlowKind::kNextIteration:
      NextRound(instance.node, *value, round);
      break;
    case FlowKind::kConstant: {
      Tensor constant = plan_.constants[instance.node];
      SendInto(instance.node, constant, round);
      break;
    }
    default:
      SendInto(instance.node, *value, round);
  }
  return Error::success();
}

void FrameRunner::State::PassDead(Instance instance) {
  const Item& item = plan_.items[instance.node];
  Tensor dead;
  if (item.kind == FlowKind::kEnter) return EnterFrame(instance.node, dead, instance.round);
  for (uint32_t i = 0; i < item.num_outputs; ++i) Send(instance.node, i, dead, instance.round);
  Tell(item, true, instance.round);
}

Expected<uint32_t> FrameRunner::State::ChosenPort(uint32_t id, const Tensor& chosen) const {
  bool fits = chosen.num_elements() == 1 &&
              (chosen.dtype() == proto::DT_BOOL || chosen.dtype() == proto::DT_INT32);
  if (!fits)
    return MakeError("node '{0}' ({1}): input 1 is no scalar that says where to go",
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
    const Tensor* inputs = instance.round->cells.data() + item.first_cell;
    outputs[1] = NumberOfInput(static_cast<uint32_t>(&value - inputs));
  }
  Error error = client_.Passed(instance.node, InputsOf(instance), outputs);
  for (Tensor& output : outputs) output = Tensor();
  return error ? InRound(*instance.round, std::move(error)) : Error::success();
}

Tensor FrameRunner::State::NumberOfInput(uint32_t number) {
  while (numbers_.size() <= number) {
    int64_t next = static_cast<int64_t>(numbers_.size());
    numbers_.push_back(llvm::cantFail(Tensor::FromLiteral(Literal::Scalar(proto::DT_INT32, next))));
  }
  return numbers_[number];
}

// Which loops an error came out of, and in which round of each.
Error FrameRunner::State::InRound(const Round& round, Error error) const {
  for (const Round* at = &round; at->frame->parent; at = at->frame->parent) {
    const std::string& name = plan_.frames[at->frame->kind].name;
    error = Annotate("loop '" + name + "': iteration " + llvm::Twine(at->number), std::move(error));
  }
  return error;
}

// --- Values on their way.

void FrameRunner::State::SendAll(uint32_t id, llvm::MutableArrayRef<Tensor> outputs, Round* to) {
  for (size_t port = 0; port < outputs.size(); ++port)
    Send(id, static_cast<uint32_t>(port), outputs[port], to);
  Tell(plan_.items[id], false, to);
}

// Output 0 of a node that hands its input on, dead or alive.
void FrameRunner::State::SendInto(uint32_t id, Tensor& value, Round* to) {
  bool is_dead = !value;
  Send(id, 0, value, to);
  Tell(plan_.items[id], is_dead, to);
}

// The last reader gets the value itself, and may write in its memory.
void FrameRunner::State::Send(uint32_t id, uint32_t port, Tensor& value, Round* to) {
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

void FrameRunner::State::Tell(const Item& item, bool is_dead, Round* to) {
  uint32_t begin = is_dead ? item.controls.begin_if_dead : item.controls.all.begin;
  for (uint32_t i = begin; i < item.controls.all.end; ++i)
    DeliverKnown(plan_.edges[i], is_dead, to);
}

// What needs no value: a word that the maker has run, a constant, or that either is dead.
void FrameRunner::State::DeliverKnown(const Edge& edge, bool is_dead, Round* to) {
  if (edge.cell == FramePlan::kControl)
    DeliverControl(edge, is_dead, to);
  else if (is_dead)
    DeliverDead(edge, to);
  else if (edge.constant == FramePlan::kLasting)
    DeliverControl(edge, false, to);
  else
    Deliver(edge, Tensor(plan_.constants[edge.constant]), to);
}

inline void FrameRunner::State::Enqueue(uint32_t id, Arrivals& arrivals, Round* round) {
  arrivals.is_queued = true;
  ++round->open;
  ++round->frame->open;
  ready_.Push({id, round});
}

bool FrameRunner::State::IsReady(const Item& item, const Arrivals& arrivals) {
  if (arrivals.is_queued || arrivals.waits_for > 0) return false;
  if (item.kind != FlowKind::kMerge) return true;
  return arrivals.alive >= 0 || arrivals.is_dead || arrivals.dead_inputs == item.num_inputs;
}

void FrameRunner::State::EnqueueIfReady(uint32_t id, Round* round) {
  Arrivals& arrivals = round->nodes[plan_.items[id].local];
  if (IsReady(plan_.items[id], arrivals)) Enqueue(id, arrivals, round);
}

inline void FrameRunner::State::Deliver(const Edge& edge, Tensor&& value, Round* round) {
  Arrivals& arrivals = round->nodes[edge.local];
  if (edge.kind == FlowKind::kMerge) {
    if (arrivals.is_queued || arrivals.alive >= 0) {
      value = Tensor();  // another input came first
      return;
    }
    arrivals.alive = edge.cell;
    round->cells[edge.cell] = std::move(value);
    return EnqueueIfReady(edge.to, round);
  }
  round->cells[edge.cell] = std::move(value);
  if (--arrivals.waits_for == 0) Enqueue(edge.to, arrivals, round);
}

void FrameRunner::State::DeliverDead(const Edge& edge, Round* round) {
  Arrivals& arrivals = round->nodes[edge.local];
  if (edge.kind == FlowKind::kMerge) {
    ++arrivals.dead_inputs;
    // A loop that is not entered has no round that could bring the other input.
    if (edge.is_from_enter && !arrivals.is_queued) arrivals.is_dead = true;
    return EnqueueIfReady(edge.to, round);
  }
  arrivals.is_dead = true;
  if (--arrivals.waits_for == 0) Enqueue(edge.to, arrivals, round);
}

void FrameRunner::State::DeliverControl(const Edge& edge, bool is_dead, Round* round) {
  Arrivals& arrivals = round->nodes[edge.local];
  --arrivals.waits_for;
  bool may_die = edge.kind != FlowKind::kMerge && edge.kind != FlowKind::kTrigger;
  if (is_dead && may_die) arrivals.is_dead = true;
  EnqueueIfReady(edge.to, round);
}

// --- Kernels on other threads.

// Whether a helper takes it, or it waits because its node still runs for an earlier round.
bool FrameRunner::State::GoesAway(Instance instance) {
  Line& line = lines_[instance.node];
  bool is_free = !line.is_away && !line.next;
  if (is_free && (ready_.empty() || !client_.IsLong(instance.node))) return false;  // most often
  const Item& item = plan_.items[instance.node];
  if (line.next == instance.round) {
    line.next = nullptr;
  } else if (line.is_away || line.next) {
    line.held_back.push_back(instance.round);
    return true;
  }
  if (ready_.empty() || instance.round->nodes[item.local].is_dead || !client_.IsLong(instance.node))
    return false;
  line.is_away = true;
  FillGiven(instance.node, instance.round);
  if (idle_flights_.empty()) {
    flights_.push_back(std::make_unique<Flight>());
    idle_flights_.push_back(flights_.back().get());
  }
  Flight* flight = idle_flights_.back();
  idle_flights_.pop_back();
  flight->instance = instance;
  flight->outputs.resize(item.num_outputs);
  away_.Send(flight);
  return true;
}

void FrameRunner::State::RunFlight(Flight* flight) {
  flight->error =
      client_.RunKernel(flight->instance.node, InputsOf(flight->instance), flight->outputs);
}

// The node is free for the round that has waited longest.
void FrameRunner::State::CallNext(uint32_t id) {
  Line& line = lines_[id];
  if (line.held_back.empty()) return;
  line.next = line.held_back.front();
  line.held_back.erase(line.held_back.begin());
  ready_.Push({id, line.next});
}

// What follows a kernel that ran elsewhere.
Error FrameRunner::State::Land(Flight* flight) {
  Instance instance = flight->instance;
  lines_[instance.node].is_away = false;
  CallNext(instance.node);
  idle_flights_.push_back(flight);
  if (flight->error) return InRound(*instance.round, std::move(flight->error));
  ClearInputs(plan_.items[instance.node], instance.round);
  SendAll(instance.node, flight->outputs, instance.round);
  Finished(instance.round);
  return Error::success();
}

// The first error stands for all.
Error FrameRunner::State::LandAll(llvm::ArrayRef<KernelsAway::Flight*> flights) {
  Error first = Error::success();
  for (KernelsAway::Flight* flight : flights) {
    Error error = Land(static_cast<Flight*>(flight));
    if (first)
      llvm::consumeError(std::move(error));
    else
      first = std::move(error);
  }
  return first;
}

}  // namespace grapnel
