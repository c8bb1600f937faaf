// Brotli, Zstandard and Snappy, as records of Riegeli are packed by them.
#ifndef GRAPNEL_LIB_IO_DECOMPRESS_H_
#define GRAPNEL_LIB_IO_DECOMPRESS_H_

#include <cstdint>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// By the letters that Riegeli's files have for them.
enum class Compression : uint8_t { kNone = 0, kBrotli = 'b', kZstd = 'z', kSnappy = 's' };

// The `size` bytes that `packed` was made of: Brotli's and Zstandard's streams, Snappy's block.
// Memory is taken as bytes come out, whatever `size` claims. Errors, which do not name the file:
// the compression is none of these, the data is damaged, or expands to more or fewer bytes.
Expected<std::string> Decompress(Compression compression, llvm::StringRef packed, uint64_t size);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_DECOMPRESS_H_
