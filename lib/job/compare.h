// A job: runs two graphs, or one graph under two conditions, and finds where the runs diverge.
#ifndef GRAPNEL_LIB_JOB_COMPARE_H_
#define GRAPNEL_LIB_JOB_COMPARE_H_

#include <string>
#include <vector>

#include "lib/check/divergence.h"
#include "lib/diff/provenance.h"
#include "lib/job/run.h"
#include "lib/tfdbg/debug_folder.h"

namespace grapnel {

struct CompareRequest {
  // The settings of both runs; what RunRequest::ByItself() resets is ignored. Run A uses one CPU
  // thread.
  RunRequest run;
  Tolerance tolerance;
  Device* device_b = nullptr;  // device for B's nodes that have a kernel there; null: the CPU
  int threads_b = 1;
  const Provenance* provenance = nullptr;  // ledger of the rewrites that made B from A, or null
  int64_t budget = 0;  // bytes of A's tensors held at a time; 0: a quarter of MemoryBudget
};

struct ComparedFetch {
  std::string name;
  bool is_compared = true;  // false: a run has no value for the fetch, or it holds objects
  TensorDifference difference;
};

struct RunComparison {
  Divergence divergence;
  std::vector<ComparedFetch> fetches;
  std::string failure_a, failure_b;  // the error that ended a run; else empty
  // Executions of A's nodes (a node in a loop counts in each iteration), and how many of these
  // executions have a counterpart in B.
  int64_t nodes_of_a = 0, paired = 0;
  int parts = 1;  // how often the graphs ran
  // True if rewrites made B from A: corresponding inner tensors may then differ on purpose, and
  // only a mismatch that reaches a diverged fetch is a fault.
  bool is_rewritten = false;
  // Index in divergence.faults of the fault to report first; -1: there is none to report.
  int first = -1;
  const Mismatch* first_fault() const {
    return first < 0 ? nullptr : &divergence.faults[static_cast<size_t>(first)];
  }
  bool FetchesAgree() const;
  bool Agrees() const;
};

// `a` and `b` may be the same graph. B gets A's feeds and fetches, unless they are different cases,
// each of which has its own. If only B is a case, A gets the case's values first. Cost: both graphs
// run once for each budget-sized part of A's tensors, and the op of each diverged tensor runs once
// more. Errors: those of RunJob, with the path; those of FindSameEnds; B lacks a requested fetch. A
// failing run is part of the result, unless it was canceled, or both fail and had not diverged
// before.
Expected<RunComparison> CompareRuns(OpenedGraph& a, OpenedGraph& b, const CompareRequest& request);

// Compares the graph with the graph that the default passes make from it, except those in `without`
// (OptimizeOptions::without).
Expected<RunComparison> CompareOptimized(OpenedGraph& opened, const CompareRequest& request,
                                         const std::vector<std::string>& without = {});

// Compares a run of `a` with B, a call of a function from Python that TensorFlow's debugger
// recorded with FULL_TENSOR. `step` is the number of this call among the recorded calls with full
// tensors of A's nodes. Placeholders without a feed get their recorded values, if there are any.
// Errors: those of RunJob; no full tensors were recorded, or none of a node that A has; there is no
// call number `step`.
Expected<RunComparison> CompareWithRecord(OpenedGraph& a, const DebugFolder& folder,
                                          const DebugRun& run, int step,
                                          const CompareRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_COMPARE_H_
