// TFRecord framing, the format of event and debug files.
#ifndef GRAPNEL_LIB_IO_RECORD_H_
#define GRAPNEL_LIB_IO_RECORD_H_

#include <cstdint>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Returns the CRC-32C (Castagnoli) of `bytes`, continued from `crc`. Uses the CPU's CRC
// instruction.
uint32_t Crc32c(llvm::StringRef bytes, uint32_t crc = 0);
// Returns the masked CRC, the form in which TFRecord stores one: rotated, plus a constant. A plain
// CRC of data that itself contains CRCs would be weak (tensorflow/core/lib/hash/crc32c.h).
uint32_t MaskCrc(uint32_t crc);

// Walks records: length (8 bytes), masked CRC of the length (4), data, masked CRC of the data (4).
// Next() reads only the lengths and their CRCs.
class RecordReader {
 public:
  explicit RecordReader(llvm::StringRef bytes) : rest_(bytes) {}
  // Advances to the next record; false at the end or at broken framing, which problem() then
  // describes.
  bool Next();
  // The data of the record, valid after Next() returned true. If the file ends within the data,
  // this is the available part, and no record follows.
  llvm::StringRef data() const { return data_; }
  bool DataIsIntact() const;  // reads all data of the record
  llvm::StringRef problem() const { return problem_; }
  // The bytes of the file after data(); empty after a truncated record.
  llvm::StringRef rest() const { return rest_; }

 private:
  llvm::StringRef rest_, data_;
  uint32_t data_crc_ = 0;
  bool cut_ = false;
  llvm::StringRef problem_;
};

// True if `bytes` start with the length of a record and the correct checksum of that length.
bool StartsWithRecord(llvm::StringRef bytes);

void WriteRecord(llvm::raw_ostream& os, llvm::StringRef data);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RECORD_H_
