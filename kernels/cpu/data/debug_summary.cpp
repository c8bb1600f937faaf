// DebugNumericSummary and DebugNumericSummaryV2: the statistics of TensorFlow's debuggers.
#include <cmath>
#include <limits>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/data/summary_message.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// Each element counts in one of the fields from `nan` to `positive`. The other fields cover all
// finite elements, also those outside the bounds.
struct Counts {
  double nan = 0, below = 0, above = 0, negative = 0, zero = 0, positive = 0;
  double least = kInfinity, most = -kInfinity, mean = kNan, variance = kNan;
  bool IsHealthy() const { return nan == 0 && below == 0 && above == 0; }
};

Counts CountsOf(const Tensor& tensor, double lower, double upper) {
  Counts counts;
  double finite = 0, sum = 0, squares = 0;
  auto visit_finite = [&](auto use) {
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      if (double x = RealAt(tensor, i); std::isfinite(x)) use(x);
    }
  };
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    double x = RealAt(tensor, i);
    ++(std::isnan(x) ? counts.nan
       : x <= lower  ? counts.below
       : x >= upper  ? counts.above
       : x < 0       ? counts.negative
       : x == 0      ? counts.zero
                     : counts.positive);
  }
  visit_finite([&](double x) {
    counts.least = std::min(counts.least, x);
    counts.most = std::max(counts.most, x);
    sum += x;
    ++finite;
  });
  if (finite == 0) return counts;
  counts.mean = sum / finite;
  visit_finite([&](double x) { squares += (x - counts.mean) * (x - counts.mean); });
  counts.variance = squares / finite;
  return counts;
}

Error PutNumbers(KernelContext& ctx, llvm::ArrayRef<double> numbers) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {static_cast<int64_t>(numbers.size())}));
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (out->dtype() == proto::DT_DOUBLE)
      out->data<double>()[i] = numbers[i];
    else
      out->data<float>()[i] = static_cast<float>(numbers[i]);
  }
  return Error::success();
}

// --- DebugNumericSummary. Ignores `mute_if_healthy`, which only affects data sent to debug_urls;
// grapnel sends none.

Expected<KernelFn> MakeSummary(const KernelSetup& setup) {
  const Node& node = setup.node();
  double lower = node.GetFloat("lower_bound", -std::numeric_limits<float>::infinity());
  double upper = node.GetFloat("upper_bound", std::numeric_limits<float>::infinity());
  return KernelFn([lower, upper](KernelContext& ctx) -> Error {
    const Tensor& input = ctx.input(0);
    Counts counts = CountsOf(input, lower, upper);
    std::vector<double> numbers = {1,  // is initialized
                                   static_cast<double>(input.num_elements()),
                                   counts.nan,
                                   counts.below,
                                   counts.negative,
                                   counts.zero,
                                   counts.positive,
                                   counts.above,
                                   counts.least,
                                   counts.most,
                                   counts.mean,
                                   counts.variance,
                                   static_cast<double>(input.dtype()),
                                   static_cast<double>(input.rank())};
    for (int64_t dim : input.dims()) numbers.push_back(static_cast<double>(dim));
    return PutNumbers(ctx, numbers);
  });
}

// --- DebugNumericSummaryV2

// The values of tensor_debug_mode.
enum Mode : int64_t { kCurt = 2, kConcise = 3, kFull = 4, kShape = 5, kThreeSlots = 8 };

std::vector<double> NumbersOf(int64_t mode, double id, const Tensor& input) {
  double size = static_cast<double>(input.num_elements()), rank = input.rank();
  double dtype = static_cast<double>(input.dtype());
  if (mode == kShape) {
    // The shape is limited to the last six dimensions.
    std::vector<double> numbers = {id, dtype, rank, size, 0, 0, 0, 0, 0, 0};
    llvm::ArrayRef<int64_t> dims = input.dims().take_back(6);
    for (size_t i = 0; i < dims.size(); ++i) numbers[4 + i] = static_cast<double>(dims[i]);
    return numbers;
  }
  Counts counts = CountsOf(input, -kInfinity, kInfinity);
  switch (mode) {
    case kCurt:
      return {id, counts.IsHealthy() ? 0.0 : 1.0};
    case kConcise:
      return {id, size, counts.below, counts.above, counts.nan};
    case kFull:  // -1: the device, which TensorFlow does not fill in
      return {id,           -1,         dtype,           rank,        size,           counts.below,
              counts.above, counts.nan, counts.negative, counts.zero, counts.positive};
    default:
      return {counts.below > 0 ? -kInfinity : 0, counts.above > 0 ? kInfinity : 0,
              counts.nan > 0 ? kNan : 0};
  }
}

Expected<KernelFn> MakeSummaryV2(const KernelSetup& setup) {
  // The number of bits that a float or a double represents exactly.
  int bits = setup.output_type(0) == proto::DT_FLOAT ? 24 : 53;
  int64_t mode = setup.node().GetInt("tensor_debug_mode", -1);
  int64_t id = setup.node().GetInt("tensor_id", -1);
  if (mode != kCurt && mode != kConcise && mode != kFull && mode != kShape && mode != kThreeSlots)
    return MakeError("tensor_debug_mode {0} is not 2, 3, 4, 5 or 8", mode);
  if (id > int64_t{1} << bits)
    return MakeError("tensor_id must be 2^{0} at most, got {1}", bits, id);
  return KernelFn([mode, id](KernelContext& ctx) -> Error {
    return PutNumbers(ctx, NumbersOf(mode, static_cast<double>(id), ctx.input(0)));
  });
}

GRAPNEL_CPU_KERNEL("DebugNumericSummary", MakeSummary,
                   OfTypes("T", DataTypesOf(Join<RealTypes, TypeList<bool>>())));
GRAPNEL_CPU_KERNEL("DebugNumericSummaryV2", MakeSummaryV2,
                   OfTypes("T", DataTypesOf(Join<RealTypes, TypeList<bool>>())));

}  // namespace
}  // namespace grapnel
