#include "lib/exec/run_state.h"

#include <chrono>
#include <map>

#include "lib/support/denormals.h"
#include "lib/support/memory_budget.h"
#include "lib/support/text.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Returns the value of the variable that a reference refers to, or the reference itself if it does
// not refer to a variable. VariableV2 and similar ops output references to variables.
Expected<Tensor> Dereferenced(const Tensor& reference) {
  auto* variable = dynamic_cast<StoredVariable*>(reference.data<ObjectRef>()->get());
  if (!variable) return reference;
  return variable->Read();
}

}  // namespace

RunState::RunState(const ExecutionPlan& plan)
    : plan_(plan),
      inputs_(std::make_unique<Tensor[]>(plan.input_constants.size())),
      values_(std::make_unique<Tensor[]>(plan.slots.size())) {
  Clear();  // fills in the constants
  if (!plan.frames) return;
  // With a hook, one thread runs all nodes of a graph with frames, so that the hook sees the nodes
  // of a loop in a deterministic order.
  int threads = plan.options.hook ? 1 : plan.num_threads();
  FrameRunner::Client& client = *this;
  frames_ =
      std::make_unique<FrameRunner>(*plan.frames, client, plan.options.session->helpers(), threads);
  if (plan.options.is_partition) return;  // the caller calls Connect()
  own_collectives_ = std::make_unique<Collectives>();
  Connect(&frames_->rendezvous(), *own_collectives_);
}

void RunState::Connect(llvm::ArrayRef<Rendezvous*> rendezvous, Collectives& collectives) {
  rendezvous_.assign(rendezvous.begin(), rendezvous.end());
  collectives_ = &collectives;
}

// --- A run.

Error RunState::Run(llvm::MutableArrayRef<Tensor> given, llvm::MutableArrayRef<Tensor> results) {
  assert(results.size() == plan_.fetch_slots.size());
  TakeFeeds(given);
  Error error = RunNodes();
  if (!error) error = Collect(results);
  // Wait for the work queued on devices: it still reads memory of this run, and its errors fail the
  // run.
  for (const auto& lane : plan_.lanes) {
    Error late = lane->stream->Wait();
    if (late && !error)
      error = std::move(late);
    else
      llvm::consumeError(std::move(late));
  }
  if (error.isA<OutOfMemory>()) error = AddMemoryReport(std::move(error));
  if (error || frames_) Clear();
  return error;
}

// Adds to an out-of-memory error the total size of the values that were alive when the run failed,
// and the nodes of the 5 largest. For a graph with frames, includes only the feeds.
Error RunState::AddMemoryReport(Error error) const {
  std::vector<std::string> maker(plan_.slots.size());
  for (const PlanNode& node : plan_.nodes) {
    for (size_t i = 0; i < node.output_types.size(); ++i)
      maker[node.first_output + i] = node.node.name().str();
  }
  for (const ExecutionPlan::Feed& feed : plan_.feeds) maker[feed.slot] = feed.node.name().str();
  std::map<const Buffer*, std::pair<size_t, std::string>> live;
  auto see = [&](const Tensor& value, Slot slot) {
    if (value && !plan_.slots[slot].constant)
      live.try_emplace(value.buffer().get(), value.buffer()->size(), maker[slot]);
  };
  for (const PlanNode& node : plan_.nodes) {
    if (frames_) break;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      see(inputs_[node.first_input + i], node.inputs[i]);
  }
  for (Slot slot = 0; slot < plan_.slots.size(); ++slot) see(values_[slot], slot);
  std::vector<std::pair<size_t, std::string>> sorted;
  size_t total = 0;
  for (const auto& [buffer, one] : live) {
    total += one.first;
    sorted.push_back(one);
  }
  if (total == 0) return MakeError("{0}", TextOf(std::move(error)));
  llvm::sort(sorted, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::string text;
  for (size_t i = 0; i < std::min<size_t>(sorted.size(), 5); ++i)
    text +=
        llvm::formatv("{0}'{1}' {2}", i ? ", " : "", sorted[i].second, HumanBytes(sorted[i].first));
  return MakeError("{0}; live values took {1}, the largest are {2}", TextOf(std::move(error)),
                   HumanBytes(total), text);
}

void RunState::TakeFeeds(llvm::MutableArrayRef<Tensor> given) {
  for (size_t i = 0; i < given.size(); ++i) {
    Slot slot = plan_.feeds[i].slot;
    if (frames_) values_[slot] = given[i];
    Deliver(slot, std::move(given[i]));
  }
}

Error RunState::RunNodes() {
  FlushDenormals flush;
  if (!plan_.hooked_constants.empty()) RETURN_IF_ERROR(ReportConstants());
  if (frames_) return RunFrames();
  return plan_.RunsInOrder() ? RunInOrder() : RunOnThreads();
}

Error RunState::RunInOrder() {
  for (uint32_t id : plan_.order) RETURN_IF_ERROR(RunNode(plan_.nodes[id]));
  return Error::success();
}

Error RunState::RunOnThreads() {
  if (!scheduler_) {
    scheduler_ =
        std::make_unique<Scheduler>(plan_, plan_.options.session->helpers(), [this](uint32_t id) {
          return plan_.options.hook ? RunInPlace(id) : RunNode(plan_.nodes[id]);
        });
  }
  return plan_.options.hook ? RunWatchedOnThreads() : scheduler_->Run();
}

// Runs the nodes on several threads, but emits the events for hooks in the order in which one
// thread would run the nodes.
Error RunState::RunWatchedOnThreads() {
  if (positions_.empty()) {
    positions_.resize(plan_.nodes.size());
    for (uint32_t i = 0; i < plan_.order.size(); ++i) positions_[plan_.order[i]] = i;
  }
  call_ = CurrentCall();
  order_.Begin(positions_.size(), CurrentOrderPoint());
  Error error = scheduler_->Run();
  order_.End();
  return error;
}

Error RunState::RunInPlace(uint32_t id) {
  InCall in(call_);
  AtOrderPoint at({&order_, positions_[id]});
  Error error = RunNode(plan_.nodes[id]);
  order_.Done(positions_[id]);
  return error;
}

Error RunState::RunFrames() {
  own_collectives_->Clear();
  RETURN_IF_ERROR(frames_->Run());
  return CheckFetches();
}

Error RunState::Begin(llvm::MutableArrayRef<Tensor> given) {
  TakeFeeds(given);
  if (!plan_.hooked_constants.empty()) RETURN_IF_ERROR(ReportConstants());
  frames_->Begin();
  return Error::success();
}

Error RunState::Finish(bool has_failed, llvm::MutableArrayRef<Tensor> results) {
  frames_->End(has_failed);
  Error error = has_failed ? Error::success() : CheckFetches();
  if (!error && !has_failed) error = Collect(results);
  Clear();
  return error;
}

Error RunState::CheckFetches() const {
  for (size_t i = 0; i < plan_.fetch_slots.size(); ++i) {
    if (plan_.fetch_slots[i] == kNoSlot || inputs_[plan_.first_fetch + i]) continue;
    return MakeError("fetch '{0}' has no value: it is in a branch that was not taken",
                     plan_.NameOfFetch(i));
  }
  return Error::success();
}

Error RunState::Collect(llvm::MutableArrayRef<Tensor> results) {
  for (size_t i = 0; i < plan_.fetch_slots.size(); ++i) {
    Tensor& fetched = inputs_[plan_.first_fetch + i];
    if (plan_.input_constants[plan_.first_fetch + i] == kNoSlot)
      results[i] = std::move(fetched);
    else
      results[i] = fetched;
    Slot slot = plan_.fetch_slots[i];
    if (slot == kNoSlot || !plan_.slots[slot].is_reference ||
        results[i].dtype() != proto::DT_RESOURCE)
      continue;
    auto value = Dereferenced(results[i]);
    if (!value) return Annotate("fetch '" + plan_.NameOfFetch(i) + "'", value.takeError());
    results[i] = std::move(*value);
  }
  return Error::success();
}

// Stores the value in the input of each reader and leaves `value` empty. The last reader gets the
// value itself, and may overwrite its memory.
void RunState::Deliver(Slot slot, Tensor&& value) {
  const SlotInfo& info = plan_.slots[slot];
  if (info.first_target == info.end_target) {
    if (value) value = Tensor();
    return;
  }
  const uint32_t* targets = plan_.targets.data();
  uint32_t last = info.end_target - 1;
  for (uint32_t i = info.first_target; i < last; ++i) inputs_[targets[i]] = value;
  inputs_[targets[last]] = std::move(value);
}

// Resets inputs_ and values_ to the state before a run, however the last run ended: only the
// constants are set.
void RunState::Clear() {
  for (size_t i = 0; i < plan_.input_constants.size(); ++i) {
    Slot constant = plan_.input_constants[i];
    if (constant == kNoSlot)
      inputs_[i] = Tensor();
    else if (!inputs_[i])
      inputs_[i] = plan_.slots[constant].constant;
  }
  for (size_t i = 0; i < plan_.slots.size(); ++i) {
    if (values_[i]) values_[i] = Tensor();
  }
}

// --- One node.

Error RunState::RunNode(const PlanNode& node) {
  llvm::MutableArrayRef<Tensor> inputs(&inputs_[node.first_input], node.inputs.size());
  llvm::MutableArrayRef<Tensor> outputs(&values_[node.first_output], node.output_types.size());
  RETURN_IF_ERROR(RunKernel(node, inputs, outputs));
  const Slot* constants = plan_.input_constants.data() + node.first_input;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (constants[i] == kNoSlot) {
      if (inputs[i]) inputs[i] = Tensor();
    } else if (!inputs[i]) {  // the kernel moved the constant out
      inputs[i] = plan_.slots[constants[i]].constant;
    }
  }
  for (size_t i = 0; i < outputs.size(); ++i) Deliver(node.first_output + i, std::move(outputs[i]));
  return Error::success();
}

Error RunState::RunKernel(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs,
                          llvm::MutableArrayRef<Tensor> outputs) {
  if (node.lane) {
    RunServices lent = plan_.ServicesOn(node);
    KernelContext context(inputs, outputs, node.output_types, lent);
    return RunIn(node, inputs, outputs, context);
  }
  KernelContext context(inputs, outputs, node.output_types, *plan_.services);
  return RunIn(node, inputs, outputs, context);
}

Error RunState::RunIn(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs,
                      llvm::MutableArrayRef<Tensor> outputs, KernelContext& context) {
  if (plan_.has_references) RETURN_IF_ERROR(Dereference(node, inputs));
  if (plan_.options.hook) return RunWatched(node, inputs, outputs, context);
  return CallKernel(node, outputs, context);
}

// Runs a node in a run with a hook. For the call frames of functions that the node calls, the node
// is the caller, even if the hook does not want it.
Error RunState::RunWatched(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs,
                           llvm::MutableArrayRef<Tensor> outputs, KernelContext& context) {
  InNode in(&node.node, node.hooked ? plan_.options.hook : nullptr);
  if (node.hooked && plan_.hook_sees_inputs) RETURN_IF_ERROR(ReportBefore(node, inputs));
  RETURN_IF_ERROR(CallKernel(node, outputs, context));
  if (!node.hooked) return Error::success();
  if (plan_.hook_edits_outputs && !node.lane && !node.is_constant)
    RETURN_IF_ERROR(plan_.options.hook->EditOutputs(node.node, outputs));
  return ReportAfter(node, outputs);
}

Error RunState::CallKernel(const PlanNode& node, llvm::ArrayRef<Tensor> outputs,
                           KernelContext& context) {
  // Reading the clock takes as long as a small kernel. Without a profiler, only the first three
  // executions of a kElements node, and every 64th, are measured.
  bool measured = plan_.options.profiler;
  if (node.cost == KernelCost::kElements) {
    // Not an atomic increment: if two runs overlap, a lost count does no harm.
    std::atomic<uint32_t>& num_runs = node.stats->num_runs;
    uint32_t number = num_runs.load(std::memory_order_relaxed) + 1;
    num_runs.store(number, std::memory_order_relaxed);
    measured |= number < 4 || number % 64 == 0;
  }
  Error error = measured ? RunMeasured(node, context, outputs) : node.kernel.Call(context);
  if (!error) return Error::success();
  if (!node.stands_for.empty()) return error;  // the error already names its node
  return Annotate(plan_.Describe(node), std::move(error));
}

Error RunState::RunMeasured(const PlanNode& node, KernelContext& context,
                            llvm::ArrayRef<Tensor> outputs) {
  RunProfiler* profiler = plan_.options.profiler;
  auto began = profiler ? profiler->Begin() : std::chrono::steady_clock::now();
  Error error = node.kernel.Call(context);
  auto ended = std::chrono::steady_clock::now();
  if (profiler) profiler->OnKernel(node.node, began, ended, outputs);
  if (error) return error;
  node.stats->last_time.store(std::chrono::nanoseconds(ended - began).count(),
                              std::memory_order_relaxed);
  if (node.IsLong()) plan_.stats->may_have_long_nodes.store(true, std::memory_order_relaxed);
  return Error::success();
}

Error RunState::Dereference(const PlanNode& node, llvm::MutableArrayRef<Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    DataType wanted = node.input_types[i];
    if (inputs[i].dtype() != proto::DT_RESOURCE || wanted == proto::DT_RESOURCE ||
        wanted == proto::DT_INVALID || inputs[i].num_elements() != 1)
      continue;
    auto value = Dereferenced(inputs[i]);
    if (!value) return Annotate(plan_.Describe(node), value.takeError());
    inputs[i] = std::move(*value);
  }
  return Error::success();
}

// --- Reports to the hook.

Error RunState::ReportConstants() {
  for (size_t i = 0; i < plan_.hooked_constants.size(); ++i) {
    const auto& [node, slot] = plan_.hooked_constants[i];
    size_t num_reported = i;
    bool is_first =
        plan_.stats->num_reported_constants.compare_exchange_strong(num_reported, i + 1);
    RETURN_IF_ERROR(plan_.options.hook->OnConstant(node, plan_.slots[slot].constant, is_first));
  }
  return Error::success();
}

Error RunState::ReportBefore(const PlanNode& node, llvm::ArrayRef<Tensor> inputs) {
  llvm::SmallVector<Tensor, 4> copies;
  if (node.lane) {
    if (plan_.options.hook->TakesDeviceTensors()) return Error::success();
    RETURN_IF_ERROR(CopyToHost(*node.lane, inputs, copies));
    inputs = copies;
  }
  return plan_.options.hook->BeforeNode(node.node, inputs);
}

Error RunState::ReportAfter(const PlanNode& node, llvm::ArrayRef<Tensor> outputs) {
  RunHook& hook = *plan_.options.hook;
  if (node.is_constant) {
    bool is_first = !node.stats->is_reported.exchange(true);
    return hook.OnConstant(node.node, outputs[0], is_first);
  }
  llvm::SmallVector<Tensor, 2> copies;
  if (node.lane) {
    if (hook.TakesDeviceTensors()) return hook.AfterNodeOn(*node.lane->stream, node.node, outputs);
    RETURN_IF_ERROR(CopyToHost(*node.lane, outputs, copies));
    outputs = copies;
  }
  return hook.AfterNode(node.node, outputs);
}

// --- FrameRunner::Client.

Tensor RunState::Given(uint32_t node, int input) {
  Slot slot = plan_.nodes[node].inputs[input];
  return plan_.slots[slot].constant ? plan_.slots[slot].constant : values_[slot];
}

Error RunState::Passed(uint32_t id, llvm::ArrayRef<Tensor> inputs, llvm::ArrayRef<Tensor> outputs) {
  bool all_alive = llvm::all_of(outputs, [](const Tensor& t) { return t.operator bool(); });
  if (!all_alive) return Error::success();
  const Node& node = plan_.nodes[id].node;
  RETURN_IF_ERROR(plan_.options.hook->BeforeNode(node, inputs));
  return plan_.options.hook->AfterNode(node, outputs);
}

void RunState::Result(uint32_t node, int port, const Tensor& value) {
  Deliver(plan_.nodes[node].first_output + port, Tensor(value));
}

bool RunState::Send(uint32_t node, Message message) {
  const ExecutionPlan::Receiver& receiver = plan_.receivers[node];
  if (receiver.partition < 0) return false;
  message.to = receiver.node;
  rendezvous_[receiver.partition]->Send(std::move(message));
  return true;
}

Error RunState::Join(uint32_t id, llvm::MutableArrayRef<Tensor> inputs, Message answer) {
  const PlanNode& node = plan_.nodes[id];
  Collectives::Member member;
  member.node = node.node;
  member.order = static_cast<uint64_t>(plan_.partition) << 32 | id;
  member.rendezvous = &frames_->rendezvous();
  member.answer = std::move(answer);
  // A receiver contributes no value: all its inputs are settings (group size, keys, shape).
  size_t first = node.node.op().starts_with("CollectiveBcastRecv") ? 0 : 1;
  if (first > 0) member.value = std::move(inputs[0]);
  for (size_t i = first; i < inputs.size(); ++i) member.settings.push_back(inputs[i]);
  auto merge = [&](llvm::MutableArrayRef<Tensor> values, llvm::MutableArrayRef<Tensor> results) {
    llvm::SmallVector<DataType, 8> types(results.size(), node.output_types[0]);
    KernelContext context(values, results, types, *plan_.services);
    return node.kernel.CallOnOthers(context);
  };
  if (Error error = collectives_->Join(std::move(member), merge))
    return Annotate(plan_.Describe(node), std::move(error));
  return Error::success();
}

// Returns 0 for a _Recv without a _Send, the likeliest cause, 1 for a member of an incomplete group
// of collectives, 2 for other sends and receives, which probably wait for another node.
int RunState::StuckRank(uint32_t node) {
  FlowKind flow = plan_.nodes[node].flow;
  if (flow == FlowKind::kCollective) return 1;
  return flow == FlowKind::kRecv && !plan_.has_sender[node] ? 0 : 2;
}

Error RunState::WhyStuck(uint32_t id) {
  const Node& node = plan_.nodes[id].node;
  FlowKind flow = plan_.nodes[id].flow;
  if (flow == FlowKind::kCollective)
    return Annotate(plan_.Describe(plan_.nodes[id]), collectives_->WhyWaiting(node));
  return MakeError(
      "{0}: waits for tensor '{1}' from {2} to {3}, and no node that can run will {4} it",
      plan_.Describe(plan_.nodes[id]), node.GetString("tensor_name"), node.GetString("send_device"),
      node.GetString("recv_device"), flow == FlowKind::kSend ? "receive" : "send");
}

}  // namespace grapnel
