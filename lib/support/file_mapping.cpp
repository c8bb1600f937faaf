#include "lib/support/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "lib/support/file.h"
#include "llvm/ADT/ScopeExit.h"

namespace grapnel {

// The address range of a mapped file. The SIGBUS handler reads it and may run at any point, so it
// must not need a lock.
struct MappedRange {
  std::atomic<uintptr_t> begin{0}, end{0};  // begin 0: unused
  std::atomic<bool> lacks_bytes{false};
  const char* path = nullptr;
  dev_t device = 0;
  ino_t inode = 0;
};

namespace {

// A list of ranges in blocks. Blocks are never freed, so that the handler can read them while other
// threads map and unmap files.
struct RangeBlock {
  std::array<MappedRange, 64> ranges;
  std::atomic<RangeBlock*> next{nullptr};
};

// The smallest copy inside the kernel: opening the source costs more than writing fewer bytes.
constexpr size_t kSmallestCopy = size_t{64} << 10;

RangeBlock first_block;
std::mutex blocks_mutex;  // for claiming ranges
std::atomic<uintptr_t> page_size{0};
struct sigaction bus_handler_before, fault_handler_before;
std::atomic<void (*)(const char*)> on_cut_file{nullptr};

MappedRange* RangeAt(uintptr_t address) {
  for (RangeBlock* block = &first_block; block; block = block->next.load()) {
    for (MappedRange& range : block->ranges) {
      uintptr_t begin = range.begin.load();
      if (begin && begin <= address && address < range.end.load()) return &range;
    }
  }
  return nullptr;
}

bool IsMapped(const struct stat& file, const MappedRange& range) {
  return file.st_dev == range.device && file.st_ino == range.inode;
}

MappedRange* TakeRange(uintptr_t begin, const struct stat& info, const char* path) {
  std::lock_guard lock(blocks_mutex);
  for (RangeBlock* block = &first_block;; block = block->next.load()) {
    for (MappedRange& range : block->ranges) {
      if (range.begin.load()) continue;
      range.lacks_bytes = false;
      range.path = path;
      range.device = info.st_dev;
      range.inode = info.st_ino;
      range.end = begin + static_cast<uintptr_t>(info.st_size);
      range.begin = begin;
      return &range;
    }
    if (!block->next.load()) block->next = new RangeBlock;
  }
}

// Forwards a signal to the previous handler. If that handler installs this one again and returns,
// the same fault comes back: PassOn then sets the default action, so the next fault ends the
// process.
void PassOn(const struct sigaction& handler_before, int signal, siginfo_t* info, void* context) {
  static std::atomic<void*> last{nullptr};
  bool is_back = info->si_code > 0 && last.exchange(info->si_addr) == info->si_addr;
  if (is_back) {
    std::signal(signal, SIG_DFL);
    return;
  }
  if (handler_before.sa_flags & SA_SIGINFO)
    return handler_before.sa_sigaction(signal, info, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN)
    return handler_before.sa_handler(signal);
  std::signal(signal, SIG_DFL);
  std::raise(signal);  // delivered once the current handler returns
}

// Handles SIGBUS: puts zeros in place of the page of a mapping that cannot be read and all later
// pages, because one fault per page would be slow; passes other faults on. Makes only system calls
// itself, because a signal may arrive at any point.
void OnBusError(int signal, siginfo_t* info, void* context) {
  int error = errno;
  auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  MappedRange* range = info->si_code == BUS_ADRERR ? RangeAt(address) : nullptr;
  if (!range) return PassOn(bus_handler_before, signal, info, context);
  char* page = static_cast<char*>(info->si_addr) - address % page_size;
  size_t left = range->end - (address - address % page_size);
  range->lacks_bytes = true;
  if (auto told = on_cut_file.load()) told(range->path);
  void* zeros =
      mmap(page, left, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (zeros == MAP_FAILED) return PassOn(bus_handler_before, signal, info, context);
  errno = error;
}

// Returns the path of a mapped file that is shorter now than when it was mapped, or in which a read
// failed; null if it finds none.
const char* FindCutFile() {
  for (RangeBlock* block = &first_block; block; block = block->next.load()) {
    for (MappedRange& range : block->ranges) {
      uintptr_t begin = range.begin.load();
      struct stat now;
      bool is_cut = begin && stat(range.path, &now) == 0 &&
                    static_cast<uintptr_t>(now.st_size) < range.end.load() - begin;
      if (is_cut || (begin && range.lacks_bytes.load())) return range.path;
    }
  }
  return nullptr;
}

// Handles SIGSEGV. In the last page of a truncated file, bytes turn into zeros without a SIGBUS.
// Code that had checked those bytes may then access any address; such a fault is reported as a
// truncated file. Makes only system calls itself, like OnBusError.
void OnFault(int signal, siginfo_t* info, void* context) {
  auto told = on_cut_file.load();
  const char* path = told ? FindCutFile() : nullptr;
  if (path) told(path);
  PassOn(fault_handler_before, signal, info, context);
}

// Installs `handler` for `signal`, and stores the previous handler in `before` so that PassOn can
// call it.
void Take(int signal, void (*handler)(int, siginfo_t*, void*), struct sigaction* before) {
  struct sigaction now;
  sigaction(signal, nullptr, &now);
  if (now.sa_flags & SA_SIGINFO && now.sa_sigaction == handler) return;
  *before = now;
  struct sigaction action = {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void OnCutFile(void (*told)(const char* path)) { on_cut_file = told; }

void TakeBusErrors() {
  static std::mutex mutex;
  std::lock_guard lock(mutex);
  page_size = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  Take(SIGBUS, OnBusError, &bus_handler_before);
  Take(SIGSEGV, OnFault, &fault_handler_before);
}

Expected<std::unique_ptr<FileMapping>> FileMapping::Map(int fd, const struct stat& info,
                                                        llvm::StringRef path) {
  static std::once_flag once;
  std::call_once(once, TakeBusErrors);
  auto size = static_cast<size_t>(info.st_size);
  void* data = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return MakeError("{0}: cannot map: {1}", path, std::strerror(errno));
  std::unique_ptr<FileMapping> mapping(new FileMapping);
  mapping->data_ = static_cast<const char*>(data);
  mapping->size_ = size;
  mapping->path_ = path.str();
  auto begin = reinterpret_cast<uintptr_t>(data);
  mapping->range_ = TakeRange(begin, info, mapping->path_.c_str());
  return mapping;
}

// Releases all pages that contain one of the bytes, even if they contain other bytes too: those are
// loaded again when they are read.
void DropPages(llvm::StringRef bytes) {
  auto begin = reinterpret_cast<uintptr_t>(bytes.begin());
  MappedRange* range = bytes.empty() ? nullptr : RangeAt(begin);
  if (!range || reinterpret_cast<uintptr_t>(bytes.end()) > range->end.load()) return;
  size_t before = begin % page_size;
  madvise(const_cast<char*>(bytes.begin()) - before, before + bytes.size(), MADV_DONTNEED);
}

size_t CopyMappedBytes(llvm::StringRef bytes, int to) {
  auto begin = reinterpret_cast<uintptr_t>(bytes.begin());
  MappedRange* range = bytes.size() < kSmallestCopy ? nullptr : RangeAt(begin);
  if (!range || reinterpret_cast<uintptr_t>(bytes.end()) > range->end.load()) return 0;
  int from = open(range->path, O_RDONLY | O_CLOEXEC);
  if (from < 0) return 0;
  auto close_it = llvm::make_scope_exit([from] { close(from); });
  struct stat info;
  if (fstat(from, &info) != 0 || !IsMapped(info, *range)) return 0;
  auto offset = static_cast<off64_t>(begin - range->begin.load());
  size_t copied = 0;
  while (copied < bytes.size()) {
    ssize_t n = copy_file_range(from, &offset, to, nullptr, bytes.size() - copied, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;  // not possible between these files, or the source was truncated
    copied += n;
  }
  return copied;
}

FileMapping::~FileMapping() {
  if (range_) range_->begin = 0;
  munmap(const_cast<char*>(data_), size_);
}

void FileMapping::ReleasePages(llvm::StringRef part) const {
  auto into_page = [](const char* at) { return reinterpret_cast<uintptr_t>(at) % page_size; };
  part = part.drop_front(std::min(part.size(), (page_size - into_page(part.begin())) % page_size));
  part = part.drop_back(std::min(part.size(), into_page(part.end())));
  // Also releases the pages of zeros that OnBusError put in place of truncated bytes: they are
  // zeros again when they are read.
  if (!part.empty()) madvise(const_cast<char*>(part.data()), part.size(), MADV_DONTNEED);
}

// Also compares the sizes of file and mapping, because truncated bytes in the last page read as
// zeros without a fault. Calls stat for the path: keeping each file open could need more
// descriptors than a process may have. If the path is now that of another file, the mapped one
// counts as intact.
Error FileMapping::Check() const {
  struct stat now;
  bool is_there = stat(path_.c_str(), &now) == 0 && IsMapped(now, *range_);
  if (is_there && static_cast<size_t>(now.st_size) < size_) {
    return MakeError(
        "{0}: was cut short while it was read: {2} of {1} bytes are left; try again when it is "
        "complete",
        path_, size_, now.st_size);
  }
  if (range_->lacks_bytes) {
    return MakeError(
        "{0}: bytes disappeared while it was read: another program wrote to it, or the disk "
        "failed; "
        "try again when it is complete",
        path_);
  }
  return Error::success();
}

}  // namespace grapnel
