// Comparisons: two operands, boolean results.
#include <cmath>

#include "kernels/cpu/math/elementwise_binary.h"

namespace grapnel {
namespace {

using EqualTypes = Join<NumberTypes, TypeList<bool, std::string>>;

struct EqualOp {
  using Types = EqualTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static bool Run(const T& a, const T& b) {
    return a == b;
  }
};
struct NotEqualOp {
  using Types = EqualTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static bool Run(const T& a, const T& b) {
    return a != b;
  }
};
struct LessOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static bool Run(T a, T b) {
    return a < b;
  }
};
struct LessEqualOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static bool Run(T a, T b) {
    return a <= b;
  }
};
struct GreaterOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static bool Run(T a, T b) {
    return a > b;
  }
};
struct GreaterEqualOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static bool Run(T a, T b) {
    return a >= b;
  }
};

// With incompatible_shape_error=false, shapes that do not broadcast compare as unequal instead of
// being an error.
template <typename Op>
Expected<KernelFn> MakeEquality(const KernelSetup& setup) {
  BinaryOp op = BinaryOpFor<Op>(setup.input_type(0));
  bool strict = setup.node().GetBool("incompatible_shape_error", true);
  return KernelFn([op, strict](KernelContext& ctx) -> Error {
    if (!strict) {
      auto plan = PlanBroadcast({ctx.input(0).dims(), ctx.input(1).dims()});
      if (!plan) {
        llvm::consumeError(plan.takeError());
        ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, {}));
        *output->data<bool>() = std::is_same_v<Op, NotEqualOp>;
        return Error::success();
      }
    }
    return RunBinary(ctx, op);
  });
}

template <typename T>
struct Approximate {
  static void Run(const Tensor& a, const Tensor& b, float tolerance, bool* out, int64_t begin,
                  int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if constexpr (kIsSmallFloat<T>) {
        out[i] = std::abs(static_cast<float>(a.data<T>()[i]) - static_cast<float>(b.data<T>()[i])) <
                 tolerance;
      } else if constexpr (std::is_unsigned_v<T>) {
        out[i] = static_cast<T>(a.data<T>()[i] - b.data<T>()[i]) < tolerance;
      } else if constexpr (std::is_integral_v<T>) {
        out[i] = std::abs(static_cast<double>(SubOf(a.data<T>()[i], b.data<T>()[i]))) < tolerance;
      } else {
        out[i] = std::abs(a.data<T>()[i] - b.data<T>()[i]) < tolerance;
      }
    }
  }
};

Expected<KernelFn> MakeApproximateEqual(const KernelSetup& setup) {
  float tolerance = setup.node().GetFloat("tolerance", 1e-5f);
  return KernelFn([tolerance](KernelContext& ctx) -> Error {
    const Tensor &a = ctx.input(0), &b = ctx.input(1);
    if (a.dims() != b.dims()) {
      return MakeError("x and y must be of the same shape, got {0} and {1}", DimsText(a.dims()),
                       DimsText(b.dims()));
    }
    ASSIGN_OR_RETURN(Tensor * output, ctx.Allocate(0, a.dims()));
    bool* out = output->data<bool>();
    using Loop = void (*)(const Tensor&, const Tensor&, float, bool*, int64_t, int64_t);
    Loop loop = ForType(a.dtype(), NumberTypes(), [](auto tag) -> Loop {
      return &Approximate<typename decltype(tag)::type>::Run;
    });
    ctx.ParallelFor(a.num_elements(), 1,
                    [&](int64_t begin, int64_t end) { loop(a, b, tolerance, out, begin, end); });
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("Equal", MakeEquality<EqualOp>, OfTypes("T", DataTypesOf(EqualTypes())));
GRAPNEL_CPU_KERNEL("NotEqual", MakeEquality<NotEqualOp>, OfTypes("T", DataTypesOf(EqualTypes())));
GRAPNEL_BINARY_KERNEL("Less", LessOp);
GRAPNEL_BINARY_KERNEL("LessEqual", LessEqualOp);
GRAPNEL_BINARY_KERNEL("Greater", GreaterOp);
GRAPNEL_BINARY_KERNEL("GreaterEqual", GreaterEqualOp);
GRAPNEL_CPU_KERNEL("ApproximateEqual", MakeApproximateEqual,
                   OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
