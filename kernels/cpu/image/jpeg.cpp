// JPEG through libjpeg. libjpeg reports errors with longjmp, so code between setjmp and the jump
// must not own resources.
#include <algorithm>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "kernels/cpu/image/codec.h"
// Must follow <cstdio>, which jpeglib.h needs.
#include "jpeglib.h"

namespace grapnel {
namespace {

// The maximum expansion: 64 samples of 3 components take at least one bit.
constexpr int64_t kJpegRatio = 3 * 64 * 8;
constexpr char kXmpHead[] = "http://ns.adobe.com/xap/1.0/";

struct Failure {
  jpeg_error_mgr base;
  std::jmp_buf jump;
  char text[JMSG_LENGTH_MAX];
};

[[noreturn]] void Fail(j_common_ptr info) {
  auto* failure = reinterpret_cast<Failure*>(info->err);
  (*info->err->format_message)(info, failure->text);
  std::longjmp(failure->jump, 1);
}
void IgnoreMessage(j_common_ptr) {}

jpeg_error_mgr* Prepare(Failure& failure) {
  failure.text[0] = '\0';
  jpeg_std_error(&failure.base);
  failure.base.error_exit = Fail;
  failure.base.output_message = IgnoreMessage;
  return &failure.base;
}

// --- Decoding

// A source that, when the data ends early, supplies an end marker to libjpeg and sets `truncated`.
struct Source {
  jpeg_source_mgr base;
  bool truncated = false;
};
constexpr JOCTET kEnd[] = {0xff, JPEG_EOI};

void NothingToDo(j_decompress_ptr) {}
boolean FillInput(j_decompress_ptr info) {
  auto* source = reinterpret_cast<Source*>(info->src);
  source->truncated = true;
  source->base.next_input_byte = kEnd;
  source->base.bytes_in_buffer = sizeof kEnd;
  return TRUE;
}
void SkipInput(j_decompress_ptr info, long count) {
  if (count <= 0) return;
  auto left = static_cast<long>(info->src->bytes_in_buffer);
  if (count > left) {
    FillInput(info);
    return;
  }
  info->src->next_input_byte += count;
  info->src->bytes_in_buffer -= static_cast<size_t>(count);
}

struct Reader {
  jpeg_decompress_struct info;
  Failure failure;
  Source source;
};

void Open(Reader& reader, llvm::StringRef contents) {
  reader.info.err = &reader.failure.base;
  jpeg_create_decompress(&reader.info);
  reader.source.base.init_source = NothingToDo;
  reader.source.base.fill_input_buffer = FillInput;
  reader.source.base.skip_input_data = SkipInput;
  reader.source.base.resync_to_restart = jpeg_resync_to_restart;
  reader.source.base.term_source = NothingToDo;
  reader.source.base.next_input_byte = reinterpret_cast<const JOCTET*>(contents.data());
  reader.source.base.bytes_in_buffer = contents.size();
  reader.info.src = &reader.source.base;
}

// Reads the header, until the size is known; false on an error.
bool ReadHeader(Reader& reader, llvm::StringRef contents, const JpegOptions& options) {
  if (setjmp(reader.failure.jump)) return false;
  Open(reader, contents);
  jpeg_decompress_struct& info = reader.info;
  jpeg_read_header(&info, TRUE);
  int channels = options.channels == 0 ? std::min(info.num_components, 3) : options.channels;
  bool inks = info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK;
  info.out_color_space = channels == 1 ? JCS_GRAYSCALE : inks ? JCS_CMYK : JCS_RGB;
  info.scale_num = 1;
  info.scale_denom = static_cast<unsigned>(options.ratio);
  info.do_fancy_upsampling = options.fancy_upscaling ? TRUE : FALSE;
  info.dct_method = options.fast_dct ? JDCT_IFAST : JDCT_ISLOW;
  jpeg_calc_output_dimensions(&info);
  return true;
}

// Converts a row of four inks (CMYK) to RGB. Adobe's programs store the inks inverted.
void FromInks(const JSAMPLE* inks, int64_t width, bool inverted, uint8_t* to) {
  for (int64_t x = 0; x < width; ++x, inks += 4) {
    int black = inverted ? inks[3] : 255 - inks[3];
    for (int c = 0; c < 3; ++c)
      *to++ = static_cast<uint8_t>(black * (inverted ? inks[c] : 255 - inks[c]) / 255);
  }
}

bool ReadRows(Reader& reader, int64_t stride, uint8_t* pixels, JSAMPLE* inks) {
  if (setjmp(reader.failure.jump)) return false;
  jpeg_decompress_struct& info = reader.info;
  jpeg_start_decompress(&info);
  while (info.output_scanline < info.output_height) {
    uint8_t* to = pixels + static_cast<int64_t>(info.output_scanline) * stride;
    JSAMPROW row = inks ? inks : to;
    jpeg_read_scanlines(&info, &row, 1);
    if (inks) FromInks(inks, info.output_width, info.saw_Adobe_marker, to);
  }
  jpeg_finish_decompress(&info);
  return true;
}

Error FailureOf(const Failure& failure) {
  return MakeError("invalid JPEG data: {0}", failure.text);
}

Error ReadAll(Reader& reader, llvm::StringRef contents, const JpegOptions& options, MakeRoom room) {
  if (!ReadHeader(reader, contents, options)) return FailureOf(reader.failure);
  jpeg_decompress_struct& info = reader.info;
  bool inks = info.out_color_space == JCS_CMYK;
  if (options.channels == 1 &&
      (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK))
    return MakeError("a CMYK JPEG cannot be decoded to one gray channel");
  ImageSize size{1, info.output_height, info.output_width, inks ? 3 : info.out_color_components};
  ImageSize whole{1, info.image_height, info.image_width, 3};
  RETURN_IF_ERROR(CheckImageSize(whole, 1, contents.size(), kJpegRatio));
  ASSIGN_OR_RETURN(void* pixels, room(size));
  std::vector<JSAMPLE> row(inks ? 4 * static_cast<size_t>(info.output_width) : 0);
  if (!ReadRows(reader, size.width * size.channels, static_cast<uint8_t*>(pixels),
                inks ? row.data() : nullptr))
    return FailureOf(reader.failure);
  if (reader.source.truncated && !options.recover_truncated)
    return MakeError("invalid JPEG data: the data is cut off");
  return Error::success();
}

// --- Encoding

struct Writer {
  jpeg_compress_struct info;
  Failure failure;
  unsigned char* bytes = nullptr;  // allocated by malloc
  unsigned long length = 0;
};

bool WriteAll(Writer& writer, const uint8_t* pixels, const ImageSize& size,
              const JpegEncoding& options) {
  if (setjmp(writer.failure.jump)) return false;
  jpeg_compress_struct& info = writer.info;
  info.err = &writer.failure.base;
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, &writer.bytes, &writer.length);
  info.image_width = static_cast<JDIMENSION>(size.width);
  info.image_height = static_cast<JDIMENSION>(size.height);
  info.input_components = static_cast<int>(size.channels);
  info.in_color_space = size.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  info.optimize_coding = options.optimize ? TRUE : FALSE;
  info.density_unit = options.per_inch ? 1 : 2;
  info.X_density = static_cast<UINT16>(options.x_density);
  info.Y_density = static_cast<UINT16>(options.y_density);
  jpeg_set_quality(&info, options.quality, TRUE);
  if (options.progressive) jpeg_simple_progression(&info);
  if (!options.chroma_downsampling) {
    for (int c = 0; c < info.num_components; ++c)
      info.comp_info[c].h_samp_factor = info.comp_info[c].v_samp_factor = 1;
  }
  jpeg_start_compress(&info, TRUE);
  if (!options.xmp.empty())
    jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(options.xmp.data()),
                      static_cast<unsigned>(options.xmp.size()));
  int64_t stride = size.width * size.channels;
  while (info.next_scanline < info.image_height) {
    JSAMPROW row = const_cast<uint8_t*>(pixels) + info.next_scanline * stride;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  return true;
}

}  // namespace

Error DecodeJpeg(llvm::StringRef contents, const JpegOptions& options, MakeRoom room) {
  Reader reader = {};
  Prepare(reader.failure);
  Error error = ReadAll(reader, contents, options, room);
  jpeg_destroy_decompress(&reader.info);
  return error;
}

Expected<ImageSize> JpegSize(llvm::StringRef contents) {
  Reader reader = {};
  Prepare(reader.failure);
  bool good = ReadHeader(reader, contents, {});
  ImageSize size{1, reader.info.image_height, reader.info.image_width, reader.info.num_components};
  jpeg_destroy_decompress(&reader.info);
  if (!good) return FailureOf(reader.failure);
  return size;
}

Expected<std::string> EncodeJpeg(const uint8_t* pixels, const ImageSize& size,
                                 const JpegEncoding& options) {
  if (size.height < 1 || size.width < 1 || size.height > JPEG_MAX_DIMENSION ||
      size.width > JPEG_MAX_DIMENSION)
    return MakeError("a JPEG cannot have {0} x {1} pixels: height and width must be in [1, 65500]",
                     size.height, size.width);
  JpegEncoding with_head = options;
  if (!options.xmp.empty()) with_head.xmp = std::string(kXmpHead, sizeof kXmpHead) + options.xmp;
  if (with_head.xmp.size() > 65533) return MakeError("xmp_metadata is longer than 65504 bytes");
  Writer writer = {};
  Prepare(writer.failure);
  bool good = WriteAll(writer, pixels, size, with_head);
  jpeg_destroy_compress(&writer.info);
  std::string bytes;
  if (good) bytes.assign(reinterpret_cast<char*>(writer.bytes), writer.length);
  std::free(writer.bytes);
  if (!good) return MakeError("JPEG encoding failed: {0}", writer.failure.text);
  return bytes;
}

}  // namespace grapnel
