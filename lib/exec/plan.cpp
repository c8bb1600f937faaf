#include "lib/exec/plan.h"

#include "lib/exec/ordering_hook.h"
#include "lib/exec/partition_workers.h"
#include "lib/ir/fits_shape.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {

bool PlanNode::IsLong() const {
  return cost == KernelCost::kElements &&
         stats->last_time.load(std::memory_order_relaxed) > kWorthAnotherThread;
}

Error ExecutionPlan::CheckFeeds(llvm::ArrayRef<Tensor> values) const {
  if (values.size() != feeds.size())
    return MakeError("{0} values are fed, {1} were expected", values.size(), feeds.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const Feed& feed = feeds[i];
    if (!values[i]) continue;  // no node reads it, or a reader reports that it is missing
    if (feed.dtype != proto::DT_INVALID && values[i].dtype() != feed.dtype) {
      return MakeError("feed '{0}' has dtype {1}, the graph expects {2}", feed.node.name(),
                       DataTypeName(values[i].dtype()), DataTypeName(feed.dtype));
    }
    if (feed.shape && !FitsShape(Shape(values[i].dims()), *feed.shape))
      return MakeError("feed '{0}' has shape {1}, the graph expects {2}", feed.node.name(),
                       DimsText(values[i].dims()), feed.shape->ToString());
  }
  return Error::success();
}

std::string ExecutionPlan::Describe(const PlanNode& plan) const {
  std::string text = ("node '" + plan.node.name() + "' (" + plan.node.op()).str();
  DataType type = plan.input_types.empty() ? proto::DT_INVALID : plan.input_types[0];
  if (type == proto::DT_INVALID && !plan.output_types.empty()) type = plan.output_types[0];
  if (type != proto::DT_INVALID) text += ", " + DataTypeName(type).str();
  return text + ", " + (plan.lane ? plan.lane->device : &CpuDevice())->name() + ")";
}

std::string ExecutionPlan::NameOfFetch(size_t i) const {
  return i < options.fetches.size() ? options.fetches[i] : "result " + std::to_string(i);
}

RunServices ExecutionPlan::ServicesOn(const PlanNode& node) const {
  DeviceLane& lane = *node.lane;
  RunServices lent{*lane.allocator, *options.pool,   options.print,
                   options.hook,    options.session, options.profiler};
  lent.prefers = options.device;
  lent.cancel = options.cancel;
  lent.winograd = options.winograd;
  lent.onednn = options.onednn;
  lent.is_xla = options.is_xla;
  lent.device = lane.device;
  lent.stream = lane.stream.get();
  lent.host_allocator = allocator.get();
  lent.host_outputs = node.host_outputs;
  return lent;
}

bool ExecutionPlan::RunsInOrder() const {
  if (dynamic_cast<const OrderingHook*>(options.hook)) return true;
  if (num_threads() == 1 || !stats->may_have_long_nodes.load(std::memory_order_relaxed))
    return true;
  bool any = llvm::any_of(nodes, [](const PlanNode& node) { return node.IsLong(); });
  stats->may_have_long_nodes.store(any, std::memory_order_relaxed);
  return !any;
}

}  // namespace grapnel
