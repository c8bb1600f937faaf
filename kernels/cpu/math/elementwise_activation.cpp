// The plain activations. All propagate NaN: hiding it here would hide the op that produced it.
#include <cmath>

#include "kernels/common/float_math.h"
#include "kernels/cpu/math/elementwise_unary.h"
#include "lib/exec/element_loop.h"

namespace grapnel {
namespace {

struct SigmoidOp {
  using Types = FloatOrComplexTypes;
  static constexpr double kCost = 2.5;
  static auto Eval(const auto& x) {
    return ((-x).exp() + typename std::decay_t<decltype(x)>::Scalar(1)).inverse();
  }
  template <typename S>
  static S PerStepRounding(S x) {
    S e = Exp(x);
    return std::isinf(e.value()) ? S(1) : e / (S(1) + e);
  }
};
// log(1 + exp(x)) without overflow in the exponential.
struct SoftplusOp {
  using Types = FloatTypes;
  static constexpr double kCost = 2;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Softplus(x));
    else
      return (x < T(0) ? T(0) : x) + std::log1p(std::exp(-std::abs(x)));
  }
  // Far from 0, beyond a threshold that depends on the type's epsilon, the result rounds to x or to
  // exp(x).
  template <typename S>
  static S PerStepRounding(S x) {
    S threshold = Log(S(float(Eigen::NumTraits<typename S::Number>::epsilon()))) + S(2);
    if (x > -threshold) return x;
    return x < threshold ? Exp(x) : Log1p(Exp(x));
  }
};
// The remapper creates this op from x * sigmoid(x), and that of MishOp from x * tanh(softplus(x)).
struct SwishOp {
  using Types = FloatTypes;
  static constexpr double kCost = 2.7;
  static auto Eval(const auto& x) {
    return x / ((-x).exp() + typename std::decay_t<decltype(x)>::Scalar(1));
  }
};
struct MishOp {
  using Types = FloatTypes;
  static constexpr double kCost = 2;
  template <typename T>
  static T Run(T x) {
    if constexpr (std::is_same_v<T, float>)
      return static_cast<float>(float_math::Mish(x));
    else
      return x * std::tanh(SoftplusOp::Run(x));
  }
};
struct SoftsignOp {
  using Types = FloatTypes;
  static constexpr double kCost = 0.6;
  template <typename T>
  static T Run(T x) {
    return x / (T(1) + std::abs(x));
  }
  template <typename S>
  static S PerStepRounding(S x) {
    return x / (Abs(x) + S(1));
  }
};
struct ReluOp {
  using Types = RealTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Run(T x) {
    return x < T(0) ? T(0) : x;
  }
};
struct Relu6Op {
  using Types = RealTypes;
  static constexpr double kCost = 0.3;
  template <typename T>
  static T Run(T x) {
    T low = x < T(0) ? T(0) : x;
    return low > T(6) ? T(6) : low;
  }
};

template <typename T>
T Expm1Of(T x) {
  if constexpr (std::is_same_v<T, float>)
    return static_cast<float>(float_math::Expm1(x));
  else
    return std::expm1(x);
}
struct EluOp {
  using Types = FloatTypes;
  static constexpr double kCost = 1.5;
  template <typename T>
  static T Run(T x) {
    return x < T(0) ? Expm1Of(x) : x;
  }
  template <typename S>
  static S PerStepRounding(S x) {
    return x < S(0) ? Exp(x) - S(1) : x;
  }
};
struct SeluOp {
  using Types = FloatTypes;
  static constexpr double kCost = 1.5;
  static constexpr double kScale = 1.0507009873554804934193349852946;
  static constexpr double kScaleAlpha = 1.7580993408473768599402175208123;
  template <typename T>
  static T Run(T x) {
    return x < T(0) ? T(kScaleAlpha) * Expm1Of(x) : T(kScale) * x;
  }
  template <typename S>
  static S PerStepRounding(S x) {
    return x < S(0) ? S(kScaleAlpha) * (Exp(x) - S(1)) : S(kScale) * x;
  }
};

template <typename T>
void LeakyRow(const T* in, T* out, int64_t n, T alpha) {
  GRAPNEL_VECTORIZE
  for (int64_t i = 0; i < n; ++i) out[i] = in[i] < T(0) ? in[i] * alpha : in[i];
}

template <typename T>
void LeakyLoop(const void* pin, void* pout, int64_t n, float alpha) {
  const T* in = static_cast<const T*>(pin);
  T* out = static_cast<T*>(pout);
  if constexpr (kIsSmallFloat<T>) {
    float wide[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      int64_t m = std::min(kFloatBlock, n - i);
      Widen(in + i, wide, m);
      LeakyRow(wide, wide, m, RoundedTo<T>(alpha));
      Narrow(wide, out + i, m);
    }
  } else {
    LeakyRow<T>(in, out, n, alpha);
  }
}

}  // namespace

LeakyReluLoop LeakyReluLoopFor(DataType type) {
  return ForType(type, FloatTypes(), [](auto tag) -> LeakyReluLoop {
    return &LeakyLoop<typename decltype(tag)::type>;
  });
}

namespace {

Expected<KernelFn> MakeLeakyRelu(const KernelSetup& setup) {
  LeakyReluLoop loop = LeakyReluLoopFor(setup.input_type(0));
  if (!loop) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  float alpha = setup.node().GetFloat("alpha", 0.2f);
  return KernelFn([loop, alpha](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, in.dims()));
    size_t size = DataTypeSize(in.dtype());
    ForElements(ctx, *out, in.num_elements(), 1, 0.3, [&](int64_t begin, int64_t end) {
      loop(static_cast<const char*>(in.raw()) + begin * size,
           static_cast<char*>(out->raw()) + begin * size, end - begin, alpha);
    });
    return Error::success();
  });
}

GRAPNEL_UNARY_KERNEL("Sigmoid", "T", SigmoidOp);
GRAPNEL_UNARY_KERNEL("Softplus", "T", SoftplusOp);
GRAPNEL_UNARY_KERNEL("Softsign", "T", SoftsignOp);
GRAPNEL_UNARY_KERNEL("_MklSwish", "T", SwishOp);
GRAPNEL_UNARY_KERNEL("_MklFusedMish", "T", MishOp);
GRAPNEL_UNARY_KERNEL("Relu", "T", ReluOp);
GRAPNEL_UNARY_KERNEL("Relu6", "T", Relu6Op);
GRAPNEL_UNARY_KERNEL("Elu", "T", EluOp);
GRAPNEL_UNARY_KERNEL("Selu", "T", SeluOp);
GRAPNEL_CPU_KERNEL("LeakyRelu", MakeLeakyRelu, OfTypes("T", DataTypesOf(FloatTypes())));

}  // namespace
}  // namespace grapnel
