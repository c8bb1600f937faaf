// Random numbers by rejection: gamma and Poisson; and multinomial ones. Every gamma or Poisson
// value has its own section of the random stream, so it does not matter which thread computes it
// (tensorflow/core/kernels/random_op.cc, random_poisson_op.cc, multinomial_op.cc).
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/common/to_integer.h"
#include "kernels/cpu/random/random.h"
#include "unsupported/Eigen/SpecialFunctions"

namespace grapnel {
namespace {

// Uniform and normal doubles from one stream, each drawn in pairs, the second first.
class Stream {
 public:
  explicit Stream(Philox philox) : philox_(philox) {}
  double Uniform() {
    if (uniforms_ == 0) {
      Philox::Group x = philox_.Next();
      uniform_[0] = ToDouble(x[0], x[1]);
      uniform_[1] = ToDouble(x[2], x[3]);
      uniforms_ = 2;
    }
    return uniform_[--uniforms_];
  }
  double Normal() {
    if (normals_ == 0) {
      Philox::Group x = philox_.Next();
      NormalPair(x.data(), normal_);
      normals_ = 2;
    }
    return normal_[--normals_];
  }

 private:
  Philox philox_;
  double uniform_[2], normal_[2];
  int uniforms_ = 0, normals_ = 0;
};

// --- One value

// Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.
double Gamma(double alpha, Stream& stream) {
  if (alpha == 1) return -std::log1p(-stream.Uniform());
  bool small = alpha < 1;
  const double d = alpha + (small ? 2.0 / 3 : -1.0 / 3), c = 1.0 / 3 / std::sqrt(d);
  if (!(d > 0)) return std::numeric_limits<double>::quiet_NaN();
  for (;;) {
    double x = stream.Normal(), v = 1 + c * x;
    if (v <= 0) continue;
    v = v * v * v;
    double u = stream.Uniform();
    bool fits =
        u < 1 - 0.0331 * (x * x) * (x * x) || std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v));
    if (!fits) continue;
    return small ? d * v * std::pow(stream.Uniform(), 1 / alpha) : d * v;
  }
}

// Knuth's product of uniforms for small rates, Hormann's transformed rejection (PTRS, 1993) for
// large ones. Values above `most` are rejected.
double Poisson(double rate, double most, Stream& stream) {
  if (std::isnan(rate)) return rate;
  if (rate < 10) {
    const double limit = std::exp(-rate);
    double product = 1;
    for (double x = 0;; ++x) {
      product *= stream.Uniform();
      if (product <= limit && x <= most) return x;
    }
  }
  if (std::isinf(rate)) return rate;
  // The rate is so far above `most` that every value would be rejected. TensorFlow loops forever
  // then; grapnel returns `most`.
  if (rate - 40 * std::sqrt(rate) > most) return most;
  const double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate);
  const double a = -0.059 + 0.02483 * b, inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
  for (;;) {
    double u = stream.Uniform() - 0.5, v = stream.Uniform();
    double shifted = 0.5 - std::abs(u);
    double k = std::floor((2 * a / shifted + b) * u + rate + 0.43);
    if (k > most) continue;
    if (shifted >= 0.07 && v <= 0.9277 - 3.6224 / (b - 2)) return k;
    if (k < 0 || (shifted < 0.013 && v > shifted)) continue;
    double s = std::log(v * inverse_alpha / (a / (shifted * shifted) + b));
    if (s <= -rate + k * log_rate - Eigen::numext::lgamma(k + 1)) return k;
  }
}

// --- Tensors of gamma and Poisson values

using OutputTypes = TypeList<float, double, Eigen::half, Eigen::bfloat16, int32_t, int64_t>;

double NumberAt(const Tensor& tensor, int64_t i) {
  double value = 0;
  ForType(tensor.dtype(), OutputTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    value = static_cast<double>(tensor.data<T>()[i]);
    return true;
  });
  return value;
}

// Stores draw(k, stream) at output index place(k), using the k-th section of the stream.
Error FillEach(KernelContext& ctx, Philox philox, Tensor& out,
               llvm::function_ref<int64_t(int64_t)> place,
               llvm::function_ref<double(int64_t, Stream&)> draw) {
  bool known = ForType(out.dtype(), OutputTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ctx.ParallelFor(out.num_elements(), 100, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        Philox mine = philox;
        mine.Skip(k * kReserved);
        Stream stream(mine);
        double value = draw(k, stream);
        if constexpr (std::is_integral_v<T>)
          out.data<T>()[place(k)] = std::isfinite(value) ? ToInteger<T>(value) : 0;
        else
          out.data<T>()[place(k)] = static_cast<T>(value);
      }
    });
    return true;
  });
  return known ? Error::success()
               : MakeError("cannot generate random numbers of {0}", DataTypeName(out.dtype()));
}

double MostOf(DataType dtype) {
  switch (dtype) {
    case proto::DT_INT32:
      return std::numeric_limits<int32_t>::max();
    case proto::DT_INT64:
      return static_cast<double>(std::numeric_limits<int64_t>::max());
    case proto::DT_HALF:
      return 65504;
    case proto::DT_FLOAT:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

enum class Kind { kGamma, kPoisson };

// Draws all values of the first parameter before those of the second; the parameters' dimensions
// are the last ones of the output.
Error FillOf(KernelContext& ctx, Kind kind, Philox philox, const Tensor& parameters, Tensor& out) {
  int64_t count = parameters.num_elements();
  if (out.num_elements() == 0 || count == 0) return Error::success();
  int64_t samples = out.num_elements() / count;
  double most = MostOf(out.dtype());
  return FillEach(
      ctx, philox, out, [&](int64_t k) { return k % samples * count + k / samples; },
      [&](int64_t k, Stream& stream) {
        double parameter = NumberAt(parameters, k / samples);
        return kind == Kind::kGamma ? Gamma(parameter, stream) : Poisson(parameter, most, stream);
      });
}

// The shape input is the shape of the samples per parameter.
template <Kind kKind>
Expected<KernelFn> MakeStateful(const KernelSetup& setup) {
  return KernelFn([philox = SharedPhilox(setup)](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
    const Tensor& parameters = ctx.input(1);
    dims.append(parameters.dims().begin(), parameters.dims().end());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    Philox now = philox.Take(out->num_elements() * kReserved);
    return FillOf(ctx, kKind, now, parameters, *out);
  });
}

Error CheckSuffix(llvm::ArrayRef<int64_t> dims, const Tensor& parameters) {
  size_t rank = parameters.rank();
  if (NumElements(dims) == 0) return Error::success();
  if (rank <= dims.size() && dims.take_back(rank) == parameters.dims()) return Error::success();
  return MakeError("shape {0} does not end with that of the parameters, {1}", DimsText(dims),
                   DimsText(parameters.dims()));
}

// The shape input is the output's shape. The generator comes from a seed or (version 3 of gamma)
// from key, counter and algorithm.
template <Kind kKind, bool by_key>
Expected<KernelFn> MakeStateless(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
    const Tensor& parameters = ctx.input(by_key ? 4 : 2);
    RETURN_IF_ERROR(CheckSuffix(dims, parameters));
    Philox philox;
    if (by_key) {
      ASSIGN_OR_RETURN(philox, FromKeyAndCounter(ctx.input(1), ctx.input(2), ctx.input(3)));
    } else {
      ASSIGN_OR_RETURN(philox, FromSeedInput(ctx.input(1)));
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return FillOf(ctx, kKind, philox, parameters, *out);
  });
}

// --- Classes sampled by logits

Error Draw(KernelContext& ctx, Philox philox, int64_t samples) {
  const Tensor& logits = ctx.input(0);
  int64_t rows = logits.dim(0), classes = logits.dim(1);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows, samples}));
  PhiloxNumbers numbers(philox);
  std::vector<double> sums(classes);
  for (int64_t row = 0; row < rows; ++row) {
    double most = -std::numeric_limits<double>::max(), total = 0;
    for (int64_t c = 0; c < classes; ++c) {
      double logit = NumberAt(logits, row * classes + c);
      if (std::isfinite(logit)) most = std::max(most, logit);
    }
    for (int64_t c = 0; c < classes; ++c) {
      double logit = NumberAt(logits, row * classes + c);
      if (std::isfinite(logit)) total += std::exp(logit - most);
      sums[c] = total;
    }
    for (int64_t i = 0; i < samples; ++i) {
      uint32_t high = numbers.Next();
      double wanted = ToDouble(high, numbers.Next()) * total;
      int64_t found = std::upper_bound(sums.begin(), sums.end(), wanted) - sums.begin();
      if (out->dtype() == proto::DT_INT32)
        out->data<int32_t>()[row * samples + i] = static_cast<int32_t>(found);
      else
        out->data<int64_t>()[row * samples + i] = found;
    }
  }
  return Error::success();
}

Expected<int64_t> SamplesIn(const KernelContext& ctx) {
  const Tensor &logits = ctx.input(0), &samples = ctx.input(1);
  if (logits.rank() != 2)
    return MakeError("logits of shape {0}, a matrix was expected", DimsText(logits.dims()));
  if (samples.rank() != 0 || samples.IntAt(0) < 0)
    return MakeError("num_samples is {0}, a scalar of 0 or more was expected", samples.ToString());
  if (logits.dim(1) == 0)
    return MakeError("logits of shape {0} have no classes", DimsText(logits.dims()));
  return samples.IntAt(0);
}

Expected<KernelFn> MakeMultinomial(const KernelSetup& setup) {
  return KernelFn([philox = SharedPhilox(setup)](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(int64_t samples, SamplesIn(ctx));
    Philox now = philox.Take(ctx.input(0).dim(0) * ((samples + 3) / 4 * 4) * kReserved);
    return Draw(ctx, now, samples);
  });
}

Expected<KernelFn> MakeStatelessMultinomial(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(int64_t samples, SamplesIn(ctx));
    ASSIGN_OR_RETURN(Philox philox, FromSeedInput(ctx.input(2)));
    return Draw(ctx, philox, samples);
  });
}

#define GRAPNEL_RANDOM_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_RANDOM_KERNEL("RandomGamma", MakeStateful<Kind::kGamma>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomGammaV2", (MakeStateless<Kind::kGamma, false>));
GRAPNEL_RANDOM_KERNEL("StatelessRandomGammaV3", (MakeStateless<Kind::kGamma, true>));
GRAPNEL_RANDOM_KERNEL("RandomPoisson", MakeStateful<Kind::kPoisson>);
GRAPNEL_RANDOM_KERNEL("RandomPoissonV2", MakeStateful<Kind::kPoisson>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomPoisson", (MakeStateless<Kind::kPoisson, false>));
GRAPNEL_RANDOM_KERNEL("Multinomial", MakeMultinomial);
GRAPNEL_RANDOM_KERNEL("StatelessMultinomial", MakeStatelessMultinomial);

}  // namespace
}  // namespace grapnel
