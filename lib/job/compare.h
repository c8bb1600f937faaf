// A job: two runs are made, of two graphs or of one under two conditions, and where they part is
// found.
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
  // Feeds, fetches, signature and variables of both runs, `sink`, `print` and `cancel`; the rest is
  // not looked at. Run A is on one thread of the CPU.
  RunRequest run;
  Tolerance tolerance;
  Device* device_b = nullptr;  // where B's nodes run that have a kernel there; null: the CPU
  int threads_b = 1;
  const Provenance* provenance = nullptr;  // what a ledger says of how B was made of A
  int64_t budget = 0;  // bytes of A's tensors that are held at a time; 0: a quarter of MemoryBudget
};

struct ComparedFetch {
  std::string name;
  bool is_compared = true;  // false: B has none of that name, or it holds objects
  TensorDifference difference;
};

struct RunComparison {
  Divergence divergence;
  std::vector<ComparedFetch> fetches;
  std::string failure_a, failure_b;  // the error that ended a run; else empty
  int64_t nodes_of_a = 0;            // that ran
  int64_t paired = 0;                // of those, that had a counterpart
  int parts = 1;                     // how often both ran
  // B was made by rewrites, which may give a tensor inside another meaning: only what reaches a
  // fetch that parts is a fault.
  bool is_rewritten = false;
  // Index of the fault to tell first, in divergence.faults; -1: there is none.
  int first = -1;
  const Mismatch* first_fault() const {
    return first < 0 ? nullptr : &divergence.faults[static_cast<size_t>(first)];
  }
  bool FetchesAgree() const;
  bool Agrees() const;
};

// `a` and `b` may be one. B is given A's feeds and fetches, unless it is a case with its own. Cost:
// both run as often as A's tensors fill the budget, and for a tensor that parts one op more.
// Errors: RunJob's, with the path; a run that fails is part of the answer, unless both do and had
// not diverged before.
Expected<RunComparison> CompareRuns(OpenedGraph& a, OpenedGraph& b, const CompareRequest& request);

// The graph as it is, and what the default passes make of it.
Expected<RunComparison> CompareOptimized(OpenedGraph& opened, const CompareRequest& request);

// B is what TensorFlow's debugger recorded with FULL_TENSOR: of the functions that were called from
// Python, call number `step` of those of which tensors were traced. Placeholders that are not fed
// get what is recorded for them. Errors: nothing recorded has the name of a node; there is no such
// step.
Expected<RunComparison> CompareWithRecord(OpenedGraph& a, const DebugFolder& folder,
                                          const DebugRun& run, int step,
                                          const CompareRequest& request);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_COMPARE_H_
