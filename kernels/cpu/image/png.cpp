// PNG through libpng. libpng reports errors with longjmp, so code between setjmp and the jump must
// not own resources.
#include "png.h"

#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstring>
#include <vector>

#include "kernels/cpu/image/codec.h"
#include "zlib.h"

namespace grapnel {
namespace {

// The maximum expansion: deflate by a factor above 1030, and 1-bit samples to 8 or 16 bits.
constexpr int64_t kPngRatio = 1032 * 32;

struct Failure {
  std::jmp_buf jump;
  char text[200] = "";
};

[[noreturn]] void Fail(png_structp png, png_const_charp text) {
  auto* failure = static_cast<Failure*>(png_get_error_ptr(png));
  std::snprintf(failure->text, sizeof failure->text, "%s", text);
  std::longjmp(failure->jump, 1);
}
void IgnoreWarning(png_structp, png_const_charp) {}

// --- Decoding

struct Reader {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Failure failure;
  llvm::StringRef rest;
  ImageSize size;
  bool widen = false;  // expand 8-bit samples of the file to 16 bits
};

void ReadBytes(png_structp png, png_bytep to, size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->rest.size()) png_error(png, "the data is cut off");
  std::memcpy(to, reader->rest.data(), count);
  reader->rest = reader->rest.drop_front(count);
}

// Configures libpng's conversion from the file's pixel format to `channels`.
void SetTransforms(Reader& reader, int channels, bool wide) {
  png_structp png = reader.png;
  int color = png_get_color_type(png, reader.info), bits = png_get_bit_depth(png, reader.info);
  bool has_alpha = color & PNG_COLOR_MASK_ALPHA;
  bool has_clear = png_get_valid(png, reader.info, PNG_INFO_tRNS) != 0;
  bool is_gray = !(color & PNG_COLOR_MASK_COLOR);
  if (channels == 0 && color == PNG_COLOR_TYPE_PALETTE)
    channels = has_alpha || has_clear ? 4 : 3;
  else if (channels == 0)
    channels = png_get_channels(png, reader.info);
  bool wants_alpha = channels % 2 == 0, wants_gray = channels < 3;
  if (wants_alpha && has_clear)
    png_set_tRNS_to_alpha(png);
  else if (wants_alpha && !has_alpha)
    png_set_add_alpha(png, (1u << bits) - 1, PNG_FILLER_AFTER);
  if (!wants_alpha && (has_alpha || has_clear)) png_set_strip_alpha(png);
  if (bits > 8 && !wide) png_set_strip_16(png);
  reader.widen = wide && bits <= 8;
  png_set_packing(png);
  png_set_interlace_handling(png);
  if (wide && bits > 8) png_set_swap(png);
  if (color == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png);
  if (is_gray && bits < 8) png_set_expand_gray_1_2_4_to_8(png);
  if (wants_gray && !is_gray) png_set_rgb_to_gray(png, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
  if (!wants_gray && is_gray) png_set_gray_to_rgb(png);
  png_read_update_info(png, reader.info);
  reader.size = {1, png_get_image_height(png, reader.info), png_get_image_width(png, reader.info),
                 channels};
}

bool ReadHeader(Reader& reader, int channels, bool wide) {
  if (setjmp(reader.failure.jump)) return false;
  reader.info = png_create_info_struct(reader.png);
  if (!reader.info) return false;
  png_set_read_fn(reader.png, &reader, ReadBytes);
  png_read_info(reader.png, reader.info);
  SetTransforms(reader, channels, wide);
  size_t line = static_cast<size_t>(reader.size.width * reader.size.channels);
  if (png_get_rowbytes(reader.png, reader.info) != (wide && !reader.widen ? 2 * line : line))
    png_error(reader.png, "the pixels cannot be converted to this number of channels");
  return true;
}

bool ReadRows(Reader& reader, png_bytepp rows) {
  if (setjmp(reader.failure.jump)) return false;
  png_read_image(reader.png, rows);
  png_read_end(reader.png, nullptr);
  return true;
}

// Widens 8-bit samples to 16 bits in place, back to front, because they start at the front of the
// buffer.
void Widen(void* pixels, int64_t count) {
  auto* narrow = static_cast<const uint8_t*>(pixels);
  auto* wide = static_cast<uint16_t*>(pixels);
  for (int64_t i = count; i-- > 0;) wide[i] = static_cast<uint16_t>(narrow[i] * 257);
}

Error FailureOf(const Failure& failure) {
  return MakeError("invalid PNG data: {0}", failure.text[0] ? failure.text : "out of memory");
}

Error ReadAll(Reader& reader, llvm::StringRef contents, int channels, bool wide, MakeRoom room) {
  if (!ReadHeader(reader, channels, wide)) return FailureOf(reader.failure);
  RETURN_IF_ERROR(CheckImageSize(reader.size, wide ? 2 : 1, contents.size(), kPngRatio));
  ASSIGN_OR_RETURN(void* pixels, room(reader.size));
  int64_t stride = static_cast<int64_t>(png_get_rowbytes(reader.png, reader.info));
  std::vector<png_bytep> rows;
  for (int64_t y = 0; y < reader.size.height; ++y)
    rows.push_back(static_cast<png_bytep>(pixels) + y * stride);
  if (!ReadRows(reader, rows.data())) return FailureOf(reader.failure);
  if (reader.widen) Widen(pixels, reader.size.elements());
  return Error::success();
}

// --- Encoding

struct Writer {
  png_structp png = nullptr;
  png_infop info = nullptr;
  Failure failure;
  std::string bytes;
};

void WriteBytes(png_structp png, png_bytep from, size_t count) {
  static_cast<Writer*>(png_get_io_ptr(png))->bytes.append(reinterpret_cast<char*>(from), count);
}
void Flush(png_structp) {}

bool WriteAll(Writer& writer, png_bytepp rows, const ImageSize& size, bool wide, int compression) {
  static constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                    PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};
  if (setjmp(writer.failure.jump)) return false;
  writer.info = png_create_info_struct(writer.png);
  if (!writer.info) return false;
  png_set_write_fn(writer.png, &writer, WriteBytes, Flush);
  png_set_compression_level(writer.png, compression);
  png_set_compression_mem_level(writer.png, MAX_MEM_LEVEL);
  png_set_IHDR(writer.png, writer.info, static_cast<png_uint_32>(size.width),
               static_cast<png_uint_32>(size.height), wide ? 16 : 8, kColors[size.channels - 1],
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  if (wide) png_set_swap(writer.png);
  png_write_image(writer.png, rows);
  png_write_end(writer.png, writer.info);
  return true;
}

}  // namespace

Error DecodePng(llvm::StringRef contents, int channels, bool wide, MakeRoom room) {
  Reader reader;
  reader.rest = contents;
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader.failure, Fail, IgnoreWarning);
  if (!reader.png) return MakeError("libpng cannot be started");
  Error error = ReadAll(reader, contents, channels, wide, room);
  png_destroy_read_struct(&reader.png, &reader.info, nullptr);
  return error;
}

Expected<std::string> EncodePng(const void* pixels, const ImageSize& size, bool wide,
                                int compression) {
  if (size.height < 1 || size.width < 1 || size.height > INT32_MAX || size.width > INT32_MAX)
    return MakeError("a PNG cannot have {0} x {1} pixels: height and width must be in [1, 2^31)",
                     size.height, size.width);
  std::vector<png_bytep> rows;
  int64_t stride = size.width * size.channels * (wide ? 2 : 1);
  for (int64_t y = 0; y < size.height; ++y)
    rows.push_back(static_cast<png_bytep>(const_cast<void*>(pixels)) + y * stride);
  Writer writer;
  writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.failure, Fail, IgnoreWarning);
  if (!writer.png) return MakeError("libpng cannot be started");
  bool good = WriteAll(writer, rows.data(), size, wide, compression);
  png_destroy_write_struct(&writer.png, &writer.info);
  if (!good) return MakeError("PNG encoding failed: {0}", writer.failure.text);
  return std::move(writer.bytes);
}

}  // namespace grapnel
