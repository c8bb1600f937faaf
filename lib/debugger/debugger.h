// A job: runs a graph, or a program in eager mode, and stops at the nodes that the user chooses.
#ifndef GRAPNEL_LIB_DEBUGGER_DEBUGGER_H_
#define GRAPNEL_LIB_DEBUGGER_DEBUGGER_H_

#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lib/debugger/breakpoint.h"
#include "lib/debugger/debug_target.h"
#include "lib/debugger/value_history.h"
#include "lib/job/run.h"

namespace grapnel {

// A function call, or an iteration of an Enter/Exit loop, that contains a stop.
struct StopFrame {
  const Function* function = nullptr;  // null: an iteration of `loop`
  std::string caller;                  // the calling node; empty: a dataset, or `loop` is set
  std::string loop;
  int64_t iteration = -1;  // from 0; -1: not in a loop
};

struct DebugStop {
  enum class Why : uint8_t { kStep, kBreakpoint, kBack, kFailed, kEnded };
  enum class Phase : uint8_t { kBefore, kAfter };  // relative to the node

  Why why = Why::kStep;
  Phase phase = Phase::kBefore;
  int run = 1;  // from 1
  // The node's number in the order in which nodes begin, from 1, over all runs; if the run ended,
  // the number of nodes that have begun.
  int64_t step = 0;
  Node node;                      // null: the run ended
  std::vector<StopFrame> frames;  // outermost first
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;   // after the node (kAfter): its outputs
  std::vector<int> breakpoints;  // for kBreakpoint: the numbers of those that were hit
  int output = -1;     // for kBreakpoint after a node: first output that meets its condition
  std::string filter;  // the text of the temporary breakpoint that was hit
  std::string error;   // for kFailed: the error
  // In a program that continued after an error: an op that failed since the last stop, and the step
  // at which it began. The reason is reported at the end.
  Node failed{};
  int64_t failed_step = 0;
  std::vector<Tensor> fetched;  // for kEnded: the values of the fetches
  int64_t iteration() const;    // of the innermost loop; -1: not in a loop
};

// How a run continues from a stop.
struct DebugOrder {
  enum class Go : uint8_t {
    kStep,       // to the next node, also in called functions
    kNext,       // to the next node of this body, or of a calling body
    kFinish,     // until the function returns: after the node that called it
    kIteration,  // to the first node of the loop's next iteration, or past the loop
    kContinue,   // to a breakpoint or the end of the run
    kNextRun,    // from the end: another run; variables keep their values
    kBack,       // restarts with the first run and reruns to `step`
    kQuit,
  };
  Go go = Go::kStep;
  int64_t count = 1;  // for kStep, kNext, kIteration: repetitions; for kContinue, kNextRun: runs
  int64_t step = 0;   // for kBack
  DebugStop::Phase phase = DebugStop::Phase::kBefore;  // for kBack: before or after the node
  bool passes_breakpoints = false;
};

// Runs a graph on one CPU thread in the plan's order, or a program in eager mode, op by op, and
// asks the AtStop callback at each stop how to continue. Ops that have run cannot be undone. To go
// back, or to change a tensor that has been read, the debugger restarts the run with the same feeds
// and variables, including the user's changes, and runs silently to that point. Random ops then
// draw the same numbers again: without a seed, they derive one from their names.
class Debugger : private RunHook {
 public:
  // Called on the thread that runs the graph; that thread waits until the function returns.
  using AtStop = std::function<DebugOrder(const DebugStop&)>;

  // `opened` outlives the debugger and does not change. What RunRequest::ByItself() resets is
  // ignored. `budget`: bytes of values to keep.
  Debugger(const OpenedGraph& opened, const RunRequest& request, int64_t budget);
  Debugger(std::unique_ptr<DebugTarget> target, int64_t budget);
  ~Debugger() override;

  // Stops before the first node, and returns when `at_stop` returns kQuit. An error in a node is a
  // stop, kFailed; in an eager program this stop comes after the program has ended. Errors: those
  // of DebugTarget::Begin.
  Error Run(const AtStop& at_stop);

  // May be called from another thread or a signal handler. The run stops before its next node.
  void Interrupt() { is_interrupted_ = true; }
  // Called at a stop: clears an interrupt that arrived since the stop.
  void ForgetInterrupt() { is_interrupted_ = false; }

  // --- The functions below may be called at a stop.
  const Module& module() const { return target_->module(); }
  bool grows() const { return target_->grows(); }  // true: nodes are added as they run (eager mode)
  // The source lines of the current module; read on first use.
  const LineTable& lines() const { return target_->lines(); }
  // Returns a node's stack; empty if it is unknown.
  LineTable::Stack StackOf(const Node& node) const { return target_->StackOf(node); }
  // The path of the graph's file; empty if it has no file.
  const std::string& path() const { return target_->path(); }
  const DebugStop& stop() const { return stop_; }
  const ValueHistory& history() const { return history_; }
  std::vector<Breakpoint>& breakpoints() { return breakpoints_; }
  // Adds a breakpoint and numbers it. `is_temporary`: the breakpoint gets the number kTemporary,
  // and is removed at the next stop. If grows() is true, names may refer to nodes that do not exist
  // yet.
  static constexpr int kTemporary = -1;
  Error AddBreakpoint(llvm::StringRef text, bool is_temporary = false);
  // Looks up nodes by names of all kinds, for Breakpoint::Parse.
  Breakpoint::NodeFinder finder() const;
  const std::vector<std::string>& feeds() const;
  const std::vector<std::string>& fetches() const;
  const std::vector<std::string>& fetch_names() const;  // see RunJob

  // here() returns the body (a function's or the main graph) in which the run has stopped.
  // FindPort() looks up a tensor by name in that body, then in the main graph, as "function/x", in
  // the only function that has it, or by another name (finder()); `graph` receives the body.
  const Graph& here() const;
  Expected<Port> FindPort(llvm::StringRef name, const Graph** graph) const;
  // Returns value `number` of a tensor, or its last. Errors: no such tensor or number; the value is
  // not computed yet, or not in this run; it was dropped from the history.
  Expected<const KeptValue*> Value(llvm::StringRef name, int64_t number = -1) const;
  // Replaces a tensor's last value by `value`, which has the same dtype and shape. If nodes may
  // have read the old value, returns the order with which the caller must continue; it restarts the
  // run and stops here again. Errors: no such tensor; the node that produces it only forwards
  // another tensor, which must be set instead; an eager program passes the value.
  Expected<std::optional<DebugOrder>> Set(llvm::StringRef name, Tensor value);
  // For a tensor that is not computed yet: once its node has run, overwrites the elements in
  // `slice` ("": all) with `value`; the node fails if `value` does not fit
  // (lib/watch/tensor_slice.h). Errors: no such tensor; its node only forwards another tensor.
  Error SetToCome(llvm::StringRef name, llvm::StringRef slice, Tensor value);
  // True if the tensor has no value in this run yet and may get one.
  bool IsToCome(llvm::StringRef name) const;
  // Undoes all the user's changes of values, and returns the order that restarts the run and stops
  // here again; nullopt if nothing was changed.
  std::optional<DebugOrder> Unset();
  // Returns the order to go back `steps` steps. Errors: fewer steps have run.
  Expected<DebugOrder> Back(int64_t steps) const;
  bool IsPlanned(const Graph& graph, NodeId node) const;

 private:
  struct Running {
    Node node;
    int64_t step;
    std::vector<Tensor> inputs;
    std::vector<StopFrame> frames;
  };
  // A tensor identified by names, which stay valid when a restarted eager program builds new
  // graphs.
  struct NamedPort {
    std::string function, node;  // function: "" is main
    int output = 0;
    auto operator<=>(const NamedPort&) const = default;
  };
  struct Edit {
    NamedPort port;
    int run;             // for an eager program: the run that was changed
    int64_t occurrence;  // how often the node had run before
    Tensor value;
    std::optional<std::string> slice{};  // set: `value` replaces only these elements
  };
  // A silent rerun to an earlier stop.
  struct Replay {
    int64_t step;
    DebugStop::Phase phase;
    int run;
  };

  bool Wants(const Node& node) override;
  Tensor ReplaceConstant(const Node& node, const Tensor& value) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  void OnCall(const CallFrame& call) override;

  static NamedPort NameOf(const WatchedPort& port);
  void BeginRun(llvm::ArrayRef<Tensor> values);
  void KeepFeeds();
  void KeepGiven(const Running& running);
  bool ForgetFailed(const Running& next);
  std::vector<Tensor> FeedValues() const;
  Error After(llvm::MutableArrayRef<Tensor> outputs, bool may_edit);
  Error Apply(const Running& running, llvm::MutableArrayRef<Tensor> outputs);
  int64_t Occurrences(const WatchedPort& port) const;
  Error StopAt(DebugStop::Why why, DebugStop::Phase phase, std::vector<int> breakpoints);
  bool Arrives(int64_t step, DebugStop::Phase phase) const;
  bool BringToTop(const Node& node);
  Breakpoint::Begins WhatBegins(const Running& running);
  bool StepEndsBefore(const Running& running);
  std::vector<int> HitBefore(const Running& running, Breakpoint::Begins begins);
  std::vector<int> HitAfter(const Running& running, llvm::ArrayRef<Tensor> outputs);
  void Record(const Running& running, llvm::ArrayRef<Tensor> outputs);
  void Keep(const WatchedPort& port, const Tensor& value, int64_t step, int64_t iteration,
            bool is_free);
  bool ReportEnd(Expected<std::vector<Tensor>> outputs);
  DebugOrder WaitForOrder();
  DebugOrder Again() const;
  void Take(DebugOrder order);
  void Restart();

  std::unique_ptr<DebugTarget> target_;
  AtStop at_stop_;
  std::mutex mutex_;
  std::atomic<bool> is_interrupted_{false};

  DebugStop stop_;
  DebugOrder order_;
  int64_t left_ = 0;             // repetitions left of order_.count
  size_t depth_ = 0;             // number of calls at the last stop
  std::vector<StopFrame> from_;  // the frames at the last stop
  std::optional<Replay> replay_;
  llvm::MutableArrayRef<Tensor> editable_;  // at a stop after a node: outputs that may change
  bool is_ending_ = false, is_finished_ = false, has_begun_ = false, begins_ = true;
  bool is_reported_ = false;  // EditOutputs() has handled the node of the next AfterNode()
  int run_ = 1;
  int64_t step_ = 0;
  std::vector<Running> running_;      // nodes that have begun and not ended, outermost first
  std::optional<Running> failed_;     // the first node that failed
  std::vector<Tensor> given_;         // feeds that are not in history_ yet
  const Function* called_ = nullptr;  // a called function of which no node has begun
  std::string last_loop_;             // the Enter/Exit loop of the last node in one; its iteration:
  int64_t last_iteration_ = -1;

  ValueHistory history_;
  std::vector<Breakpoint> breakpoints_;
  int last_number_ = 0;
  std::vector<Edit> edits_;
  std::map<NamedPort, Tensor> constants_;  // replacements of the graph's constants
  std::map<std::string, Tensor> fed_;
  std::map<std::pair<const Graph*, NodeId>, int64_t> occurrences_;
  std::set<std::pair<const Graph*, NodeId>> planned_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_DEBUGGER_DEBUGGER_H_
