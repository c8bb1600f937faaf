// A run that somebody watches from another thread: how far it is, what nodes put out, where it went
// wrong first; and which can be stopped.
#ifndef GRAPNEL_LIB_JOB_RUN_WATCH_H_
#define GRAPNEL_LIB_JOB_RUN_WATCH_H_

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/check/first_cause.h"
#include "lib/support/public.h"
#include "lib/watch/tap.h"
#include "llvm/ADT/BitVector.h"

namespace grapnel {

// One output of a node: of main, or of a function's body.
struct GRAPNEL_PUBLIC WatchedPort {
  const Graph* graph = nullptr;
  NodeId node = kNoNode;
  int output = 0;
  bool operator<(const WatchedPort& other) const {
    return std::tie(graph, node, output) < std::tie(other.graph, other.node, other.output);
  }
};

struct GRAPNEL_PUBLIC WatchedTensor {
  WatchedPort port;
  RecordedTensor tensor;  // as much as the mode says
  std::string value;      // FULL_TENSOR: the first elements
};

// What is known of one output over the whole run.
struct GRAPNEL_PUBLIC PortHistory {
  RecordedTensor last, worst;  // worst: the last bad one, if there was any
  int64_t times = 0, bad_times = 0;
};

// Thread-safe: asked while the run goes on.
class GRAPNEL_PUBLIC RunWatch : public Tap {
 public:
  static constexpr size_t kMostTensors = 50000;  // kept in order; beyond they are counted

  // Without a mode nothing is tapped. What it watches must outlive it. All that it tells is of
  // nodes of the module of `main`, also where another graph runs, which was made of it: then of
  // those that are there under the same function and name, or in the function of a call whose place
  // they took.
  RunWatch(const Graph& main, const std::vector<Glob>& globs, std::optional<TapMode> mode);

  // The run fails with an error at the next node that begins or ends.
  void Stop() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }
  // Before the run: a value that is given. No node makes it, but it can be what is bad.
  void AddFeed(Port port, const Tensor& value);

  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return true; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;

  bool taps() const { return taps_; }
  // Whether the mode tells of NaN and infinity.
  bool TellsBad() const;
  // The node of the watched module that a node which was to run stands for; it itself, as a rule.
  // Null: there is none.
  Node Watched(const Node& node) const;
  int64_t nodes_run() const { return nodes_run_; }  // each time that one ran
  size_t main_nodes_run() const;                    // different ones of the main graph
  size_t main_nodes_planned() const;                // that are to run, constants not counted
  size_t num_tensors() const;                       // seen, kept or not
  std::vector<WatchedTensor> Tensors(size_t from, size_t limit) const;
  // The first bad tensor, in the order in which one thread would run the nodes.
  std::optional<Cause> first_bad() const;
  WatchedPort first_bad_port() const;
  size_t num_bad() const;  // tensors
  std::map<WatchedPort, PortHistory> History() const;
  std::vector<std::pair<int, PortHistory>> HistoryOf(const Graph& graph, NodeId node) const;
  // The nodes of a body that ran, by id.
  llvm::BitVector Ran(const Graph& graph) const;

 private:
  bool Tells() const override { return true; }
  void Emit(TapEvent&& event) override;
  Error Pass(const Node& node);
  bool IsTapped(const Node& node) const;
  bool IsKnown(const WatchedPort& port) const;
  RecordedTensor Record(DataType dtype, llvm::ArrayRef<int64_t> dims, const Health& health) const;
  Cause CauseOf(const Node& node, int output, const RecordedTensor& tensor) const;

  const Graph& main_;
  const bool taps_;
  std::atomic<bool> is_stopped_{false};
  std::atomic<int64_t> nodes_run_{0};
  mutable std::mutex mutex_;
  llvm::DenseMap<const Graph*, llvm::BitVector> tapped_, planned_, ran_;  // by id of the watched
  // Of other modules' nodes, those that stand for one of the watched.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, Node> watched_;
  std::vector<WatchedTensor> tensors_;
  size_t num_tensors_ = 0, num_bad_ = 0;
  std::map<WatchedPort, PortHistory> history_;
  std::set<WatchedPort> fed_;
  std::map<WatchedPort, RecordedTensor> unseen_;  // inputs of tapped nodes that no tap saw
  std::optional<Cause> first_bad_;
  WatchedPort first_bad_port_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_WATCH_H_
