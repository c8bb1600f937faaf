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

// Keeps so many sessions; for one more, the one that nobody has asked for the longest time ends. A
// page asks for its sessions again and again while it is there; those that nobody asks for end,
// too. Any number of threads may ask.
class DebugTable {
 public:
  static constexpr size_t kMostSessions = 4;
  static constexpr size_t kMostEnding = 8;  // more of them, at their last kernels
  static constexpr int64_t kKept = int64_t{256}
                                   << 20;  // bytes of values, of each; less where memory is
  static constexpr std::chrono::seconds kLease{240};  // a page that is not seen may be slow to ask

  explicit DebugTable(std::chrono::milliseconds lease = kLease) : lease_(lease) {}
  ~DebugTable();  // ends all, and waits for the kernels that they are at

  // {"session": its number}. `request`: as of RunTable::Start, and "breakpoints": [text]. Errors:
  // it cannot be read; devices, which are not debugged; sessions that were ended are at long
  // kernels still.
  Expected<std::string> Start(std::shared_ptr<const OpenedGraph> opened, llvm::StringRef request,
                              UploadFinder find);
  // Session `number` of that graph, which has been asked for now. Errors: there is none.
  Expected<std::shared_ptr<DebugSession>> Find(uint64_t number, const OpenedGraph& opened);
  // The session is over soon, whatever graph it is of: the page's may have been read again.
  // Nothing, where there is none.
  void End(uint64_t number);

 private:
  void Watch();
  void ForgetOldest();

  const std::chrono::milliseconds lease_;
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_;
  uint64_t last_ = 0;
  std::map<uint64_t, std::shared_ptr<DebugSession>> sessions_;
  std::list<std::shared_ptr<DebugSession>> ending_;  // forgotten, and perhaps at a kernel
  bool end_ = false;
  std::thread thread_;  // ends what nobody asks for; from the first session on
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_TABLE_H_
