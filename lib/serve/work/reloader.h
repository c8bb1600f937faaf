// Graphs are read again when their files change.
#ifndef GRAPNEL_LIB_SERVE_WORK_RELOADER_H_
#define GRAPNEL_LIB_SERVE_WORK_RELOADER_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lib/serve/http/router.h"

namespace grapnel {

// Says when files change: by name, size and time of each, in folders of each file below. Costs a
// look at every file.
class FileWatcher {
 public:
  explicit FileWatcher(std::vector<std::string> paths);
  // True once for each change, and only when nothing has changed since the call before: a file that
  // is still being written is left alone.
  bool Changed();

 private:
  uint64_t Stamp() const;

  std::vector<std::string> paths_;
  uint64_t seen_, last_;
};

// What is served, and how to open it.
struct ServedPaths {
  std::vector<std::string> models;
  std::string signature;
  std::vector<std::string> node_data;

  // Errors: as PageSet::AddPath and AddNodeData.
  Expected<std::shared_ptr<PageSet>> Open() const;
};

// While it lives, opens the paths again after each change of theirs and gives the router the new
// pages. Paths that cannot be opened any more leave the pages as they are, and the page says why.
class Reloader {
 public:
  Reloader(Router& router, ServedPaths paths);
  ~Reloader();

 private:
  void Watch();
  Error Reload();

  Router& router_;
  ServedPaths paths_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RELOADER_H_
