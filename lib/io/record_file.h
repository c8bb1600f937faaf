// A file that records are appended to, and that others may read meanwhile: event and debug files.
#ifndef GRAPNEL_LIB_IO_RECORD_FILE_H_
#define GRAPNEL_LIB_IO_RECORD_FILE_H_

#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A program that is killed leaves whole records, but for the last one at most. One thread at a
// time.
class RecordFile {
 public:
  RecordFile() = default;
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  ~RecordFile();  // what is not written is lost

  // Makes the file. Errors: it is there, or cannot be made; `exists` tells the first from the rest.
  Error Open(const std::string& path, bool* exists = nullptr);
  // Written when 256 KiB wait, or at Flush().
  void Add(llvm::StringRef record);
  // Errors: the file cannot be written, now or at any time before.
  Error Flush();
  Error Close();
  const std::string& path() const { return path_; }

 private:
  int file_ = -1;
  std::string path_, buffer_;
  int error_ = 0;  // the first, of the system
};

// Seconds since 1970, as events have them.
double WallTime();
// As files of events are named after it; "localhost" where it has no name.
std::string HostName();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_IO_RECORD_FILE_H_
