// Ops of tf.data under their experimental names, with the same kernels.
#include "kernels/cpu/data/dataset.h"

namespace grapnel {
namespace {

// The registry is complete only when a kernel is created, so the plain op is looked up then.
Expected<KernelFn> MakePlain(const KernelSetup& setup) {
  llvm::StringRef name = setup.node().op();
  name.consume_front("Experimental");
  for (const KernelDef& def : KernelRegistry::Get().All()) {
    if (name == def.op && llvm::StringRef(def.device) == "CPU") return def.factory(setup);
  }
  return MakeError("no CPU kernel for op '{0}'", name);
}

#define GRAPNEL_ALIAS_KERNEL(op) \
  GRAPNEL_CPU_KERNEL("Experimental" op, MakePlain, KernelCost::kCheap)
GRAPNEL_ALIAS_KERNEL("AssertNextDataset");
GRAPNEL_ALIAS_KERNEL("AutoShardDataset");
GRAPNEL_ALIAS_KERNEL("BytesProducedStatsDataset");
GRAPNEL_ALIAS_KERNEL("CSVDataset");
GRAPNEL_ALIAS_KERNEL("ChooseFastestDataset");
GRAPNEL_ALIAS_KERNEL("DatasetCardinality");
GRAPNEL_ALIAS_KERNEL("DenseToSparseBatchDataset");
GRAPNEL_ALIAS_KERNEL("DirectedInterleaveDataset");
GRAPNEL_ALIAS_KERNEL("GroupByReducerDataset");
GRAPNEL_ALIAS_KERNEL("GroupByWindowDataset");
GRAPNEL_ALIAS_KERNEL("IgnoreErrorsDataset");
GRAPNEL_ALIAS_KERNEL("IteratorGetDevice");
GRAPNEL_ALIAS_KERNEL("LatencyStatsDataset");
GRAPNEL_ALIAS_KERNEL("MapAndBatchDataset");
GRAPNEL_ALIAS_KERNEL("MapDataset");
GRAPNEL_ALIAS_KERNEL("MatchingFilesDataset");
GRAPNEL_ALIAS_KERNEL("MaxIntraOpParallelismDataset");
GRAPNEL_ALIAS_KERNEL("NonSerializableDataset");
GRAPNEL_ALIAS_KERNEL("PrivateThreadPoolDataset");
GRAPNEL_ALIAS_KERNEL("RandomDataset");
GRAPNEL_ALIAS_KERNEL("ScanDataset");
GRAPNEL_ALIAS_KERNEL("SetStatsAggregatorDataset");
GRAPNEL_ALIAS_KERNEL("SleepDataset");
GRAPNEL_ALIAS_KERNEL("SlidingWindowDataset");
GRAPNEL_ALIAS_KERNEL("TakeWhileDataset");
GRAPNEL_ALIAS_KERNEL("UniqueDataset");

}  // namespace
}  // namespace grapnel
