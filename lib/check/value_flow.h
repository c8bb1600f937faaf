// Where a tensor of a debug folder had its value from, through arguments, results and variables.
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

// Where a value was made, as far as it can be followed.
struct GRAPNEL_PUBLIC ValueSource {
  DebugTensor tensor;                     // tensor.op -1: made by an eager op, or not known
  int trace = -1;                         // that recorded it, if one did
  int execution = -1, output = 0;         // the eager op or call that put it out, if one did
  std::optional<int64_t> eager_id;        // of the eager tensor through which it came
  const RecordedTensor* value = nullptr;  // null: not recorded
};

// Follows a run from its first record to its last: Pass() each record in order; questions are
// answered as of then. The run must outlive it and not change.
class GRAPNEL_PUBLIC ValueFlow {
 public:
  // Cost: linear in ops.
  explicit ValueFlow(const DebugRun& run);
  void PassTrace(int trace);
  void PassExecution(int execution);

  // Of an output within the call `execution` (-1: not known which).
  ValueSource SourceOf(DebugTensor tensor, int execution) const;
  ValueSource SourceOfInput(int graph, const DebugOp& reader, const DebugInput& input,
                            int execution) const;
  // Of what an argument stands for, in this iteration of a loop, whatever was recorded of itself.
  ValueSource SourceOfArgument(DebugTensor argument, int execution, int iteration) const;
  ValueSource SourceOfEager(int64_t id) const;
  // Of what a calling, branching or looping op puts out, in the body that it ran; nothing of
  // others.
  std::optional<ValueSource> SourceInside(DebugTensor call, int execution) const;
  // Of what a variable puts out that is an op of the graph: what it was given in calls before;
  // nothing of other ops.
  std::optional<ValueSource> SourceOfVariable(DebugTensor tensor) const {
    if (!IsHandle(tensor)) return std::nullopt;
    ValueSource source;
    source.tensor = tensor;
    return source;
  }
  // Whether the value holds NaN or infinity, or is a variable that was given some.
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
  std::unordered_set<int64_t> bad_variables_;               // by their handles
  llvm::DenseSet<Key> bad_handles_;                         // the same of those inside of graphs
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_VALUE_FLOW_H_
