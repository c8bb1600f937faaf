// StatelessParameterizedTruncatedNormal: normal numbers within bounds; mean, deviation and bounds
// broadcast over the last axes (Robert, "Simulation of truncated normal variables", 1995).
#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/random/random.h"

namespace grapnel {
namespace {

using Types = TypeList<float, double>;

// If the mean is within the bounds and one bound is more than this many deviations away, the bounds
// contain enough of the normal distribution for rejection sampling.
constexpr double kWideBound = 1.3;
constexpr int kMostTries = 1000;

// Converts each group of the generator to a group of uniform or of normal numbers.
template <typename T>
class Groups {
 public:
  static constexpr int kSize = std::is_same_v<T, double> ? 2 : 4;
  using Group = std::array<T, kSize>;

  explicit Groups(Philox philox) : philox_(philox) {}

  Group Uniform() {
    Philox::Group x = philox_.Next();
    Group group;
    for (int i = 0; i < kSize; ++i) {
      if constexpr (std::is_same_v<T, double>)
        group[i] = ToDouble(x[2 * i], x[2 * i + 1]);
      else
        group[i] = ToFloat(x[i]);
    }
    return group;
  }
  Group Normal() {
    Philox::Group x = philox_.Next();
    Group group;
    if constexpr (std::is_same_v<T, double>) {
      NormalPair(x.data(), group.data());
    } else {
      NormalFloats(x[0], x[1], group.data());
      NormalFloats(x[2], x[3], group.data() + 2);
    }
    return group;
  }

 private:
  Philox philox_;
};

template <typename T>
struct Parameters {
  T mean, deviation, low, high;

  bool AreGood() const {
    return deviation > T(0) && low < high && (std::isfinite(low) || std::isfinite(high));
  }
};

// Draws numbers between `low` and `high`, in deviations from the mean; put() takes one and returns
// whether more are needed.
template <typename T, typename Put>
void DrawNormal(Groups<T>& groups, T low, T high, Put put) {
  for (;;) {
    for (T x : groups.Normal()) {
      if (x >= low && x <= high && !put(x)) return;
    }
  }
}

template <typename T, typename Put>
void DrawUniform(Groups<T>& groups, T low, T high, Put put) {
  T most = low < T(0) ? T(0) : low * low;
  for (int tries = 0;;) {
    auto places = groups.Uniform(), chances = groups.Uniform();
    for (size_t i = 0; i < places.size(); ++i) {
      T x = places[i] * (high - low) + low;
      bool taken = chances[i] <= std::exp((most - x * x) / T(2)) || tries + 1 >= kMostTries;
      tries = taken ? 0 : tries + 1;
      if (taken && !put(x)) return;
    }
  }
}

template <typename T, typename Put>
void DrawTail(Groups<T>& groups, T low, T high, Put put) {
  T alpha = (low + std::sqrt(low * low + T(4))) / T(2);
  for (int tries = 0;;) {
    auto group = groups.Uniform();
    for (size_t i = 0; i < group.size(); i += 2) {
      T x = -std::log(group[i]) / alpha + low;
      T off = low < alpha ? alpha - x : low - alpha;
      bool fits = group[i + 1] <= std::exp(-off * off / T(2)) && x < high;
      bool taken = fits || tries + 1 >= kMostTries;
      tries = taken ? 0 : tries + 1;
      if (taken && !put(x)) return;
    }
  }
}

// Writes `count` numbers to out[0], out[stride], ...
template <typename T>
void Draw(Groups<T>& groups, Parameters<T> p, int64_t count, int64_t stride, T* out) {
  // Mirrors the distribution if its lower bound is infinite or both bounds are below the mean: the
  // upper bound is then the infinite one, or both bounds are above the mean.
  if ((std::isinf(p.low) && p.low < T(0)) || p.high < p.mean) {
    std::swap(p.low, p.high);
    p.deviation = -p.deviation;
  }
  T low = (p.low - p.mean) / p.deviation, high = (p.high - p.mean) / p.deviation;
  T root = std::sqrt(low * low + T(4));
  T cutoff = T(2) * std::exp(T(0.5) + low * (low - root) / T(4)) / (low + root);
  auto put = [&, left = count](T x) mutable {
    *out = x * p.deviation + p.mean;
    out += stride;
    return --left > 0;
  };
  const T wide(kWideBound);
  if ((low < -wide && high >= T(0)) || (high > wide && low <= T(0)))
    DrawNormal(groups, low, high, put);
  else if (high - low < cutoff)
    DrawUniform(groups, low, high, put);
  else
    DrawTail(groups, low, high, put);
}

// Returns the broadcast shape of inputs 2 to 5.
Expected<Dims> BroadcastDims(const KernelContext& ctx) {
  Dims dims;
  for (int i = 2; i < 6; ++i) {
    llvm::ArrayRef<int64_t> own = ctx.input(i).dims();
    if (own.size() > dims.size()) dims.insert(dims.begin(), own.size() - dims.size(), 1);
    for (size_t d = 0; d < own.size(); ++d) {
      int64_t& size = dims[dims.size() - own.size() + d];
      if (own[d] != size && own[d] != 1 && size != 1)
        return MakeError("means, deviations and bounds do not broadcast: one has shape {0}",
                         DimsText(own));
      if (size == 1) size = own[d];
    }
  }
  return dims;
}

// Returns the position of element `index` of `dims` in a tensor that is broadcast to them.
int64_t PlaceIn(const Tensor& tensor, llvm::ArrayRef<int64_t> dims, int64_t index) {
  int64_t place = 0, stride = 1;
  for (int d = tensor.rank() - 1; d >= 0; --d) {
    int64_t size = dims[dims.size() - tensor.rank() + d];
    if (tensor.dim(d) != 1) place += index % size * stride;
    index /= size;
    stride *= tensor.dim(d);
  }
  return place;
}

template <typename T>
Error Fill(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
  ASSIGN_OR_RETURN(Philox philox, FromSeedInput(ctx.input(1)));
  ASSIGN_OR_RETURN(Dims batch, BroadcastDims(ctx));
  if (batch.size() > dims.size() ||
      llvm::ArrayRef<int64_t>(dims).take_back(batch.size()) != llvm::ArrayRef<int64_t>(batch))
    return MakeError("shape {0} does not end with the broadcast shape of the parameters, {1}",
                     DimsText(dims), DimsText(batch));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t batches = 1;
  for (int64_t size : batch) batches *= size;
  Groups<T> groups(philox);
  for (int64_t i = 0; i < batches; ++i) {
    auto value = [&](int input) {
      return ctx.input(input).data<T>()[PlaceIn(ctx.input(input), batch, i)];
    };
    Parameters<T> p{value(2), value(3), value(4), value(5)};
    if (!p.AreGood())
      return MakeError(
          "the deviation must be positive, the lower bound less than the upper one, and at least "
          "one of them finite, got deviation {0} and bounds {1} and {2}",
          static_cast<double>(p.deviation), static_cast<double>(p.low),
          static_cast<double>(p.high));
    Draw(groups, p, out->num_elements() / batches, batches, out->data<T>() + i);
  }
  return Error::success();
}

Expected<KernelFn> MakeTruncatedNormal(const KernelSetup& setup) {
  bool wide = setup.output_type(0) == proto::DT_DOUBLE;
  return KernelFn(wide ? Fill<double> : Fill<float>);
}

GRAPNEL_CPU_KERNEL("StatelessParameterizedTruncatedNormal", MakeTruncatedNormal,
                   OfTypes("dtype", DataTypesOf(Types())));

}  // namespace
}  // namespace grapnel
