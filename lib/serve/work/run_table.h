// The runs that the page requests, executed in order, one at a time, on a thread of the table.
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

// Executes runs, and keeps finished runs with their values, and uploaded files. Beyond the limits
// below, drops the oldest of these; refuses runs if too many wait. Thread-safe.
class RunTable {
 public:
  static constexpr size_t kMostUploaded = size_t{1} << 28;      // bytes of uploaded files
  static constexpr size_t kMostWaiting = 16;                    // waiting runs
  static constexpr size_t kMostKept = 8;                        // finished runs
  static constexpr size_t kMostKeptValues = size_t{192} << 20;  // bytes of their values

  RunTable();
  ~RunTable();  // stops the current run after its current kernel; drops waiting runs

  // Keeps a .npy file; returns {"file": its number, "type": "float[2,3]"}. Errors: not a .npy file.
  Expected<std::string> KeepFile(llvm::StringRef bytes);
  // Returns an uploaded file. Errors: the file is not kept.
  Expected<std::shared_ptr<const FileBytes>> FindFile(uint64_t file) const;
  // Queues a run, which starts when earlier runs are over, and returns {"run": its number}. Errors:
  // too many runs are waiting; the request cannot be read; a tap matches no node.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request);
  // Stops a run and returns its status. A waiting run is over at once; a finished run is not
  // changed.
  Expected<std::string> Stop(uint64_t run);

  // The state and the progress of a run, and the results once the run is over.
  Expected<std::string> StatusJson(uint64_t run) const;
  // The tensors that were watched, in order, from number `from` on.
  Expected<std::string> TensorsJson(uint64_t run, size_t from) const;
  // The outcome of the run at each node and scope (bad, finite, zero, or only that it ran), and its
  // time, to color the picture. `page` must show the graph that ran.
  Expected<std::string> BoxesJson(uint64_t run, GraphPage& page) const;
  // The outputs of one node in the run, for the panel.
  Expected<std::string> NodeJson(uint64_t run, GraphPage& page, size_t body, NodeId node) const;
  // Returns a fetched value as a .npy file.
  Expected<std::string> NpyFile(uint64_t run, size_t fetch) const;

 private:
  void Work();
  void ForgetOldest();
  Expected<std::shared_ptr<PageRun>> Find(uint64_t run) const;
  Expected<std::shared_ptr<PageRun>> FindOver(uint64_t run) const;

  // Guards the members below. A thread that also needs a run's mutex must lock mutex_ first.
  mutable std::mutex mutex_;
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
