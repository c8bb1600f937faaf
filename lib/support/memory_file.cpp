#include "lib/support/memory_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>

namespace grapnel {
namespace {

struct MemoryFiles {
  std::mutex mutex;
  std::map<std::string, int, std::less<>> by_name;

  static MemoryFiles& Get() {
    static auto* files = new MemoryFiles;
    return *files;
  }
};

}  // namespace

Expected<std::unique_ptr<MemoryFile>> MemoryFile::Create(std::string name) {
  int descriptor = memfd_create("grapnel", MFD_CLOEXEC);
  if (descriptor < 0) return MakeError("{0}: cannot write: {1}", name, std::strerror(errno));
  return std::unique_ptr<MemoryFile>(new MemoryFile(std::move(name), descriptor));
}

MemoryFile::MemoryFile(std::string name, int descriptor)
    : name_(std::move(name)), descriptor_(descriptor) {
  MemoryFiles& files = MemoryFiles::Get();
  std::lock_guard lock(files.mutex);
  files.by_name[name_] = descriptor_;
}

MemoryFile::~MemoryFile() {
  MemoryFiles& files = MemoryFiles::Get();
  std::lock_guard lock(files.mutex);
  files.by_name.erase(name_);
  close(descriptor_);
}

Error MemoryFile::Write(llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return MakeError("{0}: cannot write: {1}", name_, std::strerror(errno));
    bytes = bytes.drop_front(written);
  }
  return Error::success();
}

bool MemoryFile::empty() const {
  struct stat info;
  return fstat(descriptor_, &info) != 0 || info.st_size == 0;
}

std::optional<int> FindMemoryFile(llvm::StringRef name) {
  MemoryFiles& files = MemoryFiles::Get();
  std::lock_guard lock(files.mutex);
  auto found = files.by_name.find(std::string_view(name.data(), name.size()));
  return found == files.by_name.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace grapnel
