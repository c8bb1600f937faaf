// A dataset that keeps a random sample of its input.
#include "kernels/common/philox.h"
#include "kernels/cpu/data/dataset.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

// Returns a float in [0, 1): the lowest 23 bits of `bits` as a fraction.
float UnitFloat(uint32_t bits) { return static_cast<float>(bits & 0x7fffff) * 0x1p-23f; }

// Keeps each element with probability `rate`, using the random stream of the seeds.
Expected<KernelFn> MakeSampling(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    if (ctx.input(1).num_elements() != 1) return MakeError("rate must have one element");
    float rate = *ctx.input(1).data<float>();
    ASSIGN_OR_RETURN(int64_t first, ScalarIn(ctx, 2));
    ASSIGN_OR_RETURN(int64_t second, ScalarIn(ctx, 3));
    // Without seeds, the numbers are derived from the node's name, so that a run can be repeated.
    if (first == 0 && second == 0) first = static_cast<int64_t>(llvm::xxHash64(node.name()));
    return PutDataset(
        ctx, node, Dataset::kUnknown, [=](DatasetContext& begin) -> Expected<DatasetNext> {
          ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
          PhiloxNumbers numbers(
              Philox::FromSeeds(static_cast<uint64_t>(first), static_cast<uint64_t>(second)));
          return DatasetNext([next = std::move(next), numbers,
                              rate](DatasetContext& context) mutable -> NextElement {
            for (;;) {
              ASSIGN_OR_RETURN(auto element, next(context));
              if (!element || UnitFloat(static_cast<uint32_t>(numbers.Next())) < rate)
                return element;
            }
          });
        });
  });
}

GRAPNEL_CPU_KERNEL("SamplingDataset", MakeSampling, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
