// An append-only file of records (TFRecord), which other processes may read while it grows: event
// and debug files.
#ifndef GRAPNEL_LIB_IO_RECORD_FILE_H_
#define GRAPNEL_LIB_IO_RECORD_FILE_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// If the program is killed, every record in the file is complete, except perhaps the last one. For
// one thread at a time.
class RecordFile {
 public:
  RecordFile() = default;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();  // drops unwritten records

  // Creates the file. Fails if it cannot; sets `exists`, if not null, to whether that is because
  // the file exists already.
  Error Open(const std::string& path, bool* exists = nullptr);
  // Buffers a record. The buffer is written when it has 256 KiB, and by Flush().
  void Add(llvm::StringRef record);
  // Writes the buffer. Errors: the file cannot be written, in this call or in an earlier one.
  Error Flush();
  Error Close();
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_, buffer_;
  int error_ = 0;  // errno of the first error
};

// Returns the seconds since 1970, as events store the time.
double WallTime();
// Returns the host name for the names of event files; "localhost" if the machine has no name.
std::string HostName();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RECORD_FILE_H_
