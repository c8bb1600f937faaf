#include "lib/support/gzip.h"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "lib/support/memory.h"
#include "lib/support/text.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/ErrorHandling.h"

namespace grapnel {
namespace {

constexpr int kLevel = 6;
constexpr int kGzipWindow = 15 + 16;  // zlib's code for a window of 32 KiB and gzip framing
constexpr int kZlibWindow = 15, kBareWindow = -15;
constexpr size_t kChunk = 1 << 18;
constexpr size_t kMostRatio = 1032;  // the most bytes that one deflated byte can give

class Inflater {
 public:
  explicit Inflater(Framing framing) {
    int window = framing == Framing::kGzip   ? kGzipWindow
                 : framing == Framing::kZlib ? kZlibWindow
                                             : kBareWindow;
    ok_ = inflateInit2(&stream_, window) == Z_OK;
  }
  ~Inflater() { inflateEnd(&stream_); }
  bool ok() const { return ok_; }
  z_stream* operator->() { return &stream_; }
  z_stream* get() { return &stream_; }

 private:
  z_stream stream_ = {};
  bool ok_ = false;
};

// While a string grows, its old and its new buffer exist together, so the output may take only half
// of the free memory.
size_t RoomInMemory() { return AvailableMemory() / 2; }

// Returns the uncompressed size that the last 4 bytes of a gzip file state; 0 if it is not known,
// or if no compression could give so much. The caller reserves it, which costs nothing for memory
// that is not written.
size_t ClaimedSize(llvm::StringRef gzip, Framing framing) {
  if (framing != Framing::kGzip || gzip.size() < 4) return 0;
  size_t claimed = llvm::support::endian::read32le(gzip.end() - 4);
  return claimed / kMostRatio <= gzip.size() ? claimed : 0;
}

}  // namespace

bool IsGzip(llvm::StringRef bytes) { return HasPrefix(bytes, "\x1f\x8b"); }

Expected<Inflated> Inflate(llvm::StringRef gzip, size_t limit, Framing framing) {
  const char* what = framing == Framing::kGzip   ? "gzip"
                     : framing == Framing::kZlib ? "zlib"
                                                 : "zip";
  Inflater inflater(framing);
  if (!inflater.ok()) return MakeError("the data cannot be decompressed: out of memory");
  Inflated result;
  llvm::StringRef rest = gzip;
  std::string chunk(std::min(kChunk, limit), '\0');
  size_t room = RoomInMemory();
  result.bytes.reserve(std::min({ClaimedSize(gzip, framing), limit, room}));
  for (;;) {
    // The field for the input's size in zlib has 32 bits, so the input is passed in pieces.
    inflater->next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    inflater->avail_in = static_cast<uInt>(std::min<size_t>(rest.size(), 1 << 30));
    inflater->next_out = reinterpret_cast<Bytef*>(chunk.data());
    inflater->avail_out = static_cast<uInt>(chunk.size());
    size_t offered = inflater->avail_in;
    int code = inflate(inflater.get(), Z_NO_FLUSH);
    rest = rest.drop_front(offered - inflater->avail_in);
    size_t made = chunk.size() - inflater->avail_out;
    if (made > room - result.bytes.size()) {
      return MakeError(
          "expands to more than {0}, half of the memory that is free ({1} compressed): expand it "
          "first, with {2}, then it need not fit into memory",
          HumanBytes(room), HumanBytes(gzip.size()),
          framing == Framing::kNone ? "unzip" : "gzip -d");
    }
    result.bytes.append(chunk, 0, made);
    if (result.bytes.size() >= limit) return result;
    if (code == Z_STREAM_END) {
      if (framing != Framing::kGzip || !IsGzip(rest))
        return result;  // the rest is padding after the last member
      inflateReset(inflater.get());
    } else if (code == Z_BUF_ERROR || (code == Z_OK && rest.empty() && inflater->avail_out > 0)) {
      result.problem = llvm::formatv("the {0} data is cut off", what).str();
      break;
    } else if (code != Z_OK) {
      result.problem = llvm::formatv("the {0} data is damaged ({1})", what,
                                     inflater->msg ? inflater->msg : "unknown reason")
                           .str();
      break;
    }
  }
  if (result.bytes.empty()) return MakeError("{0} at its start", result.problem);
  return result;
}

std::string Gzip(llvm::StringRef bytes) {
  // libdeflate takes less than half of zlib's time, but only for data that is whole in memory.
  std::unique_ptr<libdeflate_compressor, decltype(&libdeflate_free_compressor)> compressor(
      libdeflate_alloc_compressor(kLevel), libdeflate_free_compressor);
  if (!compressor) llvm::report_bad_alloc_error("libdeflate_alloc_compressor");
  std::string packed(libdeflate_gzip_compress_bound(compressor.get(), bytes.size()), '\0');
  packed.resize(libdeflate_gzip_compress(compressor.get(), bytes.data(), bytes.size(),
                                         packed.data(), packed.size()));
  return packed;
}

struct GzipStream::State {
  z_stream stream = {};
  std::string chunk = std::string(kChunk, '\0');
};

GzipStream::GzipStream(llvm::raw_ostream* os) : os_(os), state_(std::make_unique<State>()) {
  // The gzip header has neither file name nor time, so equal graphs give equal files.
  int code = deflateInit2(&state_->stream, kLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY);
  if (code != Z_OK) llvm::report_bad_alloc_error("zlib's deflateInit2");
}

GzipStream::~GzipStream() {
  flush();
  deflateEnd(&state_->stream);
}

void GzipStream::write_impl(const char* data, size_t size) {
  written_ += size;
  for (size_t at = 0; at < size;) {
    size_t part = std::min<size_t>(size - at, 1 << 30);
    Deflate(data + at, part, Z_NO_FLUSH);
    at += part;
  }
}

void GzipStream::Finish() {
  flush();
  Deflate(nullptr, 0, Z_FINISH);
}

void GzipStream::Deflate(const char* data, size_t size, int flush) {
  z_stream& stream = state_->stream;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data));
  stream.avail_in = static_cast<uInt>(size);
  do {
    stream.next_out = reinterpret_cast<Bytef*>(state_->chunk.data());
    stream.avail_out = static_cast<uInt>(state_->chunk.size());
    deflate(&stream, flush);
    os_->write(state_->chunk.data(), state_->chunk.size() - stream.avail_out);
  } while (stream.avail_out == 0);
}

}  // namespace grapnel
