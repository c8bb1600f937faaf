// A run that the page debugs, on its own thread.
#ifndef GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_
#define GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "lib/debugger/debugger.h"
#include "lib/serve/work/run_request.h"
#include "lib/support/cancel.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {

// One debugged run. Thread-safe; only one request at a time uses the debugger. Requests never wait
// for the run to stop: while it runs, requests that need a stop are refused.
class DebugSession {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts the run, which stops before the first node. `keep`: the most bytes of computed values
  // that the debugger keeps.
  DebugSession(uint64_t number, std::shared_ptr<const OpenedGraph> opened, PageRunRequest request,
               std::vector<std::string> breakpoints, UploadFinder find, int64_t keep);
  ~DebugSession();  // ends the run after waiting for the current kernel

  uint64_t number() const { return number_; }
  const OpenedGraph& opened() const { return *opened_; }

  // Returns {"session", "state": "begins", "runs", "stopped" or "over", "turn": a counter of
  // changes, "printed": lines}; at a stop also "at": the attributes of WriteDebugStop and
  // "breakpoints" [{"number", "text", "hits", "unanswered", "problem" if unanswered}]; when the
  // session is over, "why".
  std::string StatusJson() const;
  // Executes one line of the debugger's shell, without access to files, and returns {"text",
  // "error"}. Errors: the run is not at a stop, or the session is over.
  Expected<std::string> Do(llvm::StringRef line);
  Expected<std::string> Value(llvm::StringRef request);
  // Returns a value at a stop as the bytes of a .npy file.
  Expected<std::string> NpyFile(const std::string& of, size_t index);

  // Stops the run before its next node.
  void Pause();
  // Ends the run after the current kernel; the page shows `why` to the user.
  void End(const std::string& why);
  bool is_over() const;
  // The time of the last request for this session.
  Clock::time_point last_asked() const;
  void Asked();

 private:
  enum class State : uint8_t { kBegins, kRuns, kStopped, kOver };

  void Work();
  Error Debug();
  DebugOrder AtStop();
  Error AtAStop(llvm::function_ref<std::optional<DebugOrder>(Debugger&)> use);
  void ResetHooks(Debugger& debugger);
  void Change(State state);  // mutex_ must be locked

  const uint64_t number_;
  const std::shared_ptr<const OpenedGraph> opened_;
  const PageRunRequest request_;
  const std::vector<std::string> first_breakpoints_;
  const UploadFinder find_;
  const int64_t keep_;
  CancelFlag cancel_;

  mutable std::mutex mutex_;  // guards the members below; never locked during computation
  std::condition_variable changed_;
  State state_ = State::kBegins;
  int64_t turn_ = 0;
  bool is_used_ = false;  // a request is using the debugger at a stop
  bool is_ending_ = false;
  std::optional<DebugOrder> order_;
  std::string at_stop_;  // the value of "at" in StatusJson
  std::string why_;
  std::vector<std::string> printed_;
  Clock::time_point last_asked_ = Clock::now();

  // Made and destroyed by thread_, which waits while a request uses it at a stop.
  std::unique_ptr<Debugger> debugger_;
  std::thread thread_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_
