// Running a plan: one node after the other, each with its inputs, until the fetches are there.
#include <chrono>

#include "lib/exec/executor_impl.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// The value behind a reference: what VariableV2 and its like put out, and whoever passes it on.
Expected<Tensor> Dereferenced(const Tensor& reference) {
  auto* variable = dynamic_cast<Variable*>(reference.data<ObjectRef>()->get());
  if (!variable) return reference;
  return variable->Read();
}

// "node 'dense/MatMul' (MatMul, float, /device:CPU:0)": whose kernel an error is of.
std::string Describe(const PlanNode& plan) {
  std::string text = ("node '" + plan.node.name() + "' (" + plan.node.op()).str();
  DataType type = plan.input_types.empty() ? proto::DT_INVALID : plan.input_types[0];
  if (type == proto::DT_INVALID && !plan.output_types.empty()) type = plan.output_types[0];
  if (type != proto::DT_INVALID) text += ", " + DataTypeName(type).str();
  return text + ", " + (plan.lane ? plan.lane->device : &CpuDevice())->name() + ")";
}

}  // namespace

Executor::Executor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Executor::~Executor() = default;
int Executor::num_nodes() const { return static_cast<int>(impl_->nodes.size()); }
const PlanSpread& Executor::spread() const { return impl_->spread; }

bool Executor::ReadsFeed(int i) const {
  const SlotInfo& info = impl_->slots[impl_->feeds[i].slot];
  return impl_->frames || info.first_target != info.end_target;
}

int Executor::num_fetches() const { return static_cast<int>(impl_->fetch_slots.size()); }

Expected<std::vector<Tensor>> Executor::Run(std::vector<Tensor> feeds) {
  std::vector<Tensor> results(impl_->fetch_slots.size());
  RETURN_IF_ERROR(impl_->Run(feeds, results));
  return results;
}

Error Executor::Run(llvm::MutableArrayRef<Tensor> feeds, llvm::MutableArrayRef<Tensor> results) {
  return impl_->Run(feeds, results);
}

Error Executor::Impl::CheckFeeds(llvm::ArrayRef<Tensor> values) const {
  if (values.size() != feeds.size())
    return MakeError("{0} values are fed, {1} were expected", values.size(), feeds.size());
  if (feeds_are_checked) return Error::success();
  for (size_t i = 0; i < values.size(); ++i) {
    const Feed& feed = feeds[i];
    if (feed.dtype != proto::DT_INVALID && values[i].dtype() != feed.dtype) {
      return MakeError("feed '{0}' is {1}, the graph has {2}", feed.node.name(),
                       DataTypeName(values[i].dtype()), DataTypeName(feed.dtype));
    }
    if (!feed.shape) continue;
    bool fits = feed.shape->rank() == values[i].rank();
    for (int d = 0; fits && d < feed.shape->rank(); ++d)
      fits = !feed.shape->IsKnown(d) || feed.shape->dim(d) == values[i].dim(d);
    if (!fits)
      return MakeError("feed '{0}' has shape {1}, the graph expects {2}", feed.node.name(),
                       DimsText(values[i].dims()), feed.shape->ToString());
  }
  return Error::success();
}

// Where each node's inputs lie, and which of them each slot goes to.
void Executor::Impl::LinkArrivals() {
  lasting.clear();
  std::vector<std::vector<uint32_t>> readers(slots.size());
  auto arrive = [&](Slot slot) {
    bool lasts = slot != kNoSlot && slots[slot].constant;
    if (slot != kNoSlot && !lasts) readers[slot].push_back(lasting.size());
    lasting.push_back(lasts ? slot : kNoSlot);
  };
  // In a graph with frames nodes have arrivals of their own there.
  for (PlanNode& plan : nodes) {
    plan.first_arrival = lasting.size();
    if (frames) continue;
    for (Slot slot : plan.inputs) arrive(slot);
  }
  first_fetch = lasting.size();
  for (Slot slot : fetch_slots) arrive(slot);
  has_references |= llvm::any_of(slots, [](const SlotInfo& slot) { return slot.is_reference; });
  // A function's arguments: the caller's graph says what they are.
  feeds_are_checked = llvm::all_of(
      feeds, [](const Feed& feed) { return feed.dtype == proto::DT_INVALID && !feed.shape; });
  for (size_t slot = 0; slot < slots.size(); ++slot) {
    slots[slot].first_target = targets.size();
    targets.insert(targets.end(), readers[slot].begin(), readers[slot].end());
    slots[slot].end_target = targets.size();
  }
  arrivals = std::make_unique<Tensor[]>(lasting.size());
  for (size_t i = 0; i < lasting.size(); ++i) {
    if (lasting[i] != kNoSlot) arrivals[i] = slots[lasting[i]].constant;
  }
}

// Before each reader; the last one gets the value itself, and may write in its memory.
void Executor::Impl::Deliver(Slot slot, Tensor&& value) {
  const SlotInfo& info = slots[slot];
  if (info.first_target == info.end_target) {
    if (value) value = Tensor();
    return;
  }
  uint32_t last = info.end_target - 1;
  for (uint32_t i = info.first_target; i < last; ++i) arrivals[targets[i]] = value;
  arrivals[targets[last]] = std::move(value);
}

// As before a run, whatever came of the last one.
void Executor::Impl::Clear() {
  for (size_t i = 0; i < lasting.size(); ++i) {
    if (lasting[i] == kNoSlot)
      arrivals[i] = Tensor();
    else if (!arrivals[i])
      arrivals[i] = slots[lasting[i]].constant;
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (values[i]) values[i] = Tensor();
  }
}

Error Executor::Impl::RunNode(PlanNode& plan) {
  llvm::MutableArrayRef<Tensor> inputs(&arrivals[plan.first_arrival], plan.inputs.size());
  llvm::MutableArrayRef<Tensor> outputs(&values[plan.first_output], plan.output_types.size());
  RETURN_IF_ERROR(RunKernel(plan, inputs, outputs));
  for (size_t i = 0; i < inputs.size(); ++i) {
    Slot constant = lasting[plan.first_arrival + i];
    if (constant == kNoSlot) {
      if (inputs[i]) inputs[i] = Tensor();
    } else if (!inputs[i]) {  // taken
      inputs[i] = slots[constant].constant;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) Deliver(plan.first_output + i, std::move(outputs[i]));
  return Error::success();
}

Error Executor::Impl::Dereference(const PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    DataType wanted = plan.input_types[i];
    if (inputs[i].dtype() != proto::DT_RESOURCE || wanted == proto::DT_RESOURCE ||
        wanted == proto::DT_INVALID || inputs[i].num_elements() != 1)
      continue;
    auto value = Dereferenced(inputs[i]);
    if (!value) return Annotate(Describe(plan), value.takeError());
    inputs[i] = std::move(*value);
  }
  return Error::success();
}

Error Executor::Impl::RunKernel(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                                llvm::MutableArrayRef<Tensor> outputs) {
  if (plan.lane) {
    RunServices lent = ServicesOn(plan);
    KernelContext context(inputs, outputs, plan.output_types, lent);
    return RunIn(plan, inputs, outputs, context);
  }
  KernelContext context(inputs, outputs, plan.output_types, *services);
  return RunIn(plan, inputs, outputs, context);
}

Error Executor::Impl::RunIn(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                            llvm::ArrayRef<Tensor> outputs, KernelContext& context) {
  if (has_references) RETURN_IF_ERROR(Dereference(plan, inputs));
  if (plan.hooked) RETURN_IF_ERROR(TellBefore(plan, inputs));
  // The clock takes as long as a small kernel: it is asked when the answer can matter, and not
  // every time.
  bool measured = plan.cost == KernelCost::kElements && (++plan.runs < 4 || plan.runs % 64 == 0);
  Error error =
      measured || options.profiler ? RunMeasured(plan, context, outputs) : plan.kernel(context);
  if (error) return Annotate(Describe(plan), std::move(error));
  if (plan.hooked) RETURN_IF_ERROR(TellAfter(plan, outputs));
  return Error::success();
}

Error Executor::Impl::RunMeasured(PlanNode& plan, KernelContext& context,
                                  llvm::ArrayRef<Tensor> outputs) {
  RunProfiler* profiler = options.profiler;
  auto began = profiler ? profiler->Begin() : std::chrono::steady_clock::now();
  Error error = plan.kernel(context);
  auto ended = std::chrono::steady_clock::now();
  if (profiler) profiler->Ran(plan.node, began, ended, outputs);
  if (error) return error;
  plan.last_time = std::chrono::nanoseconds(ended - began).count();
  if (scheduler && Scheduler::IsLong(plan)) scheduler->FoundLong();
  return Error::success();
}

// Of a node that runs on a device.
RunServices Executor::Impl::ServicesOn(const PlanNode& plan) const {
  DeviceLane& lane = *plan.lane;
  RunServices lent{*lane.allocator, *options.pool,   options.print,
                   options.hook,    options.session, options.profiler};
  lent.prefers = options.device;
  lent.device = lane.device;
  lent.stream = lane.stream.get();
  lent.host_allocator = allocator.get();
  lent.host_outputs = plan.host_outputs;
  return lent;
}

Error Executor::Impl::TellBefore(const PlanNode& plan, llvm::ArrayRef<Tensor> inputs) {
  llvm::SmallVector<Tensor, 4> copies;
  if (plan.lane) {
    if (options.hook->TakesDeviceTensors()) return Error::success();
    RETURN_IF_ERROR(CopyToHost(*plan.lane, inputs, copies));
    inputs = copies;
  }
  return options.hook->BeforeNode(plan.node, inputs);
}

Error Executor::Impl::TellAfter(PlanNode& plan, llvm::ArrayRef<Tensor> outputs) {
  if (plan.is_constant) {
    bool is_first = !plan.told;
    plan.told = true;
    return options.hook->OnConstant(plan.node, outputs[0], is_first);
  }
  llvm::SmallVector<Tensor, 2> copies;
  if (plan.lane) {
    if (options.hook->TakesDeviceTensors())
      return options.hook->AfterNodeOn(*plan.lane->stream, plan.node, outputs);
    RETURN_IF_ERROR(CopyToHost(*plan.lane, outputs, copies));
    outputs = copies;
  }
  return options.hook->AfterNode(plan.node, outputs);
}

Error Executor::Impl::TellConstants() {
  bool is_first = !told_constants;
  told_constants = true;
  for (const auto& [node, slot] : hooked_constants)
    RETURN_IF_ERROR(options.hook->OnConstant(node, slots[slot].constant, is_first));
  return Error::success();
}

Tensor Executor::Impl::Given(uint32_t node, int input) {
  Slot slot = nodes[node].inputs[input];
  return slots[slot].constant ? slots[slot].constant : values[slot];
}

Error Executor::Impl::RunKernel(uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
                                llvm::MutableArrayRef<Tensor> outputs) {
  return RunKernel(nodes[node], inputs, outputs);
}

Error Executor::Impl::Passed(uint32_t node, llvm::ArrayRef<Tensor> inputs,
                             llvm::ArrayRef<Tensor> outputs) {
  const PlanNode& plan = nodes[node];
  bool all_alive = llvm::all_of(outputs, [](const Tensor& t) { return t.operator bool(); });
  if (!all_alive) return Error::success();
  RETURN_IF_ERROR(options.hook->BeforeNode(plan.node, inputs));
  return options.hook->AfterNode(plan.node, outputs);
}

void Executor::Impl::Result(uint32_t node, int port, const Tensor& value) {
  Deliver(nodes[node].first_output + port, Tensor(value));
}

bool Executor::Impl::Send(uint32_t node, Parcel parcel) {
  if (!receivers[node].mailbox) return false;
  parcel.to = receivers[node].node;
  receivers[node].mailbox->Put(std::move(parcel));
  return true;
}

Error Executor::Impl::Join(uint32_t node, llvm::MutableArrayRef<Tensor> inputs, Parcel answer) {
  PlanNode& plan = nodes[node];
  Collectives::Member member;
  member.node = plan.node;
  member.order = number << 32 | node;
  member.mailbox = &frames->inbox();
  member.answer = std::move(answer);
  // A receiver brings nothing: all its inputs are settings.
  size_t first = plan.node.op().starts_with("CollectiveBcastRecv") ? 0 : 1;
  if (first > 0) member.value = std::move(inputs[0]);
  for (size_t i = first; i < inputs.size(); ++i) member.settings.push_back(inputs[i]);
  auto merge = [&](llvm::MutableArrayRef<Tensor> values, llvm::MutableArrayRef<Tensor> results) {
    llvm::SmallVector<DataType, 8> types(results.size(), plan.output_types[0]);
    KernelContext context(values, results, types, *services);
    return plan.kernel(context);
  };
  if (Error error = collectives->Join(std::move(member), merge))
    return Annotate(Describe(plan), std::move(error));
  return Error::success();
}

// What nobody sends; a group that is not complete; a sender that waits as well.
int Executor::Impl::StuckRank(uint32_t node) {
  if (nodes[node].flow == FlowKind::kCollective) return 1;
  return nodes[node].flow == FlowKind::kRecv && !has_sender[node] ? 0 : 2;
}

Error Executor::Impl::WhyStuck(uint32_t id) {
  const Node& node = nodes[id].node;
  if (nodes[id].flow == FlowKind::kCollective)
    return Annotate(Describe(nodes[id]), collectives->WhyWaiting(node));
  return MakeError("{0}: '{1}' from {2} to {3}: nobody is left to {4} it", Describe(nodes[id]),
                   node.GetString("tensor_name"), node.GetString("send_device"),
                   node.GetString("recv_device"),
                   nodes[id].flow == FlowKind::kSend ? "receive" : "send");
}

Error Executor::Impl::RunFrames() {
  if (own_collectives) own_collectives->Clear();
  RETURN_IF_ERROR(frames->Run());
  return CheckFetches();
}

Error Executor::Impl::CheckFetches() const {
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    if (fetch_slots[i] == kNoSlot || arrivals[first_fetch + i]) continue;
    return MakeError("fetch '{0}' has no value: it is in a branch that was not taken",
                     NameOfFetch(i));
  }
  return Error::success();
}

Error Executor::Impl::RunInOrder() {
  for (uint32_t id : scheduler->order()) RETURN_IF_ERROR(RunNode(nodes[id]));
  return Error::success();
}

Error Executor::Impl::Run(llvm::MutableArrayRef<Tensor> given,
                          llvm::MutableArrayRef<Tensor> results) {
  RETURN_IF_ERROR(CheckFeeds(given));
  assert(results.size() == fetch_slots.size());
  TakeFeeds(given);
  Error error = RunPlan(results);
  // What is still queued reads memory of this run; and what failed there fails the run.
  for (const auto& lane : lanes) {
    Error late = lane->stream->Wait();
    if (late && !error)
      error = std::move(late);
    else
      llvm::consumeError(std::move(late));
  }
  if (error || frames) Clear();
  return error;
}

void Executor::Impl::TakeFeeds(llvm::MutableArrayRef<Tensor> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    Slot slot = feeds[i].slot;
    if (frames) values[slot] = given[i];
    Deliver(slot, std::move(given[i]));
  }
}

Error Executor::Impl::Begin(llvm::MutableArrayRef<Tensor> given) {
  RETURN_IF_ERROR(CheckFeeds(given));
  TakeFeeds(given);
  if (!hooked_constants.empty()) RETURN_IF_ERROR(TellConstants());
  frames->Begin();
  return Error::success();
}

Error Executor::Impl::Finish(bool has_failed, llvm::MutableArrayRef<Tensor> results) {
  frames->End(has_failed);
  Error error = has_failed ? Error::success() : CheckFetches();
  if (!error && !has_failed) error = Collect(results);
  Clear();
  return error;
}

Error Executor::Impl::RunPlan(llvm::MutableArrayRef<Tensor> results) {
  FlushDenormals flush;
  if (!hooked_constants.empty()) RETURN_IF_ERROR(TellConstants());
  if (frames)
    RETURN_IF_ERROR(RunFrames());
  else if (scheduler->RunsInOrder())
    RETURN_IF_ERROR(RunInOrder());
  else
    RETURN_IF_ERROR(scheduler->Run());
  return Collect(results);
}

Error Executor::Impl::Collect(llvm::MutableArrayRef<Tensor> results) {
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    Tensor& arrived = arrivals[first_fetch + i];
    if (lasting[first_fetch + i] == kNoSlot)
      results[i] = std::move(arrived);
    else
      results[i] = arrived;
    Slot slot = fetch_slots[i];
    if (slot == kNoSlot || !slots[slot].is_reference || results[i].dtype() != proto::DT_RESOURCE)
      continue;
    auto value = Dereferenced(results[i]);
    if (!value) return Annotate("fetch '" + NameOfFetch(i) + "'", value.takeError());
    results[i] = std::move(*value);
  }
  return Error::success();
}

}  // namespace grapnel
