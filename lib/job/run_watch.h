// Observes a run from another thread (progress, outputs of nodes, the first NaN or infinity), and
// can stop the run.
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

// One output of a node, in the main graph or a function's body.
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
  RecordedTensor tensor;  // with the details of the mode
  std::string value;      // FULL_TENSOR: the first elements; or text for a resource
};

// The history of one output over the whole run.
struct GRAPNEL_PUBLIC PortHistory {
  RecordedTensor last, worst;  // worst: the last bad value, if any
  int64_t times = 0, bad_times = 0;
};

// Thread-safe: other threads can query it during the run.
class GRAPNEL_PUBLIC RunWatch : public Tap {
 public:
  static constexpr size_t kMostTensors = 50000;  // kept in order; later tensors are only counted

  // Without a mode nothing is tapped. The module of `main` must outlive this object. All reports
  // refer to nodes of that module, even if a graph derived from it runs: a node that runs is
  // reported as the node with the same function and name, and a node inlined from a call as the
  // called function's node.
  RunWatch(const Graph& main, TapFilter filter, std::optional<TapMode> mode);

  // Makes the run fail with an error when the next node begins or ends.
  void Stop() { is_stopped_ = true; }
  bool is_stopped() const { return is_stopped_; }
  // Called before the run: records the value of a feed, if the mode detects NaN and infinity. No
  // node computes this value, but it can be the first bad tensor.
  void AddFeed(Port port, const Tensor& value);

  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return true; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error AfterNodeOn(Stream& stream, const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;

  bool taps() const { return taps_; }
  // Returns true if the mode detects NaN and infinity.
  bool TellsBad() const;
  // Returns the node of the watched module that a running node corresponds to, usually itself; null
  // if it corresponds to no node.
  Node Watched(const Node& node) const;
  int64_t nodes_run() const { return nodes_run_; }  // counts every execution
  size_t main_nodes_run() const;                    // distinct nodes of the main graph
  size_t main_nodes_planned() const;                // main-graph nodes to run, except constants
  size_t num_tensors() const;                       // all tensors seen, kept or not
  std::vector<WatchedTensor> Tensors(size_t from, size_t limit) const;
  // The first bad tensor that was recorded.
  std::optional<Cause> first_bad() const;
  WatchedPort first_bad_port() const;
  size_t num_bad() const;  // number of bad tensors
  std::map<WatchedPort, PortHistory> History() const;
  std::vector<std::pair<int, PortHistory>> HistoryOf(const Graph& graph, NodeId node) const;
  // The nodes of a body that have run, by id.
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
  llvm::DenseMap<const Graph*, llvm::BitVector> tapped_, planned_, ran_;  // by watched node id
  // Maps nodes of other modules to the watched nodes that they correspond to.
  llvm::DenseMap<std::pair<const Graph*, NodeId>, Node> watched_;
  std::vector<WatchedTensor> tensors_;
  size_t num_tensors_ = 0, num_bad_ = 0;
  std::map<WatchedPort, PortHistory> history_;
  std::set<WatchedPort> fed_;
  std::map<WatchedPort, RecordedTensor> unseen_;  // inputs of tapped nodes that history_ lacks
  std::optional<Cause> first_bad_;
  WatchedPort first_bad_port_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_RUN_WATCH_H_
