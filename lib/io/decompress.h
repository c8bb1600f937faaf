// Brotli, Zstandard and Snappy, the compressions of Riegeli records.
#ifndef GRAPNEL_LIB_IO_DECOMPRESS_H_
#define GRAPNEL_LIB_IO_DECOMPRESS_H_

#include <cstdint>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// The values are the bytes that stand for the compressions in Riegeli files.
enum class Compression : uint8_t { kNone = 0, kBrotli = 'b', kZstd = 'z', kSnappy = 's' };

// Decompresses `packed`, which must give `size` bytes: Brotli and Zstandard streams, Snappy blocks.
// Allocates memory as bytes are decompressed (for Snappy at once, but at most about 22 times the
// size of `packed`), so a wrong `size` takes little memory. Errors, for example for damaged data or
// data that expands to another size, do not name the file.
Expected<std::string> Decompress(Compression compression, llvm::StringRef packed, uint64_t size);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_DECOMPRESS_H_
