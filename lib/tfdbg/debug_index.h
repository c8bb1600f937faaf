// Indices for frequent queries of a debug run: records by op, readers, calls, ops by source line.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_INDEX_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_INDEX_H_

#include <map>
#include <unordered_map>
#include <vector>

#include "lib/tfdbg/debug_calls.h"

namespace grapnel {

// The run must outlive the index and not change. Const functions are thread-safe.
class DebugIndex {
 public:
  // Cost: linear in the number of ops and records.
  explicit DebugIndex(const DebugRun& run);

  // Returns the indices in DebugRun::traces of the records of all outputs of an op, in the order of
  // execution.
  llvm::ArrayRef<int> Traces(int graph, int op) const;
  // Among the records of output `slot` of an op in the same call as record `near`, returns the
  // closest to `near` (with `after`, the closest at or after `near`); -1 if there is none.
  int TraceNear(int graph, int op, int slot, int near, bool after) const;
  // Returns the last record of an output in a call; -1 if there is no such record.
  int TraceIn(DebugTensor tensor, int execution) const;
  // Returns the ops of the same body that read an output.
  std::vector<int> Readers(DebugTensor tensor) const;
  // Returns the ops of the outer graph that read a result of a branch, a loop body or a called
  // function (as tensors with slot 0).
  std::vector<DebugTensor> ReadersOutside(DebugTensor result) const;
  // Returns the executions that have an eager tensor as input.
  llvm::ArrayRef<int> EagerReaders(int64_t id) const;

  // A summary of the traces in a call.
  struct Inside {
    int first = -1, first_bad = -1;  // indices in DebugRun::traces
    int traces = 0, bad = 0;
  };
  const Inside& InsideOf(int execution) const { return inside_[execution]; }
  // True if an output of an execution, or a tensor computed inside it, has a NaN or an infinity.
  bool IsBad(int execution) const;

  // The ops and executions that a source line created: those whose innermost frame in the file is
  // on this line.
  struct Line {
    std::vector<DebugTensor> ops;
    std::vector<int> executions;
  };
  // Returns the lines of a source file that created ops or executions. Cost: linear in the number
  // of ops, executions and frames of stacks.
  std::map<int, Line> LinesOf(int source) const;

  const DebugCalls& calls() const { return calls_; }

 private:
  const DebugRun& run_;
  DebugCalls calls_;
  std::vector<std::vector<std::vector<int>>> traces_;   // by graph and op
  std::vector<std::vector<std::vector<int>>> readers_;  // by graph and op
  std::unordered_map<int64_t, std::vector<int>> eager_readers_;
  // By graph and op of a result: the ops that read the result through a call that was not recorded.
  std::map<std::pair<int, int>, std::vector<DebugTensor>> unrecorded_readers_;
  std::vector<Inside> inside_;  // by execution
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_INDEX_H_
