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

// The bytes of a file: mapped read-only, or a copy in memory. Graphs and constants point into these
// bytes, so they share the FileBytes and keep it alive. A small file is read at once; the pages of
// a larger one are read when they are accessed, so opening a file takes the same time whatever its
// size.
class GRAPNEL_PUBLIC FileBytes {
 public:
  // Opens a file. The path "-" reads standard input into memory. A path may lead into a zip
  // archive: "ops/AddN.zip/graph.pb" is the file graph.pb of that archive. Errors name the path.
  static Expected<std::shared_ptr<const FileBytes>> Open(llvm::StringRef path);
  static std::shared_ptr<const FileBytes> FromString(std::string bytes, std::string name);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  llvm::StringRef bytes() const { return data_; }
  const std::string& name() const { return name_; }  // used in error messages

  // Returns an error that names the file if another process truncated or overwrote the file while
  // it was mapped. Bytes that are gone read as zeros, so call this after reading large parts of a
  // file and before relying on them. Costs a stat.
  Error CheckWhole() const;

  // Releases the pages of `part` (of bytes()) from this process's memory; a later read loads them
  // again from the page cache. Useful for walks over a large file.
  void ReleasePages(llvm::StringRef part) const;

 private:
  FileBytes() = default;
  llvm::StringRef data_;
  std::unique_ptr<FileMapping> mapping_;
  std::string owned_, name_;
};

// Releases the pages that hold `bytes` if these lie in a mapped file; a later read loads the pages
// again. Does nothing for other bytes.
GRAPNEL_PUBLIC void DropPages(llvm::StringRef bytes);

// Calls CheckWhole() on every open file, for callers that do not know which files their values came
// from.
GRAPNEL_PUBLIC Error CheckOpenFiles();
// Returns an error if a file that has been closed since the process began was truncated while it
// was open.
GRAPNEL_PUBLIC Error CheckClosedFiles();

// Sets a callback that is called when bytes are read that are gone because the file was truncated,
// before they become zeros. It runs in a signal handler, which limits what it may call. A program
// with a single task ends the process in it: results computed from zeros are worthless, and code
// that has checked a file may crash on zeros. Null, the default: reading continues.
GRAPNEL_PUBLIC void OnCutFile(void (*told)(const char* path));

// An output file that appears under its name only when complete. Until Commit() it has no name (or
// a name that begins with ".grapnel-" on file systems without unnamed files), and an older file
// stays in place. Without Commit() nothing remains, even if the process is killed. A temporary file
// left by SIGKILL is removed by the next process that writes into that directory.
//
// Like `cp`: an existing file keeps its mode, and its owner where permitted; symbolic links are
// followed and stay; a device, a pipe, /dev/stdout or /dev/fd/3 is written directly. Unlike `cp`,
// other hard links of an older file keep the old content. "-" is standard output.
class GRAPNEL_PUBLIC AtomicFile {
 public:
  enum class Until { kUnnamed, kNamed };  // kNamed: as on file systems without unnamed files
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
  std::string target_, folder_;  // the replaced file and its directory; empty: written directly
  std::string temporary_;        // empty: the file is unnamed so far, or has its final name
  int fd_ = -1;
  std::unique_ptr<llvm::raw_fd_ostream> os_;
};

// Writes `bytes` to `path` through an AtomicFile.
GRAPNEL_PUBLIC Error WriteFile(llvm::StringRef path, llvm::StringRef bytes);
// Makes `to` a hard link to the file `from`, or a copy on file systems without links. A previous
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
