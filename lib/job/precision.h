// A job: a graph runs with its floats rounded to a shorter format, to learn what that would lose.
#ifndef GRAPNEL_LIB_JOB_PRECISION_H_
#define GRAPNEL_LIB_JOB_PRECISION_H_

#include <string>
#include <vector>

#include "lib/check/precision_loss.h"
#include "lib/job/compare.h"

namespace grapnel {

struct KeptOp {
  std::string node, op, function;
  std::string reason;  // "overflows", "vanishes", "loses its digits", "makes what X cancels"
};

struct PrecisionReport {
  DataType format = proto::DT_HALF;
  double rtol = 0;                    // of the fetches
  int64_t tensors = 0;                // that were rounded
  std::vector<PrecisionLoss> losses;  // with all rounded, in the order of the run
  std::vector<KeptOp> kept;           // to stay in float, in the order of the graph
  std::vector<std::string> readers;   // nodes that read what they make, and so read floats
  std::vector<ComparedFetch> all_rounded, with_kept;  // against the graph as it is
  std::string failure;                                // of the rounded run; else empty
  bool Agrees() const;                                // all rounded
  bool KeptAgrees() const;
};

// Runs the graph as it is, once with every float output, constant and feed rounded, and then with
// some ops kept: those whose outputs would overflow or vanish, and those that cancel with what made
// their inputs, till no more are found, in four rounds at most. Every round costs two runs. A
// tolerance that is not given (`has_rtol` false) is 8 times the format's epsilon. Errors:
// CompareRuns's.
Expected<PrecisionReport> ComparePrecision(OpenedGraph& opened, const CompareRequest& request,
                                           DataType format, bool has_rtol);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PRECISION_H_
