// The time and memory of a run by node.
#ifndef GRAPNEL_LIB_WATCH_PROFILE_H_
#define GRAPNEL_LIB_WATCH_PROFILE_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/io/layers/layer_names.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Collects the times of kernels; nodes of functions are named "function/node". Times are summed
// over several runs, except the first, which does the setup: loading libraries, packing weights,
// compiling functions. The trace includes every run, up to kMaxEvents.
class Profile : public RunProfiler {
 public:
  // The limit of events in the trace; the sums have no limit.
  static constexpr size_t kMaxEvents = 1000000;
  static constexpr const char* kCompile = "(compile)";  // the op of a function's compilation

  Clock::time_point Begin() override;
  void OnKernel(const Node& node, Clock::time_point began, Clock::time_point ended,
                llvm::ArrayRef<Tensor> outputs) override;
  void OnFused(const Node& last, llvm::ArrayRef<Node> nodes) override;
  void OnVariant(const char* how) override;
  void Compiled(const Function& function, Clock::time_point began,
                Clock::time_point ended) override;
  // Call it after each run, so that the first of several runs is left out of the sums.
  void RunDone();

  struct Row {
    // `name` is empty in ByOp(), and the layer in ByLayer(). The compilation of a function has op
    // "(compile)" and the function's name. A fused step has the ops of its first
    // five nodes, "AddV2+Relu6", and the name of the last node. The algorithm from OnVariant() is
    // appended to the op: "Conv2D (Winograd)".
    std::string name, op;
    std::vector<std::string> stands_for;  // for a fused step: names of all its nodes
    std::vector<NodeId> nodes;            // nodes of the fused step, or the one node; else empty
    const Graph* graph = nullptr;         // of `node` and `nodes`; null in sums and for "(compile)"
    NodeId node = kNoNode;
    int64_t calls = 0;
    // Nanoseconds, summed over the calls; `own` excludes the compilations and kernels of
    // functions that the node called.
    int64_t total = 0, own = 0;
    int64_t output_bytes = 0;  // most bytes of outputs in one call
  };
  // Return the rows, sorted by own time, the most expensive first, then by name. The first run
  // counts only if there is no other.
  std::vector<Row> ByNode() const;
  std::vector<Row> ByOp() const;
  std::vector<Row> ByLayer(const LayerNames& layers) const;
  // Returns the layer that a row of ByNode() counts to, "(no layer)" or "(compile)".
  static std::string LayerOf(const Row& row, const LayerNames& layers);
  int64_t runs() const { return runs_; }
  int64_t counted_runs() const { return runs_ > 1 ? runs_ - 1 : runs_; }  // those in the rows
  int64_t first_run() const;  // nanoseconds of the first run's kernels and compilations
  // The peak of bytes in tensors that the runs allocated (which excludes constants), and the node
  // whose kernel was the first to end after the peak was reached.
  int64_t peak_bytes() const { return peak_bytes_; }
  const std::string& peak_node() const { return peak_node_; }
  bool is_cut() const { return events_cut_ > 0; }
  int64_t events_cut() const { return events_cut_; }

  // Writes a trace for Chrome and Perfetto: a slice for each call of a kernel and each compilation,
  // a row for each thread, and a curve of the memory in use.
  void WriteTrace(llvm::raw_ostream& os) const;

 private:
  struct Event {
    uint32_t node;
    int thread;
    int64_t began, ended;  // nanoseconds since start_
    int64_t live_bytes;
  };
  int ThreadNumber();
  std::vector<Row> Counted() const;
  std::vector<Row> SumsBy(llvm::function_ref<std::string(const Row&)> key,
                          std::string Row::*field) const;
  uint32_t NumberOf(const Node& node);
  Row& Add(uint32_t number, Clock::time_point began, Clock::time_point ended);

  std::mutex mutex_;
  std::optional<Clock::time_point> start_;
  std::map<const void*, std::vector<uint32_t>> numbers_;  // by graph and node id: row + 1; 0: none
  std::map<const Function*, uint32_t> compiled_;          // row + 1 of a function's compilation
  std::vector<Row> seen_, first_run_;                     // first_run_: copy of seen_ after run 1
  std::vector<Event> events_;
  std::map<std::thread::id, int> threads_;
  int64_t events_cut_ = 0, runs_ = 0, peak_bytes_ = 0;
  std::string peak_node_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_PROFILE_H_
