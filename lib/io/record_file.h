// An append-only file of records that other processes may read meanwhile: event and debug files.
#ifndef GRAPNEL_LIB_IO_RECORD_FILE_H_
#define GRAPNEL_LIB_IO_RECORD_FILE_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// If the program is killed, all records in the file are whole except possibly the last. One thread
// at a time.
class RecordFile {
 public:
  RecordFile() = default;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();  // drops unwritten records

  // Creates the file. Errors: it exists (then sets `exists`), or cannot be created.
  Error Open(const std::string& path, bool* exists = nullptr);
  // Buffers a record; writes once 256 KiB are waiting, or in Flush().
  void Add(llvm::StringRef record);
  // Errors: the file cannot be written, now or at any earlier time.
  Error Flush();
  Error Close();
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_, buffer_;
  int error_ = 0;  // the first errno
};

// Seconds since 1970, the time format of events.
double WallTime();
// The name for event files; "localhost" if the machine has none.
std::string HostName();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RECORD_FILE_H_
