// Which ops of a run made a NaN or an infinity out of finite numbers, and what the run would have
// been without some of them.
#ifndef GRAPNEL_LIB_CHECK_BAD_PRODUCERS_H_
#define GRAPNEL_LIB_CHECK_BAD_PRODUCERS_H_

#include <atomic>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/check/first_cause.h"
#include "lib/exec/executor.h"

namespace grapnel {

enum class BadOrigin : uint8_t {
  kOp,
  kConst,
  kFeed,
  kVariable,  // it, or a table or list, held the value before the run
};

// A node of main or of a function's body.
using BadNode = std::pair<const Graph*, NodeId>;

// A call, or an iteration of a loop of Enter and Exit, on the way to where something happened.
struct CallSite {
  std::string caller;      // the node; empty: an iteration
  std::string function;    // that is called; of an iteration the name of its frame
  int64_t iteration = -1;  // since the loop was entered; -1: no loop
};

// Of the node that a hook is told of, outermost first.
std::vector<CallSite> CurrentCallSites();

// A value that is not finite though all that its node read was.
struct BadProducer {
  BadNode key;
  BadOrigin origin = BadOrigin::kOp;
  // Of the first time. `iteration` counts the runs of the loop's condition from the run's
  // beginning; a tensor's element that is of interest is told in `elements`.
  Cause cause;
  std::vector<int64_t> index;         // of the first bad element
  std::string element;                // it, "-inf"
  std::vector<std::string> elements;  // by input: what it holds there; empty: it has no such place
  std::vector<CallSite> calls;        // outermost first
  int run = 0;                        // of several runs, which, from 1; else 0
};

// Whether a tensor of floating-point or complex numbers holds NaN or infinity. Cost: linear.
bool IsBad(const Tensor& tensor);
// All that is counted of a tensor; nothing of one that holds objects.
RecordedTensor RecordOf(const Tensor& tensor);
// A copy with infinities clamped to the largest numbers and NaN made 1, or with `ones` all of them
// made 1, complex numbers always.
Tensor MadeFinite(const Tensor& tensor, bool ones);

// Watches one run or several in turn, which must be on one thread and the host. Ops that only hand
// values on (calls, control flow, reads of resources, lists and optionals) are no producers.
class BadProducers : public RunHook {
 public:
  // `graph` is what runs. Values of `tamed` nodes are made finite before anybody reads them.
  explicit BadProducers(const Graph& graph, std::set<BadNode> tamed = {}, bool ones = false)
      : graph_(graph), tamed_(std::move(tamed)), ones_(ones) {}

  // What follows is of run `run`, from 1; variables keep what the one before made of them.
  void BeginRun(int run) { run_ = run; }
  // Before the run: a value that is given, which is handed back made finite where it is to be.
  Tensor Feed(Port port, Tensor value);
  bool Wants(const Node& node) override;
  Tensor ReplaceConstant(const Node& node, const Tensor& value) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) override;
  void OnCall(const CallFrame& call) override;

  // In the order in which they first ran, each node once; Cause::times says how often.
  const std::vector<BadProducer>& producers() const { return producers_; }

 private:
  bool IsTamed(const Node& node) const { return tamed_.count({&node.graph(), node.id()}) > 0; }
  void Add(const Node& node, BadOrigin origin, int output, const Tensor& value);
  int64_t IterationOf(const CallFrame* call) const;

  const Graph& graph_;
  const std::set<BadNode> tamed_;
  const bool ones_;
  std::mutex mutex_;
  std::set<BadNode> hands_on_;  // calls
  llvm::DenseMap<const Function*, int64_t> calls_;
  std::vector<Tensor> inputs_;  // of the node that runs; held, so that it does not overwrite them
  bool has_seen_bad_ = false;
  int run_ = 0;
  std::vector<BadProducer> producers_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_BAD_PRODUCERS_H_
