// DecodeJpeg, DecodeAndCropJpeg, ExtractJpegShape, DecodePng, DecodeGif, DecodeBmp, DecodeImage.
// As in TensorFlow, DecodeJpeg, DecodePng and DecodeGif also accept one another's formats, and
// DecodeImage accepts all four.
#include <cstring>

#include "kernels/common/dims.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/image/codec.h"

namespace grapnel {
namespace {

struct Decoding {
  std::string op;
  int channels = 0;
  DataType dtype = proto::DT_UINT8;
  bool animations = true;
  JpegOptions jpeg;
};

Expected<llvm::StringRef> ContentsIn(const KernelContext& ctx) {
  if (ctx.input(0).num_elements() == 1) return llvm::StringRef(*ctx.input(0).data<std::string>());
  return MakeError("contents must have one element, got shape {0}", DimsText(ctx.input(0).dims()));
}

Dims DimsOf(const ImageSize& size, bool with_frames) {
  Dims dims{size.height, size.width, size.channels};
  if (with_frames) dims.insert(dims.begin(), size.frames);
  return dims;
}

// Decodes into a tensor of uint8, or of uint16 when `wide`.
template <typename Decode>
Expected<Tensor> Decoded(KernelContext& ctx, bool wide, bool with_frames, Decode decode) {
  Tensor image;
  RETURN_IF_ERROR(decode([&](const ImageSize& size) -> Expected<void*> {
    ASSIGN_OR_RETURN(
        image, ctx.Scratch(wide ? proto::DT_UINT16 : proto::DT_UINT8, DimsOf(size, with_frames)));
    return image.raw();
  }));
  return image;
}

// Converts to uint16 by multiplying by 256, to float by scaling the maximum to 1.
Error PutAs(KernelContext& ctx, Tensor image) {
  DataType dtype = ctx.output_type(0);
  if (image.dtype() == dtype) {
    ctx.SetOutput(0, std::move(image));
    return Error::success();
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, image.dims()));
  bool wide = image.dtype() == proto::DT_UINT16;
  float scale = wide ? 1.f / 65535 : 1.f / 255;
  ctx.ParallelFor(image.num_elements(), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      uint16_t value = wide ? image.data<uint16_t>()[i] : image.data<uint8_t>()[i];
      if (dtype == proto::DT_FLOAT)
        out->data<float>()[i] = static_cast<float>(value) * scale;
      else
        out->data<uint16_t>()[i] = static_cast<uint16_t>(value * 256);
    }
  });
  return Error::success();
}

Error CheckChannels(llvm::StringRef format, int channels, llvm::ArrayRef<int> allowed) {
  if (llvm::is_contained(allowed, channels)) return Error::success();
  return MakeError("channels attribute {0} is not supported for {1}", channels, format);
}

Error DecodeAny(KernelContext& ctx, const Decoding& form) {
  ASSIGN_OR_RETURN(llvm::StringRef contents, ContentsIn(ctx));
  ImageFormat format = FormatOf(contents);
  bool is_gif_op = form.op == "DecodeGif";
  if (form.op == "DecodeBmp" && format != ImageFormat::kBmp)
    return MakeError("the data is not a BMP: use DecodeImage, which also reads JPEG, PNG and GIF");
  if (form.op != "DecodeBmp" && form.op != "DecodeImage" && format == ImageFormat::kBmp)
    return MakeError(
        "trying to decode BMP format using a wrong op: DecodeBmp or DecodeImage reads "
        "it, not {0}",
        form.op);
  if (format == ImageFormat::kJpeg) {
    RETURN_IF_ERROR(CheckChannels("JPEG", form.channels, {0, 1, 3}));
    JpegOptions options = form.jpeg;
    options.channels = form.channels;
    ASSIGN_OR_RETURN(Tensor image, Decoded(ctx, false, is_gif_op, [&](MakeRoom room) {
                       return DecodeJpeg(contents, options, room);
                     }));
    return PutAs(ctx, std::move(image));
  }
  if (format == ImageFormat::kPng) {
    bool wide = form.dtype != proto::DT_UINT8;
    RETURN_IF_ERROR(CheckChannels("PNG", form.channels, {0, 1, 3, 4}));
    ASSIGN_OR_RETURN(Tensor image, Decoded(ctx, wide, is_gif_op, [&](MakeRoom room) {
                       return DecodePng(contents, form.channels, wide, room);
                     }));
    return PutAs(ctx, std::move(image));
  }
  if (format == ImageFormat::kGif) {
    RETURN_IF_ERROR(CheckChannels("GIF", form.channels, {0, 3}));
    bool all = is_gif_op || form.animations;
    bool plain = form.op == "DecodeJpeg" || form.op == "DecodePng";
    ASSIGN_OR_RETURN(Tensor image, Decoded(ctx, false, true, [&](MakeRoom room) {
                       return DecodeGif(contents, all || plain, room);
                     }));
    if (plain && image.dim(0) != 1)
      return MakeError(
          "got {0} frames, but animated gifs can only be decoded by DecodeGif or "
          "DecodeImage",
          image.dim(0));
    if (plain || !all) image = image.Reshaped(image.dims().drop_front());
    return PutAs(ctx, std::move(image));
  }
  if (format == ImageFormat::kBmp) {
    RETURN_IF_ERROR(CheckChannels("BMP", form.channels, {0, 3, 4}));
    ASSIGN_OR_RETURN(Tensor image, Decoded(ctx, false, false, [&](MakeRoom room) {
                       return DecodeBmp(contents, form.channels, room);
                     }));
    return PutAs(ctx, std::move(image));
  }
  return MakeError("unknown image file format, one of JPEG, PNG, GIF, BMP required");
}

Expected<Decoding> DecodingOf(const KernelSetup& setup) {
  const Node& node = setup.node();
  Decoding form;
  form.op = node.op().str();
  form.channels = form.op == "DecodeGif" ? 3 : static_cast<int>(node.GetInt("channels"));
  form.dtype = setup.output_type(0);
  form.animations = form.op == "DecodeImage" && node.GetBool("expand_animations", true);
  form.jpeg.ratio = static_cast<int>(node.GetInt("ratio", 1));
  form.jpeg.fancy_upscaling = node.GetBool("fancy_upscaling", true);
  form.jpeg.recover_truncated = node.GetBool("try_recover_truncated");
  std::string dct = node.GetString("dct_method");
  if (form.op.find("Jpeg") != std::string::npos || form.op == "DecodeImage") {
    if (form.jpeg.ratio != 1 && form.jpeg.ratio != 2 && form.jpeg.ratio != 4 &&
        form.jpeg.ratio != 8)
      return MakeError("ratio must be 1, 2, 4, or 8, got {0}", form.jpeg.ratio);
    if (!dct.empty() && dct != "INTEGER_FAST" && dct != "INTEGER_ACCURATE")
      return MakeError("dct_method must be '', 'INTEGER_FAST' or 'INTEGER_ACCURATE', not '{0}'",
                       dct);
  }
  // TensorFlow's libjpeg uses the fast transform by default.
  form.jpeg.fast_dct = dct != "INTEGER_ACCURATE";
  if (form.dtype != proto::DT_UINT8 && form.dtype != proto::DT_UINT16 &&
      form.dtype != proto::DT_FLOAT)
    return MakeError("cannot decode to {0}: expected uint8, uint16 or float",
                     DataTypeName(form.dtype));
  return form;
}

Expected<KernelFn> MakeDecode(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Decoding form, DecodingOf(setup));
  return KernelFn([form](KernelContext& ctx) { return DecodeAny(ctx, form); });
}

// crop_window is [y, x, height, width].
Error DecodeAndCrop(KernelContext& ctx, const Decoding& form) {
  ASSIGN_OR_RETURN(llvm::StringRef contents, ContentsIn(ctx));
  if (FormatOf(contents) != ImageFormat::kJpeg)
    return MakeError("DecodeAndCropJpeg operation can run on JPEG only");
  RETURN_IF_ERROR(CheckChannels("JPEG", form.channels, {0, 1, 3}));
  if (ctx.input(1).rank() != 1 || ctx.input(1).dim(0) != 4)
    return MakeError("crop_window must be a vector of 4 elements, got shape {0}",
                     DimsText(ctx.input(1).dims()));
  Dims window = IntsOf(ctx.input(1));
  JpegOptions options = form.jpeg;
  options.channels = form.channels;
  ASSIGN_OR_RETURN(Tensor image, Decoded(ctx, false, false, [&](MakeRoom room) {
                     return DecodeJpeg(contents, options, room);
                   }));
  int64_t height = image.dim(0), width = image.dim(1), channels = image.dim(2);
  if (window[0] < 0 || window[1] < 0 || window[2] < 1 || window[3] < 1 ||
      window[2] > height - window[0] || window[3] > width - window[1])
    return MakeError("crop window {0} is not inside of the image, {1} x {2}", IntsText(window),
                     height, width);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {window[2], window[3], channels}));
  int64_t line = window[3] * channels;
  for (int64_t y = 0; y < window[2]; ++y)
    std::memcpy(out->data<uint8_t>() + y * line,
                image.data<uint8_t>() + ((window[0] + y) * width + window[1]) * channels, line);
  return Error::success();
}

Expected<KernelFn> MakeDecodeAndCrop(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Decoding form, DecodingOf(setup));
  return KernelFn([form](KernelContext& ctx) { return DecodeAndCrop(ctx, form); });
}

Error ExtractShape(KernelContext& ctx) {
  ASSIGN_OR_RETURN(llvm::StringRef contents, ContentsIn(ctx));
  ASSIGN_OR_RETURN(ImageSize size, JpegSize(contents));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {3}));
  int64_t values[] = {size.height, size.width, size.channels};
  for (int i = 0; i < 3; ++i) {
    if (out->dtype() == proto::DT_INT32)
      out->data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    else
      out->data<int64_t>()[i] = values[i];
  }
  return Error::success();
}

#define GRAPNEL_DECODE_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_DECODE_KERNEL("DecodeJpeg", MakeDecode);
GRAPNEL_DECODE_KERNEL("DecodePng", MakeDecode);
GRAPNEL_DECODE_KERNEL("DecodeGif", MakeDecode);
GRAPNEL_DECODE_KERNEL("DecodeBmp", MakeDecode);
GRAPNEL_DECODE_KERNEL("DecodeImage", MakeDecode);
GRAPNEL_DECODE_KERNEL("DecodeAndCropJpeg", MakeDecodeAndCrop);
GRAPNEL_DECODE_KERNEL("ExtractJpegShape", KernelOf<ExtractShape>);

}  // namespace
}  // namespace grapnel
