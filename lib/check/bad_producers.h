// Finds the ops of a run that produced a NaN or an infinity from finite numbers, and reruns without
// some of them.
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
  kVariable,  // the variable, table or list held the value before the run
};

// A node of main or of a function's body.
using BadNode = std::pair<const Graph*, NodeId>;

// A call, or an iteration of a loop of Enter and Exit, on the path to a node.
struct CallSite {
  std::string caller;      // the calling node; empty: an iteration
  std::string function;    // the called function; for an iteration the name of its frame
  int64_t iteration = -1;  // since the loop was entered; -1: no loop
};

// Returns the call sites of the node that a hook observes, outermost first.
std::vector<CallSite> CurrentCallSites();

// A value that is not finite, although all inputs of its node were.
struct BadProducer {
  BadNode key;
  BadOrigin origin = BadOrigin::kOp;
  // The first occurrence. `iteration` counts runs of the loop's condition since the beginning of
  // the run; `elements` has the element of interest of each tensor.
  Cause cause;
  std::vector<int64_t> index;         // of the first bad element
  std::string element;                // its value, "-inf"
  std::vector<std::string> elements;  // by input: the value at that index; empty: no such index
  std::vector<CallSite> calls;        // outermost first
  int run = 0;                        // for several runs, its number from 1; else 0
};

// True if a tensor of floating-point or complex numbers holds NaN or infinity. Cost: linear.
bool IsBad(const Tensor& tensor);
// Returns all counts of a tensor; no counts for a tensor of objects.
RecordedTensor RecordOf(const Tensor& tensor);
// Returns a copy with infinities clamped to the largest numbers and NaN replaced by 1. With `ones`,
// and for complex numbers always, all of these become 1.
Tensor MadeFinite(const Tensor& tensor, bool ones);

// Watches one run or several in turn, which must be on one thread and the host. Ops that only pass
// values on (calls, control flow, reads of resources, lists and optionals) are not producers.
class BadProducers : public RunHook {
 public:
  // `graph` is the graph that runs. Values of `tamed` nodes are made finite before other nodes read
  // them.
  explicit BadProducers(const Graph& graph, std::set<BadNode> tamed = {}, bool ones = false)
      : graph_(graph), tamed_(std::move(tamed)), ones_(ones) {}

  // Starts run `run`, from 1; variables keep their values from the run before.
  void BeginRun(int run) { run_ = run; }
  // Call it before the run: returns the value to feed, made finite if the port's node is tamed.
  Tensor Feed(Port port, Tensor value);
  bool Wants(const Node& node) override;
  Tensor ReplaceConstant(const Node& node, const Tensor& value) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) override;
  void OnCall(const CallFrame& call) override;

  // In the order of their first run, each node once; Cause::times counts the occurrences.
  const std::vector<BadProducer>& producers() const { return producers_; }

 private:
  bool IsTamed(const Node& node) const { return tamed_.count({&node.graph(), node.id()}) > 0; }
  void Add(const Node& node, BadOrigin origin, int output, const Tensor& value);
  int64_t IterationOf(const CallFrame* call) const;

  const Graph& graph_;
  const std::set<BadNode> tamed_;
  const bool ones_;
  std::mutex mutex_;
  std::set<BadNode> hands_on_;  // calls, which only pass values on
  llvm::DenseMap<const Function*, int64_t> calls_;
  std::vector<Tensor> inputs_;  // of the running node; kept so that it does not overwrite them
  bool has_seen_bad_ = false;
  int run_ = 0;
  std::vector<BadProducer> producers_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_BAD_PRODUCERS_H_
