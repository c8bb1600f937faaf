// Traces a tensor of a debug folder to the origin of its value, through arguments, results and
// variables.
#ifndef GRAPNEL_LIB_CHECK_VALUE_FLOW_H_
#define GRAPNEL_LIB_CHECK_VALUE_FLOW_H_

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lib/support/public.h"
#include "lib/tfdbg/debug_calls.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// The origin of a value, as far as it can be followed.
struct GRAPNEL_PUBLIC ValueSource {
  DebugTensor tensor;                     // tensor.op is -1 if an eager op computed it, or unknown
  int trace = -1;                         // the trace that recorded the value; -1: none
  int execution = -1, output = 0;         // the eager op or call that output the value; -1: none
  std::optional<int64_t> eager_id;        // id of the eager tensor that had the value
  const RecordedTensor* value = nullptr;  // null: the value was not recorded
};

// Follows the values of a run. Pass each record in order (PassTrace, PassExecution); queries refer
// to the state after the records that were passed. The run must outlive this object and not change.
class GRAPNEL_PUBLIC ValueFlow {
 public:
  // Cost: linear in ops, and for each function body in the ops before its call.
  explicit ValueFlow(const DebugRun& run);
  void PassTrace(int trace);
  void PassExecution(int execution);

  // Returns the source of an output in the call `execution` (-1: unknown).
  ValueSource SourceOf(DebugTensor tensor, int execution) const;
  ValueSource SourceOfInput(int graph, const DebugOp& reader, const DebugInput& input,
                            int execution) const;
  // Returns the source of an argument's value in this iteration of a loop, without using records of
  // the argument itself.
  ValueSource SourceOfArgument(DebugTensor argument, int execution, int iteration) const;
  ValueSource SourceOfEager(int64_t id) const;
  // For an output of a call, a branch or a loop, returns the source of its value inside the body
  // that ran; nullopt for other ops, and if the body is not in the folder.
  std::optional<ValueSource> SourceInside(DebugTensor call, int execution) const;
  // Returns the source of the output of an op that is a variable: the variable itself, which
  // earlier calls may have assigned; nullopt for other ops.
  std::optional<ValueSource> SourceOfVariable(DebugTensor tensor) const {
    if (!IsHandle(tensor)) return std::nullopt;
    ValueSource source;
    source.tensor = tensor;
    return source;
  }
  // True if the value has a NaN or an infinity, or is a variable that was assigned one.
  bool IsBad(const ValueSource& source) const;

 private:
  using Key = std::pair<uint64_t, int>;
  static Key KeyOf(DebugTensor tensor) {
    return {static_cast<uint64_t>(tensor.graph) << 32 | static_cast<uint32_t>(tensor.op),
            tensor.slot};
  }
  int LastTrace(DebugTensor tensor, int execution) const;
  std::optional<DebugTensor> StepBack(DebugTensor tensor, int execution, bool value_known) const;
  std::optional<DebugTensor> NewestOf(llvm::ArrayRef<DebugTensor> tensors, int execution) const;
  std::optional<int64_t> EagerArgument(DebugTensor argument, int execution) const;
  void FollowEager(int64_t id, ValueSource* source) const;
  void MarkVariables(int graph, int execution);
  bool IsHandle(DebugTensor tensor) const;

  const DebugRun& run_;
  DebugCalls calls_;
  std::vector<std::vector<int>> variable_writes_;  // by graph: ops that write variables
  llvm::DenseMap<Key, int> last_trace_;
  std::unordered_map<int64_t, std::pair<int, int>> maker_;  // eager tensor -> execution, output
  std::unordered_set<int64_t> bad_variables_;               // ids of their handles
  llvm::DenseSet<Key> bad_handles_;                         // variables that are ops of a graph
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_VALUE_FLOW_H_
