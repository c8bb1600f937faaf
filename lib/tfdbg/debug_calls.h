// The calls of functions in a debug folder. TensorFlow does not record which op called which
// function: names, times and the order of arguments identify it.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_CALLS_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_CALLS_H_

#include <optional>
#include <vector>

#include "lib/support/public.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// The purpose of a body. A branch within a loop is a branch: "while_cond_true_30".
enum class BodyRole { kCalled, kLoopCondition, kLoopBody, kThen, kElse, kCase };
// Returns the role by the names that TensorFlow gives.
GRAPNEL_PUBLIC BodyRole BodyRoleOf(llvm::StringRef name);

// Fills `graph` and `call` of executions, `execution` and `iteration` of traces.
// Cost: n log n in records.
GRAPNEL_PUBLIC void LinkCalls(DebugRun* run);

// An output of an op of DebugRun::graphs.
struct GRAPNEL_PUBLIC DebugTensor {
  int graph = -1, op = -1, slot = 0;
};

// The arguments and results of function bodies. The run must outlive it and not change.
class GRAPNEL_PUBLIC DebugCalls {
 public:
  // Cost: linear in ops.
  explicit DebugCalls(const DebugRun& run);

  bool IsArgument(DebugTensor tensor) const { return ArgumentIndex(tensor) >= 0; }
  // Returns the number of the argument that a Placeholder is: captured tensors come after the
  // parameters. -1: it is not an argument.
  int ArgumentIndex(DebugTensor tensor) const;
  int NumArguments(int graph) const { return static_cast<int>(bodies_[graph].arguments.size()); }
  // Returns the op of the outer graph that branches to a body, loops over it or calls it. -1:
  // unknown.
  int Caller(int graph) const { return bodies_[graph].caller; }
  int Argument(int graph, int index) const { return bodies_[graph].arguments[index]; }  // an op
  // Returns the tensor of the outer graph that is the value of a Placeholder of a branch, loop or
  // called body (for a loop: in its first iteration). nullopt: the graph is called from Python, or
  // the call was not recorded, as calls by PartitionedCall are not.
  std::optional<DebugTensor> Outside(DebugTensor argument) const;
  // Returns the sources of output `tensor.slot` of a branching, looping or calling op: a result of
  // each body that may have computed it.
  std::vector<DebugTensor> Inside(DebugTensor tensor) const;
  // The same for an input whose op was not recorded: uses the body that was traced last before
  // `reader`.
  std::optional<DebugTensor> InsideUnrecorded(int graph, const DebugOp& reader,
                                              const DebugInput& input) const;
  // Returns result `index` of a body: results are the last Identities without readers.
  std::optional<DebugTensor> Result(int graph, size_t index) const;
  // Returns the source of a loop's argument from its second iteration on: a result of the previous
  // iteration.
  std::optional<DebugTensor> RoundBefore(DebugTensor argument) const;
  bool IsLoopBody(int graph) const;  // or condition

 private:
  struct Body {
    std::vector<int> arguments, results;  // ops
    int64_t last_order = -1;
    int caller = -1;  // op of the outer graph
  };
  const DebugRun& run_;
  std::vector<Body> bodies_;  // by graph
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_CALLS_H_
