// TFRecord framing, in which event and debug files are written.
#ifndef GRAPNEL_LIB_IO_RECORD_H_
#define GRAPNEL_LIB_IO_RECORD_H_

#include <cstdint>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// CRC-32C (Castagnoli), continued from `crc`. About 10 GB/s.
uint32_t Crc32c(llvm::StringRef bytes, uint32_t crc = 0);
// What TensorFlow stores: rotated and shifted, as the checksum of data that holds checksums is weak
// (tensorflow/core/lib/hash/crc32c.h).
uint32_t MaskCrc(uint32_t crc);

// Walks records: length (8 bytes), its masked crc (4), data, its masked crc (4). Touches only the
// lengths.
class RecordReader {
 public:
  explicit RecordReader(llvm::StringRef bytes) : rest_(bytes) {}
  // The next record; false at the end and where the framing is broken, which problem() then tells.
  bool Next();
  // Valid after Next(). A record that the file's end cuts off is given as far as it goes; it is the
  // last one.
  llvm::StringRef data() const { return data_; }
  bool DataIsIntact() const;  // reads all data
  llvm::StringRef problem() const { return problem_; }
  // What follows data(): nothing after one that is cut off.
  llvm::StringRef rest() const { return rest_; }

 private:
  llvm::StringRef rest_, data_;
  uint32_t data_crc_ = 0;
  bool cut_ = false;
  llvm::StringRef problem_;
};

// Whether `bytes` start with the length of a record and its right checksum.
bool StartsWithRecord(llvm::StringRef bytes);

void WriteRecord(llvm::raw_ostream& os, llvm::StringRef data);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RECORD_H_
