// Reloads graphs when their files change.
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

// Detects changes of files: by name, size and time of each, for folders of each file in them. Costs
// a stat of every file.
class FileWatcher {
 public:
  explicit FileWatcher(std::vector<std::string> paths);
  // True once for each change, and only if nothing has changed since the previous call: a file that
  // is still being written is not reported.
  bool Changed();

 private:
  uint64_t Stamp() const;

  std::vector<std::string> paths_;
  uint64_t seen_, last_;
};

// The served paths, and how to open them.
struct ServedPaths {
  std::vector<std::string> models;
  std::string signature;
  std::vector<std::string> node_data;

  // Errors: as in PageSet::AddPath and AddNodeData.
  Expected<std::shared_ptr<PageSet>> Open() const;
};

// While it lives, reopens the paths after each change and gives the router the new pages. If a path
// can no longer be opened, the pages stay as they are, and the page shows the reason.
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
