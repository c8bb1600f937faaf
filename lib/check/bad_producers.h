// Finds the ops of a run that produced a NaN or an infinity from finite numbers, and can make the
// outputs of chosen ops finite in a rerun.
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
  kVariable,  // the variable, table or list had a bad value before the run
};

// A node of the main graph or of a function's body.
using BadNode = std::pair<const Graph*, NodeId>;

// A function call around a node, or an iteration of a loop of single nodes (Enter, Exit).
struct CallSite {
  std::string caller;      // the calling node; empty: an iteration, or the call of a dataset
  std::string function;    // the called function; for an iteration the name of its frame
  int64_t iteration = -1;  // since the loop was entered; -1: this call is not an iteration
};

// Returns the call sites of the node that a hook observes, outermost first.
std::vector<CallSite> CurrentCallSites();

// An output with NaN or infinity, although all inputs of its node were finite.
struct BadProducer {
  BadNode key;
  BadOrigin origin = BadOrigin::kOp;
  // Describes the output when it was first bad. In a While, `cause.iteration` counts the calls of
  // its condition since the first run.
  Cause cause;
  std::vector<int64_t> index;         // index of the first bad element
  std::string element;                // value of the first bad element, such as "-inf"
  std::vector<std::string> elements;  // by input, for kOp: the element there; "": no such number
  std::vector<CallSite> calls;        // calls around the node, outermost first
  int run = 0;                        // number of the run, from 1; 0 if there is only one
};

// True if a tensor has a NaN or an infinity; false for dtypes in which none is counted (Health).
// Cost: linear.
bool IsBad(const Tensor& tensor);
// Returns a tensor's dtype, shape and health; an empty record for a dead tensor, a variant or a
// resource.
RecordedTensor RecordOf(const Tensor& tensor);
// Returns `tensor` itself if it is finite, else a copy with infinities clamped to the largest
// numbers and NaN replaced by 1. With `ones`, and always for complex numbers, infinities become 1
// too.
Tensor MadeFinite(const Tensor& tensor, bool ones);

// Observes one run or several consecutive runs, which must use one thread and no device but the
// CPU. Ops that only forward values (calls, control flow, reads of resources, lists and optionals)
// are not producers. Exception: the first bad value of all, if it comes from a variable, table or
// list (BadOrigin::kVariable).
class BadProducers : public RunHook {
 public:
  // `graph` is the graph that runs. Outputs of `tamed` nodes, except nodes that call functions, are
  // made finite before other nodes read them.
  explicit BadProducers(const Graph& graph, std::set<BadNode> tamed = {}, bool ones = false)
      : graph_(graph), tamed_(std::move(tamed)), ones_(ones) {}

  // Sets the number of the run that follows, from 1. Variables may keep their values from the
  // previous run.
  void BeginRun(int run) { run_ = run; }
  // Call it before the run for each feed: returns the value to feed, which is made finite if the
  // port's node is tamed.
  Tensor Feed(Port port, Tensor value);
  bool Wants(const Node& node) override;
  Tensor ReplaceConstant(const Node& node, const Tensor& value) override;
  Error OnConstant(const Node& node, const Tensor& value, bool is_first) override;
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override;
  Error EditOutputs(const Node& node, llvm::MutableArrayRef<Tensor> outputs) override;
  void OnCall(const CallFrame& call) override;

  // Returns the producers in the order of their first occurrence, each node once; Cause::times
  // counts how often the output that was bad first was produced bad.
  const std::vector<BadProducer>& producers() const { return producers_; }

 private:
  bool IsTamed(const Node& node) const { return tamed_.count({&node.graph(), node.id()}) > 0; }
  void Add(const Node& node, BadOrigin origin, int output, const Tensor& value);
  int64_t IterationOf(const CallFrame* call) const;

  const Graph& graph_;
  const std::set<BadNode> tamed_;
  const bool ones_;
  std::mutex mutex_;
  std::set<BadNode> hands_on_;  // nodes that call functions, which only forward values
  llvm::DenseMap<const Function*, int64_t> calls_;
  // The inputs of the running node. Holding them keeps its kernel from reusing their buffers for
  // its outputs.
  std::vector<Tensor> inputs_;
  bool has_seen_bad_ = false;
  int run_ = 0;
  std::vector<BadProducer> producers_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_BAD_PRODUCERS_H_
