// Where a run's time and memory go, node by node.
#ifndef GRAPNEL_LIB_WATCH_PROFILE_H_
#define GRAPNEL_LIB_WATCH_PROFILE_H_

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/exec/executor.h"
#include "lib/watch/roofline.h"
#include "llvm/Support/raw_ostream.h"

namespace grapnel {

// Collects what kernels took; nodes of functions are called "function/node". Several runs add up,
// but not the first of them, which sets things up: libraries loaded, weights packed, functions
// compiled. The trace has every run.
class Profile : public RunProfiler {
 public:
  // Events kept for the trace; sums go on beyond.
  static constexpr size_t kMaxEvents = 1000000;

  Clock::time_point Begin() override;
  void OnKernel(const Node& node, Clock::time_point began, Clock::time_point ended,
           llvm::ArrayRef<Tensor> outputs) override;
  void OnFused(const Node& last, llvm::ArrayRef<Node> nodes) override;
  void OnVariant(const char* how) override;
  void Compiled(const Function& function, Clock::time_point began,
                Clock::time_point ended) override;
  // Between runs: the next one is the next row of the trace.
  void RunDone();

  struct Row {
    // Of a row by op: name is empty. A function's compilation is op "(compile)", its name that of
    // the function.
    // Of a step that does the work of several nodes, op is theirs, "AddV2+Relu6", and the name that
    // of the last one. What OnVariant() said is behind it: "Conv2D (Winograd)".
    std::string name, op;
    std::vector<std::string> stands_for;  // names of all of them
    std::vector<NodeId> nodes;            // and themselves, or this one alone
    const Graph* graph = nullptr;         // of a row by node: where the node is, and which it is
    NodeId node = kNoNode;
    int64_t calls = 0;
    // Nanoseconds; `own` without the kernels of functions that it called.
    int64_t total = 0, own = 0;
    int64_t output_bytes = 0;  // of one call, the largest
  };
  // The dearest in own time first, then by name. Of the first run where there is no other.
  std::vector<Row> ByNode() const;
  std::vector<Row> ByOp() const;
  int64_t runs() const { return runs_; }
  // Most bytes that tensors of the run held at one time, constants not counted, and the node after
  // which it was so.
  int64_t peak_bytes() const { return peak_bytes_; }
  const std::string& peak_node() const { return peak_node_; }
  bool is_cut() const { return events_cut_ > 0; }

  // A trace as Chrome and Perfetto open it: a slice a kernel, a row a thread, memory as a curve.
  void WriteTrace(llvm::raw_ostream& os) const;
  // Ops and the `nodes` dearest nodes as two tables, and the peak of memory. With a roofline how
  // many times its least time a node took, too.
  void WriteTables(llvm::raw_ostream& os, size_t nodes, const Roofline* roofline = nullptr) const;

 private:
  struct Event {
    uint32_t node;
    int thread;
    int64_t began, ended;  // nanoseconds since the first event
    int64_t live_bytes;
  };
  int ThreadNumber();
  std::vector<Row> Counted() const;
  uint32_t NumberOf(const Node& node);
  Row& Add(uint32_t number, Clock::time_point began, Clock::time_point ended);

  std::mutex mutex_;
  std::optional<Clock::time_point> start_;
  std::map<const void*, std::vector<uint32_t>> numbers_;  // by graph, by node id; 0: none yet
  std::map<const Function*, uint32_t> compiled_;          // as in numbers_
  std::vector<Row> seen_, first_run_;                     // by number
  std::vector<Event> events_;
  std::map<std::thread::id, int> threads_;
  int64_t events_cut_ = 0, runs_ = 0, peak_bytes_ = 0;
  std::string peak_node_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_WATCH_PROFILE_H_
