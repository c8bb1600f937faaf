#include "lib/support/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

Expected<std::string> ReadAll(int fd, llvm::StringRef name) {
  std::string bytes;
  char chunk[1 << 16];
  for (;;) {
    ssize_t n = read(fd, chunk, sizeof chunk);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return MakeError("{0}: cannot read: {1}", name, std::strerror(errno));
    if (n == 0) return bytes;
    bytes.append(chunk, n);
  }
}

}  // namespace

Expected<std::shared_ptr<const FileBytes>> FileBytes::Open(llvm::StringRef path) {
  if (path == "-") {
    ASSIGN_OR_RETURN(std::string bytes, ReadAll(STDIN_FILENO, "standard input"));
    return FromString(std::move(bytes), "standard input");
  }
  std::string name = path.str();
  int fd = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return MakeError("{0}: cannot open: {1}", path, std::strerror(errno));
  struct stat info;
  if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode)) {
    close(fd);
    return MakeError("{0}: is a folder, a file was expected", path);
  }
  if (!S_ISREG(info.st_mode)) {  // a pipe or a device cannot be mapped
    auto bytes = ReadAll(fd, path);
    close(fd);
    if (!bytes) return bytes.takeError();
    return FromString(std::move(*bytes), name);
  }
  std::shared_ptr<FileBytes> file(new FileBytes);
  file->name_ = name;
  file->size_ = info.st_size;
  if (file->size_ > 0) {
    void* data = mmap(nullptr, file->size_, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) {
      int reason = errno;
      close(fd);
      return MakeError("{0}: cannot map: {1}", path, std::strerror(reason));
    }
    file->data_ = static_cast<const char*>(data);
    file->mapped_ = true;
  }
  close(fd);
  return std::shared_ptr<const FileBytes>(file);
}

std::shared_ptr<const FileBytes> FileBytes::FromString(std::string bytes, std::string name) {
  std::shared_ptr<FileBytes> file(new FileBytes);
  file->owned_ = std::move(bytes);
  file->name_ = std::move(name);
  file->data_ = file->owned_.data();
  file->size_ = file->owned_.size();
  return file;
}

FileBytes::~FileBytes() {
  if (mapped_) munmap(const_cast<char*>(data_), size_);
}

Expected<std::unique_ptr<AtomicFile>> AtomicFile::Create(llvm::StringRef path) {
  std::unique_ptr<AtomicFile> file(new AtomicFile);
  file->path_ = path.str();
  if (path == "-") {
    file->os_ = std::make_unique<llvm::raw_fd_ostream>(STDOUT_FILENO, /*shouldClose=*/false);
    return file;
  }
  struct stat info;
  bool special = stat(file->path_.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  if (special && S_ISDIR(info.st_mode))
    return MakeError("{0}: is a folder, cannot write a file there", path);
  // A device or pipe (/dev/null, /dev/full) is written as it is: renaming would replace it.
  file->temporary_ = special ? file->path_ : file->path_ + ".tmp" + std::to_string(getpid());
  std::error_code code;
  file->os_ = std::make_unique<llvm::raw_fd_ostream>(file->temporary_, code);
  if (code) {
    file->os_.reset();
    file->temporary_.clear();
    return MakeError("{0}: cannot write: {1}", path, code.message());
  }
  if (special) file->temporary_.clear();
  return file;
}

AtomicFile::~AtomicFile() {
  if (!os_) return;
  os_->clear_error();
  os_.reset();
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

// A rename over a file makes ext4 write the new one to the disk at once, which takes longer than to
// make it; when the two change places it does not. There is a whole file of that name at any time.
static bool PutInPlace(const std::string& from, const std::string& to) {
  struct stat there;
  if (lstat(to.c_str(), &there) == 0 && S_ISREG(there.st_mode) &&
      renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_EXCHANGE) == 0) {
    unlink(from.c_str());
    return true;
  }
  return std::rename(from.c_str(), to.c_str()) == 0;
}

Error AtomicFile::Commit() {
  os_->flush();
  if (path_ != "-") os_->close();
  std::error_code code = os_->error();
  os_->clear_error();
  if (code)
    return MakeError("{0}: cannot write: {1}", path_ == "-" ? "standard output" : path_,
                     code.message());
  os_.reset();
  if (temporary_.empty()) return Error::success();
  if (!PutInPlace(temporary_, path_)) {
    int reason = errno;
    unlink(temporary_.c_str());
    return MakeError("{0}: cannot write: {1}", path_, std::strerror(reason));
  }
  return Error::success();
}

Error WriteFile(llvm::StringRef path, llvm::StringRef bytes) {
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  file->os() << bytes;
  return file->Commit();
}

bool IsDirectory(llvm::StringRef path) { return llvm::sys::fs::is_directory(path); }
bool FileExists(llvm::StringRef path) { return llvm::sys::fs::exists(path); }

Error CreateDirectories(llvm::StringRef path) {
  if (std::error_code code = llvm::sys::fs::create_directories(path)) {
    return MakeError("{0}: cannot create the folder: {1}", path, code.message());
  }
  return Error::success();
}

Expected<std::vector<std::string>> ListDirectory(llvm::StringRef path) {
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(path, code), end; it != end && !code;
       it.increment(code)) {
    names.push_back(llvm::sys::path::filename(it->path()).str());
  }
  if (code) return MakeError("{0}: cannot list the folder: {1}", path, code.message());
  std::sort(names.begin(), names.end());
  return names;
}

std::string JoinPath(llvm::StringRef folder, llvm::StringRef name) {
  llvm::SmallString<256> path(folder);
  llvm::sys::path::append(path, name);
  return path.str().str();
}

}  // namespace grapnel
