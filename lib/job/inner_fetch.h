// A fetch of a tensor inside of function calls, and the hook that catches its value in a run.
#ifndef GRAPNEL_LIB_JOB_INNER_FETCH_H_
#define GRAPNEL_LIB_JOB_INNER_FETCH_H_

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "lib/exec/executor.h"

namespace grapnel {

// How a node calls a function.
enum class CallKind {
  kCall,    // once, each time the node runs
  kBranch,  // once if the branch is taken
  kBody,    // in each iteration of a loop
  kCond,    // in each iteration of a loop, and once more
};

struct InnerCall {
  // The calling node: for the first call a node of the main graph, for each other call a node of
  // the function that the previous call runs.
  std::string caller;
  std::string function;  // the called function
  CallKind kind = CallKind::kCall;
};

// An output of a node in the body of a function. Identified by names, so that it is found in a copy
// of the graph, and in a graph in which calls were inlined: an inlined node has the name Path().
struct InnerFetch {
  std::vector<InnerCall> calls;  // from the main graph inward; at least one
  std::string node;              // in the body of the last function
  int32_t output = 0;
  // For each loop around the node, from the outermost, the iteration whose value is meant, from 0;
  // or one negative number, which counts back from the value computed last, -1. Empty: not given.
  std::vector<int64_t> iterations;

  // The path, or if another node has the same path (in the other branch), "function/node".
  std::string name;

  // Returns the names of the calling nodes and of the node, "call/inner/node".
  std::string Path() const;
  // Returns the name with the output, if it is not the first, and the iterations: "call/x:1@3".
  std::string Name() const;
};

// Catches the values of inner fetches. They are complete after a run; Clear() begins the next.
class InnerFetchHook : public RunHook {
 public:
  explicit InnerFetchHook(std::vector<InnerFetch> fetches);

  void Clear();
  // Returns the value of fetch `i` after a run. Errors: it is in a branch or a call that did not
  // run; it is in a loop, and the iteration is not given or did not run (the error says how many
  // did), or did not compute it; it is in no loop, but an iteration is given.
  Expected<Tensor> Value(size_t i) const;

  bool Wants(const Node& node) override;
  bool SeesInputs() const override { return false; }
  bool EditsOutputs() const override { return false; }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override;
  void OnCall(const CallFrame& call) override;
  void AddNeeded(const Graph& body, llvm::SmallVectorImpl<NodeId>* needed) override;

 private:
  struct Caught {
    std::string path;
    size_t keep = 1;             // how many of the last values to keep
    std::deque<Tensor> last;     // the last `keep` values, or that of the given iterations
    std::vector<int64_t> loops;  // for each loop around the node, the last iteration that ran
    int64_t times = 0;           // how often it was computed
  };

  // True if the fetch is an output of a node with this name in this function, or inlined.
  bool IsOf(size_t i, const Node& node) const;
  void Take(Caught& caught, const InnerFetch& fetch, const Tensor& value);
  std::string WhyNoCall(const InnerFetch& fetch) const;

  std::vector<InnerFetch> fetches_;
  std::set<std::string> functions_;  // the functions of all calls in fetches_
  mutable std::mutex mutex_;
  std::vector<Caught> caught_;
  std::set<std::string> began_;  // "call/inner/ function" of each call on the way that began
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_INNER_FETCH_H_
