// Runs that the page asks for: one at a time, in a thread of their own, the others after it.
#ifndef GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_
#define GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lib/render/graph_page.h"
#include "lib/serve/work/run_request.h"

namespace grapnel {

struct PageRun;  // lib/serve/work/run_json.h

constexpr size_t kTappedAPage = 500;

// Keeps runs that are over with their values, and uploaded files, up to limits; the oldest are
// forgotten first. Any number of threads may ask.
class RunTable {
 public:
  static constexpr size_t kMostUploaded = size_t{1} << 28;      // bytes
  static constexpr size_t kMostWaiting = 16;                    // runs
  static constexpr size_t kMostKept = 8;                        // runs that are over
  static constexpr size_t kMostKeptValues = size_t{192} << 20;  // bytes of theirs

  RunTable();
  ~RunTable();  // stops what runs, and waits for the kernel that it is at; forgets what waits

  // A .npy file: {"file": its number, "type": "float[2,3]"}. Errors: it is none.
  Expected<std::string> KeepFile(llvm::StringRef bytes);
  // One of those. Errors: it was forgotten.
  Expected<std::shared_ptr<const FileBytes>> FindFile(uint64_t file) const;
  // {"run": its number}: it runs when those before it are over. Errors: too many wait already, the
  // request cannot be read.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request);
  // Its status, as of then; nothing else when it is over. One that waits is over at once.
  Expected<std::string> Stop(uint64_t run);

  // State, progress, and when it is over what came of it.
  Expected<std::string> StatusJson(uint64_t run) const;
  // What taps saw, in order, from number `from` on.
  Expected<std::string> TensorsJson(uint64_t run, size_t from) const;
  // For the picture: what became of each node and scope; `page` is of the graph that ran.
  Expected<std::string> BoxesJson(uint64_t run, GraphPage& page) const;
  // For the panel: what one node put out.
  Expected<std::string> NodeJson(uint64_t run, GraphPage& page, size_t body, NodeId node) const;
  // A fetched value as a .npy file.
  Expected<std::string> NpyFile(uint64_t run, size_t fetch) const;

 private:
  void Work();
  void ForgetOldest();
  Expected<std::shared_ptr<PageRun>> Find(uint64_t run) const;
  Expected<std::shared_ptr<PageRun>> FindOver(uint64_t run) const;

  mutable std::mutex mutex_;  // guards all that follows; taken before a run's own
  std::condition_variable wake_;
  std::map<uint64_t, std::shared_ptr<const FileBytes>> files_;
  size_t file_bytes_ = 0;
  uint64_t last_file_ = 0, last_run_ = 0;
  std::map<uint64_t, std::shared_ptr<PageRun>> runs_;  // that wait, that runs, that are over
  std::deque<std::shared_ptr<PageRun>> waiting_;
  bool end_ = false;
  std::thread thread_;  // from the first run on
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_
