// Loops of kernels that make an output element by element, of which a hook may see parts while they
// are in the cache of the thread that made them.
#ifndef GRAPNEL_LIB_EXEC_ELEMENT_LOOP_H_
#define GRAPNEL_LIB_EXEC_ELEMENT_LOOP_H_

#include "lib/exec/device.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// Counts an output while it is made.
class ElementCounter {
 public:
  virtual ~ElementCounter() = default;
  // Elements [begin, end) of `output` are what they will be: adds them to `sum`. On several threads
  // at once, in any order, each element once.
  virtual void Count(const Tensor& output, int64_t begin, int64_t end, ElementCounts& sum) = 0;
  // What a thread counted in `sum`, of so many elements, when it is through with its part.
  virtual void Add(const ElementCounts& sum, int64_t elements) = 0;
};

// As ctx.ParallelFor(units, cost, body), where unit i makes elements [i * width, (i + 1) * width)
// of `out`, output 0, the last one as far as there are any. Where a hook counts them, in pieces
// that stay in a core's first caches.
void ForElements(KernelContext& ctx, const Tensor& out, int64_t units, int64_t width, double cost,
                 llvm::function_ref<void(int64_t, int64_t)> body);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_EXEC_ELEMENT_LOOP_H_
