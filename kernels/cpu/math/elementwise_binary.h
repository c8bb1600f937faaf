// Shared code of binary elementwise ops. An op is a struct with its types and a function of two
// elements; half and bfloat16 reach Run as float.
//
//   struct AddOp {
//     using Types = NumberTypes;
//     static constexpr double kCost = 0.4;  // nanoseconds per element
//     template <typename T>
//     static T Run(T a, T b) {
//       return AddOf(a, b);
//     }
//   };
//   GRAPNEL_BINARY_KERNEL("AddV2", AddOp);
//
// Where TensorFlow rounds half and bfloat16 after each step, the op also defines PerStepRounding()
// on two RoundedHalf values.
//
// An op that rejects some right operands defines `static bool Bad(T b)` and `kBadText`, the error;
// Run must survive such operands.
#ifndef GRAPNEL_KERNELS_CPU_MATH_ELEMENTWISE_BINARY_H_
#define GRAPNEL_KERNELS_CPU_MATH_ELEMENTWISE_BINARY_H_

#include "kernels/common/broadcast.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/rounded_half.h"
#include "lib/exec/kernel.h"

namespace grapnel {

enum class RowSide {
  kBoth,
  kLeftOne,
  kRightOne
};  // which operand is a single element for the whole row

// out[i] = op(a[i], b[i]) for n elements; `out` may be `a` or `b`. False when Bad() rejects a right
// operand.
using BinaryLoop = bool (*)(const void* a, const void* b, void* out, int64_t n, RowSide side);

struct BinaryOp {
  BinaryLoop loop = nullptr;
  double cost = 1;
  const char* bad_text = nullptr;
  bool is_final = true;  // the loop's output is final, so statistics may be counted during the run
};

// The binary ops by name, for fusing elementwise steps. The table is filled before main().
struct BinaryOpDef {
  const char* op;
  BinaryOp (*op_for)(DataType);
};
bool AddBinaryOp(BinaryOpDef def);
const BinaryOpDef* FindBinaryOp(llvm::StringRef op);  // null if not found

// Broadcasts, allocates the result (or reuses the memory of an input that is not read again) and
// runs the loop on rows.
Error RunBinary(KernelContext& ctx, const BinaryOp& op);

template <typename Op, typename T>
bool RunBinaryRow(const T* a, const T* b, auto* out, int64_t n, RowSide side) {
  if constexpr (requires { Op::Bad(T()); }) {
    bool bad = false;
    for (int64_t i = 0, m = side == RowSide::kRightOne ? 1 : n; i < m; ++i) bad |= Op::Bad(b[i]);
    if (bad) return false;
  }
  if (side == RowSide::kBoth) {
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = Op::Run(a[i], b[i]);
  } else if (side == RowSide::kRightOne) {
    const T one = *b;
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = Op::Run(a[i], one);
  } else {
    const T one = *a;
    GRAPNEL_VECTORIZE
    for (int64_t i = 0; i < n; ++i) out[i] = Op::Run(one, b[i]);
  }
  return true;
}

template <typename Op, typename T>
concept HasBinaryPerStepRounding = requires(RoundedHalf<T> x) {
  Op::PerStepRounding(x, x);
};

template <typename Op, typename T>
void RunSteps(const T* a, const T* b, T* out, int64_t n, RowSide side) {
  for (int64_t i = 0; i < n; ++i) {
    RoundedHalf<T> left(static_cast<float>(a[side == RowSide::kLeftOne ? 0 : i]));
    RoundedHalf<T> right(static_cast<float>(b[side == RowSide::kRightOne ? 0 : i]));
    out[i] = T(Op::PerStepRounding(left, right).value());
  }
}

template <typename Op, typename T>
bool BinaryLoopOf(const void* pa, const void* pb, void* po, int64_t n, RowSide side) {
  const T* a = static_cast<const T*>(pa);
  const T* b = static_cast<const T*>(pb);
  if constexpr (kIsSmallFloat<T> && HasBinaryPerStepRounding<Op, T>) {
    RunSteps<Op>(a, b, static_cast<T*>(po), n, side);
    return true;
  } else if constexpr (kIsSmallFloat<T>) {
    using Result = decltype(Op::Run(float(), float()));
    float wide_a[kFloatBlock], wide_b[kFloatBlock], wide_out[kFloatBlock];
    for (int64_t i = 0; i < n; i += kFloatBlock) {
      int64_t m = std::min(kFloatBlock, n - i);
      Widen(side == RowSide::kLeftOne ? a : a + i, wide_a, side == RowSide::kLeftOne ? 1 : m);
      Widen(side == RowSide::kRightOne ? b : b + i, wide_b, side == RowSide::kRightOne ? 1 : m);
      if constexpr (std::is_same_v<Result, bool>) {
        RunBinaryRow<Op, float>(wide_a, wide_b, static_cast<bool*>(po) + i, m, side);
      } else {
        RunBinaryRow<Op, float>(wide_a, wide_b, wide_out, m, side);
        Narrow(wide_out, static_cast<T*>(po) + i, m);
      }
    }
    return true;
  } else {
    using Result = decltype(Op::Run(*a, *b));
    return RunBinaryRow<Op, T>(a, b, static_cast<Result*>(po), n, side);
  }
}

template <typename Op>
BinaryOp BinaryOpFor(DataType dtype) {
  BinaryOp op;
  op.loop = ForType(dtype, typename Op::Types(), [](auto tag) -> BinaryLoop {
    return &BinaryLoopOf<Op, typename decltype(tag)::type>;
  });
  op.cost = Op::kCost;
  if constexpr (requires { Op::kBadText; }) op.bad_text = Op::kBadText;
  return op;
}

template <typename Op>
Expected<KernelFn> MakeBinary(const KernelSetup& setup) {
  BinaryOp op = BinaryOpFor<Op>(setup.input_type(0));
  if (!op.loop) return MakeError("no kernel for dtype {0}", DataTypeName(setup.input_type(0)));
  return KernelFn([op](KernelContext& ctx) { return RunBinary(ctx, op); });
}

#define GRAPNEL_BINARY_KERNEL(name, Op)                                              \
  [[maybe_unused]] static const bool GRAPNEL_CONCAT(binary_op_added_, __COUNTER__) = \
      AddBinaryOp({name, &BinaryOpFor<Op>});                                         \
  GRAPNEL_CPU_KERNEL(name, MakeBinary<Op>, OfTypes("T", DataTypesOf(Op::Types())))

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_MATH_ELEMENTWISE_BINARY_H_
