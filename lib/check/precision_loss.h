// What a run would lose in a shorter floating-point format: its floats are rounded to it one after
// another, as they are made.
#ifndef GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_
#define GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/check/run_pairs.h"
#include "lib/check/tensor_difference.h"

namespace grapnel {

// Numbers of 16 bits that floats are rounded to, to nearest even. Subnormal halves are kept.
class ShortFormat {
 public:
  // DT_HALF or DT_BFLOAT16.
  explicit ShortFormat(DataType type) : type_(type) {}
  float Round(float value) const;
  double epsilon() const;  // from 1 to the next number
  DataType type() const { return type_; }

 private:
  DataType type_;
};

enum class LossKind : uint8_t {
  kOverflow,   // finite numbers become infinite
  kUnderflow,  // numbers become 0
  kCancelled,  // of inputs that have lost little, no digit is left
};

struct PrecisionLoss {
  LossKind kind = LossKind::kOverflow;
  std::string node, op;
  int output = 0;
  std::vector<CallSite> calls;  // of the first time
  int64_t elements = 0;
  int64_t lost = 0;         // elements that overflow, or underflow, in the worst run of the node
  double extreme = 0;       // the largest that overflows, or the smallest that underflows
  double norm_error = 0;    // kCancelled: of the output; see TensorDifference
  double error_before = 0;  // the largest of its inputs
  int64_t times = 1;
  // What a graph of this format has to keep in float: all of underflow is a few elements near 0 at
  // times, and does no harm.
  bool is_harmful = true;
};

using FloatNode = std::pair<const Graph*, NodeId>;

// Rounds run B for RunPairs, and sees what is lost.
class PrecisionWatch : public PairSink {
 public:
  // Nodes of `kept` stay as they are; with `keeps_range` also each that would overflow or vanish.
  PrecisionWatch(ShortFormat format, std::set<FloatNode> kept, bool keeps_range)
      : format_(format), kept_(std::move(kept)), keeps_range_(keeps_range) {}

  // RunPairs' editor.
  Tensor Edit(const Node& node, int output, const Tensor& value);
  void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) override;
  // What comes after is of runs that were seen before, and not counted.
  void EndPart() { is_first_ = false; }

  // In the order of the run, an output each.
  const std::vector<PrecisionLoss>& losses() const { return losses_; }
  // Those given, those kept for their range, and for each cancellation the nodes that made its
  // inputs.
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
