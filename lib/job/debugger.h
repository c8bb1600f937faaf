// A job: a graph, or a program in eager mode, is run and stopped where somebody wants to look.
#ifndef GRAPNEL_LIB_JOB_DEBUGGER_H_
#define GRAPNEL_LIB_JOB_DEBUGGER_H_

#include <atomic>
#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lib/job/breakpoint.h"
#include "lib/job/debug_target.h"
#include "lib/job/run.h"
#include "lib/job/value_history.h"

namespace grapnel {

// A call of a function, or an iteration of a loop of Enter and Exit.
struct StopFrame {
  const Function* function = nullptr;  // null: an iteration of `loop`
  std::string caller;                  // a node; empty: a dataset calls
  std::string loop;
  int64_t iteration = -1;  // from 0; -1: in no loop
};

struct DebugStop {
  enum class Why : uint8_t { kStep, kBreakpoint, kBack, kFailed, kEnded };
  enum class Phase : uint8_t { kBefore, kAfter };  // of the node

  Why why = Why::kStep;
  Phase phase = Phase::kBefore;
  int run = 1;                    // from 1
  int64_t step = 0;               // nodes begun, over all runs
  Node node;                      // false: the run ended
  std::vector<StopFrame> frames;  // outermost first
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;   // of kAfter
  std::vector<int> breakpoints;  // of kBreakpoint: their numbers
  int output = -1;     // of kBreakpoint after a node: the first one that a condition holds of
  std::string filter;  // of a temporary one that was hit: its text
  std::string error;   // of kFailed
  // Of a program that went on: an op that failed since the last stop, and its step. Why, the end
  // says.
  Node failed{};
  int64_t failed_step = 0;
  std::vector<Tensor> fetched;  // of kEnded
  int64_t iteration() const;    // of the innermost loop; -1: in none
};

// How a run goes on from a stop.
struct DebugOrder {
  enum class Go : uint8_t {
    kStep,       // to the next node, into a function that is called
    kNext,       // to the next node of this body, or of one that called it
    kFinish,     // until the function is done: after the node that called it
    kIteration,  // to the first node of the loop's next iteration, or behind the loop
    kContinue,   // to a breakpoint or the end
    kNextRun,    // from the end: once more, variables as the run left them
    kBack,       // a new run, from the first one's beginning, to `step`
    kQuit,
  };
  Go go = Go::kStep;
  int64_t count = 1;  // of kStep, kNext, kIteration: so often; of kContinue, kNextRun: so many runs
  int64_t step = 0;   // of kBack
  DebugStop::Phase phase = DebugStop::Phase::kBefore;  // of kBack
  bool passes_breakpoints = false;
};

// Runs a graph on one thread of the CPU, in the plan's order, or a program op by op as it calls
// them, and asks at each stop how to go on.
// What has run cannot be undone: to go back, and to change a tensor that somebody has read, the
// run begins again on the same values and variables, changes included, and goes unseen to that
// point. What draws random numbers without a seed may go another way then.
class Debugger : private RunHook {
 public:
  // Called on the thread that runs the graph, which waits for the answer.
  using AtStop = std::function<DebugOrder(const DebugStop&)>;

  // `opened` outlives it and does not change. The request's hook, steps, watch, pool, device and
  // devices are not looked at. `budget`: bytes of values that are kept.
  Debugger(const OpenedGraph& opened, const RunRequest& request, int64_t budget);
  Debugger(std::unique_ptr<DebugTarget> target, int64_t budget);
  ~Debugger() override;

  // Stops before the first node, and goes on until kQuit is ordered. An error of a node is a stop,
  // kFailed; of a program it comes where that has ended. Errors: RunJob's before the first node.
  Error Run(const AtStop& at_stop);

  // From another thread or a signal's handler: the run stops before its next node.
  void Interrupt() { is_interrupted_ = true; }
  // At a stop: what was interrupted since it began to ask has been seen.
  void ForgetInterrupt() { is_interrupted_ = false; }

  // --- At a stop:
  const Module& module() const { return target_->module(); }
  bool grows() const { return target_->grows(); }  // nodes are there as soon as they run
  // Of the module as it is; read when it is first asked for.
  const LineTable& lines() const { return target_->lines(); }
  // Of a node; empty: nobody knows.
  LineTable::Stack StackOf(const Node& node) const { return target_->StackOf(node); }
  // Of the graph's file; empty: it has none.
  const std::string& path() const { return target_->path(); }
  const DebugStop& stop() const { return stop_; }
  const ValueHistory& history() const { return history_; }
  std::vector<Breakpoint>& breakpoints() { return breakpoints_; }
  // Numbers it. `is_temporary`: it has kTemporary instead, and goes at the next stop. Where nodes
  // are yet to come, it waits for those that it names.
  static constexpr int kTemporary = -1;
  Error AddBreakpoint(llvm::StringRef text, bool is_temporary = false);
  const std::vector<std::string>& feeds() const;
  const std::vector<std::string>& fetches() const;
  const std::vector<std::string>& fetch_names() const;  // see RunJob

  // The body that the stop is in, and the tensor of a name there, in main, or of "function/x".
  const Graph& here() const;
  Expected<Port> FindPort(llvm::StringRef name, const Graph** graph) const;
  // Value `number` of a tensor, or its last. Errors: no such tensor; it has not been made, or is
  // not by this run; it was dropped; with what to do.
  Expected<const KeptValue*> Value(llvm::StringRef name, int64_t number = -1) const;
  // Puts `value`, of its dtype and shape, in the place of a tensor's last value. Gives the order
  // that must follow where somebody may have read it: the way to this stop again. Errors: it is
  // made by a node that only hands on, where another is to be set.
  Expected<std::optional<DebugOrder>> Set(llvm::StringRef name, Tensor value);
  // Where there is no value yet: puts it in the elements of `slice` ("": all) when the node has
  // run; the run fails there if it does not fit (lib/watch/tensor_slice.h). Errors: as above.
  Error SetToCome(llvm::StringRef name, llvm::StringRef slice, Tensor value);
  // Whether the tensor has no value in this run and may get one.
  bool IsToCome(llvm::StringRef name) const;
  // Takes back all that was set, and gives the order to go once more to this stop; nothing: nothing
  // was set.
  std::optional<DebugOrder> Unset();
  // The order to go back so many steps. Errors: there are not so many.
  Expected<DebugOrder> Back(int64_t steps) const;
  bool IsPlanned(const Graph& graph, NodeId node) const;

 private:
  struct Running {
    Node node;
    int64_t step;
    std::vector<Tensor> inputs;
    std::vector<StopFrame> frames;
  };
  // A tensor by its names, which stay where a program that begins again makes other graphs.
  struct NamedPort {
    std::string function, node;  // function: "" is main
    int output = 0;
    auto operator<=>(const NamedPort&) const = default;
  };
  struct Edit {
    NamedPort port;
    int run;             // of a program: the one that was changed
    int64_t occurrence;  // of the node, from 0
    Tensor value;
    std::optional<std::string> slice{};  // set: value is for these elements alone
  };
  // A run that goes unseen to where it stopped before.
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
  bool BeginsCall(const Running& running);
  bool StepEndsBefore(const Running& running);
  std::vector<int> HitBefore(const Running& running, bool begins_call);
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
  int64_t left_ = 0;             // of order_.count
  size_t depth_ = 0;             // calls at the last stop
  std::vector<StopFrame> from_;  // the frames there
  std::optional<Replay> replay_;
  llvm::MutableArrayRef<Tensor> editable_;  // at a stop after a node: its outputs
  bool is_ending_ = false, is_finished_ = false, has_begun_ = false, begins_ = true;
  bool is_reported_ = false;  // the node that AfterNode() is about, by EditOutputs()
  int run_ = 1;
  int64_t step_ = 0;
  std::vector<Running> running_;      // nodes that have begun, outermost first
  std::optional<Running> failed_;     // the first that did, of a program that went on
  std::vector<Tensor> given_;         // values of feeds that the history has not yet
  const Function* called_ = nullptr;  // and none of its nodes has begun
  std::string last_loop_;             // of Enter and Exit, and its iteration
  int64_t last_iteration_ = -1;

  ValueHistory history_;
  std::vector<Breakpoint> breakpoints_;
  int last_number_ = 0;
  std::vector<Edit> edits_;
  std::map<NamedPort, Tensor> constants_;  // in place of the graph's
  std::map<std::string, Tensor> fed_;
  std::map<std::pair<const Graph*, NodeId>, int64_t> occurrences_;
  std::set<std::pair<const Graph*, NodeId>> planned_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_DEBUGGER_H_
