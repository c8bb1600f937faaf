// Reloads graphs when their files change.
#ifndef GRAPNEL_LIB_SERVE_ROUTES_RELOADER_H_
#define GRAPNEL_LIB_SERVE_ROUTES_RELOADER_H_

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "lib/serve/routes/router.h"

namespace grapnel {

// Detects changes of files, by the name, size and time of each file and of each file in folders, up
// to 20,000 of these. Each call of Changed() takes a stat() for every file.
class FileWatcher {
 public:
  explicit FileWatcher(std::vector<std::string> paths);
  // True once for each change, and only if nothing has changed between the previous call and this
  // one, so that a file that is still being written is not reported.
  bool Changed();

 private:
  uint64_t Stamp() const;

  std::vector<std::string> paths_;
  uint64_t seen_, last_;
};

// The paths to serve, and the options for opening them.
struct ServedPaths {
  std::vector<std::string> models;
  std::string signature;
  std::vector<std::string> node_data;

  // Opens the paths. Errors are those of PageSet::AddPath and PageSet::AddNodeData.
  Expected<std::shared_ptr<PageSet>> Open() const;
};

// While it exists, reopens the paths after each change of their files and passes the new pages to
// the router. If a path can no longer be opened, the router keeps the old pages, and the page in
// the browser shows the reason.
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

#endif  // GRAPNEL_LIB_SERVE_ROUTES_RELOADER_H_
