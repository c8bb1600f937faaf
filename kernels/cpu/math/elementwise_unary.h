// Shared code of unary elementwise ops. An op is a struct with its types and one function: Run, of
// an element; Eval, of an Eigen array, where Eigen has a vectorized form; or Vectorized, of a whole
// row, where neither will do. half and bfloat16 reach the function as float.
//
//   struct SquareOp {
//     using Types = NumberTypes;
//     static constexpr double kCost = 0.3;  // nanoseconds per element
//     template <typename T>
//     static T Run(T x) {
//       return MulOf(x, x);
//     }
//     // Or, on an Eigen array: static auto Eval(const auto& x) { return x.square(); }
//   };
//   GRAPNEL_UNARY_KERNEL("Square", "T", SquareOp);
//
// Where TensorFlow rounds half and bfloat16 after each step, the op also defines PerStepRounding(x)
// on a RoundedHalf. Where TensorFlow does so only for the elements after the last full group of
// eight, the op defines Tail(x) instead.
#ifndef GRAPNEL_KERNELS_CPU_MATH_ELEMENTWISE_UNARY_H_
#define GRAPNEL_KERNELS_CPU_MATH_ELEMENTWISE_UNARY_H_

#include "kernels/common/dispatch.h"
#include "kernels/common/rounded_half.h"
#include "lib/exec/kernel.h"

namespace grapnel {

// The number of 16-bit elements that TensorFlow computes in parallel.
inline constexpr int64_t kSmallFloatLanes = 8;

// out[i] = op(in[i]) for n elements; n is a multiple of kSmallFloatLanes except at the tensor's
// end. `out` may be `in` when both have elements of one size.
using UnaryLoop = void (*)(const void* in, void* out, int64_t n);

// The unary loops by op, for _UnaryOpsComposition and for fusing elementwise steps. The table is
// filled before main().
struct UnaryLoopDef {
  const char* op;
  UnaryLoop (*loop_for)(DataType);  // null: no kernel, or the result has another dtype
  double cost;                      // nanoseconds per element
};
bool AddUnaryLoop(UnaryLoopDef def);
const UnaryLoopDef* FindUnaryLoop(llvm::StringRef op);  // null if not found

// The loop of LeakyRelu, which takes its slope.
using LeakyReluLoop = void (*)(const void* in, void* out, int64_t n, float alpha);
LeakyReluLoop LeakyReluLoopFor(DataType type);  // null: no such loop

// Runs the loop on the first input, in place where possible.
Error RunUnary(KernelContext& ctx, UnaryLoop loop, double cost);

template <typename T>
using ConstArrayMap = Eigen::Map<const Eigen::Array<T, Eigen::Dynamic, 1>>;
template <typename T>
using ArrayMap = Eigen::Map<Eigen::Array<T, Eigen::Dynamic, 1>>;

template <typename Op, typename T>
concept HasArrayForm = requires(const T* in) {
  Op::Eval(ConstArrayMap<T>(in, 1));
};

template <typename Op, typename T>
concept HasPerStepRounding = requires(RoundedHalf<T> x) {
  Op::PerStepRounding(x);
};

template <typename Op, typename T>
concept HasTail = requires(RoundedHalf<T> x) {
  Op::Tail(x);
};

template <typename Op, typename T>
concept HasRowForm = requires(const T* in, T* out) {
  Op::Vectorized(in, out, int64_t{1});
};

template <typename Op, typename T>
auto UnaryResultType() {
  if constexpr (HasArrayForm<Op, T> || HasRowForm<Op, T>)
    return T();
  else
    return Op::Run(T());
}

template <typename Op, typename T, typename Out>
void RunUnaryRow(const T* in, Out* out, int64_t n) {
  if constexpr (HasRowForm<Op, T>) {
    Op::Vectorized(in, out, n);
  } else if constexpr (HasArrayForm<Op, T>) {
    ArrayMap<Out>(out, n) = Op::Eval(ConstArrayMap<T>(in, n));
  } else {
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = Op::Run(in[i]);
  }
}

template <typename Op, typename T>
void UnaryLoopOf(const void* pin, void* pout, int64_t n) {
  const T* in = static_cast<const T*>(pin);
  if constexpr (kIsSmallFloat<T> && HasPerStepRounding<Op, T>) {
    T* out = static_cast<T*>(pout);
    for (int64_t i = 0; i < n; ++i)
      out[i] = T(Op::PerStepRounding(RoundedHalf<T>(static_cast<float>(in[i]))).value());
  } else if constexpr (kIsSmallFloat<T>) {
    using Result = decltype(UnaryResultType<Op, float>());
    float wide[kFloatBlock], wide_out[kFloatBlock];
    T rest[kSmallFloatLanes];
    int64_t in_lanes = n / kSmallFloatLanes * kSmallFloatLanes;
    if constexpr (HasTail<Op, T>) {
      for (int64_t i = in_lanes; i < n; ++i)
        rest[i - in_lanes] = T(Op::Tail(RoundedHalf<T>(static_cast<float>(in[i]))).value());
    }
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      int64_t m = std::min(kFloatBlock, n - i);
      Widen(in + i, wide, m);
      if constexpr (std::is_same_v<Result, bool>) {
        RunUnaryRow<Op, float>(wide, static_cast<bool*>(pout) + i, m);
      } else {
        RunUnaryRow<Op, float>(wide, wide_out, m);
        Narrow(wide_out, static_cast<T*>(pout) + i, m);
      }
    }
    if constexpr (HasTail<Op, T>) std::copy_n(rest, n - in_lanes, static_cast<T*>(pout) + in_lanes);
  } else {
    using Result = decltype(UnaryResultType<Op, T>());
    RunUnaryRow<Op, T>(in, static_cast<Result*>(pout), n);
  }
}

template <typename Op>
UnaryLoop UnaryLoopFor(DataType type) {
  return ForType(type, typename Op::Types(), [](auto tag) -> UnaryLoop {
    return &UnaryLoopOf<Op, typename decltype(tag)::type>;
  });
}

// UnaryLoopFor, but null for ops whose result does not have the dtype of the input.
template <typename Op>
UnaryLoop ComposableLoopFor(DataType type) {
  return ForType(type, typename Op::Types(), [](auto tag) -> UnaryLoop {
    using T = typename decltype(tag)::type;
    using Wide = std::conditional_t<kIsSmallFloat<T>, float, T>;
    if constexpr (std::is_same_v<decltype(UnaryResultType<Op, Wide>()), Wide>) {
      return &UnaryLoopOf<Op, T>;
    } else {
      return nullptr;
    }
  });
}

template <typename Op>
Expected<KernelFn> MakeUnary(const KernelSetup& setup) {
  UnaryLoop loop = UnaryLoopFor<Op>(setup.input_type(0));
  if (!loop) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  return KernelFn([loop](KernelContext& ctx) { return RunUnary(ctx, loop, Op::kCost); });
}

#define GRAPNEL_UNARY_KERNEL(name, type_attr, Op)                                     \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(unary_loop_added_, __COUNTER__) = \
      AddUnaryLoop({name, &ComposableLoopFor<Op>, Op::kCost});                        \
  GRAPNEL_CPU_KERNEL(name, MakeUnary<Op>, OfTypes(type_attr, DataTypesOf(Op::Types())))

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_ELEMENTWISE_UNARY_H_
