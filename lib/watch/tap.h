// Taps: what chosen nodes put out, said as JSON lines while the graph runs.
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
#include "lib/support/glob.h"
#include "lib/watch/health.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// What a tap says of a tensor; TensorFlow's names, from little to much.
enum class TapMode { kNoTensor, kCurtHealth, kConciseHealth, kFullHealth, kShape, kFullTensor };
std::optional<TapMode> ParseTapMode(llvm::StringRef name);  // "FULL_HEALTH"
std::vector<std::string> TapModeNames();

// What was typed for a tap, globs or names. A glob may fit nothing, but a name (Glob::IsName) that
// no node of any body has is an error, which says what is near.
Error DemandTapped(const Module& module, llvm::ArrayRef<Glob> globs);

// Taps every output of the nodes whose name fits one of `globs` (lib/support/glob.h). In a
// function's body the name is that of the node alone, so `*` taps those too; a line says the calls
// and iterations that it was in. Lines come in the order in which nodes ran.
class Tap : public RunHook {
 public:
  // `os` must outlive it; null: count only.
  Tap(std::vector<Glob> globs, TapMode mode, llvm::raw_ostream* os)
      : globs_(std::move(globs)), mode_(mode), os_(os) {}
  bool Wants(const Node& node) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // Counted once a plan, said in each run.
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  // A device counts where the tensor lies; only FULL_TENSOR needs it here.
  bool TakesDeviceTensors() const override { return mode_ != TapMode::kFullTensor; }
  Error AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  // Lines that follow say so: of several runs, which. 0: of one, and lines do not say.
  void BeginRun(int run) { run_ = run; }
  // Whose threads count large tensors: those of the run, which wait while a node is tapped.
  void CountOn(ThreadPool* pool) { pool_ = pool; }
  int64_t tensors_tapped() const { return count_; }
  void Restart() { count_ = 0; }

 protected:
  TapMode mode() const { return mode_; }
  // Says what is known of one output. On whichever thread ran the node.
  virtual void SayOne(const Node& node, size_t output, const Tensor& tensor, const Health& health);

 private:
  bool NeedsHealth() const {
    return mode_ == TapMode::kCurtHealth || mode_ == TapMode::kConciseHealth ||
           mode_ == TapMode::kFullHealth;
  }
  const std::string& HeadOf(const Node& node);
  Error Say(Stream* stream, const Node& node, llvm::ArrayRef<Tensor> outputs);

  std::vector<Glob> globs_;
  TapMode mode_;
  llvm::raw_ostream* os_;
  int run_ = 0;
  ThreadPool* pool_ = nullptr;
  std::mutex mutex_;
  std::map<std::pair<const Graph*, NodeId>, Health> constants_;
  std::map<std::pair<const Graph*, NodeId>, std::string>
      heads_;  // of lines; they stay where they are
  std::atomic<int64_t> count_{0};
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_TAP_H_
