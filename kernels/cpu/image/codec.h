// Image codecs: decodes JPEG, PNG, GIF and BMP, encodes JPEG and PNG. The image size that a file
// claims is checked against the length of the file before the pixels are allocated.
#ifndef GRAPNEL_KERNELS_CPU_IMAGE_CODEC_H_
#define GRAPNEL_KERNELS_CPU_IMAGE_CODEC_H_

#include <cstdint>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

enum class ImageFormat { kUnknown, kJpeg, kPng, kGif, kBmp };
ImageFormat FormatOf(llvm::StringRef contents);

struct ImageSize {
  int64_t frames = 1, height = 0, width = 0, channels = 0;
  int64_t elements() const { return frames * height * width * channels; }
};

// Allocates the pixels once their number is known: uint8, or uint16 when 16 bits were requested.
using MakeRoom = llvm::function_ref<Expected<void*>(const ImageSize&)>;

// Fails for an image without pixels, and when a file of `file_bytes` cannot decompress to an image
// of this size: `ratio` is the format's maximum compression. Small images pass for any file.
Error CheckImageSize(const ImageSize& size, int64_t element_bytes, size_t file_bytes,
                     int64_t ratio);

struct JpegOptions {
  int channels = 0;  // 0: as in the file, but at most 3
  int ratio = 1;     // 1, 2, 4, 8: the factor to shrink the image by
  bool fancy_upscaling = true;
  bool recover_truncated = false;
  bool fast_dct = false;
};
Error DecodeJpeg(llvm::StringRef contents, const JpegOptions& options, MakeRoom room);
// Reads the size without decoding the pixels.
Expected<ImageSize> JpegSize(llvm::StringRef contents);

// 0 for `channels` keeps the file's number of channels; a PNG with a palette has 3, or 4 with
// transparency. `wide` gives 16-bit samples in native byte order; 8-bit samples are widened.
Error DecodePng(llvm::StringRef contents, int channels, bool wide, MakeRoom room);
Error DecodeBmp(llvm::StringRef contents, int channels, MakeRoom room);
// Decodes all frames, or only the first.
Error DecodeGif(llvm::StringRef contents, bool all_frames, MakeRoom room);

struct JpegEncoding {
  int quality = 95;
  bool progressive = false, optimize = false, chroma_downsampling = true;
  bool per_inch = true;  // else per centimeter
  int x_density = 300, y_density = 300;
  std::string xmp;
};
// Encodes an image of 1 or 3 channels.
Expected<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                 const JpegEncoding& options);
// Encodes an image of 1 to 4 channels; `compression` is the zlib level, -1 for the default.
Expected<std::string> EncodePng(const void* pixels, const ImageSize& size, bool wide,
                                int compression);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_IMAGE_CODEC_H_
