// Gradients of activations and other unary functions. They take the function's result where that is
// cheaper. A NaN in the gradient always propagates.
#include <cmath>

#include "kernels/cpu/math/elementwise_binary.h"
#include "lib/exec/element_loop.h"

namespace grapnel {
namespace {

template <typename T>
T ConjugateOf(T x) {
  if constexpr (kIsComplex<T>)
    return std::conj(x);
  else
    return x;
}

// --- (gradient, features)

struct ReluGradOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T gradient, T x) {
    return MulOf(gradient, x > T(0) ? T(1) : T(0));
  }
};
struct Relu6GradOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T gradient, T x) {
    return MulOf(gradient, ((x > T(0)) & (x < T(6))) ? T(1) : T(0));
  }
};
struct SoftplusGradOp {
  using Types = FloatTypes;
  static constexpr double kCost = 6;
  template <typename T>
  static T Run(T gradient, T x) {
    return gradient / (std::exp(-x) + T(1));
  }
  template <typename S>
  static S PerStepRounding(S gradient, S x) {
    return gradient / (Exp(-x) + S(1));
  }
};
struct SoftsignGradOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.8;
  template <typename T>
  static T Run(T gradient, T x) {
    T slope = T(1) + std::abs(x);
    return gradient / (slope * slope);
  }
  template <typename S>
  static S PerStepRounding(S gradient, S x) {
    S slope = S(1) + Abs(x);
    return gradient / (slope * slope);
  }
};

// --- (gradient, result)

struct EluGradOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T gradient, T y) {
    return y < T(0) ? (y + T(1)) * gradient : gradient;
  }
  template <typename S>
  static S PerStepRounding(S gradient, S y) {
    return Run(gradient, y);
  }
};
struct SeluGradOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T gradient, T y) {
    const T scale(1.0507009873554804934193349852946);
    const T scale_alpha(1.7580993408473768599402175208123);
    return y < T(0) ? gradient * (y + scale_alpha) : gradient * scale;
  }
  template <typename S>
  static S PerStepRounding(S gradient, S y) {
    return Run(gradient, y);
  }
};

// --- (result, gradient). TensorFlow conjugates a complex result in all but Tanh and Sigmoid, whose
// gradient ops receive the result conjugated.

struct TanhGradOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T y, T gradient) {
    return MulOf(gradient, T(1) - MulOf(y, y));
  }
  template <typename S>
  static S PerStepRounding(S y, S gradient) {
    return Run(y, gradient);
  }
};
struct SigmoidGradOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T y, T gradient) {
    return MulOf(MulOf(gradient, y), T(1) - y);
  }
  template <typename S>
  static S PerStepRounding(S y, S gradient) {
    return gradient * (y * (S(1) - y));
  }
  template <typename S>
  static S Tail(S y, S gradient) {
    return gradient * y * (S(1) - y);
  }
};
struct ReciprocalGradOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.4;
  template <typename T>
  static T Run(T y, T gradient) {
    if (gradient == T(0)) return T(0);
    y = ConjugateOf(y);
    return MulOf(-gradient, MulOf(y, y));
  }
  template <typename S>
  static S PerStepRounding(S y, S gradient) {
    return Run(y, gradient);
  }
};
struct SqrtGradOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 1;
  template <typename T>
  static T Run(T y, T gradient) {
    if (gradient == T(0)) return T(0);
    if constexpr (kIsComplex<T>)
      return T(0.5) * gradient / std::conj(y);
    else
      return T(0.5) * gradient / y;
  }
  template <typename S>
  static S PerStepRounding(S y, S gradient) {
    return gradient == S(0) ? S(0) : gradient * (S(0.5) / y);
  }
  template <typename S>
  static S Tail(S y, S gradient) {
    return gradient == S(0) ? S(0) : S(0.5) * gradient / y;
  }
};
struct RsqrtGradOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 0.5;
  template <typename T>
  static T Run(T y, T gradient) {
    if (gradient == T(0)) return T(0);
    y = ConjugateOf(y);
    return MulOf(MulOf(T(-0.5), gradient), MulOf(y, MulOf(y, y)));
  }
  template <typename S>
  static S PerStepRounding(S y, S gradient) {
    return gradient == S(0) ? S(0) : S(-0.5) * (gradient * y) * (y * y);
  }
};

Error CheckSameShape(const KernelContext& ctx) {
  if (ctx.input(0).dims() == ctx.input(1).dims()) return Error::success();
  return MakeError("both inputs must have the same shape, got shapes {0} and {1}",
                   DimsText(ctx.input(0).dims()), DimsText(ctx.input(1).dims()));
}

template <typename Op, typename T>
concept HasTail = kIsSmallFloat<T> && requires(RoundedHalf<T> x) {
  Op::Tail(x, x);
};

// Recomputes the elements after the last full group of eight, for which TensorFlow uses other
// operations.
template <typename Op, typename T>
Error GradientWithRest(KernelContext& ctx, BinaryOp op) {
  constexpr int64_t kLanes = 8;
  const T *y = ctx.input(0).data<T>(), *gradient = ctx.input(1).data<T>();
  int64_t n = ctx.input(0).num_elements(), first = n / kLanes * kLanes;
  T rest[kLanes];  // saved first, because the result may share memory with an input
  for (int64_t i = first; i < n; ++i) {
    RoundedHalf<T> left(static_cast<float>(y[i])), right(static_cast<float>(gradient[i]));
    rest[i - first] = T(Op::Tail(left, right).value());
  }
  op.is_final = first == n;
  RETURN_IF_ERROR(RunBinary(ctx, op));
  Tensor out = ctx.output(0);
  std::copy_n(rest, n - first, out.data<T>() + first);
  return Error::success();
}

template <typename Op>
Expected<KernelFn> MakeGradient(const KernelSetup& setup) {
  BinaryOp op = BinaryOpFor<Op>(setup.input_type(0));
  if (!op.loop) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  KernelFn with_rest = ForType(setup.input_type(0), FloatTypes(), [&](auto tag) -> KernelFn {
    using T = typename decltype(tag)::type;
    if constexpr (HasTail<Op, T>) {
      return [op](KernelContext& ctx) -> Error {
        RETURN_IF_ERROR(CheckSameShape(ctx));
        return GradientWithRest<Op, T>(ctx, op);
      };
    }
    return nullptr;
  });
  if (with_rest) return with_rest;
  return KernelFn([op](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(CheckSameShape(ctx));
    return RunBinary(ctx, op);
  });
}

template <typename T>
void LeakyGradRow(const T* gradient, const T* x, T* out, int64_t n, float alpha) {
  if constexpr (kIsSmallFloat<T>) {
    float wide[kFloatBlock], wide_x[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      int64_t m = std::min(kFloatBlock, n - i);
      Widen(gradient + i, wide, m);
      Widen(x + i, wide_x, m);
      LeakyGradRow(wide, wide_x, wide, m, RoundedTo<T>(alpha));
      Narrow(wide, out + i, m);
    }
  } else {
    T slope = alpha;
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = x[i] > T(0) ? gradient[i] : gradient[i] * slope;
  }
}

template <typename T>
Error LeakyGrad(KernelContext& ctx, float alpha) {
  RETURN_IF_ERROR(CheckSameShape(ctx));
  const Tensor& gradient = ctx.input(0);
  ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, gradient.dims()));
  const T *from = gradient.data<T>(), *x = ctx.input(1).data<T>();
  ForElements(ctx, *out, out->num_elements(), 1, 0.4, [&](int64_t begin, int64_t end) {
    LeakyGradRow(from + begin, x + begin, out->data<T>() + begin, end - begin, alpha);
  });
  return Error::success();
}

Expected<KernelFn> MakeLeakyGrad(const KernelSetup& setup) {
  float alpha = setup.node().GetFloat("alpha", 0.2f);
  KernelFn fn;
  ForType(setup.output_type(0), FloatTypes(), [&](auto tag) {
    fn = [alpha](KernelContext& ctx) {
      return LeakyGrad<typename decltype(tag)::type>(ctx, alpha);
    };
    return true;
  });
  return fn;
}

#define GRAPNEL_GRADIENT_KERNEL(name, Op) \
  GRAPNEL_CPU_KERNEL(name, MakeGradient<Op>, OfTypes("T", DataTypesOf(Op::Types())))
GRAPNEL_GRADIENT_KERNEL("ReluGrad", ReluGradOp);
GRAPNEL_GRADIENT_KERNEL("Relu6Grad", Relu6GradOp);
GRAPNEL_GRADIENT_KERNEL("SoftplusGrad", SoftplusGradOp);
GRAPNEL_GRADIENT_KERNEL("SoftsignGrad", SoftsignGradOp);
GRAPNEL_GRADIENT_KERNEL("EluGrad", EluGradOp);
GRAPNEL_GRADIENT_KERNEL("SeluGrad", SeluGradOp);
GRAPNEL_GRADIENT_KERNEL("TanhGrad", TanhGradOp);
GRAPNEL_GRADIENT_KERNEL("SigmoidGrad", SigmoidGradOp);
GRAPNEL_GRADIENT_KERNEL("ReciprocalGrad", ReciprocalGradOp);
GRAPNEL_GRADIENT_KERNEL("InvGrad", ReciprocalGradOp);
GRAPNEL_GRADIENT_KERNEL("SqrtGrad", SqrtGradOp);
GRAPNEL_GRADIENT_KERNEL("RsqrtGrad", RsqrtGradOp);
GRAPNEL_CPU_KERNEL("LeakyReluGrad", MakeLeakyGrad, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
