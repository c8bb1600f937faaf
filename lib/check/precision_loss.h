// Simulates a run in a shorter floating-point format: rounds its floats to the format one after
// another, as they are computed.
#ifndef GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_
#define GRAPNEL_LIB_CHECK_PRECISION_LOSS_H_

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/check/run_pairs.h"
#include "lib/check/tensor_difference.h"

namespace grapnel {

// A 16-bit format to which floats are rounded, to nearest even. Subnormal halves are kept.
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
  kCancelled,  // the inputs have lost little, but no correct digit remains
};

struct PrecisionLoss {
  LossKind kind = LossKind::kOverflow;
  std::string node, op;
  int output = 0;
  std::vector<CallSite> calls;  // of the first occurrence
  int64_t elements = 0;
  int64_t lost = 0;         // elements that overflow, or underflow, in the worst run of the node
  double extreme = 0;       // the largest that overflows, or the smallest that underflows
  double norm_error = 0;    // for kCancelled: of the output; see TensorDifference
  double error_before = 0;  // the largest of its inputs
  int64_t times = 1;
  // True if a graph in this format must keep the output in float. Underflow of a few elements near
  // 0 occurs at times, and is harmless.
  bool is_harmful = true;
};

using FloatNode = std::pair<const Graph*, NodeId>;

// Rounds run B for RunPairs, and records the losses.
class PrecisionWatch : public PairSink {
 public:
  // Does not round nodes of `kept`; with `keeps_range` also those that would overflow or underflow.
  PrecisionWatch(ShortFormat format, std::set<FloatNode> kept, bool keeps_range)
      : format_(format), kept_(std::move(kept)), keeps_range_(keeps_range) {}

  // The editor for RunPairs.
  Tensor Edit(const Node& node, int output, const Tensor& value);
  void OnPair(int64_t order, const NodeRun& a, const NodeRun& b) override;
  // Later runs repeat earlier ones, and are not counted.
  void EndPart() { is_first_ = false; }

  // In the order of the run, each output once.
  const std::vector<PrecisionLoss>& losses() const { return losses_; }
  // Returns the nodes given as `kept`, those kept for their range, and for each cancellation the
  // nodes that computed its inputs.
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
