// Tensors made from a few values: constants, ranges, one-hot rows.
#include <cmath>
#include <cstring>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

Expected<KernelFn> MakeFill(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& value = ctx.input(1);
    if (value.num_elements() != 1 || value.rank() > 1) {
      return MakeError("value must be a scalar or a vector of one element, got shape {0}",
                       DimsText(value.dims()));
    }
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    FillElements(ctx, out->dtype(), out->raw(), out->num_elements(), value.raw());
    return Error::success();
  });
}

Error FillWith(KernelContext& ctx, int number) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, ctx.input(0).dims()));
  if (out->dtype() == proto::DT_STRING) {
    if (number != 0) return MakeError("cannot fill a string tensor with ones");
    return Error::success();
  }
  alignas(16) char value[16] = {};
  if (number != 0) {
    bool known = ForType(out->dtype(), Join<NumberTypes, TypeList<bool>>(), [&](auto tag) {
      using T = typename decltype(tag)::type;
      T one = T(1);
      std::memcpy(value, &one, sizeof one);
      return true;
    });
    if (!known) return MakeError("no kernel for dtype {0}", DataTypeName(out->dtype()));
  }
  FillElements(ctx, out->dtype(), out->raw(), out->num_elements(), value);
  return Error::success();
}

Expected<KernelFn> MakeZerosLike(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return FillWith(ctx, 0); });
}
Expected<KernelFn> MakeOnesLike(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) { return FillWith(ctx, 1); });
}

// Always returns zeros. TensorFlow leaves the memory uninitialized unless `init`; zeros are as
// valid and the same in every run.
Expected<KernelFn> MakeEmpty(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    if (out->dtype() != proto::DT_STRING && out->num_elements() > 0)
      std::memset(out->raw(), 0, out->byte_size());
    return Error::success();
  });
}

template <typename T>
struct RangeOf {
  static Error Run(KernelContext& ctx) {
    const T start = *ctx.input(0).data<T>(), limit = *ctx.input(1).data<T>(),
            delta = *ctx.input(2).data<T>();
    if (delta == T(0)) return MakeError("requires delta != 0: 0");
    if (const double numbers[] = {double(start), double(limit), double(delta)};
        llvm::any_of(numbers, [](double number) { return std::isnan(number); })) {
      return MakeError("start = {0}, limit = {1}, delta = {2}: none may be NaN", numbers[0],
                       numbers[1], numbers[2]);
    }
    if (delta > T(0) ? start > limit : start < limit) {
      return MakeError("requires start {0} limit when delta {1} 0: start = {2}, limit = {3}",
                       delta > T(0) ? "<=" : ">=", delta > T(0) ? ">" : "<",
                       static_cast<double>(start), static_cast<double>(limit));
    }
    int64_t count;
    if constexpr (std::is_integral_v<T>) {
      uint64_t span = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
      uint64_t step =
          delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
      count = static_cast<int64_t>(span / step + (span % step != 0));
    } else {
      // Each operation rounds to T, as in TensorFlow; the rounding can add or remove an element.
      double size = std::ceil(std::abs(static_cast<double>(T(limit - start) / delta)));
      if (!(size < 9e18)) return MakeError("a range of {0} elements is larger than memory", size);
      count = static_cast<int64_t>(size);
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {count}));
    T* data = out->data<T>();
    if constexpr (std::is_integral_v<T>) {
      T value = start;
      for (int64_t i = 0; i < count; ++i) {
        data[i] = value;
        value = AddOf(value, delta);
      }
    } else {
      // As in TensorFlow, the index and each result are rounded to T.
      for (int64_t i = 0; i < count; ++i) {
        T step = T(T(i) * delta);
        data[i] = T(start + step);
      }
    }
    return Error::success();
  }
};

Expected<KernelFn> MakeRange(const KernelSetup& setup) {
  using Run = Error (*)(KernelContext&);
  Run run = ForType(setup.output_type(0), RealTypes(),
                    [](auto tag) -> Run { return &RangeOf<typename decltype(tag)::type>::Run; });
  if (!run) return MakeError("no kernel for dtype {0}", DataTypeName(setup.output_type(0)));
  return KernelFn([run](KernelContext& ctx) -> Error {
    for (int i = 0; i < 3; ++i) {
      if (ctx.input(i).num_elements() != 1) {
        static const char* const kNames[] = {"start", "limit", "delta"};
        return MakeError("{0} must have one element, got shape {1}", kNames[i],
                         DimsText(ctx.input(i).dims()));
      }
    }
    return run(ctx);
  });
}

template <typename T>
struct LinSpaceOf {
  static Error Run(KernelContext& ctx) {
    using Wide = std::conditional_t<sizeof(T) == 8, double, float>;
    int64_t count = ctx.input(2).IntAt(0);
    if (count <= 0) return MakeError("requires num > 0: {0}", count);
    Wide start = Wide(*ctx.input(0).data<T>()), stop = Wide(*ctx.input(1).data<T>());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {count}));
    T* data = out->data<T>();
    Wide step = count > 1 ? (stop - start) / static_cast<Wide>(count - 1) : Wide(0);
    for (int64_t i = 0; i < count; ++i) data[i] = T(start + step * static_cast<Wide>(i));
    if (count > 1) data[count - 1] = T(stop);
    return Error::success();
  }
};

Expected<KernelFn> MakeLinSpace(const KernelSetup& setup) {
  using Run = Error (*)(KernelContext&);
  Run run = ForType(setup.output_type(0), FloatTypes(),
                    [](auto tag) -> Run { return &LinSpaceOf<typename decltype(tag)::type>::Run; });
  if (!run) return MakeError("no kernel for dtype {0}", DataTypeName(setup.output_type(0)));
  return KernelFn([run](KernelContext& ctx) -> Error {
    for (int i = 0; i < 3; ++i) {
      if (ctx.input(i).num_elements() != 1) {
        static const char* const kNames[] = {"start", "stop", "num"};
        return MakeError("{0} must have one element, got shape {1}", kNames[i],
                         DimsText(ctx.input(i).dims()));
      }
    }
    return run(ctx);
  });
}

Expected<KernelFn> MakeOneHot(const KernelSetup& setup) {
  int64_t axis = setup.node().GetInt("axis", -1);
  return KernelFn([axis](KernelContext& ctx) -> Error {
    const Tensor &indices = ctx.input(0), &on = ctx.input(2), &off = ctx.input(3);
    if (ctx.input(1).num_elements() != 1 || on.num_elements() != 1 || off.num_elements() != 1) {
      return MakeError(
          "depth, on_value and off_value must have one element each, got shapes {0}, {1}, {2}",
          DimsText(ctx.input(1).dims()), DimsText(on.dims()), DimsText(off.dims()));
    }
    int64_t depth = ctx.input(1).IntAt(0);
    if (depth < 0) return MakeError("depth must be non-negative, got {0}", depth);
    if (axis < -1 || axis > indices.rank()) {
      return MakeError("expected an axis in [-1, {0}], got {1}", indices.rank(), axis);
    }
    int at = axis < 0 ? indices.rank() : static_cast<int>(axis);
    Dims dims(indices.dims().begin(), indices.dims().end());
    dims.insert(dims.begin() + at, depth);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    FillElements(ctx, out->dtype(), out->raw(), out->num_elements(), off.raw());
    int64_t inner = 1;
    for (int d = at; d < indices.rank(); ++d) inner *= indices.dim(d);
    // Indices outside [0, depth) give rows of off_value.
    for (int64_t i = 0; i < indices.num_elements(); ++i) {
      int64_t hot = indices.IntAt(i);
      if (hot < 0 || hot >= depth) continue;
      CopyElements(out->dtype(), on.raw(), At(*out, (i / inner * depth + hot) * inner + i % inner),
                   1);
    }
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("Fill", MakeFill);
// state/variant_sum.cpp has the kernel for variants.
GRAPNEL_CPU_KERNEL("ZerosLike", MakeZerosLike,
                   OfTypes("T", DataTypesOf(Join<NumberTypes, TypeList<bool, std::string>>())));
GRAPNEL_CPU_KERNEL("OnesLike", MakeOnesLike);
GRAPNEL_CPU_KERNEL("Empty", MakeEmpty);
GRAPNEL_CPU_KERNEL("Range", MakeRange, OfTypes("Tidx", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("LinSpace", MakeLinSpace, OfTypes("T", DataTypesOf(FloatTypes())));
GRAPNEL_CPU_KERNEL("OneHot", MakeOneHot);

}  // namespace
}  // namespace grapnel
