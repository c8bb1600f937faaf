// Files: read by mapping, written so that nobody ever sees half of one.
#ifndef GRAPNEL_LIB_SUPPORT_FILE_H_
#define GRAPNEL_LIB_SUPPORT_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// The bytes of a file, mapped read-only, or of memory that it owns. Graphs and constants point into
// it, so it is shared and lives as long as any of them. Pages are read when touched: opening costs
// nothing per byte.
class FileBytes {
 public:
  // "-" reads standard input into memory. Errors name the path.
  static Expected<std::shared_ptr<const FileBytes>> Open(llvm::StringRef path);
  static std::shared_ptr<const FileBytes> FromString(std::string bytes, std::string name);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  llvm::StringRef bytes() const { return {data_, size_}; }
  const std::string& name() const { return name_; }  // as errors should call it

 private:
  FileBytes() = default;
  const char* data_ = nullptr;
  size_t size_ = 0;
  bool mapped_ = false;
  std::string owned_, name_;
};

// A file that appears under its name only when complete: written beside it under a temporary name,
// flushed, renamed by Commit(). Without Commit() the temporary file is removed and an older file
// stays. "-" is standard output.
class AtomicFile {
 public:
  static Expected<std::unique_ptr<AtomicFile>> Create(llvm::StringRef path);
  ~AtomicFile();
  llvm::raw_ostream& os() { return *os_; }
  Error Commit();

 private:
  AtomicFile() = default;
  std::string path_, temporary_;
  std::unique_ptr<llvm::raw_fd_ostream> os_;
};

// Writes `bytes` to `path` through an AtomicFile.
Error WriteFile(llvm::StringRef path, llvm::StringRef bytes);

bool IsDirectory(llvm::StringRef path);
bool FileExists(llvm::StringRef path);
Error CreateDirectories(llvm::StringRef path);
// Names (not paths) of the entries of a folder, sorted.
Expected<std::vector<std::string>> ListDirectory(llvm::StringRef path);
std::string JoinPath(llvm::StringRef folder, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FILE_H_
