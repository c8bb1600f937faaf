// Taps: hooks that report or count the outputs of chosen nodes while the graph runs.
#ifndef GRAPNEL_LIB_WATCH_TAP_H_
#define GRAPNEL_LIB_WATCH_TAP_H_

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/support/public.h"
#include "lib/watch/health.h"
#include "lib/watch/tap_event.h"
#include "lib/watch/tap_filter.h"
#include "lib/watch/tap_writer.h"

namespace grapnel {

// How much a tap reports about a tensor. The modes are those of TensorFlow's TensorDebugMode.
enum class TapMode {
  kNoTensor,
  kCurtHealth,
  kConciseHealth,
  kFullHealth,
  kShape,
  kFullTensor,
  kThreeSlots  // REDUCE_INF_NAN_THREE_SLOTS: has -inf, has +inf, has NaN
};
GRAPNEL_PUBLIC std::optional<TapMode> ParseTapMode(llvm::StringRef name);  // "FULL_HEALTH"
GRAPNEL_PUBLIC std::vector<std::string> TapModeNames();

// By node: how often each of its outputs was tapped, up to the last output that was.
using TapCounts = std::map<std::pair<const Graph*, NodeId>, std::vector<int64_t>>;

// Taps the outputs that match `filter`, on the threads that computed them, and counts the tapped
// tensors. Nodes of functions are included; an event has the call stack and the loop iterations.
// Subclasses receive the events in the order in which one thread would run the nodes, whatever the
// number of threads.
class GRAPNEL_PUBLIC Tap : public RunHook {
 public:
  Tap(TapFilter filter, TapMode mode) : filter_(std::move(filter)), mode_(mode) {}
  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return false; }
  bool EditsOutputs() const override { return false; }
  ElementCounter* Counter(const Node& node, const Tensor& output) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // A constant's health is counted once for each plan, and reported in each run.
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  // Devices count elements in their own memory; only FULL_TENSOR and statistics need the tensor in
  // host memory.
  bool TakesDeviceTensors() const override { return mode_ != TapMode::kFullTensor && !summarizes_; }
  Error AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // Sets the run number of later events. If there is only one run, do not call it: then events have
  // number 0, which is not written.
  void BeginRun(int run) { run_ = run; }
  // Sets the threads that count large tensors: those of the run, which wait while a node is tapped.
  void CountOn(ThreadPool* pool) { pool_ = pool; }
  // Events have the statistics of their tensors (TapEvent::numbers), which cost another pass over
  // the elements. Call it before the plan is made.
  void Summarize() { summarizes_ = true; }
  // Counts each output separately, for counts(), which has entries for all nodes in plans. Call it
  // before the plan is made.
  void CountEach() { counts_each_ = true; }
  TapCounts counts();
  // Explains why an output of the node with this dtype is not tapped: "its name matches no --tap";
  // empty if the output is tapped.
  virtual std::string WhyNot(const Node& node, DataType dtype) const;
  int64_t tensors_tapped() const { return count_; }

  const TapFilter& filter() const { return filter_; }
  TapMode mode() const { return mode_; }

 protected:
  virtual bool Tells() const { return false; }
  // Receives the events in order, on any thread, one call at a time in each run.
  virtual void Emit(TapEvent&& /*event*/) {}
  // Adds tensors that a subclass writes itself to the count that tensors_tapped() returns.
  void CountMore(int64_t tensors) { count_ += tensors; }
  // True if events need TapEvent::time.
  virtual bool TellsTime() const { return false; }

 private:
  bool CountsHealth() const {
    return mode_ != TapMode::kNoTensor && mode_ != TapMode::kShape && mode_ != TapMode::kFullTensor;
  }
  Error See(Stream* stream, const Node& node, llvm::ArrayRef<Tensor> outputs);
  HealthDetail Detail() const {
    return mode_ == TapMode::kFullHealth ? HealthDetail::kCounts : HealthDetail::kBad;
  }
  void CountOne(const Node& node, int output);
  void EmitOne(const Node& node, int output, const Tensor& tensor, const Health& health);

  TapFilter filter_;
  TapMode mode_;
  bool counts_each_ = false, summarizes_ = false;
  int run_ = 0;
  ThreadPool* pool_ = nullptr;
  std::mutex mutex_;
  std::map<std::pair<const Graph*, NodeId>, Health> constants_;
  TapCounts counts_;
  std::atomic<int64_t> count_{0};
};

// A tap that calls `write` at once, on the thread that emits the event. For graphs that still grow,
// which no other thread may read.
class GRAPNEL_PUBLIC CallbackTap : public Tap {
 public:
  CallbackTap(TapFilter filter, TapMode mode, TapWriter::Write write)
      : Tap(std::move(filter), mode), write_(std::move(write)) {}

 protected:
  bool Tells() const override { return true; }
  void Emit(TapEvent&& event) override { write_(event); }

 private:
  TapWriter::Write write_;
};

// A tap that calls `write` on a thread of its own.
class GRAPNEL_PUBLIC WrittenTap : public Tap {
 public:
  WrittenTap(TapFilter filter, TapMode mode, TapWriter::Write write)
      : Tap(std::move(filter), mode), writer_(std::move(write)) {}
  // Returns when `write` has received all events. Call it after a run, before reading what `write`
  // wrote.
  void Drain() { writer_.Drain(); }
  TapWriter& writer() { return writer_; }

 protected:
  bool Tells() const override { return true; }
  void Emit(TapEvent&& event) override { writer_.Add(std::move(event)); }

 private:
  TapWriter writer_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_H_
