// EncodeJpeg, EncodeJpegVariableQuality, EncodePng.
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/image/codec.h"

namespace grapnel {
namespace {

Error Encode(KernelContext& ctx, const JpegEncoding& options, int64_t channels) {
  const Tensor& image = ctx.input(0);
  if (image.rank() != 3)
    return MakeError("image must be 3-dimensional, got shape {0}", DimsText(image.dims()));
  ImageSize size{1, image.dim(0), image.dim(1), image.dim(2)};
  if (size.channels != 1 && size.channels != 3)
    return MakeError("image must have 1 or 3 channels, got {0}", size.channels);
  if (channels != 0 && size.channels != channels)
    return MakeError("format expects {0} channels, the image has {1}", channels, size.channels);
  ASSIGN_OR_RETURN(std::string bytes, EncodeJpeg(image.data<uint8_t>(), size, options));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = std::move(bytes);
  return Error::success();
}

Error CheckQuality(int64_t quality) {
  if (quality >= 0 && quality <= 100) return Error::success();
  return MakeError("quality must be in [0, 100], got {0}", quality);
}

Expected<KernelFn> MakeEncodeJpeg(const KernelSetup& setup) {
  const Node& node = setup.node();
  JpegEncoding options;
  RETURN_IF_ERROR(CheckQuality(node.GetInt("quality", 95)));
  options.quality = static_cast<int>(node.GetInt("quality", 95));
  options.progressive = node.GetBool("progressive");
  options.optimize = node.GetBool("optimize_size");
  options.chroma_downsampling = node.GetBool("chroma_downsampling", true);
  std::string format = node.GetString("format"), unit = node.GetString("density_unit", "in");
  if (unit != "in" && unit != "cm")
    return MakeError("density_unit must be 'in' or 'cm', not '{0}'", unit);
  options.per_inch = unit == "in";
  if (!format.empty() && format != "grayscale" && format != "rgb")
    return MakeError("format must be '', grayscale or rgb, not '{0}'", format);
  options.x_density = static_cast<int>(node.GetInt("x_density", 300));
  options.y_density = static_cast<int>(node.GetInt("y_density", 300));
  options.xmp = node.GetString("xmp_metadata");
  int64_t channels = format.empty() ? 0 : format == "rgb" ? 3 : 1;
  return KernelFn(
      [options, channels](KernelContext& ctx) { return Encode(ctx, options, channels); });
}

Error EncodeVariableQuality(KernelContext& ctx) {
  if (ctx.input(1).num_elements() != 1) return MakeError("quality must have one element");
  RETURN_IF_ERROR(CheckQuality(ctx.input(1).IntAt(0)));
  JpegEncoding options;
  options.quality = static_cast<int>(ctx.input(1).IntAt(0));
  return Encode(ctx, options, 0);
}

// Encodes one string per image; any number of dimensions may precede the last three.
Error EncodePngs(KernelContext& ctx, int compression) {
  const Tensor& image = ctx.input(0);
  bool wide = image.dtype() == proto::DT_UINT16;
  if (image.rank() < 3)
    return MakeError("image must be at least 3-dimensional, got shape {0}", DimsText(image.dims()));
  auto outer = image.dims().drop_back(3), inner = image.dims().take_back(3);
  ImageSize size{1, inner[0], inner[1], inner[2]};
  if (size.channels < 1 || size.channels > 4)
    return MakeError("image must have 1, 2, 3, or 4 channels, got {0}", size.channels);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, outer));
  const char* from = static_cast<const char*>(image.raw());
  int64_t bytes = size.elements() * (wide ? 2 : 1);
  for (int64_t i = 0; i < out->num_elements(); ++i) {
    ASSIGN_OR_RETURN(out->data<std::string>()[i],
                     EncodePng(from + i * bytes, size, wide, compression));
  }
  return Error::success();
}

Expected<KernelFn> MakeEncodePng(const KernelSetup& setup) {
  int64_t compression = setup.node().GetInt("compression", -1);
  if (compression < -1 || compression > 9)
    return MakeError("compression should be in [-1, 9], got {0}", compression);
  DataType type = setup.input_type(0);
  if (type != proto::DT_UINT8 && type != proto::DT_UINT16)
    return MakeError("image must be of uint8 or uint16, not {0}", DataTypeName(type));
  return KernelFn(
      [compression](KernelContext& ctx) { return EncodePngs(ctx, static_cast<int>(compression)); });
}

GRAPNEL_CPU_KERNEL("EncodeJpeg", MakeEncodeJpeg);
GRAPNEL_CPU_KERNEL("EncodeJpegVariableQuality", KernelOf<EncodeVariableQuality>);
GRAPNEL_CPU_KERNEL("EncodePng", MakeEncodePng);

}  // namespace
}  // namespace grapnel
