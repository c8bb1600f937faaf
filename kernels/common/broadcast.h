// NumPy broadcasting: planned once, then run over a few long rows.
#ifndef GRAPNEL_KERNELS_COMMON_BROADCAST_H_
#define GRAPNEL_KERNELS_COMMON_BROADCAST_H_

#include "lib/exec/kernel.h"

namespace grapnel {

// A plan to traverse several operands and produce one result. Dimensions that all operands traverse
// alike are merged, and dimensions of size 1 are dropped: [8,32,32,64] op [64] becomes [8192,64]
// with strides {64,1} and {0,1}.
struct BroadcastPlan {
  using Sizes = llvm::SmallVector<int64_t, 6>;

  Dims dims;                            // of the result, unmerged
  int64_t total = 0;                    // number of elements of the result
  Sizes sizes;                          // merged; never empty: {1} for a single element
  llvm::SmallVector<Sizes, 3> strides;  // one list per operand, in elements; 0: it repeats

  // Splits the elements [begin, end) of the result into runs within the merged last dimension and
  // calls row(out, offsets, n) for each: n elements that start at element `out` of the result and
  // at element offsets[k] of operand k.
  template <typename F>
  void ForRows(int64_t begin, int64_t end, F&& row) const;
};

// Returns the plan for operands of these shapes. Fails if they do not broadcast (the error shows
// all shapes: "incompatible shapes: [2,3] vs. [4]"), or if the result has too many elements to
// count.
Expected<BroadcastPlan> PlanBroadcast(llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes);

template <typename F>
void BroadcastPlan::ForRows(int64_t begin, int64_t end, F&& row) const {
  if (begin >= end) return;
  int last = static_cast<int>(sizes.size()) - 1;
  Sizes index(sizes.size(), 0);
  llvm::SmallVector<int64_t, 3> offsets(strides.size(), 0);
  for (int64_t rest = begin, d = last; d >= 0; --d) {
    index[d] = rest % sizes[d];
    rest /= sizes[d];
    for (size_t k = 0; k < strides.size(); ++k) offsets[k] += index[d] * strides[k][d];
  }
  while (begin < end) {
    int64_t n = std::min(end - begin, sizes[last] - index[last]);
    row(begin, llvm::ArrayRef<int64_t>(offsets), n);
    begin += n;
    // Move on to the start of the next row.
    for (size_t k = 0; k < strides.size(); ++k) offsets[k] -= index[last] * strides[k][last];
    index[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      for (size_t k = 0; k < strides.size(); ++k) offsets[k] += strides[k][d];
      if (++index[d] < sizes[d]) break;
      for (size_t k = 0; k < strides.size(); ++k) offsets[k] -= sizes[d] * strides[k][d];
      index[d] = 0;
    }
  }
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_COMMON_BROADCAST_H_
