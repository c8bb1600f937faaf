#include "lib/io/decompress.h"

#include <brotli/decode.h>
#include <snappy.h>
#include <zstd.h>

#include <algorithm>
#include <memory>

#include "lib/support/text.h"

namespace grapnel {
namespace {

constexpr size_t kStep = 1 << 18;
// How many bytes of output are reserved per compressed byte; the output string grows if the data
// expands to more.
constexpr uint64_t kUsualRatio = 16;
// The largest compression ratio of Snappy, rounded up: three compressed bytes can stand for 64
// bytes (Snappy's format_description.txt).
constexpr uint64_t kMostOfSnappy = 22;

Error Damaged(llvm::StringRef what) { return MakeError("the {0} data is damaged", what); }

Error OtherSize(llvm::StringRef what, uint64_t size) {
  return MakeError("the {0} data does not expand to {1} as stated", what, Plural(size, "byte"));
}

// Calls `step` until `done` is true and returns all of its output. `step` fills the buffer it is
// given and returns the number of bytes, or -1 for damaged data; it sets `done` at the end of the
// stream.
template <typename Step>
Expected<std::string> Expand(llvm::StringRef what, llvm::StringRef packed, uint64_t size,
                             const bool& done, Step step) {
  std::string bytes, buffer(kStep, '\0');
  bytes.reserve(std::min(size, packed.size() * kUsualRatio));
  while (!done) {
    int64_t made = step(&buffer);
    if (made < 0) return Damaged(what);
    if (static_cast<uint64_t>(made) > size - bytes.size()) return OtherSize(what, size);
    bytes.append(buffer, 0, made);
  }
  if (bytes.size() != size) return OtherSize(what, size);
  return bytes;
}

Expected<std::string> ExpandBrotli(llvm::StringRef packed, uint64_t size) {
  std::unique_ptr<BrotliDecoderState, decltype(&BrotliDecoderDestroyInstance)> decoder(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
  if (!decoder) return MakeError("the Brotli data cannot be decompressed: out of memory");
  BrotliDecoderSetParameter(decoder.get(), BROTLI_DECODER_PARAM_LARGE_WINDOW, 1);
  size_t left = packed.size();
  const auto* in = packed.bytes_begin();
  bool done = false;
  return Expand("Brotli", packed, size, done, [&](std::string* buffer) -> int64_t {
    size_t room = buffer->size();
    auto* out = reinterpret_cast<uint8_t*>(buffer->data());
    switch (BrotliDecoderDecompressStream(decoder.get(), &left, &in, &room, &out, nullptr)) {
      case BROTLI_DECODER_RESULT_SUCCESS:
        done = true;
        if (left > 0) return -1;
        break;
      case BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT:
        break;
      default:
        return -1;
    }
    return static_cast<int64_t>(buffer->size() - room);
  });
}

Expected<std::string> ExpandZstd(llvm::StringRef packed, uint64_t size) {
  std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(),
                                                                    ZSTD_freeDStream);
  if (!stream) return MakeError("the Zstandard data cannot be decompressed: out of memory");
  ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
  bool done = false;
  return Expand("Zstandard", packed, size, done, [&](std::string* buffer) -> int64_t {
    ZSTD_outBuffer out = {buffer->data(), buffer->size(), 0};
    size_t before = in.pos, code = ZSTD_decompressStream(stream.get(), &out, &in);
    bool stuck = in.pos == before && out.pos == 0 && code != 0;
    if (ZSTD_isError(code) || stuck) return -1;
    done = code == 0;
    if (done && in.pos < in.size) return -1;
    return static_cast<int64_t>(out.pos);
  });
}

Expected<std::string> ExpandSnappy(llvm::StringRef packed, uint64_t size) {
  size_t claimed;
  if (!snappy::GetUncompressedLength(packed.data(), packed.size(), &claimed) || claimed != size)
    return OtherSize("Snappy", size);
  if (claimed / kMostOfSnappy > packed.size()) return Damaged("Snappy");
  std::string bytes(claimed, '\0');
  if (!snappy::RawUncompress(packed.data(), packed.size(), bytes.data())) return Damaged("Snappy");
  return bytes;
}

}  // namespace

Expected<std::string> Decompress(Compression compression, llvm::StringRef packed, uint64_t size) {
  switch (compression) {
    case Compression::kNone:
      if (packed.size() != size)
        return MakeError("the data has {0}, and {1} were expected", Plural(packed.size(), "byte"),
                         size);
      return packed.str();
    case Compression::kBrotli:
      return ExpandBrotli(packed, size);
    case Compression::kZstd:
      return ExpandZstd(packed, size);
    case Compression::kSnappy:
      return ExpandSnappy(packed, size);
  }
  return MakeError(
      "the data has an unknown compression ({0}): none, Brotli, Zstandard or Snappy was expected",
      static_cast<int>(compression));
}

}  // namespace grapnel
