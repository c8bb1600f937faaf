// The runs that pages debug.
#ifndef GRAPNEL_LIB_SERVE_WORK_DEBUG_TABLE_H_
#define GRAPNEL_LIB_SERVE_WORK_DEBUG_TABLE_H_

#include <condition_variable>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lib/serve/work/debug_session.h"

namespace grapnel {

// Keeps up to kMostSessions sessions; one more ends the one whose last request is oldest. A page
// polls its sessions while it is open; sessions without requests end too. Thread-safe.
class DebugTable {
 public:
  static constexpr size_t kMostSessions = 4;
  static constexpr size_t kMostEnding = 8;  // ended sessions whose last kernel still runs
  static constexpr int64_t kKept = int64_t{256}
                                   << 20;  // bytes of values for each; less if memory is short
  static constexpr std::chrono::seconds kLease{240};  // a page in the background may poll slowly

  explicit DebugTable(std::chrono::milliseconds lease = kLease) : lease_(lease) {}
  ~DebugTable();  // ends all, and waits for their current kernels

  // Returns {"session": its number}. `request`: as for RunTable::Start, and "breakpoints": [text].
  // Errors: the request cannot be read; it has devices, which cannot be debugged; too many ended
  // sessions still run long kernels.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request,
                              UploadFinder find);
  // Finds session `number` of that graph, and counts as a request for it. Errors: no such session.
  Expected<std::shared_ptr<DebugSession>> Find(uint64_t number, const OpenedGraph& opened);
  // Ends the session soon, whatever graph it is of: the page's graph may have been reloaded. Does
  // nothing if there is no such session.
  void End(uint64_t number);

 private:
  void Watch();
  void ForgetOldest();

  const std::chrono::milliseconds lease_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<DebugSession>> sessions_;
  std::list<std::shared_ptr<DebugSession>> ending_;  // removed; a kernel may still run
  bool end_ = false;
  std::thread thread_;  // ends sessions without requests; started with the first
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_TABLE_H_
