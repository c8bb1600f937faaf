// Emulates CUDA launches on one host thread, to test the results of the module's kernels without a
// GPU. The threads of a block with barriers are fibers; blocks run one after the other. Does not
// test speed, races or CUDA's libraries.
#ifndef GRAPNEL_TESTS_CUDA_EMULATED_EMULATE_H_
#define GRAPNEL_TESTS_CUDA_EMULATED_EMULATE_H_

#include <cuda_runtime.h>
#include <math.h>
#include <ucontext.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#undef __global__
#undef __device__
#undef __host__
#undef __shared__
#define __global__
#define __device__
#define __host__
#define __shared__ static

namespace emulated {

inline dim3 grid, block, block_at, thread_at;

struct Fiber {
  ucontext_t context;
  std::vector<char> stack;
  bool done;
};
inline ucontext_t scheduler;
inline std::vector<Fiber> fibers;
inline unsigned current;
inline const std::function<void()>* body;

inline void RunFiber() {
  (*body)();
  fibers[current].done = true;
  swapcontext(&fibers[current].context, &scheduler);
}

inline void RunBlock(unsigned threads) {
  constexpr size_t kStack = 1 << 16;
  fibers.resize(threads);
  for (Fiber& fiber : fibers) {
    fiber.done = false;
    fiber.stack.resize(kStack);
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = fiber.stack.data();
    fiber.context.uc_stack.ss_size = kStack;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, RunFiber, 0);
  }
  for (unsigned done = 0; done < threads;) {
    done = 0;
    for (unsigned t = 0; t < threads; ++t) {
      current = t;
      thread_at = dim3(t);
      if (!fibers[t].done) swapcontext(&scheduler, &fibers[t].context);
      done += fibers[t].done;
    }
    if (done == 0 || done == threads) continue;
    std::fprintf(stderr, "emulated: %u threads of %u are done, others wait at a barrier\n", done,
                 threads);
    std::abort();
  }
}

struct Launch {
  dim3 blocks, threads;
  Launch(dim3 blocks, dim3 threads, size_t, cudaStream_t) : blocks(blocks), threads(threads) {}

  void Run(bool threads_meet, const std::function<void()>& kernel) const {
    grid = blocks;
    block = threads;
    body = &kernel;
    for (unsigned y = 0; y < blocks.y; ++y) {
      for (unsigned x = 0; x < blocks.x; ++x) {
        block_at = dim3(x, y);
        if (threads_meet) {
          RunBlock(threads.x);
          continue;
        }
        for (unsigned t = 0; t < threads.x; ++t) {
          thread_at = dim3(t);
          kernel();
        }
      }
    }
  }
};
template <typename Kernel>
auto operator*(Launch launch, Kernel kernel) {
  return [=](auto... args) { launch.Run(EMULATED_THREADS_MEET, [&] { kernel(args...); }); };
}

}  // namespace emulated

#define gridDim emulated::grid
#define blockDim emulated::block
#define blockIdx emulated::block_at
#define threadIdx emulated::thread_at

inline void __syncthreads() {
  swapcontext(&emulated::fibers[emulated::current].context, &emulated::scheduler);
}
template <typename T>
T atomicAdd(T* to, T value) {
  T old = *to;
  *to += value;
  return old;
}

#endif  // GRAPNEL_TESTS_CUDA_EMULATED_EMULATE_H_
