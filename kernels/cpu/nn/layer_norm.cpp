// _MklLayerNorm: normalizes rows of the last dimension to mean 0 and variance 1, then scales and
// shifts.
#include <cmath>
#include <vector>

#include "kernels/common/epilogue.h"

namespace grapnel {
namespace {

using LayerNormTypes = TypeList<float, Eigen::bfloat16, Eigen::half>;

// Sums in double: a row's mean may be far larger than its spread.
void NormalizeRow(const float* in, const float* scale, const float* offset, float epsilon,
                  int64_t n, float* out) {
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) sum += in[i];
  const double mean = sum / static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) squares += (in[i] - mean) * (in[i] - mean);
  const double factor = 1 / std::sqrt(squares / static_cast<double>(n) + epsilon);
  for (int64_t i = 0; i < n; ++i)
    out[i] = static_cast<float>((in[i] - mean) * factor) * scale[i] + offset[i];
}

// Returns `count` elements from `first` on as floats.
template <typename T>
std::vector<float> Floats(const Tensor& tensor, int64_t first, int64_t count) {
  const T* from = tensor.data<T>() + first;
  return std::vector<float>(from, from + count);
}

template <typename T>
Error LayerNorm(KernelContext& ctx, float epsilon) {
  const Tensor& input = ctx.input(0);
  if (input.rank() != 2 && input.rank() != 3)
    return MakeError("the input must have rank 2 or 3, not shape {0}", DimsText(input.dims()));
  const int64_t depth = input.dims().back();
  for (int i : {1, 2}) {
    const Tensor& vector = ctx.input(i);
    if (vector.rank() != 1 || vector.dim(0) != depth) {
      return MakeError("{0} must be a vector of {1} elements for input {2}, got shape {3}",
                       i == 1 ? "the scale" : "the offset", depth, DimsText(input.dims()),
                       DimsText(vector.dims()));
    }
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, input.dims()));
  if (out->num_elements() == 0) return Error::success();
  const std::vector<float> scale = Floats<T>(ctx.input(1), 0, depth),
                           offset = Floats<T>(ctx.input(2), 0, depth);
  ctx.ParallelFor(out->num_elements() / depth, depth * 2.0, [&](int64_t begin, int64_t end) {
    std::vector<float> row(depth);
    for (int64_t i = begin; i < end; ++i) {
      std::vector<float> in = Floats<T>(input, i * depth, depth);
      NormalizeRow(in.data(), scale.data(), offset.data(), epsilon, depth, row.data());
      for (int64_t k = 0; k < depth; ++k) out->data<T>()[i * depth + k] = static_cast<T>(row[k]);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeLayerNorm(const KernelSetup& setup) {
  const float epsilon = setup.node().GetFloat("epsilon", 0.001f);
  KernelFn fn;
  ForType(setup.output_type(0), LayerNormTypes(), [&](auto tag) {
    fn = [epsilon](KernelContext& ctx) {
      return LayerNorm<typename decltype(tag)::type>(ctx, epsilon);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("_MklLayerNorm", MakeLayerNorm, OfTypes("T", DataTypesOf(LayerNormTypes())));

}  // namespace
}  // namespace grapnel
