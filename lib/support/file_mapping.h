// A file mapped read-only that other processes may truncate at any moment. Private to lib/support.
#ifndef GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_
#define GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_

#include <sys/stat.h>

#include <memory>
#include <string>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

struct MappedRange;

// Reading a mapping past the end of its file raises SIGBUS. In a FileMapping such bytes read as
// zeros, and Check() reports the truncation afterwards. The first FileMapping of a process installs
// the SIGBUS handler; faults elsewhere go to the previous handler.
class FileMapping {
 public:
  // `info` is the fstat of `fd`, a regular file that is not empty; `fd` may be closed afterwards.
  static Expected<std::unique_ptr<FileMapping>> Map(int fd, const struct stat& info,
                                                    llvm::StringRef path);
  ~FileMapping();
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  llvm::StringRef bytes() const { return {data_, size_}; }

  // Releases the whole pages of `part` (of bytes()); a later read loads them again.
  void ReleasePages(llvm::StringRef part) const;

  // Returns an error that names the file if some of its bytes are gone or could not be read. Costs
  // a stat.
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

// Installs the SIGBUS handler for mappings, and reinstalls it if other code replaced it. Also
// installs a SIGSEGV handler, which calls the OnCutFile() callback if a mapped file was truncated
// and otherwise forwards the signal.
void TakeBusErrors();

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FILE_MAPPING_H_
