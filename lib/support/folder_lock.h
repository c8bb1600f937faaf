// One process at a time in a folder.
#ifndef GRAPNEL_LIB_SUPPORT_FOLDER_LOCK_H_
#define GRAPNEL_LIB_SUPPORT_FOLDER_LOCK_H_

#include "llvm/ADT/StringRef.h"

namespace grapnel {

// Waits until no other process, nor another lock of this one, holds the folder, and holds it until
// destroyed or until the process ends. Nothing is left in the folder. Where the file system has no
// such locks (some of the network) it holds nothing.
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
