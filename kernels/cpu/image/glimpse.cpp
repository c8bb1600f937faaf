// ExtractGlimpse: a window of each image around the given offsets. Pixels outside the image are 0
// or noise. TensorFlow draws different noise in each run; here the seed is derived from the node's
// name.
#include <cmath>

#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/random/random.h"

namespace grapnel {
namespace {

enum class Noise { kUniform, kGaussian, kZero };

struct Attrs {
  bool centered, normalized, first_version;
  Noise noise;
};

// Returns the first pixel of a window of `width` pixels on an axis of `size`. The offset gives the
// middle of the window; in version 2 its start, unless centered and normalized. Centered offsets
// that give the middle are halved (normalized ones run from -1 to 1 over the image); then half the
// image size is added to centered offsets.
int64_t StartOf(float offset, int64_t size, int64_t width, const Attrs& attrs) {
  float at = offset, length = static_cast<float>(size);
  bool of_middle = attrs.first_version || (attrs.centered && attrs.normalized);
  if (attrs.normalized) at *= length;
  if (attrs.centered && of_middle) at /= 2;
  if (attrs.centered) at += length / 2;
  if (of_middle) at -= static_cast<float>(width) / 2;
  constexpr float kFar = 1e9f;
  if (!(at > -kFar)) return static_cast<int64_t>(-kFar);  // NaN: the window is outside the image
  return static_cast<int64_t>(std::min(at, kFar));
}

void FillNoise(Noise noise, Philox& philox, float low, float high, Tensor& out) {
  int64_t n = out.num_elements();
  float* to = out.data<float>();
  for (int64_t i = 0; i < n; i += 2) {
    if (noise == Noise::kZero) {
      to[i] = 0;
      if (i + 1 < n) to[i + 1] = 0;
      continue;
    }
    Philox::Group x = philox.Next();
    double pair[2] = {ToDouble(x[0], x[1]), ToDouble(x[2], x[3])};
    if (noise == Noise::kGaussian) NormalPair(x.data(), pair);
    for (int64_t k = i; k < std::min(n, i + 2); ++k) {
      double value = pair[k - i];
      to[k] = static_cast<float>(noise == Noise::kUniform ? low + value * (high - low) : value);
    }
  }
}

Error Extract(KernelContext& ctx, const Attrs& attrs, const SharedPhilox& shared) {
  const Tensor &in = ctx.input(0), &size = ctx.input(1), &offsets = ctx.input(2);
  if (in.rank() != 4)
    return MakeError("input must have rank 4, got shape {0}", DimsText(in.dims()));
  if (size.rank() != 1 || size.num_elements() != 2 || size.IntAt(0) < 0 || size.IntAt(1) < 0)
    return MakeError("size must be a vector of two numbers of 0 or more");
  if (offsets.rank() != 2 || offsets.dim(0) != in.dim(0) || offsets.dim(1) != 2)
    return MakeError("offsets must be [{0},2], got shape {1}", in.dim(0), DimsText(offsets.dims()));
  int64_t height = size.IntAt(0), width = size.IntAt(1), channels = in.dim(3);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {in.dim(0), height, width, channels}));
  float low = 0, high = 1;
  for (int64_t i = 0; attrs.noise == Noise::kUniform && i < in.num_elements(); ++i) {
    low = std::min(i ? low : in.data<float>()[0], in.data<float>()[i]);
    high = std::max(i ? high : in.data<float>()[0], in.data<float>()[i]);
  }
  shared.Use([&](Philox& philox) { FillNoise(attrs.noise, philox, low, high, *out); });
  for (int64_t batch = 0; batch < in.dim(0); ++batch) {
    int64_t top = StartOf(offsets.data<float>()[2 * batch], in.dim(1), height, attrs);
    int64_t left = StartOf(offsets.data<float>()[2 * batch + 1], in.dim(2), width, attrs);
    int64_t x0 = std::max<int64_t>(0, -left), x1 = std::min(width, in.dim(2) - left);
    for (int64_t y = std::max<int64_t>(0, -top); y < std::min(height, in.dim(1) - top) && x0 < x1;
         ++y)
      CopyElements(in.dtype(),
                   At(in, ((batch * in.dim(1) + top + y) * in.dim(2) + left + x0) * channels),
                   At(*out, ((batch * height + y) * width + x0) * channels), (x1 - x0) * channels);
  }
  return Error::success();
}

template <bool kFirstVersion>
Expected<KernelFn> Make(const KernelSetup& setup) {
  const Node& node = setup.node();
  // If `noise` is empty, the older attribute uniform_noise decides.
  bool is_uniform = node.GetBool("uniform_noise", true);
  std::string noise = node.GetString("noise", "uniform");
  if (noise.empty()) noise = is_uniform ? "uniform" : "gaussian";
  Attrs attrs{node.GetBool("centered", true), node.GetBool("normalized", true), kFirstVersion,
              noise == "zero"       ? Noise::kZero
              : noise == "gaussian" ? Noise::kGaussian
                                    : Noise::kUniform};
  if (noise != "uniform" && noise != "gaussian" && noise != "zero")
    return MakeError("noise must be uniform, gaussian or zero, got '{0}'", noise);
  // TensorFlow rejects contradictory attributes.
  if (noise != "uniform" && is_uniform && !node.GetString("noise", "uniform").empty())
    return MakeError("noise '{0}' needs uniform_noise to be false", noise);
  return KernelFn([attrs, philox = SharedPhilox(setup)](KernelContext& ctx) {
    return Extract(ctx, attrs, philox);
  });
}

GRAPNEL_CPU_KERNEL("ExtractGlimpse", Make<true>);
GRAPNEL_CPU_KERNEL("ExtractGlimpseV2", Make<false>);

}  // namespace
}  // namespace grapnel
