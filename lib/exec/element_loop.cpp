#include "lib/exec/element_loop.h"

#include <algorithm>

#include "lib/exec/call_stack.h"
#include "lib/exec/executor.h"

namespace grapnel {
namespace {

constexpr int64_t kPiece = 8192;         // elements: 32 KiB of floats
constexpr int64_t kWorthPieces = 16384;  // smaller outputs are in the cache when the kernel ends

}  // namespace

void ForElements(KernelContext& ctx, const Tensor& out, int64_t units, int64_t width, double cost,
                 llvm::function_ref<void(int64_t, int64_t)> body) {
  RunHook* hook = out.num_elements() < kWorthPieces ? nullptr : HookOfRunningNode();
  ElementCounter* counter = hook ? hook->Counter(*RunningNode(), out) : nullptr;
  if (!counter) return ctx.ParallelFor(units, cost, body);
  int64_t step = std::max<int64_t>(1, kPiece / width), all = out.num_elements();
  ctx.ParallelFor(units, cost, [&](int64_t begin, int64_t end) {
    ElementCounts sum;
    for (int64_t at = begin; at < end; at += step) {
      int64_t to = std::min(end, at + step);
      body(at, to);
      counter->Count(out, at * width, std::min(all, to * width), sum);
    }
    counter->Add(sum, std::min(all, end * width) - begin * width);
  });
}

}  // namespace grapnel
