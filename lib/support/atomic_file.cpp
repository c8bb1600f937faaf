#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <set>

#include "lib/support/file.h"
#include "lib/support/file_mapping.h"
#include "lib/support/memory_file.h"
#include "lib/support/output_target.h"
#include "lib/support/text.h"
#include "llvm/Support/Signals.h"

namespace grapnel {
namespace {

constexpr llvm::StringLiteral kMark(".grapnel-"), kSuffix(".tmp");
constexpr size_t kBufferSize = 64 * 1024;
constexpr size_t kLargestWrite = size_t{1} << 30;  // Linux writes less than 2 GiB at once
constexpr mode_t kNewFile = 0666;                  // the umask applies

std::string TemporaryIn(const std::string& folder) {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) number = getpid();
  return JoinPath(folder, llvm::formatv("{0}{1:x-16}{2}", kMark, number, kSuffix).str());
}

// Removes the temporary file `path` if the process that wrote it has ended. A process keeps a lock
// on a temporary file while it writes it, so a file without a lock is a leftover.
void RemoveIfLeftOver(const std::string& path) {
  int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return;
  struct stat info;
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && flock(fd, LOCK_EX | LOCK_NB) == 0)
    unlink(path.c_str());
  close(fd);
}

// At the first call for `folder`, removes the temporary files that earlier processes left there.
void RemoveLeftOversIn(const std::string& folder) {
  static std::mutex mutex;
  static auto* seen = new std::set<std::string>;
  {
    std::lock_guard lock(mutex);
    if (!seen->insert(folder).second) return;
  }
  DIR* entries = opendir(folder.c_str());
  if (!entries) return;
  while (const dirent* entry = readdir(entries)) {
    llvm::StringRef name = entry->d_name;
    if (HasPrefix(name, kMark) && HasSuffix(name, kSuffix))
      RemoveIfLeftOver(JoinPath(folder, name));
  }
  closedir(entries);
}

// Arranges that a signal that ends the process, such as SIGTERM, also removes the temporary file.
void GiveUpOnSignal(const std::string& temporary) {
  llvm::sys::RemoveFileOnSignal(temporary);
  TakeBusErrors();  // LLVM has just replaced the SIGBUS handler
}

void RemoveTemporary(const std::string& temporary) {
  unlink(temporary.c_str());
  llvm::sys::DontRemoveFileOnSignal(temporary);
}

int OpenUnnamed(const std::string& folder) {
  int fd = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, kNewFile);
  if (fd < 0) return fd;
  if (access(llvm::formatv("/proc/self/fd/{0}", fd).str().c_str(), F_OK) == 0) return fd;
  close(fd);  // without /proc, an unnamed file could never get a name
  return -1;
}

int OpenNamed(const std::string& temporary) {
  int flags = O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC;
  for (;;) {
    GiveUpOnSignal(temporary);
    int fd = open(temporary.c_str(), flags, kNewFile);
    if (fd < 0) {
      int reason = errno;
      llvm::sys::DontRemoveFileOnSignal(temporary);
      errno = reason;
      return fd;
    }
    flock(fd, LOCK_EX);
    // Before this process locked the file, another one may have taken it for a leftover and removed
    // it. Tries again in that case.
    struct stat info;
    if (fstat(fd, &info) != 0 || info.st_nlink > 0) return fd;
    close(fd);
  }
}

bool GiveName(int fd, const std::string& path) {
  std::string unnamed = llvm::formatv("/proc/self/fd/{0}", fd).str();
  return linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

// Gives the new file the mode and owner of the older one, so that the same users can access it. If
// the process may not change the owner, the new file belongs to the process's user and gets only
// the permission bits, not setuid and the like.
void TakeOverMode(int fd, const struct stat& older) {
  mode_t kept = older.st_mode & 0777;
  if (fchown(fd, older.st_uid, older.st_gid) == 0) kept = older.st_mode & 07777;
  fchmod(fd, kept);
}

// True if the file system accepted all bytes: a network file system reports a full disk only when a
// file is closed. Closes a duplicate of `fd`, because closing `fd` itself would end the lock.
bool ArrivesWhole(int fd) {
  int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 && close(copy) == 0;
}

// Gives the file `temporary` the name `path`: exchanges the names if `path` exists and the file
// system can exchange them, otherwise renames. Renaming over the old file makes ext4 write the new
// one to disk at once, which takes longer than creating it. An existing `path` is a complete file
// at all times.
bool Replace(const std::string& temporary, const std::string& path) {
  if (renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_EXCHANGE) == 0) {
    unlink(temporary.c_str());
    return true;
  }
  return std::rename(temporary.c_str(), path.c_str()) == 0;
}

// Writes to a file, and where it can, lets the kernel copy large pieces from a mapped file, such as
// a model's constants: their pages are then not loaded into this process.
class CopyingStream : public llvm::raw_fd_ostream {
 public:
  using llvm::raw_fd_ostream::raw_fd_ostream;
  ~CopyingStream() override { flush(); }

 private:
  void write_impl(const char* data, size_t size) override {
    llvm::StringRef left(data, size);
    left = left.drop_front(CopyMappedBytes(left, get_fd()));
    while (!left.empty()) {
      ssize_t n = ::write(get_fd(), left.data(), std::min(left.size(), kLargestWrite));
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n < 0) return error_detected({errno, std::generic_category()});
      left = left.drop_front(n);
    }
    inc_pos(size);
  }
};

}  // namespace

Expected<std::unique_ptr<AtomicFile>> AtomicFile::Create(llvm::StringRef path, Until until) {
  std::unique_ptr<AtomicFile> file(new AtomicFile);
  file->path_ = path.str();
  if (path == "-") {
    file->path_ = "standard output";
    file->os_ = std::make_unique<CopyingStream>(STDOUT_FILENO, /*shouldClose=*/false);
    return file;
  }
  auto target = FindOutputTarget(path);
  if (!target) return Annotate(path, target.takeError());
  if (std::optional<int> in_memory = FindMemoryFile(path)) {
    target->kind = OutputTarget::Kind::kDescriptor;
    target->descriptor = *in_memory;
  }
  if (target->kind == OutputTarget::Kind::kDescriptor) {
    file->fd_ = fcntl(target->descriptor, F_DUPFD_CLOEXEC, 0);
  } else if (target->kind == OutputTarget::Kind::kSpecial) {
    file->fd_ = open(target->path.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    file->target_ = target->path;
    file->folder_ = target->folder;
    RemoveLeftOversIn(target->folder);
    if (until == Until::kUnnamed) file->fd_ = OpenUnnamed(target->folder);
    if (file->fd_ < 0) {
      file->temporary_ = TemporaryIn(target->folder);
      file->fd_ = OpenNamed(file->temporary_);
      if (file->fd_ < 0) file->temporary_.clear();
    } else {
      flock(file->fd_, LOCK_EX);  // keeps other processes from removing the file as a leftover
    }
  }
  if (file->fd_ < 0) return MakeError("{0}: cannot write: {1}", path, std::strerror(errno));
  file->os_ = std::make_unique<CopyingStream>(file->fd_, /*shouldClose=*/true);
  // Writes in large pieces, because no other process reads the file before it is complete.
  if (!file->target_.empty()) file->os_->SetBufferSize(kBufferSize);
  return file;
}

AtomicFile::~AtomicFile() {
  if (!os_) return;
  os_->clear_error();
  os_.reset();
  if (!temporary_.empty()) RemoveTemporary(temporary_);
}

bool AtomicFile::PutInPlace() {
  struct stat older;
  bool is_new = lstat(target_.c_str(), &older) != 0;
  if (!is_new) TakeOverMode(fd_, older);
  if (temporary_.empty()) {
    if (is_new && GiveName(fd_, target_)) return true;
    temporary_ = TemporaryIn(folder_);
    GiveUpOnSignal(temporary_);
    if (!GiveName(fd_, temporary_)) return false;
  }
  if (!ArrivesWhole(fd_) || !Replace(temporary_, target_)) return false;
  llvm::sys::DontRemoveFileOnSignal(temporary_);
  temporary_.clear();
  return true;
}

Error LinkFile(llvm::StringRef from, llvm::StringRef to) {
  if (link(from.str().c_str(), to.str().c_str()) == 0) return Error::success();
  ASSIGN_OR_RETURN(OutputTarget target, FindOutputTarget(to));
  std::string temporary = TemporaryIn(target.folder);
  GiveUpOnSignal(temporary);
  bool is_done = link(from.str().c_str(), temporary.c_str()) == 0 &&
                 std::rename(temporary.c_str(), target.path.c_str()) == 0;
  RemoveTemporary(temporary);  // renaming between two names of the same file does nothing
  if (is_done) return Error::success();
  ASSIGN_OR_RETURN(auto bytes, FileBytes::Open(from));
  return WriteFile(to, bytes->bytes());
}

Error AtomicFile::Commit() {
  RETURN_IF_ERROR(CheckOpenFiles());
  os_->flush();
  std::error_code code = os_->error();
  if (!code && !target_.empty() && !PutInPlace()) code = {errno, std::generic_category()};
  if (fd_ >= 0) os_->close();
  if (!code) code = os_->error();
  os_->clear_error();
  if (code) return MakeError("{0}: cannot write: {1}", path_, code.message());
  os_.reset();
  return Error::success();
}

}  // namespace grapnel
