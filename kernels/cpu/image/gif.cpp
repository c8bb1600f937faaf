// GIF, every frame as a whole image of red, green and blue: what a frame leaves out is the one
// before it.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cpu/image/codec.h"

namespace grapnel {
namespace {

// The longest string of a 12-bit code, of which 2 bytes hold more than one.
constexpr int64_t kGifRatio = 3 * 4096;

class Bytes {
 public:
  explicit Bytes(llvm::StringRef bytes) : rest_(bytes) {}
  bool Has(size_t count) const { return rest_.size() >= count; }
  int Next() {
    int byte = static_cast<unsigned char>(rest_.front());
    rest_ = rest_.drop_front();
    return byte;
  }
  int NextShort() {
    int low = Next();
    return low | Next() << 8;
  }
  llvm::StringRef Take(size_t count) {
    llvm::StringRef bytes = rest_.take_front(count);
    rest_ = rest_.drop_front(count);
    return bytes;
  }

 private:
  llvm::StringRef rest_;
};

// A run of blocks, each with its length before it, up to an empty one. False when it is cut off.
bool TakeBlocks(Bytes& bytes, std::string* data) {
  for (;;) {
    if (!bytes.Has(1)) return false;
    size_t size = static_cast<size_t>(bytes.Next());
    if (size == 0) return true;
    if (!bytes.Has(size)) return false;
    llvm::StringRef block = bytes.Take(size);
    if (data) data->append(block.data(), block.size());
  }
}

struct Frame {
  int left, top, width, height;
  int clear = -1;          // the color that lets the frame before show
  llvm::StringRef colors;  // three bytes each
  bool interlaced = false;
  int code_size = 0;
  std::string data;
};

struct Gif {
  int width = 0, height = 0;
  std::vector<Frame> frames;
};

Error CutOff() { return MakeError("invalid GIF data: it is cut off"); }

Error ReadFrame(Bytes& bytes, llvm::StringRef colors, int clear, Frame* frame) {
  if (!bytes.Has(9)) return CutOff();
  frame->left = bytes.NextShort();
  frame->top = bytes.NextShort();
  frame->width = bytes.NextShort();
  frame->height = bytes.NextShort();
  int flags = bytes.Next();
  frame->colors = colors;
  frame->clear = clear;
  frame->interlaced = flags & 0x40;
  if (flags & 0x80) {
    size_t size = size_t{3} << ((flags & 7) + 1);
    if (!bytes.Has(size)) return CutOff();
    frame->colors = bytes.Take(size);
  }
  if (frame->colors.empty()) return MakeError("invalid GIF data: a frame has no colors");
  if (!bytes.Has(1)) return CutOff();
  frame->code_size = bytes.Next();
  if (frame->code_size < 1 || frame->code_size > 8)
    return MakeError("invalid GIF data: codes of {0} bits", frame->code_size);
  return TakeBlocks(bytes, &frame->data) ? Error::success() : CutOff();
}

// All up to the pixels, which stay compressed; of frames no more than are asked for.
Expected<Gif> ReadGif(llvm::StringRef contents, bool all_frames) {
  Bytes bytes(contents);
  if (!bytes.Has(13)) return CutOff();
  bytes.Take(6);
  Gif gif;
  gif.width = bytes.NextShort();
  gif.height = bytes.NextShort();
  int flags = bytes.Next(), clear = -1;
  bytes.Take(2);
  llvm::StringRef colors;
  if (flags & 0x80) {
    size_t size = size_t{3} << ((flags & 7) + 1);
    if (!bytes.Has(size)) return CutOff();
    colors = bytes.Take(size);
  }
  while (bytes.Has(1)) {
    int kind = bytes.Next();
    if (kind == 0x3b) return gif;
    if (kind == 0x21) {
      if (!bytes.Has(1)) return CutOff();
      int label = bytes.Next();
      std::string data;
      if (!TakeBlocks(bytes, &data)) return CutOff();
      if (label == 0xf9 && data.size() >= 4)
        clear = data[0] & 1 ? static_cast<unsigned char>(data[3]) : -1;
    } else if (kind == 0x2c) {
      Frame frame = {};
      RETURN_IF_ERROR(ReadFrame(bytes, colors, clear, &frame));
      gif.frames.push_back(std::move(frame));
      clear = -1;
      if (!all_frames) return gif;
    } else {
      return MakeError("invalid GIF data: block of kind {0}", kind);
    }
  }
  return CutOff();
}

// The indices of a frame's colors: LZW, whose table grows with each code.
class Lzw {
 public:
  explicit Lzw(int code_size) : first_size_(code_size + 1), clear_(1 << code_size) {}

  // Fills `indices`; false when the data ends or goes wrong before.
  bool Decode(llvm::StringRef data, std::vector<uint8_t>* indices) {
    size_t done = 0, at = 0;
    uint32_t word = 0;
    int bits = 0, size = first_size_, next = clear_ + 2, last = -1;
    while (done < indices->size()) {
      for (; bits < size; bits += 8) {
        if (at == data.size()) return false;
        word |= static_cast<uint32_t>(static_cast<unsigned char>(data[at++])) << bits;
      }
      int code = static_cast<int>(word & ((1u << size) - 1));
      word >>= size;
      bits -= size;
      if (code == clear_) {
        size = first_size_;
        next = clear_ + 2;
        last = -1;
        continue;
      }
      if (code == clear_ + 1 || code > next || (code == next && last < 0) ||
          (last < 0 && code > clear_))
        return false;
      // A code that is not there yet is the last string and its own first color.
      int known = code == next ? last : code, length = 0;
      for (int link = known; link >= 0 && length < kCodes;
           link = link < clear_ ? -1 : before_[link])
        stack_[length++] = link < clear_ ? static_cast<uint8_t>(link) : color_[link];
      uint8_t first = stack_[length - 1];
      for (int i = length; i-- > 0 && done < indices->size();) (*indices)[done++] = stack_[i];
      if (code == next && done < indices->size()) (*indices)[done++] = first;
      if (last >= 0 && next < kCodes) {
        before_[next] = static_cast<int16_t>(last);
        color_[next] = first;
        ++next;
        if (next == 1 << size && size < 12) ++size;
      }
      last = code;
    }
    return true;
  }

 private:
  static constexpr int kCodes = 4096;
  int first_size_, clear_;
  int16_t before_[kCodes] = {};
  uint8_t color_[kCodes] = {}, stack_[kCodes + 1] = {};
};

// The rows of an interlaced frame come in four turns.
std::vector<int> RowOrder(const Frame& frame) {
  std::vector<int> order;
  static constexpr int kTurns[4][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (auto [first, step] : kTurns) {
    if (!frame.interlaced) break;
    for (int y = first; y < frame.height; y += step) order.push_back(y);
  }
  for (int y = 0; !frame.interlaced && y < frame.height; ++y) order.push_back(y);
  return order;
}

Error Draw(const Gif& gif, const Frame& frame, uint8_t* image) {
  std::vector<uint8_t> indices(static_cast<size_t>(frame.width) * frame.height);
  if (!Lzw(frame.code_size).Decode(frame.data, &indices))
    return MakeError("invalid GIF data: the pixels of a frame are damaged");
  const uint8_t* from = indices.data();
  for (int y : RowOrder(frame)) {
    for (int x = 0; x < frame.width; ++x) {
      int index = *from++;
      if (index == frame.clear || frame.top + y >= gif.height || frame.left + x >= gif.width)
        continue;
      if (3 * static_cast<size_t>(index) >= frame.colors.size())
        return MakeError("invalid GIF data: color {0} of {1}", index, frame.colors.size() / 3);
      std::memcpy(image + 3 * (static_cast<int64_t>(frame.top + y) * gif.width + frame.left + x),
                  frame.colors.data() + 3 * static_cast<size_t>(index), 3);
    }
  }
  return Error::success();
}

}  // namespace

Error DecodeGif(llvm::StringRef contents, bool all_frames, MakeRoom room) {
  ASSIGN_OR_RETURN(Gif gif, ReadGif(contents, all_frames));
  if (gif.frames.empty()) return MakeError("invalid GIF data: there is no frame");
  ImageSize size{static_cast<int64_t>(gif.frames.size()), gif.height, gif.width, 3};
  RETURN_IF_ERROR(CheckImageSize(size, 1, contents.size(), kGifRatio));
  for (const Frame& frame : gif.frames) {
    ImageSize own{1, frame.height, frame.width, 1};
    RETURN_IF_ERROR(CheckImageSize(own, 1, frame.data.size(), kGifRatio));
  }
  ASSIGN_OR_RETURN(void* pixels, room(size));
  int64_t bytes = 3 * size.height * size.width;
  auto* image = static_cast<uint8_t*>(pixels);
  for (size_t k = 0; k < gif.frames.size(); ++k, image += bytes) {
    if (k == 0)
      std::memset(image, 0, bytes);
    else
      std::memcpy(image, image - bytes, bytes);
    RETURN_IF_ERROR(Draw(gif, gif.frames[k], image));
  }
  return Error::success();
}

}  // namespace grapnel
