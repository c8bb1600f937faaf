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

struct OpenedArchive {
  std::shared_ptr<const FileBytes> bytes;
  std::shared_ptr<const ZipDirectory> directory;  // null: not a zip archive
};

// The last file that was opened, apart from those that had just changed (see kSettled).
struct KeptFile {
  std::mutex mutex;
  struct stat info = {};
  std::string path;
  OpenedArchive opened;  // without the bytes of a large file

  static KeptFile& Get() {
    static auto* kept = new KeptFile;
    return *kept;
  }
};

// Opens a regular file, whose state is `info`; without a directory on an error.
OpenedArchive OpenOnce(llvm::StringRef path, const struct stat& info) {
  KeptFile& kept = KeptFile::Get();
  std::lock_guard lock(kept.mutex);
  bool is_kept = kept.path == path && IsSameState(kept.info, info);
  if (is_kept && (kept.opened.bytes || !kept.opened.directory)) return kept.opened;
  time_t now = std::time(nullptr);
  auto bytes = FileBytes::Open(path);
  if (!bytes) {
    llvm::consumeError(bytes.takeError());
    return {};
  }
  OpenedArchive opened = {*bytes, is_kept ? kept.opened.directory : nullptr};
  if (!is_kept && IsZip((*bytes)->bytes()))
    opened.directory = std::make_shared<ZipDirectory>((*bytes)->bytes());
  bool is_settled = now - std::max(info.st_mtim.tv_sec, info.st_ctim.tv_sec) >= kSettled;
  if (!is_kept && is_settled) {
    kept.info = info;
    kept.path = path.str();
    kept.opened = opened;
    if (info.st_size > kLargestKept) kept.opened.bytes = nullptr;
  }
  return opened;
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
  OpenedArchive archive = OpenOnce(file, info);
  if (!archive.directory) return std::nullopt;
  llvm::StringRef member = path.drop_front(file.size()).ltrim('/');
  if (!member.contains("./") && !member.contains("//"))
    return PathInArchive{archive.bytes, archive.directory, member.str()};
  llvm::SmallString<256> plain(member);
  llvm::sys::path::remove_dots(plain);  // "./x.npy" is "x.npy", as in a folder
  return PathInArchive{archive.bytes, archive.directory, plain.str().str()};
}

}  // namespace grapnel
