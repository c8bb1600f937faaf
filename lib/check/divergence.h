// Finds where two runs diverge: the first op whose outputs differ although its inputs agree.
// Differences that only follow from earlier ones, or from rounding, are classified as such.
#ifndef GRAPNEL_LIB_CHECK_DIVERGENCE_H_
#define GRAPNEL_LIB_CHECK_DIVERGENCE_H_

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "lib/check/run_pairs.h"
#include "lib/check/tensor_difference.h"
#include "lib/ir/evaluator.h"

namespace grapnel {

enum class MismatchKind : uint8_t {
  kFault,        // the op itself differs; its inputs do not explain the difference
  kRounding,     // explained by reordered additions or by rounding, or within the tolerance
  kConsequence,  // follows from a difference before, as in an input
};

struct ComparedInput {
  std::string name;  // name in A
  bool is_compared = true;
  TensorDifference difference;  // if B is a record, only agreement and norm_error
};

// A tensor of run A that differs from its counterpart in run B.
struct Mismatch {
  int64_t order = 0;                   // position of the execution in run A; -1: a feed
  std::string node, op, node_b, op_b;  // node_b: only if it differs; op_b: "" if unknown
  int output = 0;
  std::vector<CallSite> calls;  // around the node in A
  // Around the node in B, if they are not like those in A, as when a loop is a While in one graph
  // and consists of single nodes in the other; else empty.
  std::vector<CallSite> calls_b;
  std::string type_a, type_b;  // "float[2,3]"
  std::string made_at;  // source line "net.py:21 in loss_fn", of B's record or A's graph; or ""
  TensorDifference difference;
  MismatchKind cause = MismatchKind::kFault;
  std::string reason;                 // "though all its inputs agree"; "" if within the tolerance
  std::vector<ComparedInput> inputs;  // empty: inputs were not compared one by one
  int64_t times = 1;  // in Divergence::worst, how often this output differed for the same callers
};

// An op that amplified the rounding error of its inputs.
struct ErrorGrowth {
  std::string node, op;
  double before = 0, after = 0;  // norm errors of the inputs (the largest) and the output
  double Factor() const { return before > 0 ? after / before : 0; }
};

struct Divergence {
  int64_t tensors = 0, same = 0, within = 0, diverged = 0;
  // The first tensor of run A that is beyond the tolerance, and the first that only rounding
  // brought beyond it.
  std::optional<Mismatch> first_diverged, first_rounding;
  // in the order of run A, each output of a node once per path of callers; at most kMostFaults
  std::vector<Mismatch> faults;
  // a few, each output once per path of callers, diverged ones first, then by error
  std::vector<Mismatch> worst;
  std::optional<ErrorGrowth> growth;
  static constexpr size_t kMostFaults = 256;
};

// Computes a Divergence from the pairs of nodes that RunPairs finds.
class DivergenceFinder : public PairSink {
 public:
  // `evaluator`, which must outlive the finder, computes single ops to distinguish rounding from
  // faults: the output of A's op for B's inputs. If null, fewer cases are distinguished.
  DivergenceFinder(Tolerance tolerance, Evaluator* evaluator)
      : tolerance_(tolerance), evaluator_(evaluator) {}

  void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) override;

  const Divergence& divergence() const { return divergence_; }
  Divergence Take() { return std::move(divergence_); }
  // True if this output of B's node diverged when it last had a counterpart in A.
  bool HasDiverged(const Node& b, int output) const;
  bool WasCompared(const Node& b, int output) const;

 private:
  using Output = std::tuple<const Graph*, NodeId, int>;
  struct State {
    bool diverged = false;
    double norm_error = 0;
  };

  struct Answer {
    MismatchKind cause;
    std::string reason;
  };
  void Compare(int64_t order, const NodeRun& a, const NodeRun& b, int output);
  Answer CauseOf(int64_t order, const NodeRun& a, const NodeRun& b, Mismatch* mismatch);
  std::vector<size_t> InputsOfB(const NodeRun& a, const NodeRun& b) const;
  std::string ReadAlone(const Node& b, llvm::ArrayRef<ComparedInput> inputs,
                        llvm::ArrayRef<size_t> of_b) const;
  Answer CauseByInputs(const NodeRun& a, const NodeRun& b, Mismatch* mismatch) const;
  Answer CauseByRecord(const NodeRun& a, Mismatch* mismatch) const;
  bool IsCallThatDivergedInside(const NodeRun& a) const;
  void NoteCallers(const NodeRun& a);
  void NoteCallersOfB();
  // FollowsFromBefore: true if a tensor that `node` reads, directly or through tensors that were
  // not compared, diverged or may have.
  enum class Run { kA, kB };
  bool FollowsFromBefore(const Node& node, Run run) const;
  // True if `node` adds numbers, and x and y, its outputs for the same `inputs`, differ by no more
  // than another order of the additions can explain.
  bool IsRoundingOfSum(const Node& node, llvm::ArrayRef<Tensor> inputs, const Tensor& x,
                       const Tensor& y, int output) const;
  // True if B's output agrees with the output of A's op for B's inputs; nullopt if A's op cannot be
  // computed.
  std::optional<bool> IsFaithful(const NodeRun& a, const NodeRun& b, int output) const;
  std::optional<Tensor> Evaluate(const Node& node, llvm::ArrayRef<Tensor> inputs, int output) const;
  void NoteGrowth(const NodeRun& a, const Mismatch& mismatch);
  void Keep(Mismatch mismatch);

  const Tolerance tolerance_;
  Evaluator* evaluator_;
  Divergence divergence_;
  llvm::DenseMap<Output, State> states_a_, states_b_;
  std::set<std::string> callers_;  // paths of calls in A that contain a diverged node
  llvm::DenseSet<std::pair<const Graph*, NodeId>> callers_b_;  // calling nodes in B
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DIVERGENCE_H_
