// The traversal shared by Sum, Max and other reductions; a table of loops defines what happens to
// the elements.
#ifndef GRAPNEL_KERNELS_CPU_MATH_REDUCTION_H_
#define GRAPNEL_KERNELS_CPU_MATH_REDUCTION_H_

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// Loops over accumulators of `size` bytes each. `count` is the number of elements reduced into one
// result.
struct ReduceLoops {
  size_t size = 0;
  void (*init)(void* acc, int64_t n) = nullptr;
  // Reduces n adjacent elements into acc[0].
  void (*row)(const void* in, int64_t n, void* acc) = nullptr;
  // Reduces element j of each of `rows` rows of n elements, `stride` elements apart, into acc[j].
  void (*columns)(const void* in, int64_t rows, int64_t stride, int64_t n, void* acc) = nullptr;
  // Sets acc[g * width + j] to the combination of from[(g * times + i) * width + j] over all i.
  void (*fold)(const void* from, int64_t groups, int64_t times, int64_t width, void* acc) = nullptr;
  void (*merge)(const void* from, void* acc, int64_t n) = nullptr;
  void (*finish)(const void* acc, int64_t n, int64_t count, void* out) = nullptr;
};

// The dimensions of a reduction over the axes in `axes`. `result`: those of the result. `merged`:
// those of the input, outermost first, without sizes of 1 and with neighbors merged when both are
// kept or both reduced.
struct ReducedDims {
  struct Merged {
    int64_t size, stride;
    bool reduced;
  };
  Dims result;
  llvm::SmallVector<Merged, 8> merged;
};
Expected<ReducedDims> ReadReducedDims(const Tensor& in, const Tensor& axes, bool keep_dims);

// Reduces input 0 over the axes in input 1. The order of the steps depends only on shapes, not on
// threads.
Error Reduce(KernelContext& ctx, const ReduceLoops& loops, bool keep_dims);

// Loops of a reduction R over elements T. R defines types Lane (the accumulator of the inner loop)
// and Acc (the type that lanes are combined in, wider where the errors of many lanes would show)
// and Lane Start(), Lane Step(Lane, In), Acc Gather(Acc, Acc) and Out Finish(Acc, count). In is T,
// or float for 16-bit floats.
template <typename R, typename T>
struct ReduceLoopsOf {
  using Lane = typename R::Lane;
  using Acc = typename R::Acc;
  using In = std::conditional_t<kIsSmallFloat<T>, float, T>;
  static constexpr int kLanes = 32;
  static constexpr int64_t kRowBlock = 1024;
  static constexpr int64_t kColumnTile = 128;
  static constexpr int64_t kRowsPerFlush = 64;
  static_assert(kRowBlock >= kFloatBlock);

  static void Init(void* acc, int64_t n) {
    std::fill_n(static_cast<Acc*>(acc), n, Acc(R::Start()));
  }

  static Acc Block(const In* in, int64_t n) {
    Lane lanes[kLanes];
    std::fill_n(lanes, kLanes, R::Start());
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      for (int k = 0; k < kLanes; ++k) lanes[k] = R::Step(lanes[k], in[i + k]);
    }
    for (int k = 0; i + k < n; ++k) lanes[k] = R::Step(lanes[k], in[i + k]);
    // Repeatedly combines the first half of the lanes with the second, which the compiler
    // vectorizes.
    Acc acc[kLanes];
    for (int k = 0; k < kLanes; ++k) acc[k] = Acc(lanes[k]);
    for (int half = kLanes / 2; half > 0; half /= 2) {
      for (int k = 0; k < half; ++k) acc[k] = R::Gather(acc[k], acc[k + half]);
    }
    return acc[0];
  }

  static void Row(const void* pin, int64_t n, void* pacc) {
    const T* in = static_cast<const T*>(pin);
    Acc& acc = *static_cast<Acc*>(pacc);
    if constexpr (kIsSmallFloat<T>) {
      float wide[kFloatBlock];
      for (int64_t i = 0; i < n; i += kFloatBlock) {
        int64_t m = std::min(kFloatBlock, n - i);
        Widen(in + i, wide, m);
        acc = R::Gather(acc, Block(wide, m));
      }
    } else {
      for (int64_t i = 0; i < n; i += kRowBlock)
        acc = R::Gather(acc, Block(in + i, std::min(kRowBlock, n - i)));
    }
  }

  static void Columns(const void* pin, int64_t rows, int64_t stride, int64_t n, void* pacc) {
    const T* in = static_cast<const T*>(pin);
    Acc* acc = static_cast<Acc*>(pacc);
    Lane lanes[kColumnTile];
    for (int64_t j0 = 0; j0 < n; j0 += kColumnTile) {
      int64_t m = std::min(kColumnTile, n - j0);
      for (int64_t r0 = 0; r0 < rows; r0 += kRowsPerFlush) {
        std::fill_n(lanes, m, R::Start());
        int64_t r = r0, end = std::min(r0 + kRowsPerFlush, rows);
        const T* row = in + r * stride + j0;
        if constexpr (!kIsSmallFloat<T>) {
          // Loads and stores the lanes once per four rows.
          for (; r + 4 <= end; r += 4, row += 4 * stride) {
            for (int64_t j = 0; j < m; ++j) {
              Lane lane = R::Step(R::Step(lanes[j], row[j]), row[stride + j]);
              lanes[j] = R::Step(R::Step(lane, row[2 * stride + j]), row[3 * stride + j]);
            }
          }
        }
        for (; r < end; ++r, row += stride) {
          if constexpr (kIsSmallFloat<T>) {
            float wide[kColumnTile];
            Widen(row, wide, m);
            for (int64_t j = 0; j < m; ++j) lanes[j] = R::Step(lanes[j], wide[j]);
          } else {
            for (int64_t j = 0; j < m; ++j) lanes[j] = R::Step(lanes[j], row[j]);
          }
        }
        for (int64_t j = 0; j < m; ++j) acc[j0 + j] = R::Gather(acc[j0 + j], Acc(lanes[j]));
      }
    }
  }

  static void Fold(const void* pfrom, int64_t groups, int64_t times, int64_t width, void* pacc) {
    const Acc* from = static_cast<const Acc*>(pfrom);
    Acc* acc = static_cast<Acc*>(pacc);
    for (int64_t g = 0; g < groups; ++g, from += times * width, acc += width) {
      constexpr int kAtOnce = 4;  // several independent results hide the latency of an addition
      if (width == 1 && g + kAtOnce <= groups) {
        for (int k = 0; k < kAtOnce; ++k) acc[k] = from[k * times];
        for (int64_t i = 1; i < times; ++i) {
          for (int k = 0; k < kAtOnce; ++k) acc[k] = R::Gather(acc[k], from[k * times + i]);
        }
        g += kAtOnce - 1, from += (kAtOnce - 1) * times, acc += kAtOnce - 1;
        continue;
      }
      std::copy_n(from, width, acc);
      for (int64_t i = 1; i < times; ++i) {
        for (int64_t j = 0; j < width; ++j) acc[j] = R::Gather(acc[j], from[i * width + j]);
      }
    }
  }

  static void Merge(const void* from, void* acc, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      Acc& target = static_cast<Acc*>(acc)[i];
      target = R::Gather(target, static_cast<const Acc*>(from)[i]);
    }
  }

  static void Finish(const void* acc, int64_t n, int64_t count, void* out) {
    for (int64_t i = 0; i < n; ++i)
      static_cast<T*>(out)[i] = R::template Finish<T>(static_cast<const Acc*>(acc)[i], count);
  }

  static ReduceLoops Get() { return {sizeof(Acc), Init, Row, Columns, Fold, Merge, Finish}; }
};

// Handles Sum, Mean, Prod and EuclideanNorm of half, and Prod of bfloat16.
Expected<KernelFn> MakeHalfReduction(const KernelSetup& setup);

template <template <typename> typename R, typename Types>
Expected<KernelFn> MakeReduction(const KernelSetup& setup) {
  ReduceLoops loops = ForType(setup.input_type(0), Types(), [](auto tag) {
    using T = typename decltype(tag)::type;
    return ReduceLoopsOf<R<T>, T>::Get();
  });
  if (!loops.init) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  bool keep_dims = setup.node().GetBool("keep_dims");
  return KernelFn([loops, keep_dims](KernelContext& ctx) { return Reduce(ctx, loops, keep_dims); });
}

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_REDUCTION_H_
