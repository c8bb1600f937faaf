#include "lib/support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>

#include "lib/support/archive_path.h"
#include "lib/support/file_mapping.h"
#include "lib/support/memory_file.h"
#include "lib/support/zip.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace grapnel {
namespace {

// The largest file that is copied instead of mapped: copying takes no longer than the page faults
// of a mapping, and other processes cannot change a copy.
constexpr size_t kLargestCopy = size_t{128} << 10;

// The files that are mapped now, and the latest error that CheckWhole() returned for a mapped file
// when it was closed.
struct OpenFiles {
  std::mutex mutex;
  std::set<const FileBytes*> mapped;
  std::string wrong;

  static OpenFiles& Get() {
    static OpenFiles* files = new OpenFiles;
    return *files;
  }
};

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
  std::string opened = name;
  if (std::optional<int> in_memory = FindMemoryFile(path))
    opened = "/proc/self/fd/" + std::to_string(*in_memory);
  int fd = open(opened.c_str(), O_RDONLY | O_CLOEXEC);
  int error = errno;
  if (fd < 0 && error == ENOTDIR) {
    if (auto inside = FindInArchive(path)) {
      if (inside->member.empty()) return inside->archive;  // "AddN.zip/", as a folder may be named
      auto entry = inside->directory->Read(inside->archive, inside->member);
      if (!entry) return Annotate(inside->archive->name(), entry.takeError());
      if (entry->file != inside->archive) return entry->file;
      if (!inside->archive->mapping_) return FromString(entry->bytes.str(), name);
      // Narrows the mapped archive, which is not kept and has no other user, to the member's bytes.
      auto member = std::const_pointer_cast<FileBytes>(inside->archive);
      member->data_ = entry->bytes;
      member->name_ = name;
      return member;
    }
  }
  if (fd < 0) return MakeError("{0}: cannot open: {1}", path, std::strerror(error));
  auto close_it = llvm::make_scope_exit([fd] { close(fd); });
  struct stat info;
  if (fstat(fd, &info) != 0 || S_ISDIR(info.st_mode))
    return MakeError("{0}: is a folder, a file was expected", path);
  auto size = static_cast<size_t>(info.st_size);
  // Copies small files, and what cannot be mapped: pipes, devices, and files in /proc, whose size
  // is 0.
  if (!S_ISREG(info.st_mode) || size <= kLargestCopy) {
    ASSIGN_OR_RETURN(std::string bytes, ReadAll(fd, path));
    if (S_ISREG(info.st_mode) && bytes.size() < size) {
      return MakeError("{0}: was cut short while it was read: {1} of {2} bytes were there", path,
                       bytes.size(), size);
    }
    return FromString(std::move(bytes), name);
  }
  std::shared_ptr<FileBytes> file(new FileBytes);
  file->name_ = name;
  ASSIGN_OR_RETURN(file->mapping_, FileMapping::Map(fd, info, path));
  file->data_ = file->mapping_->bytes();
  OpenFiles& open_files = OpenFiles::Get();
  std::lock_guard lock(open_files.mutex);
  open_files.mapped.insert(file.get());
  return std::shared_ptr<const FileBytes>(file);
}

std::shared_ptr<const FileBytes> FileBytes::FromString(std::string bytes, std::string name) {
  std::shared_ptr<FileBytes> file(new FileBytes);
  file->owned_ = std::move(bytes);
  file->name_ = std::move(name);
  file->data_ = file->owned_;
  return file;
}

FileBytes::~FileBytes() {
  if (!mapping_) return;
  OpenFiles& open_files = OpenFiles::Get();
  std::lock_guard lock(open_files.mutex);
  open_files.mapped.erase(this);
  if (Error error = mapping_->Check()) open_files.wrong = TextOf(std::move(error));
}

void FileBytes::ReleasePages(llvm::StringRef part) const {
  if (mapping_) mapping_->ReleasePages(part);
}

Error FileBytes::CheckWhole() const { return mapping_ ? mapping_->Check() : Error::success(); }

Error CheckOpenFiles() {
  OpenFiles& open_files = OpenFiles::Get();
  std::lock_guard lock(open_files.mutex);
  for (const FileBytes* file : open_files.mapped) RETURN_IF_ERROR(file->CheckWhole());
  return Error::success();
}

Error CheckClosedFiles() {
  OpenFiles& open_files = OpenFiles::Get();
  std::lock_guard lock(open_files.mutex);
  return open_files.wrong.empty() ? Error::success() : MakeError("{0}", open_files.wrong);
}

Error WriteFile(llvm::StringRef path, llvm::StringRef bytes) {
  ASSIGN_OR_RETURN(auto file, AtomicFile::Create(path));
  file->os() << bytes;
  return file->Commit();
}

bool IsDirectory(llvm::StringRef path) { return llvm::sys::fs::is_directory(path); }

bool FileExists(llvm::StringRef path) {
  std::error_code code = llvm::sys::fs::access(path, llvm::sys::fs::AccessMode::Exist);
  if (code != std::errc::not_a_directory) return !code;
  auto inside = FindInArchive(path);
  return inside && (inside->member.empty() || inside->directory->Has(inside->member));
}

Error CreateDirectories(llvm::StringRef path) {
  if (std::error_code code = llvm::sys::fs::create_directories(path)) {
    return MakeError("{0}: cannot create the folder: {1}", path, code.message());
  }
  if (!IsDirectory(path)) return MakeError("{0}: is a file, a folder was expected", path);
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
