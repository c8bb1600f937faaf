#include "lib/support/output_target.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "lib/support/file.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr int kMostLinks = 40;  // the same limit as in Linux

// Returns the directory of `path` with symbolic links resolved, or as it is written if they cannot
// be resolved.
std::string FolderOf(llvm::StringRef path) {
  std::string folder = llvm::sys::path::parent_path(path).str();
  if (folder.empty()) folder = ".";
  char real[PATH_MAX];
  return realpath(folder.c_str(), real) ? real : folder;
}

// True for the directory /proc/self/fd: each link in it stands for an open file of this process.
bool HoldsDescriptors(llvm::StringRef folder) {
  char real[PATH_MAX];
  return realpath("/proc/self/fd", real) && folder == real;
}

Expected<OutputTarget> AtEndOfLinks(OutputTarget target) {
  struct stat info;
  if (stat(target.path.c_str(), &info) != 0) return target;  // new; opening the file reports errors
  if (S_ISDIR(info.st_mode)) return MakeError("is a folder, cannot write a file there");
  if (!S_ISREG(info.st_mode)) target.kind = OutputTarget::Kind::kSpecial;
  if (faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0)
    return MakeError("cannot write: {0}", std::strerror(errno));
  return target;
}

}  // namespace

Expected<OutputTarget> FindOutputTarget(llvm::StringRef path) {
  OutputTarget target;
  target.path = path.str();
  for (int i = 0; i < kMostLinks; ++i) {
    llvm::StringRef name = llvm::sys::path::filename(target.path);
    target.folder = FolderOf(target.path);
    int number = 0;
    if (HoldsDescriptors(target.folder) && !name.getAsInteger(10, number)) {
      target.kind = OutputTarget::Kind::kDescriptor;
      target.descriptor = number;
      return target;
    }
    char link[PATH_MAX];
    ssize_t size = readlink(target.path.c_str(), link, sizeof link);
    if (size < 0) {
      target.path = JoinPath(target.folder, name);
      return AtEndOfLinks(std::move(target));
    }
    llvm::StringRef next(link, size);
    target.path = next.starts_with("/") ? next.str() : JoinPath(target.folder, next);
  }
  return MakeError("cannot write: {0}", std::strerror(ELOOP));
}

}  // namespace grapnel
