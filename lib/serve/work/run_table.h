// The runs that the page requests: one at a time, on their own thread, in order.
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

// Keeps finished runs with their values, and uploaded files, up to limits; drops the oldest first.
// Thread-safe.
class RunTable {
 public:
  static constexpr size_t kMostUploaded = size_t{1} << 28;      // bytes
  static constexpr size_t kMostWaiting = 16;                    // runs
  static constexpr size_t kMostKept = 8;                        // runs that are over
  static constexpr size_t kMostKeptValues = size_t{192} << 20;  // bytes of theirs

  RunTable();
  ~RunTable();  // stops the current run, waiting for its kernel; drops waiting runs

  // Keeps a .npy file: {"file": its number, "type": "float[2,3]"}. Errors: not a .npy file.
  Expected<std::string> KeepFile(llvm::StringRef bytes);
  // Returns an uploaded file. Errors: it was dropped.
  Expected<std::shared_ptr<const FileBytes>> FindFile(uint64_t file) const;
  // Returns {"run": its number}; the run starts when those before it are over. Errors: too many
  // runs are waiting, the request cannot be read.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request);
  // Stops a run and returns its status; a finished run is not changed. A waiting run is over at
  // once.
  Expected<std::string> Stop(uint64_t run);

  // State, progress, and the results once it is over.
  Expected<std::string> StatusJson(uint64_t run) const;
  // The tapped tensors, in order, from number `from` on.
  Expected<std::string> TensorsJson(uint64_t run, size_t from) const;
  // For the picture: the state of each node and scope; `page` must be of the graph that ran.
  Expected<std::string> BoxesJson(uint64_t run, GraphPage& page) const;
  // For the panel: the outputs of one node.
  Expected<std::string> NodeJson(uint64_t run, GraphPage& page, size_t body, NodeId node) const;
  // A fetched value as a .npy file.
  Expected<std::string> NpyFile(uint64_t run, size_t fetch) const;

 private:
  void Work();
  void ForgetOldest();
  Expected<std::shared_ptr<PageRun>> Find(uint64_t run) const;
  Expected<std::shared_ptr<PageRun>> FindOver(uint64_t run) const;

  mutable std::mutex mutex_;  // guards the members below; locked before a run's own
  std::condition_variable wake_;
  std::map<uint64_t, std::shared_ptr<const FileBytes>> files_;
  size_t file_bytes_ = 0;
  uint64_t last_file_ = 0, last_run_ = 0;
  std::map<uint64_t, std::shared_ptr<PageRun>> runs_;  // waiting, running and finished
  std::deque<std::shared_ptr<PageRun>> waiting_;
  bool end_ = false;
  std::thread thread_;  // started with the first run
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_
