// Reads files by mapping them, and writes files atomically.
#ifndef GRAPNEL_LIB_SUPPORT_FILE_H_
#define GRAPNEL_LIB_SUPPORT_FILE_H_

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lib/support/error.h"
#include "lib/support/public.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

class FileMapping;

// The bytes of a file: a read-only mapping, or a copy in memory. Graphs and constants point into
// these bytes, so they share the FileBytes and keep it alive. Open() copies a small file, a pipe or
// a device; it maps a larger file, whose pages are read when they are accessed, so the time to open
// it does not depend on its size.
class GRAPNEL_PUBLIC FileBytes {
 public:
  // Opens a file, or the MemoryFile of that name. The path "-" reads standard input into memory. A
  // path may lead into a zip archive: "ops/AddN.zip/graph.pb" is the file graph.pb of that archive.
  // Errors name the path.
  static Expected<std::shared_ptr<const FileBytes>> Open(llvm::StringRef path);
  static std::shared_ptr<const FileBytes> FromString(std::string bytes, std::string name);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  llvm::StringRef bytes() const { return data_; }
  const std::string& name() const { return name_; }  // used in error messages

  // Returns an error that names the file if the file is mapped and another process truncated it
  // since, or if mapped bytes could not be read. Does not notice bytes that were overwritten in
  // place, and may miss a truncation if another file now has the path. Bytes that are gone read as
  // zeros, so call this after reading large parts of a file and before relying on them. Costs a
  // stat.
  Error CheckWhole() const;

  // Releases the pages of a mapped file that lie completely in `part` (of bytes()) from this
  // process's memory; a later read loads them again. Useful for walks over a large file.
  void ReleasePages(llvm::StringRef part) const;

 private:
  FileBytes() = default;
  llvm::StringRef data_;
  std::unique_ptr<FileMapping> mapping_;
  std::string owned_, name_;
};

// Releases every page that holds one of `bytes` if all of them lie in a mapped file; a later read
// loads the pages again. Does nothing for other bytes.
GRAPNEL_PUBLIC void DropPages(llvm::StringRef bytes);

// Calls CheckWhole() on the open files and returns the first error, for callers that do not know
// which files their values came from.
GRAPNEL_PUBLIC Error CheckOpenFiles();
// Returns an error if CheckWhole() failed for a mapped file when it was closed, at any time since
// the process began; the error is that of the latest such file.
GRAPNEL_PUBLIC Error CheckClosedFiles();

// Sets a callback with the path of a mapped file, called when this process reads bytes of the file
// that are gone, before they become zeros, and when it gets a SIGSEGV after the file was truncated.
// The callback runs in a signal handler, which limits what it may call. A program with a single
// task ends the process in it: results computed from zeros are worthless, and code that has checked
// a file may crash on zeros. Null, the default: reading continues.
GRAPNEL_PUBLIC void OnCutFile(void (*told)(const char* path));

// An output file that appears under its name only when complete. Until Commit() it has no name, or
// a temporary one that begins with ".grapnel-" (see Until), and an older file stays in place.
// Without Commit() no new file remains, even if a signal such as SIGTERM ends the process. A signal
// that the process cannot handle, such as SIGKILL, can leave a file named ".grapnel-..."; the next
// process that writes into that directory removes it.
//
// Like `cp`: an existing file keeps its permissions, and its owner where permitted; symbolic links
// are followed and stay; a device, a pipe, a MemoryFile, /dev/stdout or /dev/fd/3 is written
// directly. Unlike `cp`, other hard links of an older file keep the old content. "-" is standard
// output.
class GRAPNEL_PUBLIC AtomicFile {
 public:
  // The state of the file until Commit(). kUnnamed: no name if the file system allows that,
  // otherwise a temporary name. kNamed: always a temporary name.
  enum class Until { kUnnamed, kNamed };
  static Expected<std::unique_ptr<AtomicFile>> Create(llvm::StringRef path,
                                                      Until until = Until::kUnnamed);
  ~AtomicFile();
  llvm::raw_ostream& os() { return *os_; }
  // Puts the file in place under its name. Also fails if an input file that is still open was
  // truncated (CheckOpenFiles), as the output may come from it. Does not wait for the disk.
  Error Commit();

 private:
  AtomicFile() = default;
  bool PutInPlace();  // on false, errno has the reason

  std::string path_;             // used in error messages
  std::string target_, folder_;  // the new file's path and directory; empty: written directly
  std::string temporary_;        // the path of the file while it has a temporary name, or empty
  int fd_ = -1;
  std::unique_ptr<llvm::raw_fd_ostream> os_;
};

// Writes `bytes` to `path` through an AtomicFile.
GRAPNEL_PUBLIC Error WriteFile(llvm::StringRef path, llvm::StringRef bytes);
// Makes `to` a hard link to the file `from`, or a copy of it if the link cannot be made. A previous
// file `to` stays in place until the new one is complete.
GRAPNEL_PUBLIC Error LinkFile(llvm::StringRef from, llvm::StringRef to);

GRAPNEL_PUBLIC bool IsDirectory(llvm::StringRef path);
// Also true for a file of a zip archive, under the path that FileBytes::Open takes.
GRAPNEL_PUBLIC bool FileExists(llvm::StringRef path);
GRAPNEL_PUBLIC Error CreateDirectories(llvm::StringRef path);
// Returns the names (not paths) of a directory's entries, sorted.
GRAPNEL_PUBLIC Expected<std::vector<std::string>> ListDirectory(llvm::StringRef path);
GRAPNEL_PUBLIC std::string JoinPath(llvm::StringRef folder, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FILE_H_
