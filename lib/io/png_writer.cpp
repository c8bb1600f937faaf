#include "lib/io/png_writer.h"

#include <zlib.h>

#include <vector>

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kPngSignature("\x89PNG\r\n\x1a\n");
constexpr uint8_t kColorTypes[] = {0, 4, 2, 6};  // by number of channels

void AppendBigEndian(std::string* out, uint32_t number) {
  char bytes[4];
  llvm::support::endian::write32be(bytes, number);
  out->append(bytes, sizeof bytes);
}

// Appends a PNG chunk: the length of the data, the type, the data, and the checksum of type and
// data.
void AppendChunk(std::string* out, llvm::StringRef type, llvm::StringRef data) {
  AppendBigEndian(out, static_cast<uint32_t>(data.size()));
  std::string chunk = (type + data).str();
  out->append(chunk);
  AppendBigEndian(out, static_cast<uint32_t>(
                           crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), chunk.size())));
}

}  // namespace

Expected<std::string> PngOf(const uint8_t* pixels, int64_t height, int64_t width, int channels) {
  if (height < 1 || width < 1)
    return MakeError("an image of {0} x {1} pixels cannot be a PNG, whose sides are at least 1",
                     width, height);
  if (height > INT32_MAX / width / channels)
    return MakeError("an image of {0} x {1} pixels is above the limit, 2 GiB", width, height);
  // Stores each row as its difference from the row above (filter 2), which compresses well without
  // trying other filters.
  size_t row = static_cast<size_t>(width) * channels;
  std::vector<Bytef> rows;
  rows.reserve((row + 1) * height);
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* now = pixels + y * row;
    rows.push_back(2);
    for (size_t x = 0; x < row; ++x)
      rows.push_back(static_cast<Bytef>(now[x] - (y == 0 ? 0 : *(now + x - row))));
  }
  uLongf size = compressBound(rows.size());
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, rows.data(), rows.size(),
                Z_DEFAULT_COMPRESSION) != Z_OK)
    return MakeError("an image of {0} x {1} pixels could not be compressed", width, height);
  packed.resize(size);

  std::string header;
  AppendBigEndian(&header, static_cast<uint32_t>(width));
  AppendBigEndian(&header, static_cast<uint32_t>(height));
  header += {8, static_cast<char>(kColorTypes[channels - 1]), 0, 0, 0};
  std::string png = kPngSignature.str();
  AppendChunk(&png, "IHDR", header);
  AppendChunk(&png, "IDAT", packed);
  AppendChunk(&png, "IEND", "");
  return png;
}

}  // namespace grapnel
