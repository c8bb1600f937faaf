// StatelessRandomBinomial and StatefulRandomBinomial. The start of a value in the random stream
// depends on its index, so it does not matter which thread computes it
// (tensorflow/core/kernels/random_binomial_op.cc).
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/common/broadcast.h"
#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/common/to_integer.h"
#include "kernels/cpu/random/random.h"

namespace grapnel {
namespace {

// Uniform doubles, drawn in pairs, the second first.
class Uniforms {
 public:
  explicit Uniforms(Philox philox) : philox_(philox) {}
  double Next() {
    if (left_ == 0) {
      Philox::Group x = philox_.Next();
      pair_[0] = ToDouble(x[0], x[1]);
      pair_[1] = ToDouble(x[2], x[3]);
      left_ = 2;
    }
    return pair_[--left_];
  }

 private:
  Philox philox_;
  double pair_[2];
  int left_ = 0;
};

// Returns the error of Stirling's formula for log(k!).
double StirlingRest(double k) {
  static constexpr double kFirst[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                                      0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                                      0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                                      0.00833056343336287};
  if (k <= 9) return kFirst[static_cast<int>(k)];
  double square = (k + 1) * (k + 1);
  return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1);
}

// Counts geometric steps; used when few successes are expected.
double ByInversion(double count, double p, Uniforms uniforms) {
  double sum = 0;
  for (double successes = 0;; ++successes) {
    sum += std::ceil(std::log(uniforms.Next()) / std::log1p(-p));
    if (!(sum <= count)) return successes;
  }
}

// Hormann, "The generation of binomial random variates", 1993: BTRS.
double ByRejection(double count, double p, Uniforms uniforms) {
  const double spread = std::sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * spread;
  const double a = -0.0873 + 0.0248 * b + 0.01 * p, c = count * p + 0.5, v_r = 0.92 - 4.2 / b;
  const double r = p / (1 - p), alpha = (2.83 + 5.1 / b) * spread;
  const double m = std::floor((count + 1) * p);
  for (;;) {
    double u = uniforms.Next(), v = uniforms.Next();
    u -= 0.5;
    double us = 0.5 - std::abs(u), k = std::floor((2 * a / us + b) * u + c);
    if (us >= 0.07 && v <= v_r) return k;
    if (!(k >= 0 && k <= count)) continue;
    v = std::log(v * alpha / (a / (us * us) + b));
    double bound = (m + 0.5) * std::log((m + 1) / (r * (count - m + 1))) +
                   (count + 1) * std::log((count - m + 1) / (count - k + 1)) +
                   (k + 0.5) * std::log(r * (count - k + 1) / (k + 1)) + StirlingRest(m) +
                   StirlingRest(count - m) - StirlingRest(k) - StirlingRest(count - k);
    if (v <= bound) return k;
  }
}

// The sections are shorter for the method that needs few numbers.
constexpr uint64_t kReservedForInversion = 42;

template <typename T>
double Draw(T count, T p, Philox philox, int64_t index) {
  if (!std::isfinite(static_cast<double>(count)) || std::isnan(static_cast<double>(p)))
    return std::numeric_limits<double>::quiet_NaN();
  auto n = static_cast<double>(count);
  if (n <= 0 || p <= T(0)) return 0;
  if (p >= T(1)) return n;
  bool mirrored = p > T(0.5);
  T rarer = mirrored ? T(1) - p : p;
  bool many = count * rarer >= T(10);
  philox.Skip(static_cast<uint64_t>(index) * (many ? kReserved : kReservedForInversion));
  auto q = static_cast<double>(rarer);
  double drawn = many ? ByRejection(n, q, Uniforms(philox)) : ByInversion(n, q, Uniforms(philox));
  return mirrored ? n - drawn : drawn;
}

// One batch per pair of count and probability, which broadcast to each other and match the last
// dimensions of the result.
struct Batches {
  BroadcastPlan plan;
  Dims dims;  // of the result
  int64_t count = 0, samples = 0;
};

Expected<Batches> BatchesOf(const Tensor& shape, const Tensor& counts, const Tensor& probs) {
  Batches batches;
  ASSIGN_OR_RETURN(batches.dims, ShapeFrom(shape));
  ASSIGN_OR_RETURN(batches.plan, PlanBroadcast({counts.dims(), probs.dims()}));
  llvm::ArrayRef<int64_t> whole = batches.dims, last = batches.plan.dims;
  if (last.size() > whole.size() || whole.take_back(last.size()) != last)
    return MakeError("shape {0} does not end with the broadcast shape of counts and probs, {1}",
                     DimsText(whole), DimsText(last));
  batches.count = NumElements(last).value_or(0);
  batches.samples = NumElements(whole.drop_back(last.size())).value_or(0);
  return batches;
}

template <typename Out, typename T>
void FillAs(KernelContext& ctx, const Batches& batches, Philox philox, const Tensor& counts,
            const Tensor& probs, Tensor& out) {
  std::vector<T> n(batches.count), p(batches.count);
  batches.plan.ForRows(
      0, batches.plan.total, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t length) {
        int64_t n_step = batches.plan.strides[0].back(), p_step = batches.plan.strides[1].back();
        for (int64_t i = 0; i < length; ++i) {
          n[at + i] = counts.data<T>()[offsets[0] + i * n_step];
          p[at + i] = probs.data<T>()[offsets[1] + i * p_step];
        }
      });
  ctx.ParallelFor(out.num_elements(), 300, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) {
      int64_t batch = k / batches.samples, sample = k % batches.samples;
      double value = Draw(n[batch], p[batch], philox, k);
      Out& to = out.data<Out>()[sample * batches.count + batch];
      if constexpr (std::is_integral_v<Out>)
        to = std::abs(value) < 9e18 ? ToInteger<Out>(value) : 0;
      else
        to = static_cast<Out>(value);
    }
  });
}

using OutputTypes = TypeList<float, double, Eigen::half, int32_t, int64_t>;
using ParameterTypes = TypeList<float, double, Eigen::half>;

Error Fill(KernelContext& ctx, const Batches& batches, Philox philox, const Tensor& counts,
           const Tensor& probs) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, batches.dims));
  if (out->num_elements() == 0) return Error::success();
  bool known = ForType(out->dtype(), OutputTypes(), [&](auto out_tag) {
    return ForType(counts.dtype(), ParameterTypes(), [&](auto tag) {
      FillAs<typename decltype(out_tag)::type, typename decltype(tag)::type>(ctx, batches, philox,
                                                                             counts, probs, *out);
      return true;
    });
  });
  return known ? Error::success()
               : MakeError("cannot generate random numbers of {0} from counts of {1}",
                           DataTypeName(out->dtype()), DataTypeName(counts.dtype()));
}

Error Stateless(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Batches batches, BatchesOf(ctx.input(0), ctx.input(2), ctx.input(3)));
  ASSIGN_OR_RETURN(Philox philox, FromSeedInput(ctx.input(1)));
  return Fill(ctx, batches, philox, ctx.input(2), ctx.input(3));
}

Error Stateful(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  RETURN_IF_ERROR(CheckAlgorithm(ctx.input(1).IntAt(0)));
  ASSIGN_OR_RETURN(Batches batches, BatchesOf(ctx.input(2), ctx.input(3), ctx.input(4)));
  uint64_t values = static_cast<uint64_t>(batches.count) * 200 * (batches.samples + 3) / 4;
  return WithGenerator(ctx, *variable, values * kReserved, [&](Philox philox) {
    return Fill(ctx, batches, philox, ctx.input(3), ctx.input(4));
  });
}

GRAPNEL_CPU_KERNEL("StatelessRandomBinomial", KernelOf<Stateless>,
                   OfTypes("T", DataTypesOf(ParameterTypes())));
GRAPNEL_CPU_KERNEL("StatefulRandomBinomial", KernelOf<Stateful>,
                   OfTypes("T", DataTypesOf(ParameterTypes())));

}  // namespace
}  // namespace grapnel
