// Where two runs part: the first op that makes other values of inputs that agree, told from what
// only follows from it and from rounding.
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
  kFault,        // what it reads agrees, what it gives does not
  kRounding,     // so little as another order of additions makes, or as rounded inputs make of it
  kConsequence,  // of a tensor that diverged before
};

struct ComparedInput {
  std::string name;  // in A
  bool is_compared = true;
  TensorDifference difference;  // of a recorded run its agreement and norm error alone
};

// One tensor of A and the one of B that stands for it.
struct Mismatch {
  int64_t order = 0;                   // of the node in run A
  std::string node, op, node_b, op_b;  // B's name only where it is another
  int output = 0;
  std::vector<CallSite> calls;    // A's
  std::vector<CallSite> calls_b;  // where they are others: a loop in one, a While in the other
  std::string type_a, type_b;     // "float[2,3]"
  std::string made_at;            // "net.py:21 in loss_fn": as B's record says, else A's graph
  TensorDifference difference;
  MismatchKind cause = MismatchKind::kFault;
  std::string reason;                 // "though all its inputs are the same: ..."
  std::vector<ComparedInput> inputs;  // empty: they cannot be compared one by one
  int64_t times = 1;                  // this output, in all iterations and calls
};

// Rounding that one op made more of.
struct ErrorGrowth {
  std::string node, op;
  double before = 0, after = 0;  // norm errors of its inputs and its output
  double Factor() const { return before > 0 ? after / before : 0; }
};

struct Divergence {
  int64_t tensors = 0, same = 0, within = 0, diverged = 0;
  std::optional<Mismatch> first_diverged, first_rounding;  // that diverged
  std::vector<Mismatch> faults;  // in the order of A, an output each; at most kMostFaults
  std::vector<Mismatch> worst;   // a few, an output each, the largest error first
  std::optional<ErrorGrowth> growth;
  static constexpr size_t kMostFaults = 256;
};

// Fills a Divergence from pairs.
class DivergenceFinder : public PairSink {
 public:
  // `evaluator` computes single ops to tell rounding from faults: what A's op makes of B's inputs;
  // null: less is told apart. It outlives the finder.
  DivergenceFinder(Tolerance tolerance, Evaluator* evaluator)
      : tolerance_(tolerance), evaluator_(evaluator) {}

  void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) override;

  const Divergence& divergence() const { return divergence_; }
  Divergence Take() { return std::move(divergence_); }
  // Of an output of B that was compared: whether its last run diverged.
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
  // Whether something that `node` reads, directly or through what was not compared, diverged.
  enum class Run { kA, kB };
  bool FollowsFromBefore(const Node& node, Run run) const;
  // Whether x and y, made of `inputs` by one op that adds, may differ by the order of additions.
  bool IsRoundingOfSum(const Node& node, llvm::ArrayRef<Tensor> inputs, const Tensor& x,
                       const Tensor& y, int output) const;
  // Whether B's output is what A's op makes of B's inputs; none: it cannot be computed by itself.
  std::optional<bool> IsFaithful(const NodeRun& a, const NodeRun& b, int output) const;
  std::optional<Tensor> Evaluate(const Node& node, llvm::ArrayRef<Tensor> inputs, int output) const;
  void NoteGrowth(const NodeRun& a, const Mismatch& mismatch);
  void Keep(Mismatch mismatch);

  const Tolerance tolerance_;
  Evaluator* evaluator_;
  Divergence divergence_;
  llvm::DenseMap<Output, State> states_a_, states_b_;
  std::set<std::string> callers_;  // of what has diverged, in A, without iterations
  llvm::DenseSet<std::pair<const Graph*, NodeId>> callers_b_;  // the same in B
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_DIVERGENCE_H_
