// The sessions in which pages debug runs.
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

// All sessions, at most kMostSessions. To make room for another, drops one that is over, else ends
// the one whose last request is oldest. An open page polls its sessions; a session without requests
// for kLease ends too. Thread-safe.
class DebugTable {
 public:
  static constexpr size_t kMostSessions = 4;
  static constexpr size_t kMostEnding = 8;  // ended sessions whose last kernel still runs
  static constexpr int64_t kKept = int64_t{256}
                                   << 20;  // bytes of values per session; less if memory is short
  static constexpr std::chrono::seconds kLease{240};  // a page in the background may poll slowly

  explicit DebugTable(std::chrono::milliseconds lease = kLease) : lease_(lease) {}
  ~DebugTable();  // ends all sessions, and waits for their current kernels

  // Starts a session and returns {"session": its number}. `request` is that of RunTable::Start,
  // with "breakpoints": [text]. Errors: the request cannot be read; it has devices, and a run on
  // several devices cannot be debugged; too many ended sessions still run a long kernel.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request,
                              UploadFinder find);
  // Returns session `number` of that graph; this counts as a request for the session. Errors: no
  // such session.
  Expected<std::shared_ptr<DebugSession>> Find(uint64_t number, const OpenedGraph& opened);
  // Ends a session without waiting for its current kernel. Does not check the session's graph,
  // since the page's graph may have been reloaded. Does nothing if there is no such session.
  void End(uint64_t number);

 private:
  void Watch();
  void ForgetOldest();

  const std::chrono::milliseconds lease_;
  std::mutex mutex_;  // guards the members below
  std::condition_variable wake_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<DebugSession>> sessions_;
  // Ended sessions whose last kernel may still run.
  std::list<std::shared_ptr<DebugSession>> ending_;
  bool end_ = false;
  std::thread thread_;  // ends sessions without requests; started with the first session
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_TABLE_H_
