// Maps a file read-only that other processes may truncate at any time. Private to lib/support.
#ifndef GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_
#define GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct MappedRange;

// Reading a mapping beyond the end of its file raises SIGBUS. In a FileMapping such bytes read as
// zeros, and Check() reports afterwards that the file was truncated. The first FileMapping installs
// the SIGBUS handler; faults at other addresses go to the previous handler.
class FileMapping {
 public:
  // `info` is the fstat of `fd`, which must be a regular file that is not empty; `fd` may be closed
  // after the call.
  static Expected<std::unique_ptr<FileMapping>> Map(int fd, const struct stat& info,
                                                    llvm::StringRef path);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  llvm::StringRef bytes() const { return {data_, size_}; }

  // Releases the pages that lie completely in `part` (of bytes()); a later read loads them again.
  void ReleasePages(llvm::StringRef part) const;

  // Returns an error that names the file if it is shorter than when it was mapped, or if a read of
  // its bytes failed. Costs a stat.
  Error Check() const;

 private:
  FileMapping() = default;

  const char* data_ = nullptr;
  size_t size_ = 0;
  std::string path_;
  MappedRange* range_ = nullptr;
};

// Copies `bytes` to the position of the descriptor `to`, without reading them, if they lie in a
// mapped file: the kernel copies from file to file. Returns the number of bytes copied, from the
// beginning; the caller writes the rest. Copies nothing, for example, if the bytes are few or not
// mapped, or if the path is now that of another file.
size_t CopyMappedBytes(llvm::StringRef bytes, int to);

// Installs the SIGBUS handler, also if other code has replaced it meanwhile. Also installs a
// SIGSEGV handler: if a mapped file was truncated, that handler calls the callback of OnCutFile();
// in any case it forwards the signal.
void TakeBusErrors();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_
