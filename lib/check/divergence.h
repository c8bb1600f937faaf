// Finds where two runs diverge: the first op whose values differ although its inputs agree, as
// opposed to consequences of earlier differences and of rounding.
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
  kFault,        // its inputs agree, its output does not
  kRounding,     // no more than reordered additions cause, or than rounded inputs explain
  kConsequence,  // an input had diverged before
};

struct ComparedInput {
  std::string name;  // in A
  bool is_compared = true;
  TensorDifference difference;  // for a recorded run only its agreement and norm error
};

// One tensor of A and its counterpart in B.
struct Mismatch {
  int64_t order = 0;                   // of the node in run A
  std::string node, op, node_b, op_b;  // B's names only if they differ
  int output = 0;
  std::vector<CallSite> calls;    // in A
  std::vector<CallSite> calls_b;  // if they differ: a loop in one, a While in the other
  std::string type_a, type_b;     // "float[2,3]"
  std::string made_at;            // "net.py:21 in loss_fn": from B's record, else from A's graph
  TensorDifference difference;
  MismatchKind cause = MismatchKind::kFault;
  std::string reason;                 // "though all its inputs are the same: ..."
  std::vector<ComparedInput> inputs;  // empty: they cannot be compared one by one
  int64_t times = 1;                  // occurrences of this output, in all iterations and calls
};

// A rounding error that one op amplified.
struct ErrorGrowth {
  std::string node, op;
  double before = 0, after = 0;  // norm errors of its inputs and its output
  double Factor() const { return before > 0 ? after / before : 0; }
};

struct Divergence {
  int64_t tensors = 0, same = 0, within = 0, diverged = 0;
  std::optional<Mismatch> first_diverged, first_rounding;  // among those that diverged
  std::vector<Mismatch> faults;  // in the order of A, each output once; at most kMostFaults
  std::vector<Mismatch> worst;   // a few, each output once, the largest error first
  std::optional<ErrorGrowth> growth;
  static constexpr size_t kMostFaults = 256;
};

// Computes a Divergence from pairs.
class DivergenceFinder : public PairSink {
 public:
  // `evaluator` computes single ops to distinguish rounding from faults: the result of A's op for
  // B's inputs. If null, fewer cases are distinguished. It must outlive the finder.
  DivergenceFinder(Tolerance tolerance, Evaluator* evaluator)
      : tolerance_(tolerance), evaluator_(evaluator) {}

  void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) override;

  const Divergence& divergence() const { return divergence_; }
  Divergence Take() { return std::move(divergence_); }
  // True if the last run of a compared output of B diverged.
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
  // True if a value that `node` reads, directly or through values that were not compared, diverged.
  enum class Run { kA, kB };
  bool FollowsFromBefore(const Node& node, Run run) const;
  // True if x and y, computed from `inputs` by one op that adds, may differ by the order of
  // additions.
  bool IsRoundingOfSum(const Node& node, llvm::ArrayRef<Tensor> inputs, const Tensor& x,
                       const Tensor& y, int output) const;
  // True if B's output equals the result of A's op for B's inputs; nullopt if that cannot be
  // computed.
  std::optional<bool> IsFaithful(const NodeRun& a, const NodeRun& b, int output) const;
  std::optional<Tensor> Evaluate(const Node& node, llvm::ArrayRef<Tensor> inputs, int output) const;
  void NoteGrowth(const NodeRun& a, const Mismatch& mismatch);
  void Keep(Mismatch mismatch);

  const Tolerance tolerance_;
  Evaluator* evaluator_;
  Divergence divergence_;
  llvm::DenseMap<Output, State> states_a_, states_b_;
  std::set<std::string> callers_;  // of diverged nodes, in A, without iterations
  llvm::DenseSet<std::pair<const Graph*, NodeId>> callers_b_;  // the same in B
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DIVERGENCE_H_
