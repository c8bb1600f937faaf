// Sliding windows: batches with a stride between elements and a shift between batches.
#include <algorithm>

#include "kernels/cpu/data/dataset.h"

namespace grapnel {
namespace {

struct Window {
  int64_t size, shift, stride;
  bool drop;
};

// Yields batches of `size` elements, `stride` apart, that start `shift` apart. Unless `drop` is
// set, the last batches may be shorter.
DatasetNext WindowsOf(DatasetNext input, Window window) {
  return [input = std::move(input), window, buffer = std::vector<DatasetElement>(),
          skip = int64_t{0}, done = false](DatasetContext& context) mutable -> NextElement {
    size_t reach = static_cast<size_t>((window.size - 1) * window.stride + 1);
    while (!done && buffer.size() < reach) {
      ASSIGN_OR_RETURN(auto element, input(context));
      done = !element;
      if (!element) break;
      if (skip > 0)
        --skip;
      else
        buffer.push_back(std::move(*element));
    }
    if (buffer.empty() || (window.drop && buffer.size() < reach)) return NoElement();
    std::vector<DatasetElement> rows;
    for (size_t i = 0; i < std::min(buffer.size(), reach); i += window.stride)
      rows.push_back(buffer[i]);
    size_t gone = std::min<size_t>(buffer.size(), window.shift);
    buffer.erase(buffer.begin(), buffer.begin() + gone);
    skip = window.shift - static_cast<int64_t>(gone);
    ASSIGN_OR_RETURN(DatasetElement batch, StackElements(context.services, rows));
    return std::optional(std::move(batch));
  };
}

Expected<KernelFn> MakeSlidingWindow(const KernelSetup& setup) {
  bool drop = setup.node().GetBool("drop_remainder", true);
  return KernelFn([node = setup.node(), drop](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t shift, ScalarIn(ctx, 2));
    ASSIGN_OR_RETURN(int64_t stride, ScalarIn(ctx, 3));
    int64_t reach = 0;
    if (size < 1 || shift < 1 || stride < 1 || __builtin_mul_overflow(size, stride, &reach))
      return MakeError(
          "a window of {0} elements, shift {1}, stride {2}: each must be 1 or more, and elements "
          "times stride must fit in 64 bits",
          size, shift, stride);
    return PutDataset(ctx, node, Dataset::kUnknown,
                      [=](DatasetContext& begin) -> Expected<DatasetNext> {
                        ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
                        return WindowsOf(std::move(next), {size, shift, stride, drop});
                      });
  });
}

GRAPNEL_CPU_KERNEL("SlidingWindowDataset", MakeSlidingWindow, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
