#include "lib/io/record.h"

#include <nmmintrin.h>

#include <cstring>

#include "llvm/Support/Endian.h"

namespace grapnel {
namespace {

constexpr size_t kHeader = 12, kTrailer = 4;
using llvm::support::endian::read32le;
using llvm::support::endian::read64le;

}  // namespace

uint32_t Crc32c(llvm::StringRef bytes, uint32_t crc) {
  uint64_t state = ~crc;
  const char* at = bytes.data();
  size_t size = bytes.size();
  for (; size >= 8; at += 8, size -= 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    state = _mm_crc32_u64(state, word);
  }
  uint32_t tail = static_cast<uint32_t>(state);
  for (; size > 0; ++at, --size) tail = _mm_crc32_u8(tail, static_cast<uint8_t>(*at));
  return ~tail;
}

uint32_t MaskCrc(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

bool StartsWithRecord(llvm::StringRef bytes) {
  return bytes.size() >= kHeader &&
         read32le(bytes.data() + 8) == MaskCrc(Crc32c(bytes.take_front(8)));
}

bool RecordReader::Next() {
  if (rest_.empty() || !problem_.empty()) return false;
  if (!StartsWithRecord(rest_)) {
    problem_ = rest_.size() < kHeader
                   ? "its last record is cut off"
                   : "a record's length has a wrong checksum: the rest is not read";
    return false;
  }
  uint64_t size = read64le(rest_.data());
  rest_ = rest_.drop_front(kHeader);
  if (rest_.size() < kTrailer || size > rest_.size() - kTrailer) {
    data_ = rest_.take_front(size);
    cut_ = true;
    problem_ = "its last record is cut off";
    rest_ = {};
    return true;
  }
  data_ = rest_.take_front(size);
  data_crc_ = read32le(rest_.data() + size);
  rest_ = rest_.drop_front(size + kTrailer);
  return true;
}

bool RecordReader::DataIsIntact() const { return !cut_ && data_crc_ == MaskCrc(Crc32c(data_)); }

void WriteRecord(llvm::raw_ostream& os, llvm::StringRef data) {
  char header[kHeader], trailer[kTrailer];
  llvm::support::endian::write64le(header, data.size());
  llvm::support::endian::write32le(header + 8, MaskCrc(Crc32c({header, 8})));
  llvm::support::endian::write32le(trailer, MaskCrc(Crc32c(data)));
  os.write(header, kHeader) << data;
  os.write(trailer, kTrailer);
}

}  // namespace grapnel
