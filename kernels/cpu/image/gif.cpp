// Decodes GIF with giflib, every frame as a whole RGB image: pixels that a frame omits keep the
// previous frame's color. The image has the largest width and the largest height of the frames,
// regardless of the screen size, as in TensorFlow.
#include <gif_lib.h>

#include <algorithm>
#include <cassert>
#include <cctype>
#include <cstring>
#include <memory>
#include <vector>

#include "kernels/cpu/image/codec.h"

namespace grapnel {
namespace {

// The maximum expansion: a code of 12 bits, more than one byte, stands for at most 4096 pixels of 3
// bytes.
constexpr int64_t kGifRatio = 3 * 4096;

// Reads a file frame by frame. giflib's function that reads everything at once would allocate
// whatever size the file claims.
class GifReader {
 public:
  explicit GifReader(llvm::StringRef contents) : rest_(contents) {
    gif_.reset(DGifOpen(this, ReadBytes, &open_error_));
  }
  GifReader(const GifReader&) = delete;
  GifReader& operator=(const GifReader&) = delete;

  // Reads up to the pixels of the next frame; false when there is no further frame.
  Expected<bool> NextFrame();
  // Skips the pixels of this frame and returns their encoded size in bytes.
  Expected<size_t> SkipPixels();
  // Draws this frame onto an RGB image.
  Error Draw(const ImageSize& size, uint8_t* image);

  const GifFileType& gif() const { return *gif_; }
  const GifImageDesc& frame() const { return gif_->Image; }

 private:
  struct Close {
    void operator()(GifFileType* gif) const { DGifCloseFile(gif, nullptr); }
  };

  static int ReadBytes(GifFileType* gif, GifByteType* to, int count) {
    auto* reader = static_cast<GifReader*>(gif->UserData);
    size_t n = std::min(static_cast<size_t>(count), reader->rest_.size());
    reader->is_cut_off_ |= n < static_cast<size_t>(count);
    std::memcpy(to, reader->rest_.data(), n);
    reader->rest_ = reader->rest_.drop_front(n);
    return static_cast<int>(n);
  }

  Error ReadExtension();
  Error Problem() const;

  llvm::StringRef rest_;
  bool is_cut_off_ = false;
  int open_error_ = 0;
  std::unique_ptr<GifFileType, Close> gif_;
  int clear_ = NO_TRANSPARENT_COLOR;  // the transparent color, which keeps the previous frame
};

Error GifReader::Problem() const {
  if (is_cut_off_) return MakeError("invalid GIF data: it is cut off");
  int code = gif_ ? gif_->Error : open_error_;
  // giflib reports this error at the end of the file (the case above) and for codes of more than 8
  // bits.
  if (code == D_GIF_ERR_READ_FAILED)
    return MakeError("invalid GIF data: codes of more than 8 bits");
  const char* known = GifErrorString(code);
  std::string text = known ? known : "it is damaged";
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return MakeError("invalid GIF data: {0}", text);
}

// If several extensions set the transparent color, TensorFlow uses the first.
Error GifReader::ReadExtension() {
  int label = 0;
  GifByteType* block = nullptr;
  if (DGifGetExtension(gif_.get(), &label, &block) != GIF_OK) return Problem();
  GraphicsControlBlock control;
  if (label == GRAPHICS_EXT_FUNC_CODE && block && clear_ == NO_TRANSPARENT_COLOR &&
      DGifExtensionToGCB(block[0], block + 1, &control) == GIF_OK)
    clear_ = control.TransparentColor;
  while (block) {
    if (DGifGetExtensionNext(gif_.get(), &block) != GIF_OK) return Problem();
  }
  return Error::success();
}

Expected<bool> GifReader::NextFrame() {
  if (!gif_) return Problem();
  clear_ = NO_TRANSPARENT_COLOR;
  for (;;) {
    GifRecordType kind = UNDEFINED_RECORD_TYPE;
    if (DGifGetRecordType(gif_.get(), &kind) != GIF_OK) return Problem();
    if (kind == TERMINATE_RECORD_TYPE) return false;
    if (kind == EXTENSION_RECORD_TYPE) {
      RETURN_IF_ERROR(ReadExtension());
    } else {
      if (DGifGetImageDesc(gif_.get()) != GIF_OK) return Problem();
      return true;
    }
  }
}

Expected<size_t> GifReader::SkipPixels() {
  size_t before = rest_.size();
  int code_size = 0;
  GifByteType* block = nullptr;
  if (DGifGetCode(gif_.get(), &code_size, &block) != GIF_OK) return Problem();
  while (block) {
    if (DGifGetCodeNext(gif_.get(), &block) != GIF_OK) return Problem();
  }
  return before - rest_.size();
}

// The rows of an interlaced frame are stored in four passes.
std::vector<int> RowOrder(const GifImageDesc& frame) {
  std::vector<int> order;
  static constexpr int kTurns[4][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (auto [first, step] : kTurns) {
    if (!frame.Interlace) break;
    for (int y = first; y < frame.Height; y += step) order.push_back(y);
  }
  for (int y = 0; !frame.Interlace && y < frame.Height; ++y) order.push_back(y);
  return order;
}

Error GifReader::Draw(const ImageSize& size, uint8_t* image) {
  const GifImageDesc& frame = gif_->Image;
  const ColorMapObject* colors = frame.ColorMap ? frame.ColorMap : gif_->SColorMap;
  if (!colors) return MakeError("invalid GIF data: a frame has no colors");
  std::vector<GifPixelType> row(static_cast<size_t>(frame.Width));
  for (int y : RowOrder(frame)) {
    if (DGifGetLine(gif_.get(), row.data(), frame.Width) != GIF_OK)
      return MakeError("invalid GIF data: the pixels of a frame are damaged");
    for (int x = 0; x < frame.Width; ++x) {
      if (row[x] == clear_ || frame.Top + y >= size.height || frame.Left + x >= size.width)
        continue;
      if (row[x] >= colors->ColorCount)
        return MakeError("invalid GIF data: color index {0}, but there are {1} colors",
                         static_cast<int>(row[x]), colors->ColorCount);
      const GifColorType& color = colors->Colors[row[x]];
      uint8_t* pixel = image + 3 * ((frame.Top + y) * size.width + frame.Left + x);
      pixel[0] = color.Red;
      pixel[1] = color.Green;
      pixel[2] = color.Blue;
    }
  }
  return Error::success();
}

// Measures a frame without decoding it and grows `size` to hold it.
Error MeasureFrame(GifReader& reader, ImageSize* size) {
  int64_t width = reader.frame().Width, height = reader.frame().Height;
  ASSIGN_OR_RETURN(size_t bytes, reader.SkipPixels());
  RETURN_IF_ERROR(CheckImageSize({1, height, width, 1}, 1, bytes, kGifRatio));
  size->height = std::max(size->height, height);
  size->width = std::max(size->width, width);
  ++size->frames;
  return Error::success();
}

// When only the first frame is wanted, ignores errors after it.
Expected<ImageSize> MeasureGif(llvm::StringRef contents, bool all_frames) {
  GifReader reader(contents);
  ImageSize size{0, 0, 0, 3};
  for (;;) {
    Expected<bool> more = reader.NextFrame();
    Error error = more ? Error::success() : more.takeError();
    if (!error && !*more) break;
    if (!error) error = MeasureFrame(reader, &size);
    if (!error) continue;
    if (all_frames || size.frames == 0) return error;
    llvm::consumeError(std::move(error));
    break;
  }
  if (size.frames == 0) return MakeError("invalid GIF data: there is no frame");
  if (!all_frames) size.frames = 1;
  // The screen size is not used for drawing, but a file that claims too large a screen is rejected.
  ImageSize claimed = size;
  claimed.height = std::max<int64_t>(size.height, reader.gif().SHeight);
  claimed.width = std::max<int64_t>(size.width, reader.gif().SWidth);
  RETURN_IF_ERROR(CheckImageSize(claimed, 1, contents.size(), kGifRatio));
  return size;
}

}  // namespace

Error DecodeGif(llvm::StringRef contents, bool all_frames, MakeRoom room) {
  ASSIGN_OR_RETURN(ImageSize size, MeasureGif(contents, all_frames));
  ASSIGN_OR_RETURN(void* pixels, room(size));
  int64_t bytes = 3 * size.height * size.width;
  auto* image = static_cast<uint8_t*>(pixels);
  GifReader reader(contents);
  for (int64_t k = 0; k < size.frames; ++k, image += bytes) {
    if (k == 0)
      std::memset(image, 0, bytes);
    else
      std::memcpy(image, image - bytes, bytes);
    ASSIGN_OR_RETURN(bool found, reader.NextFrame());
    assert(found && "the frames were counted");
    (void)found;
    RETURN_IF_ERROR(reader.Draw(size, image));
  }
  return Error::success();
}

}  // namespace grapnel
