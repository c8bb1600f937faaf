// A run that the page debugs, on its own thread.
#ifndef GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_
#define GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lib/job/debugger.h"
#include "lib/serve/work/run_request.h"
#include "lib/support/cancel.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// Thread-safe; access to the debugger is exclusive. Requests never wait for the run: while it runs,
// requests that need a stop are refused.
class DebugSession {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts the run, and stops before the first node. `keep`: bytes of values to keep.
  DebugSession(uint64_t number, std::shared_ptr<const OpenedGraph> opened, PageRunRequest request,
               std::vector<std::string> breakpoints, UploadFinder find, int64_t keep);
  ~DebugSession();  // ends the run, and waits for the current kernel

  uint64_t number() const { return number_; }
  const OpenedGraph& opened() const { return *opened_; }

  // {"session", "state": "begins", "runs", "stopped" or "over", "turn": a counter of changes,
  // "printed": lines}; at a stop also the attributes of WriteDebugStop, with "breakpoints"
  // [{"number", "text", "hits", "unanswered"}]; when it is over, "why".
  std::string StatusJson() const;
  // Executes one line of the debugger's shell, without access to files: {"text", "error"}. Errors:
  // not at a stop.
  Expected<std::string> Do(llvm::StringRef line);
  Expected<std::string> Value(llvm::StringRef request);
  // A value as a .npy file, and its suggested name.
  Expected<std::string> NpyFile(const std::string& of, size_t index);

  // Stops the run before its next node.
  void Pause();
  // Ends the run after the current kernel; `why` is shown to the user.
  void End(const std::string& why);
  bool is_over() const;
  // The time of the last request for it.
  Clock::time_point last_asked() const;
  void Asked();

 private:
  enum class State : uint8_t { kBegins, kRuns, kStopped, kOver };

  void Work();
  Error Debug();
  DebugOrder AtStop();
  Error AtAStop(llvm::function_ref<std::optional<DebugOrder>(Debugger&)> use);
  void ResetHooks(Debugger& debugger);
  void Change(State state);  // under the lock

  const uint64_t number_;
  const std::shared_ptr<const OpenedGraph> opened_;
  const PageRunRequest request_;
  const std::vector<std::string> first_breakpoints_;
  const UploadFinder find_;
  const int64_t keep_;
  CancelFlag cancel_;

  mutable std::mutex mutex_;  // guards the members below; never held during computation
  std::condition_variable changed_;
  State state_ = State::kBegins;
  int64_t turn_ = 0;
  bool is_used_ = false;  // a request uses the debugger, at a stop
  bool is_ending_ = false;
  std::optional<DebugOrder> order_;
  std::string at_stop_;  // from WriteDebugStop, in an object
  std::string why_;
  std::vector<std::string> printed_;
  Clock::time_point last_asked_ = Clock::now();

  std::unique_ptr<Debugger> debugger_;  // for the current user; made and destroyed by the thread
  std::thread thread_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_
