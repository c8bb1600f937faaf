#include "lib/serve/routes/reloader.h"

#include <chrono>

#include "lib/job/graph_path.h"
#include "lib/support/exceptions.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

constexpr auto kBetweenLooks = std::chrono::milliseconds(500);
constexpr size_t kMostFiles = 20000;

uint64_t StampOf(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status)) return 0;
  return llvm::hash_combine(path, status.getSize(), static_cast<int>(status.type()),
                            status.getLastModificationTime().time_since_epoch().count());
}

}  // namespace

FileWatcher::FileWatcher(std::vector<std::string> paths)
    : paths_(std::move(paths)), seen_(Stamp()), last_(seen_) {}

uint64_t FileWatcher::Stamp() const {
  uint64_t sum = 0;  // a sum, because the order of files in a directory is arbitrary
  size_t files = 0;
  for (const std::string& path : paths_) {
    sum += StampOf(path);
    if (!llvm::sys::fs::is_directory(path)) continue;
    std::error_code error;
    llvm::sys::fs::recursive_directory_iterator it(path, error), end;
    for (; !error && it != end && files < kMostFiles; it.increment(error), ++files)
      sum += StampOf(it->path());
  }
  return sum;
}

bool FileWatcher::Changed() {
  uint64_t now = Stamp();
  bool still = now == last_;
  last_ = now;
  if (!still || now == seen_) return false;
  seen_ = now;
  return true;
}

Expected<std::shared_ptr<PageSet>> ServedPaths::Open() const {
  auto pages = std::make_shared<PageSet>();
  for (const std::string& path : models) RETURN_IF_ERROR(pages->AddPath(path, signature));
  for (const std::string& path : node_data) RETURN_IF_ERROR(pages->AddNodeData(path));
  return pages;
}

Reloader::Reloader(Router& router, ServedPaths paths)
    : router_(router), paths_(std::move(paths)), thread_([this] { Watch(); }) {}

Reloader::~Reloader() {
  {
    std::lock_guard lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void Reloader::Watch() {
  std::vector<std::string> watched;
  for (const std::string& path : paths_.models) watched.push_back(ReadGraphPath(path).path);
  watched.insert(watched.end(), paths_.node_data.begin(), paths_.node_data.end());
  FileWatcher watcher(std::move(watched));
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kBetweenLooks, [this] { return end_; })) {
    if (!watcher.Changed()) continue;
    if (Error error = WithoutExceptions([&] { return Reload(); }))
      router_.SetProblem("not reloaded: " + llvm::toString(std::move(error)));
  }
}

Error Reloader::Reload() {
  ASSIGN_OR_RETURN(std::shared_ptr<PageSet> pages, paths_.Open());
  router_.Replace(std::move(pages));
  return Error::success();
}

}  // namespace grapnel
