// TFRecord framing and the graphs in events. Checksums are corrected, so that the code behind them
// is reached.
#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/io/record.h"
#include "llvm/Support/Endian.h"
#include "tests/fuzz/walk.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace grapnel;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  OpenAndWalk(bytes);
  // The same input with the checksum of each length corrected.
  for (size_t at = 0; at + 12 <= bytes.size();) {
    uint64_t length = llvm::support::endian::read64le(&bytes[at]);
    llvm::support::endian::write32le(&bytes[at + 8], MaskCrc(Crc32c({&bytes[at], 8})));
    if (length > bytes.size()) break;
    at += 12 + length + 4;
  }
  OpenAndWalk(bytes);
  return 0;
}
