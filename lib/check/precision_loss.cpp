#include "lib/check/precision_loss.h"

#include <cmath>
#include <cstring>

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// From this norm error (largest error / largest magnitude) on, no digit of a tensor counts as
// correct.
constexpr double kAllBits = 0.5;
// An op that amplifies the error of its inputs by at least this factor is the cause of a loss.
constexpr double kLeastGrowth = 16;

// Rounds a float to nearest even by dropping its lowest `dropped` bits.
float RoundBits(float value, int dropped) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  uint32_t below = (uint32_t{1} << dropped) - 1;
  bits = (bits + (below >> 1) + ((bits >> dropped) & 1)) & ~below;
  std::memcpy(&value, &bits, 4);
  return value;
}

float RoundToHalf(float value) {
  float magnitude = std::fabs(value);
  if (magnitude >= 0x1p-14f) {
    float rounded = RoundBits(value, 13);
    return std::fabs(rounded) > 65504 ? std::copysign(INFINITY, value) : rounded;
  }
  // Subnormal halves are multiples of 2^-24, the distance of floats in [0.5, 1): adding 0.5 rounds
  // to them.
  return std::copysign((magnitude + 0.5f) - 0.5f, value);
}

struct RangeLoss {
  int64_t over = 0, under = 0, nonzero = 0;
  double largest = 0, smallest = 0;
};

}  // namespace

float ShortFormat::Round(float value) const {
  if (!std::isfinite(value)) return value;
  return type_ == proto::DT_HALF ? RoundToHalf(value) : RoundBits(value, 16);
}

double ShortFormat::epsilon() const { return std::ldexp(1, type_ == proto::DT_HALF ? -10 : -7); }

Tensor PrecisionWatch::Edit(const Node& node, int output, const Tensor& value) {
  if (!value || value.dtype() != proto::DT_FLOAT || value.num_elements() == 0) return value;
  auto rounded = Tensor::Allocate(value.dtype(), value.dims());
  if (!rounded) {
    llvm::consumeError(rounded.takeError());
    return value;
  }
  const float* from = value.data<float>();
  float* to = rounded->data<float>();
  RangeLoss loss;
  for (int64_t i = 0; i < value.num_elements(); ++i) {
    to[i] = format_.Round(from[i]);
    double magnitude = std::fabs(from[i]);
    loss.nonzero += from[i] != 0;
    if (std::isinf(to[i]) && std::isfinite(from[i])) {
      ++loss.over;
      loss.largest = std::max(loss.largest, magnitude);
    } else if (to[i] == 0 && from[i] != 0) {
      loss.smallest = loss.under++ == 0 ? magnitude : std::min(loss.smallest, magnitude);
    }
  }
  bool vanishes = loss.under * 2 >= loss.nonzero && loss.under > 0;
  FloatNode key(&node.graph(), node.id());
  std::lock_guard lock(mutex_);
  bool is_kept = kept_.count(key) > 0;
  if (is_first_) {
    ++tensors_;
    PrecisionLoss found;
    found.elements = value.num_elements();
    found.output = output;
    if (loss.over > 0) {
      found.kind = LossKind::kOverflow;
      found.lost = loss.over;
      found.extreme = loss.largest;
      Add(found, node);
    }
    if (loss.under > 0) {
      found.kind = LossKind::kUnderflow;
      found.lost = loss.under;
      found.extreme = loss.smallest;
      found.is_harmful = vanishes;
      Add(found, node);
    }
    if (keeps_range_ && (loss.over > 0 || vanishes)) kept_for_range_.insert(key);
  }
  return is_kept || (keeps_range_ && (loss.over > 0 || vanishes)) ? value : *rounded;
}

void PrecisionWatch::OnPair(int64_t /*order*/, const NodeRun& a, const NodeRun& b) {
  if (!b.node || a.inputs.size() != b.inputs.size() || !CalledFunctions(b.node).empty()) return;
  Tolerance exact{0, 0};
  auto is_float = [](const Tensor& x, const Tensor& y) {
    return x && y && x.dtype() == proto::DT_FLOAT && x.dims() == y.dims() && y.dtype() == x.dtype();
  };
  for (size_t i = 0; i < std::min(a.outputs.size(), b.outputs.size()); ++i) {
    if (!is_float(a.outputs[i], b.outputs[i])) continue;
    TensorDifference difference = DifferenceOf(a.outputs[i], b.outputs[i], exact);
    if (difference.norm_error < kAllBits || !difference.mismatch.empty()) continue;
    double before = 0;
    bool all_known = true;
    for (size_t j = 0; j < a.inputs.size(); ++j) {
      if (!is_float(a.inputs[j], b.inputs[j])) continue;
      TensorDifference of_input = DifferenceOf(a.inputs[j], b.inputs[j], exact);
      before = std::max(before, of_input.norm_error);
      all_known &= of_input.mismatch.empty();
    }
    if (!all_known || before * kLeastGrowth > difference.norm_error || before == 0) continue;
    PrecisionLoss loss;
    loss.kind = LossKind::kCancelled;
    loss.output = static_cast<int>(i);
    loss.elements = loss.lost = a.outputs[i].num_elements();
    loss.norm_error = difference.norm_error;
    loss.error_before = before;
    std::lock_guard lock(mutex_);
    Add(std::move(loss), b.node);
    wanted_.insert({&b.node.graph(), b.node.id()});
    for (int j = 0; j < b.node.num_inputs(); ++j) {
      Node made_by = b.node.input_node(j);
      if (made_by) wanted_.insert({&made_by.graph(), made_by.id()});
    }
  }
}

void PrecisionWatch::Add(PrecisionLoss loss, const Node& node) {
  loss.node = node.name().str();
  loss.op = node.op().str();
  if (const Function* function = FunctionOf(node.graph())) loss.function = function->name().str();
  auto known = llvm::find_if(losses_, [&](const PrecisionLoss& other) {
    return other.node == loss.node && other.function == loss.function && other.kind == loss.kind &&
           other.output == loss.output;
  });
  loss.calls = CurrentCallSites();
  if (known == losses_.end()) {
    losses_.push_back(std::move(loss));
    return;
  }
  ++known->times;
  known->is_harmful |= loss.is_harmful;
  known->lost = std::max(known->lost, loss.lost);
  known->norm_error = std::max(known->norm_error, loss.norm_error);
  known->extreme = loss.kind == LossKind::kOverflow ? std::max(known->extreme, loss.extreme)
                                                    : std::min(known->extreme, loss.extreme);
}

std::set<FloatNode> PrecisionWatch::kept_and_wanted() const {
  std::set<FloatNode> all = kept_;
  all.insert(kept_for_range_.begin(), kept_for_range_.end());
  all.insert(wanted_.begin(), wanted_.end());
  return all;
}

}  // namespace grapnel
