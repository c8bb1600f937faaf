// Riegeli groups in transposed form, with the values of one field stored together. For
// lib/io/riegeli.cpp.
#ifndef GRAPNEL_LIB_IO_RIEGELI_TRANSPOSED_H_
#define GRAPNEL_LIB_IO_RIEGELI_TRANSPOSED_H_

#include <cstdint>
#include <string>
#include <vector>

#include "lib/io/decompress.h"
#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Reads numbers and byte runs from the front of a buffer.
class ByteReader {
 public:
  explicit ByteReader(llvm::StringRef bytes) : rest_(bytes) {}
  bool Varint(uint64_t* value);
  bool Varint32(uint32_t* value);
  bool Bytes(uint64_t size, llvm::StringRef* bytes);
  llvm::StringRef rest() const { return rest_; }

 private:
  llvm::StringRef rest_;
};

// Decompresses a part of a group: raw bytes, or a size and compressed bytes. More than `room` bytes
// are an error.
Expected<std::string> Unpack(Compression compression, llvm::StringRef packed, uint64_t room);

// Returns the records of a transposed group's data, concatenated, and in `ends` the end of each.
// Format: transposed_chunk_format.md of github.com/google/riegeli. Fields are buffers of values; a
// state machine gives their order, from the last record's end to the first one's beginning. Errors
// describe the data: it does not give `num_records` records of `size` bytes in all, or needs more
// than `room` bytes.
Expected<std::string> ReadTransposed(llvm::StringRef data, uint64_t num_records, uint64_t size,
                                     uint64_t room, std::vector<size_t>* ends);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RIEGELI_TRANSPOSED_H_
