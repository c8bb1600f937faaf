// Files: read by mapping, written so that nobody ever sees half of one.
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

// The bytes of a file, mapped read-only, or of memory that it owns. Graphs and constants point into
// it, so it is shared and lives as long as any of them. A small file is read at once; pages of a
// larger one are read when touched: opening costs nothing per byte.
class GRAPNEL_PUBLIC FileBytes {
 public:
  // "-" reads standard input into memory. Errors name the path.
  static Expected<std::shared_ptr<const FileBytes>> Open(llvm::StringRef path);
  static std::shared_ptr<const FileBytes> FromString(std::string bytes, std::string name);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  llvm::StringRef bytes() const { return data_; }
  const std::string& name() const { return name_; }  // as errors should call it

  // Somebody may cut a file short, or write it anew, while it is mapped. What is gone reads as
  // zeros, and this is an error from then on, which names the file: who has read much of a file
  // asks before believing it. Costs a stat.
  Error CheckWhole() const;

  // `part` of bytes() is not looked at for a while: its pages are not this process's memory until
  // somebody reads them again, from the system's cache. For who walks a large file from end to end.
  void ReleasePages(llvm::StringRef part) const;

 private:
  FileBytes() = default;
  llvm::StringRef data_;
  std::unique_ptr<FileMapping> mapping_;
  std::string owned_, name_;
};

// Pages of a mapped file that nobody reads for a while: this process holds them no longer, and gets
// them again, from the file or the system's cache of it, where somebody does. Of other bytes
// nothing happens.
GRAPNEL_PUBLIC void DropPages(llvm::StringRef bytes);

// CheckWhole() of every file that is open: for who does not know what values were read from.
GRAPNEL_PUBLIC Error CheckOpenFiles();
// The same of those that were closed since the process began, by what was known at that moment.
GRAPNEL_PUBLIC Error CheckClosedFiles();

// Called where bytes are read that are gone, before they are zeros: in a handler of a signal, from
// which little may be called. A program of one task ends there: what it makes of zeros is nothing,
// and code that has checked a file may break on it. Null, as it begins: reading goes on.
GRAPNEL_PUBLIC void OnCutFile(void (*told)(const char* path));

// A file that appears under its name only when complete: until Commit() it has no name (or, where
// the file system has no such files, one that begins with ".grapnel-"), and an older file stays.
// Without Commit() nothing is left of it, also when the process is ended. A name that SIGKILL
// leaves is removed by the next process that writes into that folder.
//
// As `cp` has it: a file that is there keeps its mode, and its owner where that is allowed; where a
// link leads is what is written, and the link stays; a device, a pipe, /dev/stdout or /dev/fd/3 is
// written as it is. Unlike `cp`, other hard links of an older file keep what they had. "-" is
// standard output.
class GRAPNEL_PUBLIC AtomicFile {
 public:
  enum class Until { kUnnamed, kNamed };  // kNamed: as where a file system has no unnamed files
  static Expected<std::unique_ptr<AtomicFile>> Create(llvm::StringRef path,
                                                      Until until = Until::kUnnamed);
  ~AtomicFile();
  llvm::raw_ostream& os() { return *os_; }
  // Puts it in its place. An error too when a file that is open was cut short (CheckOpenFiles):
  // what is written may come from there. Nobody waits for the disk.
  Error Commit();

 private:
  AtomicFile() = default;
  bool PutInPlace();  // false: errno says why not

  std::string path_;             // as errors call it
  std::string target_, folder_;  // what is replaced, and where; empty: it is written as it is
  std::string temporary_;        // empty: it has no name yet, or the one that it is to have
  int fd_ = -1;
  std::unique_ptr<llvm::raw_fd_ostream> os_;
};

// Writes `bytes` to `path` through an AtomicFile.
GRAPNEL_PUBLIC Error WriteFile(llvm::StringRef path, llvm::StringRef bytes);
// `to` becomes another name of the file `from`, or a copy where the file system has no links. What
// was called `to` before is there until then.
GRAPNEL_PUBLIC Error LinkFile(llvm::StringRef from, llvm::StringRef to);

GRAPNEL_PUBLIC bool IsDirectory(llvm::StringRef path);
GRAPNEL_PUBLIC bool FileExists(llvm::StringRef path);
GRAPNEL_PUBLIC Error CreateDirectories(llvm::StringRef path);
// Names (not paths) of the entries of a folder, sorted.
GRAPNEL_PUBLIC Expected<std::vector<std::string>> ListDirectory(llvm::StringRef path);
GRAPNEL_PUBLIC std::string JoinPath(llvm::StringRef folder, llvm::StringRef name);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FILE_H_
