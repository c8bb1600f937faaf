// Indices for frequent queries of a run: records by op, readers, calls, ops by source line.
#ifndef GRAPNEL_LIB_TFDBG_DEBUG_INDEX_H_
#define GRAPNEL_LIB_TFDBG_DEBUG_INDEX_H_

#include <map>
#include <unordered_map>
#include <vector>

#include "lib/tfdbg/debug_calls.h"

namespace grapnel {

// The run must outlive it and not change. Safe to read from several threads.
class DebugIndex {
 public:
  // Cost: linear in ops and records.
  explicit DebugIndex(const DebugRun& run);

  // Returns the records of all outputs of an op, in the order of execution.
  llvm::ArrayRef<int> Traces(int graph, int op) const;
  // Returns the record of output `slot` of an op that is closest to record `near` within the same
  // call, at or after it if `after`; -1 if there is no such record.
  int TraceNear(int graph, int op, int slot, int near, bool after) const;
  // Returns the last record of an output within a call; -1 if there is no such record.
  int TraceIn(DebugTensor tensor, int execution) const;
  // Returns the ops of the same body that read an output.
  std::vector<int> Readers(DebugTensor tensor) const;
  // Returns the ops of the outer body that read a result of a branch, a loop or a called function.
  std::vector<DebugTensor> ReadersOutside(DebugTensor result) const;
  // Returns the executions that have an eager tensor as input.
  llvm::ArrayRef<int> EagerReaders(int64_t id) const;

  // The records inside a call.
  struct Inside {
    int first = -1, first_bad = -1;  // traces
    int traces = 0, bad = 0;
  };
  const Inside& InsideOf(int execution) const { return inside_[execution]; }
  // True if an execution, or a tensor computed inside it, has a NaN or an infinity.
  bool IsBad(int execution) const;

  // The ops and executions that a line created: their deepest frame in the file is on that line.
  struct Line {
    std::vector<DebugTensor> ops;
    std::vector<int> executions;
  };
  // Cost: linear in ops, executions and frames of stacks.
  std::map<int, Line> LinesOf(int source) const;

  const DebugCalls& calls() const { return calls_; }

 private:
  const DebugRun& run_;
  DebugCalls calls_;
  std::vector<std::vector<std::vector<int>>> traces_;   // by graph and op
  std::vector<std::vector<std::vector<int>>> readers_;  // by graph and op
  std::unordered_map<int64_t, std::vector<int>> eager_readers_;
  // By graph and op of a result: the ops that read it through a call that was not recorded.
  std::map<std::pair<int, int>, std::vector<DebugTensor>> unrecorded_readers_;
  std::vector<Inside> inside_;  // by execution
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TFDBG_DEBUG_INDEX_H_
