// Finds the zip archive that a path leads into. Private to lib/support.
#ifndef GRAPNEL_LIB_SUPPORT_ARCHIVE_PATH_H_
#define GRAPNEL_LIB_SUPPORT_ARCHIVE_PATH_H_

#include <memory>
#include <optional>
#include <string>

#include "lib/support/file.h"
#include "llvm/ADT/StringRef.h"

namespace grapnel {

class ZipDirectory;

struct PathInArchive {
  std::shared_ptr<const FileBytes> archive;  // its name is its path
  std::shared_ptr<const ZipDirectory> directory;
  std::string member;
};

// For "ops/AddN.zip/graph.pb", returns the archive "ops/AddN.zip" and "graph.pb", whether the
// archive has such a member or not. Returns nullopt if no component of the path is a zip archive.
// Call it only after the system has answered ENOTDIR for the path, which ordinary paths do not
// cause. Because cases are read a member at a time, an archive's directory is kept until another is
// opened, and so is a small archive, each further member of which costs two system calls.
std::optional<PathInArchive> FindInArchive(llvm::StringRef path);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SUPPORT_ARCHIVE_PATH_H_
