// A job: runs a graph with its floats rounded to a shorter format, to show how much accuracy that
// format would lose.
#ifndef GRAPNEL_LIB_JOB_PRECISION_H_
#define GRAPNEL_LIB_JOB_PRECISION_H_

#include <string>
#include <vector>

#include "lib/check/precision_loss.h"
#include "lib/job/compare.h"

namespace grapnel {

struct KeptOp {
  std::string node, op, function;
  std::string reason;  // "overflows", "vanishes", "loses its digits", ...
};

struct PrecisionReport {
  DataType format = proto::DT_HALF;
  double rtol = 0;                    // relative tolerance of the fetches
  int64_t tensors = 0;                // number of rounded tensors
  std::vector<PrecisionLoss> losses;  // of the run with everything rounded, in execution order
  std::vector<KeptOp> kept;           // ops to keep in float, sorted by function and node id
  std::vector<std::string> readers;   // nodes that read outputs of kept ops, and so read floats
  std::vector<ComparedFetch> all_rounded, with_kept;  // compared with the unrounded graph
  std::string failure;                                // error of the rounded run; else empty
  bool Agrees() const;                                // the rounded run; also false if it failed
  bool KeptAgrees() const;
};

// Runs the graph unchanged, then with every float output, constant and feed rounded, and then with
// some ops kept in float: ops whose outputs would overflow or vanish, and ops that subtract nearly
// equal numbers, together with the ops that produced these numbers. Repeats this until the fetches
// agree or no more ops are found, for at most four rounds. A round runs the graph twice for each
// part of its tensors that fits in memory. If no tolerance is given (`has_rtol` false), it is 8
// times the format's epsilon. Errors: those of RunJob; the unrounded run fails.
Expected<PrecisionReport> ComparePrecision(OpenedGraph& opened, const CompareRequest& request,
                                           DataType format, bool has_rtol);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_PRECISION_H_
