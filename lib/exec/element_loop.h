// Loops for kernels that compute an output element by element. A hook may count classes of elements
// (NaN, zero, ...) in each part of the output while the part is still in the cache of the thread
// that computed it.
#ifndef GRAPNEL_LIB_EXEC_ELEMENT_LOOP_H_
#define GRAPNEL_LIB_EXEC_ELEMENT_LOOP_H_

#include "lib/exec/device.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// Counts the elements of an output while a kernel computes it.
class ElementCounter {
 public:
  virtual ~ElementCounter() = default;
  // Adds the counts of elements [begin, end) of `output`, which are final, to `sum`. May be called
  // on several threads at once, in any order; each element is in exactly one call.
  virtual void Count(const Tensor& output, int64_t begin, int64_t end, ElementCounts& sum) = 0;
  // Adds the counts of one part of the output to the total. Called on the thread that computed the
  // part, which has `elements` elements, when the part is finished.
  virtual void Add(const ElementCounts& sum, int64_t elements) = 0;
};

// Like ctx.ParallelFor(units, cost, body), where unit i computes elements [i * width, (i + 1) *
// width) of `out`, which is output 0; the last unit may be partial. When a hook counts elements,
// the loop runs in small pieces, each of which is counted while it is in the cache.
void ForElements(KernelContext& ctx, const Tensor& out, int64_t units, int64_t width, double cost,
                 llvm::function_ref<void(int64_t, int64_t)> body);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_ELEMENT_LOOP_H_
