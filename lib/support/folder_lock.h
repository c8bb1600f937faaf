// Lets one process at a time work in a directory.
#ifndef GRAPNEL_LIB_SUPPORT_FOLDER_LOCK_H_
#define GRAPNEL_LIB_SUPPORT_FOLDER_LOCK_H_

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// A lock on a directory. The constructor waits until no other process and no other FolderLock of
// this process has the lock; the lock ends with the object or the process. Creates no file in the
// directory. Locks nothing if the directory cannot be opened, or on file systems without such locks
// (some network file systems).
class FolderLock {
 public:
  explicit FolderLock(llvm::StringRef folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  int fd_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_FOLDER_LOCK_H_
