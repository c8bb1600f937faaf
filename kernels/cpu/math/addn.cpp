// AddN and AccumulateNV2, and L2Loss: half the sum of squares.
#include "kernels/cpu/math/addn.h"

#include <vector>

#include "kernels/common/half_fold.h"
#include "kernels/common/rounded_half.h"
#include "lib/exec/element_loop.h"

namespace grapnel {
namespace {

template <typename T>
void AddPair(const void* pa, const void* pb, void* po, int64_t n) {
  const T *a = static_cast<const T*>(pa), *b = static_cast<const T*>(pb);
  T* out = static_cast<T*>(po);
  if constexpr (kIsSmallFloat<T>) {
    float wide_a[kFloatBlock], wide_b[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      int64_t m = std::min(kFloatBlock, n - i);
      Widen(a + i, wide_a, m);
      Widen(b + i, wide_b, m);
      for (int64_t j = 0; j < m; ++j) wide_a[j] += wide_b[j];
      Narrow(wide_a, out + i, m);
    }
  } else {
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = AddOf(a[i], b[i]);
  }
}

Error AddAll(KernelContext& ctx, AddLoop add) {
  const Tensor& front = ctx.input(0);
  int forwarded = -1;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    if (ctx.input(i).dims() != front.dims()) {
      return MakeError("inputs must have the same shape: input 0 is {0}, input {1} is {2}",
                       DimsText(front.dims()), i, DimsText(ctx.input(i).dims()));
    }
    if (forwarded < 0 && ctx.input(i).OwnsAlone()) forwarded = i;
  }
  if (ctx.num_inputs() == 1) {
    ctx.SetOutput(0, front);
    return Error::success();
  }
  // Inputs are added in order, whichever input's memory the sum reuses, so that the result is
  // bitwise reproducible. Only the first two inputs can be overwritten: the first addition reads
  // both of them before it writes; a later input would be overwritten before it is read.
  if (forwarded > 1) forwarded = -1;
  Tensor* out;
  if (forwarded >= 0) {
    ASSIGN_OR_RETURN(out, ctx.ForwardOrAllocate(forwarded, 0, front.dims()));
  } else {
    ASSIGN_OR_RETURN(out, ctx.Allocate(0, front.dims()));
  }
  size_t size = DataTypeSize(front.dtype());
  ForElements(
      ctx, *out, front.num_elements(), 1, 0.3 * ctx.num_inputs(), [&](int64_t begin, int64_t end) {
        // Blocks that stay in the L1 cache while all inputs are added to them.
        constexpr int64_t kBlock = 4096;
        for (int64_t at = begin; at < end; at += kBlock) {
          int64_t n = std::min(kBlock, end - at);
          auto in = [&](int i) { return static_cast<const char*>(ctx.input(i).raw()) + at * size; };
          char* to = static_cast<char*>(out->raw()) + at * size;
          add(in(0), in(1), to, n);
          for (int i = 2; i < ctx.num_inputs(); ++i) add(to, in(i), to, n);
        }
      });
  return Error::success();
}

Expected<KernelFn> MakeAddN(const KernelSetup& setup) {
  AddLoop add = AddLoopFor(setup.output_type(0));
  if (!add) return MakeError("no kernel for dtype {0}", DataTypeName(setup.output_type(0)));
  if (setup.num_inputs() < 1) return MakeError("the node has no inputs to add");
  return KernelFn([add](KernelContext& ctx) { return AddAll(ctx, add); });
}

template <typename T>
double SquaresOf(const Tensor& in) {
  const T* data = in.data<T>();
  constexpr int kLanes = 8;
  double sums[kLanes] = {};
  int64_t n = in.num_elements(), i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (int k = 0; k < kLanes; ++k) {
      double x = static_cast<double>(data[i + k]);
      sums[k] += x * x;
    }
  }
  for (; i < n; ++i) sums[0] += static_cast<double>(data[i]) * static_cast<double>(data[i]);
  double sum = 0;
  for (double part : sums) sum += part;
  return sum;
}

// 16-bit floats round at each step, in TensorFlow's order.
template <typename T>
T SteppedHalfSquares(const Tensor& in) {
  std::vector<T> parts(in.num_elements());
  for (size_t i = 0; i < parts.size(); ++i) {
    RoundedHalf<T> x(static_cast<float>(in.data<T>()[i]));
    parts[i] = T((x * x * RoundedHalf<T>(0.5f)).value());
  }
  return T(FoldRow(HalfFold::kSum, parts.data(), in.num_elements()));
}

Expected<KernelFn> MakeL2Loss(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
    ForType(out->dtype(), FloatTypes(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      if constexpr (kIsSmallFloat<T>)
        *out->data<T>() = SteppedHalfSquares<T>(ctx.input(0));
      else
        *out->data<T>() = static_cast<T>(SquaresOf<T>(ctx.input(0)) / 2);
      return true;
    });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("AddN", MakeAddN, OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("AccumulateNV2", MakeAddN, OfTypes("T", DataTypesOf(NumberTypes())));
GRAPNEL_CPU_KERNEL("L2Loss", MakeL2Loss, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace

AddLoop AddLoopFor(DataType dtype) {
  return ForType(dtype, NumberTypes(),
                 [](auto tag) -> AddLoop { return &AddPair<typename decltype(tag)::type>; });
}

}  // namespace grapnel
