// Reads Riegeli groups in transposed form: the values that one field has in all records are stored
// together. For lib/io/riegeli.cpp.
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

// Decompresses a piece of a group; unless uncompressed, the piece begins with its uncompressed
// size. Also fails if the output is larger than `room` bytes.
Expected<std::string> Unpack(Compression compression, llvm::StringRef packed, uint64_t room);

// Returns the records of a transposed group, concatenated, and in `ends` the end of each record.
// Format: transposed_chunk_format.md of github.com/google/riegeli. Each field has a buffer with its
// values; a state machine gives the order of the fields, from the end of the last record to the
// beginning of the first one. Errors say what is wrong with the data, such as that it does not give
// `num_records` records of `size` bytes in all, or that it needs more than `room` bytes.
Expected<std::string> ReadTransposed(llvm::StringRef data, uint64_t num_records, uint64_t size,
                                     uint64_t room, std::vector<size_t>* ends);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RIEGELI_TRANSPOSED_H_
