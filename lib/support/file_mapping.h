// A file mapped read-only, which others may cut short at any moment. Private to lib/support.
#ifndef GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_
#define GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct MappedRange;

// The kernel ends a program (SIGBUS) that reads a mapping behind the end of its file. Of a
// FileMapping such bytes are zeros, and it is known afterwards that they were. The first mapping of
// a process takes over SIGBUS; faults elsewhere go on to whoever had the signal.
class FileMapping {
 public:
  // `info` is what fstat says of `fd`, a regular file that is not empty; `fd` may be closed
  // afterwards.
  static Expected<std::unique_ptr<FileMapping>> Map(int fd, const struct stat& info,
                                                    llvm::StringRef path);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  llvm::StringRef bytes() const { return {data_, size_}; }

  // The whole pages of `part`, of bytes(): they come back when they are read.
  void ReleasePages(llvm::StringRef part) const;

  // An error that names the file, when bytes of it are gone or could not be read. Costs a stat.
  Error Check() const;

 private:
  FileMapping() = default;

  const char* data_ = nullptr;
  size_t size_ = 0;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::string path_;
  MappedRange* range_ = nullptr;
};

// Takes SIGBUS for mappings, again where other code has taken it since; and SIGSEGV, which is told
// to OnCutFile() where a mapped file is shorter than it was, and else goes on.
void TakeBusErrors();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_
