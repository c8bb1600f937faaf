// ExtractImagePatches and ExtractVolumePatches: the window at each position, laid out as channels.
// Padding is 0.
#include <algorithm>
#include <cstring>

#include "kernels/common/dispatch.h"
#include "kernels/common/window.h"

namespace grapnel {
namespace {

// Copies the patch of output position `p`, tap after tap.
void CopyPatch(const Window& w, int64_t p, const char* in, char* to, int64_t pixel_bytes) {
  int64_t x = p % w[2].out, y = p / w[2].out % w[1].out, z = p / w[2].out / w[1].out % w[0].out;
  int64_t batch = p / w[2].out / w[1].out / w[0].out;
  auto [z0, z1] = w[0].Taps(z);
  auto [y0, y1] = w[1].Taps(y);
  auto [x0, x1] = w[2].Taps(x);
  int64_t taps = w[0].kernel * w[1].kernel * w[2].kernel;
  if ((z1 - z0) * (y1 - y0) * (x1 - x0) < taps) std::memset(to, 0, taps * pixel_bytes);
  for (int64_t kz = z0; kz < z1; ++kz) {
    int64_t plane = batch * w[0].in + z * w[0].stride - w[0].before + kz * w[0].dilation;
    for (int64_t ky = y0; ky < y1; ++ky) {
      int64_t row = plane * w[1].in + y * w[1].stride - w[1].before + ky * w[1].dilation;
      const char* from = in + (row * w[2].in + x * w[2].stride - w[2].before) * pixel_bytes;
      char* at = to + (kz * w[1].kernel + ky) * w[2].kernel * pixel_bytes;
      if (w[2].dilation == 1) {
        if (x1 > x0)
          std::memcpy(at + x0 * pixel_bytes, from + x0 * pixel_bytes, (x1 - x0) * pixel_bytes);
        continue;
      }
      for (int64_t kx = x0; kx < x1; ++kx) {
        std::memcpy(at + kx * pixel_bytes, from + kx * w[2].dilation * pixel_bytes, pixel_bytes);
      }
    }
  }
}

// With SAME padding and strides wider than patches, a volume leaves the unused pixels at both ends;
// an image leaves them after the last patch.
void Center(WindowDim& dim) { dim.before = ((dim.out - 1) * dim.stride + dim.kernel - dim.in) / 2; }

Error ExtractPatches(KernelContext& ctx, const WindowAttrs& attrs, llvm::ArrayRef<int64_t> kernel) {
  const Tensor& in = ctx.input(0);
  if (in.rank() != attrs.rank())
    return MakeError("the input must have rank {0}, not shape {1}", attrs.rank(),
                     DimsText(in.dims()));
  ASSIGN_OR_RETURN(Window window, attrs.Resolve(in.dims(), kernel));
  if (attrs.spatial_rank == 3 && attrs.padding == Padding::kSame) {
    for (WindowDim& dim : window) Center(dim);
  }
  int64_t channels = in.dim(attrs.channel_dim()), taps = 1;
  for (int64_t size : kernel) taps *= size;
  Dims dims = attrs.OutputDims(in.dim(0), window, taps * channels);
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t pixel_bytes = channels * static_cast<int64_t>(DataTypeSize(in.dtype()));
  const char* from = static_cast<const char*>(in.raw());
  char* to = static_cast<char*>(out->raw());
  int64_t positions = out->num_elements() / (taps * channels);
  ctx.ParallelFor(positions, taps * (5 + pixel_bytes * 0.1), [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p)
      CopyPatch(window, p, from, to + p * taps * pixel_bytes, pixel_bytes);
  });
  return Error::success();
}

template <int spatial_rank>
Expected<KernelFn> MakeExtractPatches(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(WindowAttrs attrs, ReadWindowAttrs(setup, spatial_rank));
  std::vector<int64_t> sizes = setup.node().GetInts("ksizes");
  std::vector<int64_t> rates = setup.node().GetInts("rates");
  if (spatial_rank == 3) rates.assign(attrs.rank(), 1);
  RETURN_IF_ERROR(CheckWindowList("ksizes", sizes, attrs.rank()));
  RETURN_IF_ERROR(CheckWindowList("strides", attrs.strides, attrs.rank()));
  RETURN_IF_ERROR(CheckWindowList("rates", rates, attrs.rank()));
  int channel = attrs.channel_dim();
  for (const auto* list : {&sizes, &attrs.strides, &rates}) {
    if ((*list)[0] != 1 || (*list)[channel] != 1)
      return MakeError("ksizes, strides and rates must be 1 for batch and channels");
  }
  attrs.dilations = rates;
  std::vector<int64_t> kernel(sizes.begin() + 1, sizes.end() - 1);
  return KernelFn(
      [attrs, kernel](KernelContext& ctx) { return ExtractPatches(ctx, attrs, kernel); });
}

using PatchTypes = Join<NumberTypes, TypeList<bool>>;
GRAPNEL_CPU_KERNEL("ExtractImagePatches", MakeExtractPatches<2>,
                   OfTypes("T", DataTypesOf(PatchTypes())));
GRAPNEL_CPU_KERNEL("ExtractVolumePatches", MakeExtractPatches<3>,
                   OfTypes("T", DataTypesOf(RealTypes())));

}  // namespace
}  // namespace grapnel
