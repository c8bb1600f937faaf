// Elements selected by a condition: Select, SelectV2, ClipByValue.
#include "kernels/common/broadcast.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

// Selects n elements of a row. `steps` has one stride per operand: 0 if a single element of the
// operand serves the whole row, else 1.
using SelectLoop = void (*)(const bool* condition, const void* yes, const void* no, void* out,
                            int64_t n, const int64_t* steps);

struct Bytes16 {
  uint64_t low, high;
};

template <typename E>
void SelectRow(const bool* condition, const void* pyes, const void* pno, void* po, int64_t n,
               const int64_t* steps) {
  const E *yes = static_cast<const E*>(pyes), *no = static_cast<const E*>(pno);
  E* out = static_cast<E*>(po);
  if (steps[0] == 0) {
    const E* chosen = *condition ? yes : no;
    int64_t step = *condition ? steps[1] : steps[2];
    for (int64_t i = 0; i < n; ++i) out[i] = chosen[i * step];
  } else if (std::is_trivially_copyable_v<E> && steps[1] && steps[2]) {
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) {
      E a = yes[i], b = no[i];
      out[i] = condition[i] ? a : b;
    }
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = condition[i] ? yes[i * steps[1]] : no[i * steps[2]];
  }
}

SelectLoop LoopFor(DataType dtype) {
  switch (DataTypeSize(dtype)) {
    case 1:
      return SelectRow<uint8_t>;
    case 2:
      return SelectRow<uint16_t>;
    case 4:
      return SelectRow<uint32_t>;
    case 8:
      return SelectRow<uint64_t>;
    case 16:
      return SelectRow<Bytes16>;
    default:
      return SelectRow<std::string>;
  }
}

Error SelectV2(KernelContext& ctx) {
  const Tensor &condition = ctx.input(0), &yes = ctx.input(1), &no = ctx.input(2);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({condition.dims(), yes.dims(), no.dims()}));
  Tensor* out;
  llvm::ArrayRef<int64_t> dims = plan.dims;
  int forwarded = yes.dims() == dims && yes.OwnsAlone() ? 1
                  : no.dims() == dims && no.OwnsAlone() ? 2
                                                        : -1;
  if (forwarded > 0) {
    ASSIGN_OR_RETURN(out, ctx.ForwardOrAllocate(forwarded, 0, dims));
  } else {
    ASSIGN_OR_RETURN(out, ctx.Allocate(0, dims));
  }
  if (plan.total == 0) return Error::success();
  SelectLoop select = LoopFor(yes.dtype());
  int64_t steps[3] = {plan.strides[0].back(), plan.strides[1].back(), plan.strides[2].back()};
  ctx.ParallelFor(plan.total, 0.6, [&](int64_t begin, int64_t end) {
    plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
      select(condition.data<bool>() + offsets[0], At(yes, offsets[1]), At(no, offsets[2]),
             At(*out, at), n, steps);
    });
  });
  return Error::success();
}

// Select, unlike SelectV2, broadcasts only the condition: a scalar, or a vector that selects whole
// rows.
Error Select(KernelContext& ctx) {
  const Tensor &condition = ctx.input(0), &yes = ctx.input(1), &no = ctx.input(2);
  if (yes.dims() != no.dims()) {
    return MakeError("'then' and 'else' must have the same shape, got {0} and {1}",
                     DimsText(yes.dims()), DimsText(no.dims()));
  }
  if (condition.dims() == yes.dims() || condition.rank() == 0) return SelectV2(ctx);
  if (condition.rank() != 1 || yes.rank() < 1 || condition.dim(0) != yes.dim(0)) {
    return MakeError(
        "the condition must be a scalar, a vector with one element per row of 'then', or of the "
        "shape of 'then': got shape {0} for {1}",
        DimsText(condition.dims()), DimsText(yes.dims()));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, yes.dims()));
  int64_t rows = yes.dim(0), length = rows ? yes.num_elements() / rows : 0;
  for (int64_t i = 0; i < rows; ++i) {
    const Tensor& from = condition.data<bool>()[i] ? yes : no;
    CopyElements(yes.dtype(), At(from, i * length), At(*out, i * length), length);
  }
  return Error::success();
}

Expected<KernelFn> MakeSelect(const KernelSetup&) { return KernelFn(Select); }
Expected<KernelFn> MakeSelectV2(const KernelSetup&) { return KernelFn(SelectV2); }

using ClipLoop = void (*)(const void* in, const void* low, const void* high, void* out, int64_t n,
                          int64_t low_step, int64_t high_step);

// Applies the upper bound first: with swapped bounds the lower one is the result, and NaN stays
// NaN.
template <typename T>
T ClipOne(T x, T low, T high) {
  T below = high < x ? high : x;
  return below < low ? low : below;
}

template <typename T>
void ClipRow(const void* pin, const void* plow, const void* phigh, void* po, int64_t n,
             int64_t low_step, int64_t high_step) {
  const T *in = static_cast<const T*>(pin), *low = static_cast<const T*>(plow),
          *high = static_cast<const T*>(phigh);
  T* out = static_cast<T*>(po);
  if (low_step == 0 && high_step == 0) {
    const T lowest = *low, highest = *high;
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = ClipOne(in[i], lowest, highest);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = ClipOne(in[i], low[i * low_step], high[i * high_step]);
  }
}

Expected<KernelFn> MakeClipByValue(const KernelSetup& setup) {
  ClipLoop clip = ForType(setup.input_type(0), RealTypes(), [](auto tag) -> ClipLoop {
    return &ClipRow<typename decltype(tag)::type>;
  });
  if (!clip) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  return KernelFn([clip](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &low = ctx.input(1), &high = ctx.input(2);
    for (const Tensor* bound : {&low, &high}) {
      if (bound->rank() != 0 && bound->dims() != in.dims()) {
        return MakeError(
            "clip_value_min and clip_value_max must be scalars or of the shape of the input: input "
            "{0}, "
            "clip_value_min {1}, clip_value_max {2}",
            DimsText(in.dims()), DimsText(low.dims()), DimsText(high.dims()));
      }
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    int64_t low_step = low.rank() != 0, high_step = high.rank() != 0;
    ctx.ParallelFor(in.num_elements(), 0.4, [&](int64_t begin, int64_t end) {
      clip(At(in, begin), At(low, begin * low_step), At(high, begin * high_step), At(*out, begin),
           end - begin, low_step, high_step);
    });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("Select", MakeSelect);
GRAPNEL_CPU_KERNEL("SelectV2", MakeSelectV2);
GRAPNEL_CPU_KERNEL("ClipByValue", MakeClipByValue, OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
