// Sums and products of quantized tensors: QuantizedAdd, QuantizedMul, QuantizedBiasAdd,
// QuantizedMatMul. Results are 32-bit, with their range.
#include <array>
#include <vector>

#include "kernels/common/broadcast.h"
#include "kernels/cpu/quantized/quantized_number.h"

namespace grapnel {
namespace {

using Levels = std::array<int32_t, 256>;

constexpr DataType kAny = proto::DT_INVALID;

// Sets each result to f(level of x, level of y), broadcasting the operands. A level is a stored
// integer.
template <typename F>
Error Combine(KernelContext& ctx, F&& f) {
  const Tensor &x = ctx.input(0), &y = ctx.input(1);
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({x.dims(), y.dims()}));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, plan.dims));
  int64_t x_step = plan.strides[0].back(), y_step = plan.strides[1].back();
  ctx.ParallelFor(plan.total, 1, [&](int64_t begin, int64_t end) {
    plan.ForRows(begin, end, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
      const uint8_t *a = x.data<uint8_t>() + offsets[0], *b = y.data<uint8_t>() + offsets[1];
      int32_t* to = out->data<int32_t>() + at;
      for (int64_t i = 0; i < n; ++i) to[i] = f(a[i * x_step], b[i * y_step]);
    });
  });
  return Error::success();
}

// Converts each of the 256 levels (stored integers) of range `from` to a 32-bit level of range
// `to`. The distance from one level to the next is rounded once and the same for all.
Levels LevelsIn(QuantizedRange from, QuantizedRange to) {
  int64_t first = LevelOf<int32_t>(Unquantized<uint8_t>(0, from), to);
  auto step = static_cast<int32_t>(LevelOf<int32_t>(Unquantized<uint8_t>(1, from), to) - first);
  Levels levels;
  for (int i = 0; i < 256; ++i) {
    int64_t level = first + int64_t{step} * i;
    levels[i] =
        static_cast<int32_t>(std::clamp(level, kLowestLevel<int32_t>, kHighestLevel<int32_t>));
  }
  return levels;
}

// Converts the level of a scalar operand directly and stores it in `levels`, in place of the one
// that LevelsIn() computed from a rounded distance.
void SetLevel(const Tensor& scalar, QuantizedRange from, QuantizedRange to, Levels& levels) {
  uint8_t level = *scalar.data<uint8_t>();
  levels[level] = Quantized<int32_t>(Unquantized<uint8_t>(level, from), to);
}

// The result's range is symmetric and reaches 2^14 times as far from 0 as the inputs' ranges, so
// that sums fit.
Error Add(KernelContext& ctx) {
  ASSIGN_OR_RETURN(QuantizedRange x, WideRangeIn(ctx, 2));
  ASSIGN_OR_RETURN(QuantizedRange y, WideRangeIn(ctx, 4));
  float most = std::max(std::abs(std::min(x.low, y.low)), std::abs(std::max(x.high, y.high)));
  QuantizedRange range = {-most * (1 << 14), most * (1 << 14)};
  Levels of_x = LevelsIn(x, range), of_y = LevelsIn(y, range);
  if (ctx.input(0).num_elements() == 1)
    SetLevel(ctx.input(0), x, range, of_x);
  else if (ctx.input(1).num_elements() == 1)
    SetLevel(ctx.input(1), y, range, of_y);
  RETURN_IF_ERROR(Combine(ctx, [&](uint8_t a, uint8_t b) { return AddOf(of_x[a], of_y[b]); }));
  return PutRange(ctx, 1, range);
}

Error Multiply(KernelContext& ctx) {
  ASSIGN_OR_RETURN(QuantizedRange x, WideRangeIn(ctx, 2));
  ASSIGN_OR_RETURN(QuantizedRange y, WideRangeIn(ctx, 4));
  auto zero_x = static_cast<int32_t>(LevelOf<uint8_t>(0, x)),
       zero_y = static_cast<int32_t>(LevelOf<uint8_t>(0, y));
  RETURN_IF_ERROR(Combine(ctx, [=](uint8_t a, uint8_t b) {
    return MulOf(SubOf<int32_t>(a, zero_x), SubOf<int32_t>(b, zero_y));
  }));
  return PutRange(ctx, 1, RangeOfProduct<uint8_t, uint8_t>(x, y));
}

Expected<KernelFn> MakeAdd(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {kAny, proto::DT_QUINT8}, {proto::DT_QINT32}));
  return KernelFn(Add);
}
Expected<KernelFn> MakeMultiply(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {kAny, proto::DT_QUINT8}, {proto::DT_QINT32}));
  return KernelFn(Multiply);
}

// --- QuantizedBiasAdd

Error CheckBias(const Tensor& in, const Tensor& bias) {
  if (in.rank() >= 2 && bias.rank() == 1 && bias.dim(0) == in.dim(in.rank() - 1))
    return Error::success();
  return MakeError(
      "expected an input of rank 2 or more and a vector of as many biases as its last dimension, "
      "got shapes {0} and {1}",
      DimsText(in.dims()), DimsText(bias.dims()));
}

// Converts input and bias to a common symmetric range that reaches 2^17 times as far from 0 as
// their own ranges, and adds them.
template <typename T>
Error AddBias(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &bias = ctx.input(1);
  RETURN_IF_ERROR(CheckBias(in, bias));
  ASSIGN_OR_RETURN(QuantizedRange of_in, RangeIn(ctx, 2));
  ASSIGN_OR_RETURN(QuantizedRange of_bias, RangeIn(ctx, 4));
  float most = std::max({of_in.high, -of_in.low, of_bias.high, -of_bias.low}) * (1 << 17);
  QuantizedRange range = {-most, most};
  int64_t depth = bias.dim(0);
  std::vector<int32_t> biases(depth);
  Quantizer<int32_t> quantize(range);
  Unquantizer<T> real_in(of_in), real_bias(of_bias);
  auto zero = Quantized<int32_t>(0, range);
  for (int64_t c = 0; c < depth; ++c)
    biases[c] = AddOf(quantize(real_bias(bias.data<T>()[c])), zero);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  ctx.ParallelFor(in.num_elements(), 3, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      out->data<int32_t>()[i] = AddOf(quantize(real_in(in.data<T>()[i])), biases[i % depth]);
  });
  return PutRange(ctx, 1, range);
}

Expected<KernelFn> MakeBiasAdd(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {kAny, setup.input_type(0)}, {proto::DT_QINT32}));
  bool is_signed = setup.input_type(0) == proto::DT_QINT8;
  return KernelFn(is_signed ? AddBias<int8_t> : AddBias<uint8_t>);
}

// --- QuantizedMatMul

struct Transposes {
  bool a, b;
};

// Sums wrap on overflow.
Error Product(KernelContext& ctx, Transposes transpose) {
  ASSIGN_OR_RETURN(QuantizedRange of_a, WideRangeIn(ctx, 2));
  ASSIGN_OR_RETURN(QuantizedRange of_b, WideRangeIn(ctx, 4));
  const Tensor &a = ctx.input(0), &b = ctx.input(1);
  if (a.rank() != 2 || b.rank() != 2)
    return MakeError("two matrices were expected, got shapes {0} and {1}", DimsText(a.dims()),
                     DimsText(b.dims()));
  int64_t rows = a.dim(transpose.a), inner = a.dim(!transpose.a), columns = b.dim(!transpose.b);
  if (inner != b.dim(transpose.b))
    return MakeError(
        "the inner dimensions of the product differ, {2} and {3}: got shapes {0} and {1}",
        DimsText(a.dims()), DimsText(b.dims()), inner, b.dim(transpose.b));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, columns}));
  auto zero_a = static_cast<uint32_t>(LevelOf<uint8_t>(0, of_a)),
       zero_b = static_cast<uint32_t>(LevelOf<uint8_t>(0, of_b));
  int64_t a_row = transpose.a ? 1 : inner, a_step = transpose.a ? rows : 1;
  int64_t b_row = transpose.b ? 1 : columns, b_step = transpose.b ? inner : 1;
  const uint8_t *from_a = a.data<uint8_t>(), *from_b = b.data<uint8_t>();
  auto cost = static_cast<double>(inner) * static_cast<double>(columns);
  ctx.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto* to = out->data<uint32_t>() + i * columns;
      std::fill_n(to, columns, 0);
      for (int64_t k = 0; k < inner; ++k) {
        uint32_t x = from_a[i * a_row + k * a_step] - zero_a;
        const uint8_t* row = from_b + k * b_row;
        for (int64_t j = 0; j < columns; ++j) to[j] += x * (row[j * b_step] - zero_b);
      }
    }
  });
  return PutRange(ctx, 1, RangeOfProduct<uint8_t, uint8_t>(of_a, of_b));
}

Expected<KernelFn> MakeProduct(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {kAny, proto::DT_QUINT8}, {proto::DT_QINT32}));
  Transposes transpose = {setup.node().GetBool("transpose_a"), setup.node().GetBool("transpose_b")};
  return KernelFn([transpose](KernelContext& ctx) { return Product(ctx, transpose); });
}

using Types = std::vector<DataType>;
GRAPNEL_CPU_KERNEL("QuantizedAdd", MakeAdd, OfTypes("T1", Types{proto::DT_QUINT8}));
GRAPNEL_CPU_KERNEL("QuantizedMul", MakeMultiply, OfTypes("T1", Types{proto::DT_QUINT8}));
GRAPNEL_CPU_KERNEL("QuantizedBiasAdd", MakeBiasAdd,
                   OfTypes("T1", Types{proto::DT_QINT8, proto::DT_QUINT8}));
GRAPNEL_CPU_KERNEL("QuantizedMatMul", MakeProduct, OfTypes("T1", Types{proto::DT_QUINT8}));

}  // namespace
}  // namespace grapnel
