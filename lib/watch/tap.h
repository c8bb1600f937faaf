// Taps: what chosen nodes put out, counted or told while the graph runs.
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

// What a tap says of a tensor; TensorFlow's names, from little to much.
enum class TapMode {
  kNoTensor,
  kCurtHealth,
  kConciseHealth,
  kFullHealth,
  kShape,
  kFullTensor,
  kThreeSlots  // REDUCE_INF_NAN_THREE_SLOTS: which kinds of bad elements there are
};
GRAPNEL_PUBLIC std::optional<TapMode> ParseTapMode(llvm::StringRef name);  // "FULL_HEALTH"
GRAPNEL_PUBLIC std::vector<std::string> TapModeNames();

// How often each output was tapped.
using TapCounts = std::map<std::pair<const Graph*, NodeId>, std::vector<int64_t>>;

// Taps the outputs that `filter` fits, on the threads that made them, and counts them. In a
// function's body too; an event says the calls and iterations that it was in. Those that derive
// from it are told of each tensor, in the order in which one thread would run the nodes, whatever
// the number of threads.
class GRAPNEL_PUBLIC Tap : public RunHook {
 public:
  Tap(TapFilter filter, TapMode mode) : filter_(std::move(filter)), mode_(mode) {}
  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return false; }
  bool EditsOutputs() const override { return false; }
  ElementCounter* Counter(const Node& node, const Tensor& output) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // Counted once a plan, told in each run.
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  // A device counts where the tensor lies; only FULL_TENSOR needs it here.
  bool TakesDeviceTensors() const override { return mode_ != TapMode::kFullTensor; }
  Error AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // Events that follow say so: of several runs, which. 0: of one, and events do not say.
  void BeginRun(int run) { run_ = run; }
  // Whose threads count large tensors: those of the run, which wait while a node is tapped.
  void CountOn(ThreadPool* pool) { pool_ = pool; }
  // Before the plan is made: keeps how often each output was tapped, with no count for a node that
  // no plan had.
  void CountEach() { counts_each_ = true; }
  TapCounts counts();
  // Why an output of that dtype is not tapped: "its name fits no --tap"; empty where it is when it
  // is made.
  virtual std::string WhyNot(const Node& node, DataType dtype) const;
  int64_t tensors_tapped() const { return count_; }

  const TapFilter& filter() const { return filter_; }
  TapMode mode() const { return mode_; }

 protected:
  virtual bool Tells() const { return false; }
  // In order. On any thread, one at a time of one run.
  virtual void Emit(TapEvent&& /*event*/) {}
  // Tensors that one that derives from it writes by itself.
  void CountMore(int64_t tensors) { count_ += tensors; }
  // Whether events need the time.
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
  bool counts_each_ = false;
  int run_ = 0;
  ThreadPool* pool_ = nullptr;
  std::mutex mutex_;
  std::map<std::pair<const Graph*, NodeId>, Health> constants_;
  TapCounts counts_;
  std::atomic<int64_t> count_{0};
};

// A tap whose events are written at once: of a graph that grows, which no other thread may look at.
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

// A tap whose events a thread of its own writes.
class GRAPNEL_PUBLIC WrittenTap : public Tap {
 public:
  WrittenTap(TapFilter filter, TapMode mode, TapWriter::Write write)
      : Tap(std::move(filter), mode), writer_(std::move(write)) {}
  // After a run, and before what `write` writes to is looked at.
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
