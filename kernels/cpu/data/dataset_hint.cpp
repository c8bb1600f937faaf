// Datasets that only say how fast, on which threads or where: the elements are those of their
// input.
#include "kernels/cpu/data/dataset.h"

namespace grapnel {
namespace {

// The first dataset, as it is: of several alike the fastest may be chosen, so may any. What
// AssertNextDataset asserts is what TensorFlow's optimiser did, which does not run here.
Expected<KernelFn> MakeSame(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(DatasetIn(ctx, 0).takeError());
    ctx.SetOutput(0, ctx.input(0));
    return Error::success();
  });
}

// A dataset of its own with the elements of its input: its node says their types.
Expected<KernelFn> MakeForwarding(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    PutDataset(ctx, node, input->cardinality(),
               [input](DatasetContext& context) { return input->MakeIterator(context); });
    return Error::success();
  });
}

// Shards by elements. Which files a worker reads would be decided on the graph, before it runs.
Expected<KernelFn> MakeAutoShard(const KernelSetup& setup) {
  constexpr int64_t kOff = -1, kByData = 2;
  int64_t policy = setup.node().GetInt("auto_shard_policy");
  return KernelFn([node = setup.node(), policy](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t workers, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t index, ScalarIn(ctx, 2));
    if (workers < 1 || index < 0 || index >= workers)
      return MakeError("worker {0} of {1}: a number from 0 to one less was expected", index,
                       workers);
    if (workers == 1 || policy == kOff) {
      ctx.SetOutput(0, ctx.input(0));
      return Error::success();
    }
    if (policy != kByData)
      return MakeError("auto_shard_policy {0} is for files: by data (2) and off (-1) are supported",
                       policy);
    int64_t n = input->cardinality();
    if (n >= 0) n = n / workers + (index < n % workers);
    PutDataset(ctx, node, n, [=](DatasetContext& begin) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
      return DatasetNext([next = std::move(next), index, workers,
                          at = int64_t{0}](DatasetContext& context) mutable -> NextElement {
        for (;;) {
          ASSIGN_OR_RETURN(auto element, next(context));
          if (!element || at++ % workers == index) return element;
        }
      });
    });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("AssertNextDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("AssertPrevDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ChooseFastestDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("SleepDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("PrefetchDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("OptionsDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ModelDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("OptimizeDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("OptimizeDatasetV2", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("RewriteDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("FinalizeDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("MaxIntraOpParallelismDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("PrivateThreadPoolDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("NonSerializableDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("LatencyStatsDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("BytesProducedStatsDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("SetStatsAggregatorDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("AutoShardDataset", MakeAutoShard, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
