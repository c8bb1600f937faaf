// Runs that the page asks for: one at a time, in a thread of its own.
#ifndef GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_
#define GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_

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

// Keeps the last run with its values, and uploaded files up to kMostUploaded bytes, the oldest of
// which are forgotten first. Any number of threads may ask.
class RunTable {
 public:
  static constexpr size_t kMostUploaded = size_t{1} << 29;

  RunTable();
  ~RunTable();  // stops what runs, and waits for the kernel that it is at

  // A .npy file: {"file": its number, "type": "float[2,3]"}. Errors: it is none.
  Expected<std::string> KeepFile(llvm::StringRef bytes);
  // {"run": its number}. Errors: another one runs, the request cannot be read.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request);
  // Its status, as of then; nothing else when it is over.
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
  Expected<std::shared_ptr<PageRun>> Find(uint64_t run) const;
  Expected<std::shared_ptr<PageRun>> FindOver(uint64_t run) const;
  Expected<std::shared_ptr<const FileBytes>> FindFile(uint64_t file) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<const FileBytes>> files_;
  size_t file_bytes_ = 0;
  uint64_t last_file_ = 0, last_run_ = 0;
  std::shared_ptr<PageRun> run_;  // the last one
  std::thread thread_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_RUN_TABLE_H_
