// Running a plan: one node after the other, each with its inputs, until the fetches are there.
#include <chrono>

#include "lib/exec/executor_impl.h"
#include "llvm/ADT/DenseMap.h"
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

void Executor::Impl::FindLastReads() {
  llvm::DenseMap<Slot, uint8_t*> last;
  for (uint32_t id : scheduler->order()) {
    PlanNode& plan = nodes[id];
    plan.last_reads.assign(plan.inputs.size(), false);
    for (size_t i = 0; i < plan.inputs.size(); ++i) last[plan.inputs[i]] = &plan.last_reads[i];
  }
  fetch_is_last.assign(fetch_slots.size(), false);
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    if (fetch_slots[i] != kNoSlot) last[fetch_slots[i]] = &fetch_is_last[i];
  }
  for (auto [slot, flag] : last) *flag = true;
}

// The tensor for one reader; the last reader gets it for itself, and may write in its memory.
Tensor Executor::Impl::Take(Slot slot, bool is_last) {
  if (slots[slot].constant) return slots[slot].constant;
  if (in_order) return is_last ? std::move(values[slot]) : values[slot];
  if (readers_left[slot].load(std::memory_order_acquire) == 1) return std::move(values[slot]);
  Tensor copy = values[slot];
  if (readers_left[slot].fetch_sub(1, std::memory_order_acq_rel) == 1) values[slot] = Tensor();
  return copy;
}

Error Executor::Impl::RunNode(PlanNode& plan) {
  llvm::SmallVector<Tensor, 4> inputs;
  for (size_t i = 0; i < plan.inputs.size(); ++i)
    inputs.push_back(Take(plan.inputs[i], plan.last_reads[i]));
  llvm::SmallVector<Tensor, 2> outputs(plan.output_types.size());
  RETURN_IF_ERROR(RunKernel(plan, inputs, outputs));
  for (size_t i = 0; i < outputs.size(); ++i) {
    Slot slot = plan.first_output + i;
    if (slots[slot].readers > 0) values[slot] = std::move(outputs[i]);
  }
  return Error::success();
}

Error Executor::Impl::RunKernel(PlanNode& plan, llvm::MutableArrayRef<Tensor> inputs,
                                llvm::MutableArrayRef<Tensor> outputs) {
  RunServices services = ServicesFor(plan);
  KernelContext context(inputs, outputs, plan.output_types, services);
  for (size_t i = 0; i < inputs.size(); ++i) {
    DataType wanted = plan.input_types[i];
    if (inputs[i].dtype() != proto::DT_RESOURCE || wanted == proto::DT_RESOURCE ||
        wanted == proto::DT_INVALID || inputs[i].num_elements() != 1)
      continue;
    auto value = Dereferenced(inputs[i]);
    if (!value) return Annotate(Describe(plan), value.takeError());
    inputs[i] = std::move(*value);
  }
  if (plan.hooked) RETURN_IF_ERROR(TellBefore(plan, inputs));
  // The clock takes as long as a small kernel: it is asked when the answer can matter, and not
  // every time.
  bool measured =
      plan.cost == KernelCost::kElements && scheduler && (++plan.runs < 4 || plan.runs % 64 == 0);
  RunProfiler* profiler = options.profiler;
  std::chrono::steady_clock::time_point began, ended;
  if (profiler)
    began = profiler->Begin();
  else if (measured)
    began = std::chrono::steady_clock::now();
  Error error = plan.kernel(context);
  if (measured || profiler) ended = std::chrono::steady_clock::now();
  if (profiler) profiler->Ran(plan.node, began, ended, outputs);
  if (error) {
    return Annotate(Describe(plan), std::move(error));
  }
  if (measured) plan.last_time = (ended - began).count();
  if (plan.hooked) RETURN_IF_ERROR(TellAfter(plan, outputs));
  return Error::success();
}

RunServices Executor::Impl::ServicesFor(const PlanNode& plan) const {
  DeviceLane* lane = plan.lane;
  RunServices services{lane ? *lane->allocator : *allocator,
                       *options.pool,
                       options.print,
                       options.hook,
                       options.session,
                       options.profiler};
  services.prefers = options.device;
  if (!lane) return services;
  services.device = lane->device;
  services.stream = lane->stream.get();
  services.host_allocator = allocator.get();
  services.host_outputs = plan.host_outputs;
  return services;
}

Error Executor::Impl::TellBefore(const PlanNode& plan, llvm::ArrayRef<Tensor> inputs) {
  llvm::SmallVector<Tensor, 4> copies;
  if (plan.lane) {
    if (options.hook->TakesDeviceTensors()) return Error::success();
    RETURN_IF_ERROR(CopyToHost(*plan.lane, inputs, copies));
    inputs = copies;
  }
  options.hook->BeforeNode(plan.node, inputs);
  return Error::success();
}

Error Executor::Impl::TellAfter(const PlanNode& plan, llvm::ArrayRef<Tensor> outputs) {
  llvm::SmallVector<Tensor, 2> copies;
  if (plan.lane) {
    if (options.hook->TakesDeviceTensors())
      return options.hook->AfterNodeOn(*plan.lane->stream, plan.node, outputs);
    RETURN_IF_ERROR(CopyToHost(*plan.lane, outputs, copies));
    outputs = copies;
  }
  return options.hook->AfterNode(plan.node, outputs);
}

Error Executor::Impl::RunFrames() {
  RETURN_IF_ERROR(frames->Run(
      [this](uint32_t node, int input) {
        Slot slot = nodes[node].inputs[input];
        return slots[slot].constant ? slots[slot].constant : values[slot];
      },
      [this](uint32_t node, llvm::MutableArrayRef<Tensor> inputs,
             llvm::MutableArrayRef<Tensor> outputs) -> Error {
        PlanNode& plan = nodes[node];
        if (plan.kernel) return RunKernel(plan, inputs, outputs);
        bool all_alive = llvm::all_of(outputs, [](const Tensor& t) { return t.operator bool(); });
        if (!plan.hooked || !all_alive) return Error::success();
        options.hook->BeforeNode(plan.node, inputs);
        return options.hook->AfterNode(plan.node, outputs);
      },
      [this](uint32_t node, int port, const Tensor& value) {
        Slot slot = nodes[node].first_output + port;
        if (is_fetched[slot]) values[slot] = value;
      }));
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    Slot slot = fetch_slots[i];
    if (slot == kNoSlot || values[slot] || slots[slot].constant) continue;
    return MakeError("fetch '{0}' has no value: it is in a branch that was not taken",
                     NameOfFetch(i));
  }
  return Error::success();
}

Error Executor::Impl::Run(llvm::MutableArrayRef<Tensor> given,
                          llvm::MutableArrayRef<Tensor> results) {
  RETURN_IF_ERROR(CheckFeeds(given));
  assert(results.size() == fetch_slots.size());
  in_order = scheduler && scheduler->RunsInOrder();
  if (scheduler && !in_order) {
    for (size_t i = 0; i < slots.size(); ++i)
      readers_left[i].store(slots[i].readers, std::memory_order_relaxed);
  }
  for (size_t i = 0; i < given.size(); ++i) {
    if (slots[feeds[i].slot].readers > 0) values[feeds[i].slot] = std::move(given[i]);
  }
  Error error = RunPlan(results);
  // What is still queued reads memory of this run; and what failed there fails the run.
  for (const auto& lane : lanes) {
    Error late = lane->stream->Wait();
    if (late && !error)
      error = std::move(late);
    else
      llvm::consumeError(std::move(late));
  }
  if (error || !in_order) {  // in order, each value went to its last reader
    for (size_t i = 0; i < slots.size(); ++i) {
      if (values[i]) values[i] = Tensor();
    }
  }
  return error;
}

Error Executor::Impl::RunPlan(llvm::MutableArrayRef<Tensor> results) {
  for (const auto& [node, slot] : hooked_constants)
    RETURN_IF_ERROR(options.hook->AfterNode(node, slots[slot].constant));
  RETURN_IF_ERROR(frames ? RunFrames() : scheduler->Run());
  return Collect(results);
}

Error Executor::Impl::Collect(llvm::MutableArrayRef<Tensor> results) {
  for (size_t i = 0; i < fetch_slots.size(); ++i) {
    Slot slot = fetch_slots[i];
    if (slot == kNoSlot) {
      results[i] = Tensor();
      continue;
    }
    if (frames)
      results[i] = slots[slot].constant ? slots[slot].constant : values[slot];
    else
      results[i] = Take(slot, fetch_is_last[i]);
    if (!slots[slot].is_reference || results[i].dtype() != proto::DT_RESOURCE) continue;
    auto value = Dereferenced(results[i]);
    if (!value) return Annotate("fetch '" + NameOfFetch(i) + "'", value.takeError());
    results[i] = std::move(*value);
  }
  return Error::success();
}

}  // namespace grapnel
