// UniformQuantizedDot and UniformQuantizedDotHybrid: an int8 matrix, or a float matrix quantized
// row by row, times an int8 matrix.
#include <limits>
#include <vector>

#include "kernels/cpu/quantized/quantized_number.h"
#include "kernels/cpu/quantized/uniform_quantized.h"

namespace grapnel {
namespace {

Error CheckMatrices(const Tensor& left, const Tensor& right) {
  if (left.rank() == 2 && right.rank() == 2 && left.dim(1) == right.dim(0)) return Error::success();
  return MakeError("expected matrices [m, k] and [k, n], got shapes {0} and {1}",
                   DimsText(left.dims()), DimsText(right.dims()));
}

// Calls put(row, column, sum) for each element of the matrix product of levels (the stored
// integers) minus their zero points. As in TensorFlow, products are 32-bit integers and sums are
// floats, added in order.
template <typename Put>
void Multiply(KernelContext& ctx, const int8_t* left, llvm::ArrayRef<int32_t> left_zeros,
              const Tensor& right, const UniformScales& of_right, Put&& put) {
  int64_t inner = right.dim(0), columns = right.dim(1);
  auto rows = static_cast<int64_t>(left_zeros.size());
  auto cost = static_cast<double>(inner) * static_cast<double>(columns);
  ctx.ParallelFor(rows, cost, [&](int64_t begin, int64_t end) {
    std::vector<float> sums(columns);
    for (int64_t i = begin; i < end; ++i) {
      std::fill(sums.begin(), sums.end(), 0);
      for (int64_t k = 0; k < inner; ++k) {
        auto x = static_cast<uint32_t>(SubOf<int32_t>(left[i * inner + k], left_zeros[i]));
        const int8_t* row = right.data<int8_t>() + k * columns;
        for (int64_t j = 0; j < columns; ++j)
          sums[j] += static_cast<float>(static_cast<int32_t>(
              x * static_cast<uint32_t>(SubOf<int32_t>(row[j], of_right.zero(j)))));
      }
      for (int64_t j = 0; j < columns; ++j) put(i, j, sums[j]);
    }
  });
}

// Values beyond 32 bits become the smallest integer, as in x86's conversion.
int32_t LevelOf(float sum) {
  constexpr float kEnd = 2147483648.0f;
  return sum >= -kEnd && sum < kEnd ? static_cast<int32_t>(sum)
                                    : std::numeric_limits<int32_t>::min();
}

// TensorFlow derives the axis from the shape of the scales and ignores the attribute.
int64_t AxisOf(const Tensor& scales) { return scales.rank() == 0 ? -1 : 1; }

Error Dot(KernelContext& ctx, LevelBounds bounds) {
  const Tensor &left = ctx.input(0), &right = ctx.input(1);
  RETURN_IF_ERROR(CheckMatrices(left, right));
  int64_t rows = left.dim(0), columns = right.dim(1);
  ASSIGN_OR_RETURN(UniformScales of_left, UniformScalesIn(ctx, 2, left.dims(), -1));
  int64_t right_axis = AxisOf(ctx.input(4)), out_axis = AxisOf(ctx.input(6));
  if (right_axis < 0 && out_axis >= 0)
    return MakeError("output_scales must be a scalar as rhs_scales is, got shape {0}",
                     DimsText(ctx.input(6).dims()));
  ASSIGN_OR_RETURN(UniformScales of_right, UniformScalesIn(ctx, 4, right.dims(), right_axis));
  ASSIGN_OR_RETURN(UniformScales to, UniformScalesIn(ctx, 6, {rows, columns}, out_axis));
  std::vector<FixedMultiplier> multipliers(columns);
  for (int64_t j = 0; j < columns; ++j) {
    double product = static_cast<double>(of_left.scale(0)) * static_cast<double>(of_right.scale(j));
    ASSIGN_OR_RETURN(multipliers[j],
                     FixedMultiplier::Of(product / static_cast<double>(to.scale(j))));
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, columns}));
  std::vector<int32_t> zeros(rows, of_left.zero(0));
  auto* result = out->data<int32_t>();
  Multiply(ctx, left.data<int8_t>(), zeros, right, of_right, [&](int64_t i, int64_t j, float sum) {
    result[i * columns + j] = multipliers[j](LevelOf(sum), 0, to.zero(j), bounds);
  });
  return Error::success();
}

Error CheckAxis(const Node& node, const char* name) {
  int64_t axis = node.GetInt(name, -1);
  if (axis == -1 || axis == 1) return Error::success();
  return MakeError("{0} must be 1 (a scale for each column) or -1 (one for all), got {1}", name,
                   axis);
}

Expected<KernelFn> MakeDot(const KernelSetup& setup) {
  const Node& node = setup.node();
  RETURN_IF_ERROR(CheckTypes(setup, {}, {proto::DT_QINT32}));
  if (int64_t axis = node.GetInt("lhs_quantization_axis", -1); axis != -1)
    return MakeError("lhs_quantization_axis must be -1 (one scale for all), got {0}", axis);
  RETURN_IF_ERROR(CheckAxis(node, "rhs_quantization_axis"));
  RETURN_IF_ERROR(CheckAxis(node, "output_quantization_axis"));
  ASSIGN_OR_RETURN(LevelBounds bounds, LevelBoundsOf(node, "output_"));
  return KernelFn([bounds](KernelContext& ctx) { return Dot(ctx, bounds); });
}

Error DotHybrid(KernelContext& ctx) {
  const Tensor &left = ctx.input(0), &right = ctx.input(1);
  RETURN_IF_ERROR(CheckMatrices(left, right));
  int64_t rows = left.dim(0), inner = left.dim(1), columns = right.dim(1);
  ASSIGN_OR_RETURN(UniformScales of_right,
                   UniformScalesIn(ctx, 2, right.dims(), AxisOf(ctx.input(2))));
  std::vector<int8_t> levels(left.num_elements());
  std::vector<int32_t> zeros(rows);
  std::vector<float> scales(rows);
  for (int64_t i = 0; i < rows; ++i) {
    AsymmetricScale row = QuantizeAsymmetrically(
        llvm::ArrayRef<float>(left.data<float>() + i * inner, inner), levels.data() + i * inner);
    zeros[i] = row.zero;
    scales[i] = row.scale;
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, columns}));
  auto* result = out->data<float>();
  Multiply(ctx, levels.data(), zeros, right, of_right, [&](int64_t i, int64_t j, float sum) {
    result[i * columns + j] = sum * scales[i] * of_right.scale(j);
  });
  return Error::success();
}

Expected<KernelFn> MakeDotHybrid(const KernelSetup& setup) {
  RETURN_IF_ERROR(CheckTypes(setup, {proto::DT_FLOAT, proto::DT_QINT8}, {proto::DT_FLOAT}));
  RETURN_IF_ERROR(CheckAxis(setup.node(), "rhs_quantization_axis"));
  return KernelFn(DotHybrid);
}

using Types = std::vector<DataType>;
GRAPNEL_CPU_KERNEL("UniformQuantizedDot", MakeDot, OfTypes("Tin", Types{proto::DT_QINT8}));
GRAPNEL_CPU_KERNEL("UniformQuantizedDotHybrid", MakeDotHybrid,
                   OfTypes("Tlhs", Types{proto::DT_FLOAT}));

}  // namespace
}  // namespace grapnel
