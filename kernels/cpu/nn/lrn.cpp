// LRN (local response normalization): divides each value by a power of the sum of squares of its
// neighbors along the last dimension; and its gradient.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/epilogue.h"
#include "kernels/common/rounded_half.h"
#include "kernels/cpu/linalg/half_product.h"

namespace grapnel {
namespace {

struct LrnAttrs {
  int64_t radius;
  float bias, alpha, beta;
};

void LrnRow(const float* in, float* out, int64_t depth, const LrnAttrs& attrs, float* squares) {
  for (int64_t c = 0; c < depth; ++c) squares[c] = in[c] * in[c];
  for (int64_t c = 0; c < depth; ++c) {
    // Recomputes the sum for each window: a running sum would carry an infinity or NaN into later
    // windows.
    float sum = 0;
    int64_t end = std::min(depth, c + attrs.radius + 1);
    for (int64_t i = std::max<int64_t>(0, c - attrs.radius); i < end; ++i) sum += squares[i];
    float base = attrs.bias + attrs.alpha * sum;
    float factor = attrs.beta == 0.5f   ? 1 / std::sqrt(base)
                   : attrs.beta == 1.0f ? 1 / base
                                        : std::pow(base, -attrs.beta);
    out[c] = in[c] * factor;
  }
}

// Returns the factor by which LRN multiplies a half, rounded as in TensorFlow: elements after the
// tensor's last full group of eight (`in_lanes` false) also round their square root.
RoundedHalf<Eigen::half> FactorOfHalf(RoundedHalf<Eigen::half> base, float beta, bool in_lanes) {
  using Half = RoundedHalf<Eigen::half>;
  if (beta == 1) return Half(1 / base.value());
  if (beta != 0.5f) return Exp(Log(base) * Half(-beta));
  float root = std::sqrt(base.value());
  return Half(1 / (in_lanes ? root : RoundedTo<Eigen::half>(root)));
}

// Follows TensorFlow for halves: window sums are a product with a banded matrix of ones, and each
// step rounds.
Error LrnOfHalves(KernelContext& ctx, const LrnAttrs& attrs, const Tensor& input, Tensor* out) {
  using Half = RoundedHalf<Eigen::half>;
  int64_t depth = input.dim(3), rows = input.num_elements() / depth;
  std::vector<float> windows(depth * depth);
  for (int64_t c = 0; c < depth; ++c) {
    int64_t end = std::min(depth, c + std::min(attrs.radius, depth) + 1);
    for (int64_t i = std::max<int64_t>(0, c - attrs.radius); i < end; ++i)
      windows[i * depth + c] = 1;
  }
  HalfPlan plan = PlanOfTensors(rows, depth, depth);
  Half bias(attrs.bias), alpha(attrs.alpha);
  float beta = RoundedTo<Eigen::half>(attrs.beta);
  int64_t in_lanes = input.num_elements() / 8 * 8;
  constexpr int64_t kRows = 32;
  int64_t chunks = (rows + kRows - 1) / kRows;
  double cost = static_cast<double>(kRows) * static_cast<double>(depth) * (10.0 + 0.3 * depth);
  ctx.ParallelFor(chunks, cost, [&](int64_t begin, int64_t end) {
    std::vector<float> in(kRows * depth), sums(kRows * depth);
    HalfProduct product(plan, windows.data());
    for (int64_t row = begin * kRows; row < std::min(rows, end * kRows); row += kRows) {
      int64_t count = std::min(kRows, rows - row);
      Widen(input.data<Eigen::half>() + row * depth, in.data(), count * depth);
      auto squares = [&](int64_t first, int64_t last, float* panel) {
        for (int64_t c = first; c < last; ++c) {
          for (int64_t r = 0; r < count; ++r) {
            Half x(in[r * depth + c]);
            *panel++ = (x * x).value();
          }
        }
      };
      product.Rows(count, plan.whole_rows() - row, squares, sums.data(), depth);
      for (int64_t i = 0; i < count * depth; ++i) {
        int64_t at = row * depth + i;
        Half factor = FactorOfHalf(Half(sums[i]) * alpha + bias, beta, at < in_lanes);
        out->data<Eigen::half>()[at] = Eigen::half((Half(in[i]) * factor).value());
      }
    }
  });
  return Error::success();
}

template <typename T>
Error Lrn(KernelContext& ctx, const LrnAttrs& attrs) {
  const Tensor& input = ctx.input(0);
  if (input.rank() != 4)
    return MakeError("the input must have rank 4, not shape {0}", DimsText(input.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, input.dims()));
  if (out->num_elements() == 0) return Error::success();
  if constexpr (std::is_same_v<T, Eigen::half>) return LrnOfHalves(ctx, attrs, input, out);
  int64_t depth = input.dim(3), window = std::min(depth, 2 * std::min(attrs.radius, depth) + 1);
  ctx.ParallelFor(out->num_elements() / depth, depth * (10.0 + window),
                  [&](int64_t begin, int64_t end) {
                    std::vector<float> row(depth), squares(depth), result(depth);
                    for (int64_t i = begin; i < end; ++i) {
                      const T* in = input.data<T>() + i * depth;
                      T* to = out->data<T>() + i * depth;
                      if constexpr (kIsSmallFloat<T>) {
                        Widen(in, row.data(), depth);
                        LrnRow(row.data(), result.data(), depth, attrs, squares.data());
                        Narrow(result.data(), to, depth);
                      } else {
                        LrnRow(in, to, depth, attrs, squares.data());
                      }
                    }
                  });
  return Error::success();
}

// Adds up each value's contributions: its own quotient and every quotient whose window contains it.
void LrnGradientRow(const float* grads, const float* in, const float* result, int64_t depth,
                    const LrnAttrs& attrs, float* to) {
  std::fill_n(to, depth, 0.0f);
  for (int64_t c = 0; c < depth; ++c) {
    int64_t begin = std::max<int64_t>(0, c - attrs.radius);
    int64_t end = std::min(depth, c + attrs.radius + 1);
    float sum = 0;
    for (int64_t i = begin; i < end; ++i) sum += in[i] * in[i];
    float base = attrs.bias + attrs.alpha * sum;
    for (int64_t i = begin; i < end; ++i) {
      float slope = -2 * attrs.alpha * attrs.beta * in[i] * result[c] / base;
      if (i == c) slope += std::pow(base, -attrs.beta);
      to[i] += slope * grads[c];
    }
  }
}

// LrnGradientRow with rounding at each step.
void LrnGradientRowOfHalves(const float* grads, const float* in, const float* result, int64_t depth,
                            const LrnAttrs& attrs, float* to) {
  using Half = RoundedHalf<Eigen::half>;
  Half bias(attrs.bias), alpha(attrs.alpha), beta(attrs.beta), slope = Half(-2) * alpha * beta;
  std::fill_n(to, depth, 0.0f);
  for (int64_t c = 0; c < depth; ++c) {
    int64_t begin = std::max<int64_t>(0, c - attrs.radius);
    int64_t end = std::min(depth, c + attrs.radius + 1);
    Half base(0);
    for (int64_t i = begin; i < end; ++i) base = base + Half(in[i]) * Half(in[i]);
    base = alpha * base + bias;
    Half power(std::pow(base.value(), -beta.value())), of_result = slope * Half(result[c]);
    for (int64_t i = begin; i < end; ++i) {
      Half part = Half(in[i]) * of_result / base;
      if (i == c) part = part + power;
      to[i] = (Half(to[i]) + part * Half(grads[c])).value();
    }
  }
}

template <typename T>
Error LrnGradient(KernelContext& ctx, const LrnAttrs& attrs) {
  const Tensor &grads = ctx.input(0), &image = ctx.input(1), &result = ctx.input(2);
  if (image.rank() != 4 || grads.dims() != image.dims() || result.dims() != image.dims())
    return MakeError("expected three tensors of one shape of rank 4, got {0}, {1} and {2}",
                     DimsText(grads.dims()), DimsText(image.dims()), DimsText(result.dims()));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, image.dims()));
  if (out->num_elements() == 0) return Error::success();
  int64_t depth = image.dim(3), window = std::min(depth, 2 * std::min(attrs.radius, depth) + 1);
  ctx.ParallelFor(
      out->num_elements() / depth, depth * (20.0 + 3.0 * window), [&](int64_t begin, int64_t end) {
        std::vector<float> g(depth), x(depth), y(depth), to(depth);
        for (int64_t at = begin * depth; at < end * depth; at += depth) {
          for (int64_t c = 0; c < depth; ++c) {
            g[c] = static_cast<float>(grads.data<T>()[at + c]);
            x[c] = static_cast<float>(image.data<T>()[at + c]);
            y[c] = static_cast<float>(result.data<T>()[at + c]);
          }
          if constexpr (std::is_same_v<T, Eigen::half>)
            LrnGradientRowOfHalves(g.data(), x.data(), y.data(), depth, attrs, to.data());
          else
            LrnGradientRow(g.data(), x.data(), y.data(), depth, attrs, to.data());
          for (int64_t c = 0; c < depth; ++c) out->data<T>()[at + c] = static_cast<T>(to[c]);
        }
      });
  return Error::success();
}

using LrnTypes = TypeList<float, Eigen::half, Eigen::bfloat16>;

template <bool kGradient>
Expected<KernelFn> MakeLrn(const KernelSetup& setup) {
  const Node& node = setup.node();
  LrnAttrs attrs{node.GetInt("depth_radius", 5), node.GetFloat("bias", 1),
                 node.GetFloat("alpha", 1), node.GetFloat("beta", 0.5f)};
  // TensorFlow also rejects the largest 32-bit integer.
  if (attrs.radius < 0 || attrs.radius >= std::numeric_limits<int32_t>::max())
    return MakeError("depth_radius must be in [0, 2^31 - 1), got {0}", attrs.radius);
  KernelFn fn;
  ForType(setup.output_type(0), LrnTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [attrs](KernelContext& ctx) {
      return kGradient ? LrnGradient<T>(ctx, attrs) : Lrn<T>(ctx, attrs);
    };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("LRN", MakeLrn<false>, OfTypes("T", DataTypesOf(LrnTypes())));
GRAPNEL_CPU_KERNEL("LRNGrad", MakeLrn<true>, OfTypes("T", DataTypesOf(LrnTypes())));

}  // namespace
}  // namespace grapnel
