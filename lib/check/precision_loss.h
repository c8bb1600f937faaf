// Simulates a run in a 16-bit floating-point format: rounds float tensors to the format when they
// have been computed, before other nodes read them.
#ifndef GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_
#define GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/check/run_pairs.h"
#include "lib/check/tensor_difference.h"

namespace grapnel {

// A 16-bit format, and rounding to it, to nearest even. Subnormal halves are not flushed to zero.
class ShortFormat {
 public:
  // `type` is DT_HALF or DT_BFLOAT16.
  explicit ShortFormat(DataType type) : type_(type) {}
  float Round(float value) const;
  double epsilon() const;  // distance from 1 to the next number
  DataType type() const { return type_; }

 private:
  DataType type_;
};

enum class LossKind : uint8_t {
  kOverflow,   // finite numbers become infinite in the format
  kUnderflow,  // nonzero numbers become 0
  kCancelled,  // the inputs have small errors, but no digit of the output is correct
};

struct PrecisionLoss {
  LossKind kind = LossKind::kOverflow;
  std::string node, op;
  std::string function;  // whose body has the node; empty: the main graph
  int output = 0;
  std::vector<CallSite> calls;  // calls around the node, at the first occurrence
  int64_t elements = 0;
  int64_t lost = 0;       // number of lost elements, in the worst occurrence; kCancelled: all
  double extreme = 0;     // largest magnitude that overflows, or smallest that underflows; or 0
  double norm_error = 0;  // for kCancelled: TensorDifference::norm_error of the output
  // for kCancelled: the largest norm error of an input, at the first occurrence
  double error_before = 0;
  int64_t times = 1;
  // True if the output should stay in float in a graph of this format. False for an underflow of a
  // minority of the nonzero elements, which is common and harmless.
  bool is_harmful = true;
};

using FloatNode = std::pair<const Graph*, NodeId>;

// Rounds the tensors of run B of RunPairs, and records the losses.
class PrecisionWatch : public PairSink {
 public:
  // Outputs of nodes in `kept` are not rounded; with `keeps_range`, neither are outputs that would
  // overflow or harmfully underflow.
  PrecisionWatch(ShortFormat format, std::set<FloatNode> kept, bool keeps_range)
      : format_(format), kept_(std::move(kept)), keeps_range_(keeps_range) {}

  // Returns the output, rounded unless it is kept or is not a float tensor. Pass it to RunPairs as
  // the Editor.
  Tensor Edit(const Node& node, int output, const Tensor& value);
  void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) override;
  // Call it when run B has ended. RunPairs may repeat the run; overflows and underflows in
  // repetitions are not counted.
  void EndPart() { is_first_ = false; }

  // Returns the losses in the order in which they were found, each kind of loss of an output once.
  const std::vector<PrecisionLoss>& losses() const { return losses_; }
  // Returns the nodes given as `kept`, those kept for their range, and for each cancellation its
  // node and the nodes that computed its inputs.
  std::set<FloatNode> kept_and_wanted() const;
  const std::set<FloatNode>& kept_for_range() const { return kept_for_range_; }
  int64_t tensors() const { return tensors_; }

 private:
  void Add(PrecisionLoss loss, const Node& node);

  const ShortFormat format_;
  const std::set<FloatNode> kept_;
  const bool keeps_range_;
  bool is_first_ = true;
  std::mutex mutex_;
  std::set<FloatNode> kept_for_range_, wanted_;
  std::vector<PrecisionLoss> losses_;
  int64_t tensors_ = 0;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_
