#include "lib/support/archive_path.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>

#include "lib/support/zip.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

constexpr off_t kLargestKept = 128 << 10;
// A file that changed less than this many seconds before it was read is not kept: it may change
// again without a new modification time.
constexpr time_t kSettled = 2;

bool IsSameState(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size &&
         a.st_mtim.tv_sec == b.st_mtim.tv_sec && a.st_mtim.tv_nsec == b.st_mtim.tv_nsec &&
         a.st_ctim.tv_sec == b.st_ctim.tv_sec && a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// The file that was opened last.
struct KeptFile {
  std::mutex mutex;
  struct stat info = {};
  std::shared_ptr<const FileBytes> bytes;

  static KeptFile& Get() {
    static auto* kept = new KeptFile;
    return *kept;
  }
};

// Opens a regular file, whose state is `info`; null on an error.
std::shared_ptr<const FileBytes> OpenOnce(llvm::StringRef path, const struct stat& info) {
  KeptFile& kept = KeptFile::Get();
  std::lock_guard lock(kept.mutex);
  if (kept.bytes && kept.bytes->name() == path && IsSameState(kept.info, info)) return kept.bytes;
  time_t now = std::time(nullptr);
  auto opened = FileBytes::Open(path);
  if (!opened) {
    llvm::consumeError(opened.takeError());
    return nullptr;
  }
  bool is_settled = now - std::max(info.st_mtim.tv_sec, info.st_ctim.tv_sec) >= kSettled;
  if (info.st_size <= kLargestKept && is_settled) {
    kept.info = info;
    kept.bytes = *opened;
  }
  return *opened;
}

}  // namespace

std::optional<PathInArchive> FindInArchive(llvm::StringRef path) {
  struct stat info = {};
  llvm::StringRef file = path;
  do {
    file = llvm::sys::path::parent_path(file);
    if (file.empty()) return std::nullopt;
  } while (stat(file.str().c_str(), &info) != 0 && errno == ENOTDIR);
  if (!S_ISREG(info.st_mode)) return std::nullopt;
  std::shared_ptr<const FileBytes> archive = OpenOnce(file, info);
  if (!archive || !IsZip(archive->bytes())) return std::nullopt;
  llvm::StringRef member = path.drop_front(file.size()).ltrim('/');
  if (!member.contains("./") && !member.contains("//")) return PathInArchive{archive, member.str()};
  llvm::SmallString<256> plain(member);
  llvm::sys::path::remove_dots(plain);  // "./x.npy" is "x.npy", as in a folder
  return PathInArchive{archive, plain.str().str()};
}

}  // namespace grapnel
