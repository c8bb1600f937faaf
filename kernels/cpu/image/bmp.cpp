// Decodes uncompressed BMP with 8, 24 or 32 bits per pixel; also detects the format of an image
// file.
#include <cstring>

#include "kernels/cpu/image/codec.h"

namespace grapnel {
namespace {

constexpr size_t kHeader = 32;  // the minimum in TensorFlow; contains all fields that are read
constexpr int64_t kAlwaysAllowed = int64_t{64} << 20;

template <typename T>
T Field(llvm::StringRef bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

ImageFormat FormatOf(llvm::StringRef contents) {
  if (contents.starts_with("\xff\xd8\xff")) return ImageFormat::kJpeg;
  if (contents.starts_with("\x89PNG\r\n\x1a\n")) return ImageFormat::kPng;
  if (contents.starts_with("GIF8")) return ImageFormat::kGif;
  if (contents.starts_with("BM")) return ImageFormat::kBmp;
  return ImageFormat::kUnknown;
}

Error CheckImageSize(const ImageSize& size, int64_t element_bytes, size_t file_bytes,
                     int64_t ratio) {
  int64_t total = element_bytes, most = 0;
  for (int64_t part : {size.frames, size.height, size.width, size.channels}) {
    if (part < 1)
      return MakeError("an image must have pixels, got {0} x {1}", size.height, size.width);
    if (__builtin_mul_overflow(total, part, &total))
      return MakeError("an image of {0} x {1} pixels is too large", size.height, size.width);
  }
  if (__builtin_mul_overflow(static_cast<int64_t>(file_bytes), ratio, &most)) most = INT64_MAX;
  if (total <= kAlwaysAllowed || total <= most) return Error::success();
  return MakeError("{0} bytes cannot hold {1} images of {2} x {3} pixels", file_bytes, size.frames,
                   size.height, size.width);
}

Error DecodeBmp(llvm::StringRef contents, int channels, MakeRoom room) {
  if (contents.size() < kHeader)
    return MakeError(
        "incomplete BMP content, requires at least {0} bytes to find the header size, "
        "width, height, and bpp, got {1} bytes",
        kHeader, contents.size());
  int64_t start = Field<int32_t>(contents, 10), width = Field<int32_t>(contents, 18);
  int64_t height = Field<int32_t>(contents, 22), bits = Field<int16_t>(contents, 28);
  bool top_down = height < 0;
  if (top_down) height = -height;
  if (bits != 8 && bits != 24 && bits != 32)
    return MakeError("a BMP has {0} bits per pixel: 8, 24 or 32 were expected", bits);
  int64_t depth = bits / 8;
  int64_t wanted = channels == 0 ? depth : channels;
  if (width < 1 || height < 1 || start < 0)
    return MakeError(
        "invalid BMP data: the header claims {0} x {1} pixels that start at byte {2}, but sizes "
        "must be positive and the start not negative",
        height, width, start);
  int64_t line = (depth * width + 3) / 4 * 4;  // rounded up to 4 bytes
  int64_t have = static_cast<int64_t>(contents.size()) - start;
  if (have < 0 || have % line != 0 || have / line != height)
    return MakeError(
        "a BMP of {0} bytes has {1} x {2} pixels that start at byte {3}: rows of {4} bytes, and no "
        "bytes after them, were expected",
        contents.size(), height, width, start, line);
  ImageSize size{1, height, width, wanted};
  ASSIGN_OR_RETURN(void* pixels, room(size));
  auto* to = static_cast<uint8_t*>(pixels);
  for (int64_t y = 0; y < height; ++y) {
    const char* from = contents.data() + start + (top_down ? y : height - 1 - y) * line;
    for (int64_t x = 0; x < width; ++x) {
      const auto* pixel = reinterpret_cast<const uint8_t*>(from + x * depth);
      // A gray pixel expands to three equal colors; without an alpha channel a pixel is opaque.
      for (int64_t c = 0; c < std::min<int64_t>(wanted, 3); ++c)
        to[c] = pixel[depth == 1 ? 0 : 2 - c];
      if (wanted == 4) to[3] = depth == 4 ? pixel[3] : 255;
      to += wanted;
    }
  }
  return Error::success();
}

}  // namespace grapnel
