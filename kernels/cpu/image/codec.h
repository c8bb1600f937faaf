// Images in files: JPEG, PNG, GIF and BMP into pixels, pixels into JPEG and PNG. What a file claims
// is checked against its length before anything is allocated for it.
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

// Where the pixels go, once their number is known: uint8, or uint16 where 16 bits were asked for.
using MakeRoom = llvm::function_ref<Expected<void*>(const ImageSize&)>;

// The error when so many bytes of pixels cannot come out of that many of the file: `ratio` is the
// most that the format can compress. Small images are let through.
Error CheckImageSize(const ImageSize& size, int64_t element_bytes, size_t file_bytes,
                     int64_t ratio);

struct JpegOptions {
  int channels = 0;  // 0: as in the file
  int ratio = 1;     // 1, 2, 4, 8: how much smaller the image shall be
  bool fancy_upscaling = true;
  bool recover_truncated = false;
  bool fast_dct = false;
};
Error DecodeJpeg(llvm::StringRef contents, const JpegOptions& options, MakeRoom room);
// Without its pixels.
Expected<ImageSize> JpegSize(llvm::StringRef contents);

// `channels` 0: as in the file. 16 bits: samples in the machine's order, those of 8 repeated.
Error DecodePng(llvm::StringRef contents, int channels, bool wide, MakeRoom room);
Error DecodeBmp(llvm::StringRef contents, int channels, MakeRoom room);
// All frames, or only the first.
Error DecodeGif(llvm::StringRef contents, bool all_frames, MakeRoom room);

struct JpegEncoding {
  int quality = 95;
  bool progressive = false, optimize = false, chroma_downsampling = true;
  bool per_inch = true;  // else per centimetre
  int x_density = 300, y_density = 300;
  std::string xmp;
};
// 1 or 3 channels.
Expected<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                 const JpegEncoding& options);
// 1 to 4 channels; `compression` is zlib's level, -1 the usual.
Expected<std::string> EncodePng(const void* pixels, const ImageSize& size, bool wide,
                                int compression);

}  // namespace grapnel

#endif  // GRAPNEL_KERNELS_CPU_IMAGE_CODEC_H_
