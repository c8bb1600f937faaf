// A run that the page debugs, in a thread of its own.
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

// Any number of threads may ask; who wants something of the debugger has it to himself. Nobody
// waits for the run: while it goes on, what needs a stop is refused.
class DebugSession {
 public:
  using Clock = std::chrono::steady_clock;

  // Begins to run, and stops before the first node. `keep`: bytes of values.
  DebugSession(uint64_t number, std::shared_ptr<const OpenedGraph> opened, PageRunRequest request,
               std::vector<std::string> breakpoints, UploadFinder find, int64_t keep);
  ~DebugSession();  // ends it, and waits for the kernel that it is at

  uint64_t number() const { return number_; }
  const OpenedGraph& opened() const { return *opened_; }

  // {"session", "state": "begins", "runs", "stopped" or "over", "turn": one more for each change,
  // "printed": lines}; of a stop what WriteDebugStop says, with "breakpoints" [{"number", "text",
  // "hits", "unanswered"}]; when it is over "why".
  std::string StatusJson() const;
  // One line of the debugger's shell, without files: {"text", "error"}. Errors: it is not at a
  // stop.
  Expected<std::string> Do(llvm::StringRef line);
  Expected<std::string> Value(llvm::StringRef request);
  // A value as a .npy file, and what it may be called.
  Expected<std::string> NpyFile(const std::string& of, size_t index);

  // The run stops before its next node.
  void Pause();
  // It is over as soon as a kernel is done; `why` is for the reader.
  void End(const std::string& why);
  bool is_over() const;
  // When somebody last asked for it.
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

  mutable std::mutex mutex_;  // guards what follows; nobody computes under it
  std::condition_variable changed_;
  State state_ = State::kBegins;
  int64_t turn_ = 0;
  bool is_used_ = false;  // somebody has the debugger, at a stop
  bool is_ending_ = false;
  std::optional<DebugOrder> order_;
  std::string at_stop_;  // WriteDebugStop's, in an object
  std::string why_;
  std::vector<std::string> printed_;
  Clock::time_point last_asked_ = Clock::now();

  std::unique_ptr<Debugger> debugger_;  // for who uses it; made and ended by the thread
  std::thread thread_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SERVE_WORK_DEBUG_SESSION_H_
