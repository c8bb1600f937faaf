// The calls of functions in a debug folder. TensorFlow does not record which op called which
// function; grapnel derives it from names, times and the order of arguments.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_CALLS_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_CALLS_H_

#include <optional>
#include <vector>

#include "lib/support/public.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

// How a function's body is used. A branch in a loop has a name such as "while_cond_true_30", which
// has both "while_cond" and "cond_true": it counts as a branch.
enum class BodyRole { kCalled, kLoopCondition, kLoopBody, kThen, kElse, kCase };
// Returns the role that a function's name implies, by TensorFlow's naming scheme.
GRAPNEL_PUBLIC BodyRole BodyRoleOf(llvm::StringRef name);

// Sets `graph` and `call` of executions, and `execution` and `iteration` of traces, as far as they
// can be derived. Cost: n log n in the number of records.
GRAPNEL_PUBLIC void LinkCalls(DebugRun* run);

// An output of an op of DebugRun::graphs.
struct GRAPNEL_PUBLIC DebugTensor {
  int graph = -1, op = -1, slot = 0;
};

// The arguments and results of function bodies. The run must outlive this object and not change.
class GRAPNEL_PUBLIC DebugCalls {
 public:
  // Cost: linear in ops, and for each function body in the ops before its call.
  explicit DebugCalls(const DebugRun& run);

  bool IsArgument(DebugTensor tensor) const { return ArgumentIndex(tensor) >= 0; }
  // Returns the argument index of a Placeholder (captured tensors come after the parameters); -1 if
  // the tensor is not an argument.
  int ArgumentIndex(DebugTensor tensor) const;
  int NumArguments(int graph) const { return static_cast<int>(bodies_[graph].arguments.size()); }
  // Returns the op of the outer graph that has `graph` as a branch or loop body, or calls it; -1 if
  // unknown.
  int Caller(int graph) const { return bodies_[graph].caller; }
  int Argument(int graph, int index) const { return bodies_[graph].arguments[index]; }  // an op
  // Returns the tensor of the outer graph that a Placeholder of a branch, loop or called body gets
  // its value from (for a loop: in the first iteration). Returns nullopt if that is not known, as
  // for a graph that is called from Python, or if the call was not recorded: TensorFlow does not
  // record PartitionedCall.
  std::optional<DebugTensor> Outside(DebugTensor argument) const;
  // Returns the sources of output `tensor.slot` of an op that branches, loops or calls: one result
  // of each body that may have computed this output.
  std::vector<DebugTensor> Inside(DebugTensor tensor) const;
  // Returns the result of a body that an input of `reader` comes from, if the calling op was not
  // recorded: assumes the body that was traced last before `reader`. Returns nullopt if there is
  // none, or if the input is not named as a call's.
  std::optional<DebugTensor> InsideUnrecorded(int graph, const DebugOp& reader,
                                              const DebugInput& input) const;
  // Returns result `index` of a body. The results are the Identities without readers at the end of
  // the body.
  std::optional<DebugTensor> Result(int graph, size_t index) const;
  // Returns the source of a loop's argument from the second iteration on: the loop body's result of
  // the previous iteration; nullopt if it is not known.
  std::optional<DebugTensor> RoundBefore(DebugTensor argument) const;
  bool IsLoopBody(int graph) const;  // also true for a loop's condition

 private:
  struct Body {
    std::vector<int> arguments, results;  // ops of the body
    int64_t last_order = -1;
    int caller = -1;  // an op of the outer graph; -1: unknown
  };
  const DebugRun& run_;
  std::vector<Body> bodies_;  // by graph
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_CALLS_H_
