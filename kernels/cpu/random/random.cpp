// Random tensors with TensorFlow's numbers for the same seeds.
#include "kernels/cpu/random/random.h"

#include <bit>
#include <cmath>
#include <numeric>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/data_move.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {

double ToDouble(uint32_t x0, uint32_t x1) {
  uint64_t mantissa = uint64_t{x0 & 0xfffff} << 32 | x1;
  return std::bit_cast<double>(uint64_t{1023} << 52 | mantissa) - 1;
}

float ToFloat(uint32_t x) { return std::bit_cast<float>(uint32_t{127} << 23 | (x & 0x7fffff)) - 1; }

namespace {
// Two independent normal values (Box and Muller).
constexpr double kTiny = 1e-7;
}  // namespace

void NormalPair(const uint32_t* x, double* out) {
  double u = std::max(ToDouble(x[0], x[1]), kTiny);
  double angle = 2 * M_PI * ToDouble(x[2], x[3]);
  double radius = std::sqrt(-2 * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

void NormalFloats(uint32_t x0, uint32_t x1, float* out) {
  float u = std::max(ToFloat(x0), static_cast<float>(kTiny));
  float angle = 2 * static_cast<float>(M_PI) * ToFloat(x1);
  float radius = std::sqrt(-2 * std::log(u));
  out[0] = std::sin(angle) * radius;
  out[1] = std::cos(angle) * radius;
}

Philox FromAttrs(const KernelSetup& setup) {
  uint64_t seed = setup.node().GetInt("seed"), seed2 = setup.node().GetInt("seed2");
  if (seed == 0 && seed2 == 0) seed = llvm::xxHash64(setup.node().name());
  return Philox::FromSeeds(seed, seed2);
}

Philox SharedPhilox::Take(uint64_t groups) const {
  std::lock_guard lock(state_->mutex);
  Philox now = state_->philox;
  state_->philox.Skip(groups);
  return now;
}

void SharedPhilox::Use(llvm::function_ref<void(Philox&)> use) const {
  std::lock_guard lock(state_->mutex);
  use(state_->philox);
}

Expected<Philox> FromSeedInput(const Tensor& seed) {
  if (seed.num_elements() != 2)
    return MakeError("the seed must have two elements, got shape {0}", DimsText(seed.dims()));
  return Philox::FromStatelessSeeds(BitsAt(seed, 0), BitsAt(seed, 1));
}

Error CheckAlgorithm(int64_t algorithm) {
  if (algorithm == 1 || algorithm == 3) return Error::success();
  return MakeError(
      "random algorithm {0}: only 1 (Philox) and 3 (chosen automatically) run on a CPU", algorithm);
}

Expected<Philox> FromKeyAndCounter(const Tensor& key, const Tensor& counter,
                                   const Tensor& algorithm) {
  RETURN_IF_ERROR(CheckAlgorithm(algorithm.IntAt(0)));
  if (key.num_elements() != 1 || counter.num_elements() < 2)
    return MakeError(
        "a key of one number and a counter of at least two were expected, got shapes {0} and {1}",
        DimsText(key.dims()), DimsText(counter.dims()));
  return Philox::FromState(BitsAt(counter, 0), BitsAt(counter, 1), BitsAt(key, 0));
}

Error WithGenerator(KernelContext& ctx, StoredVariable& variable, uint64_t groups,
                    llvm::function_ref<Error(Philox)> use) {
  Philox now;
  RETURN_IF_ERROR(ChangeVariable(ctx, variable, [&](Tensor& state) -> Error {
    if (state.rank() != 1 || state.dim(0) < 3 || DataTypeSize(state.dtype()) != 8)
      return MakeError(
          "a generator's state is {0}, a vector of at least three 64-bit numbers was expected",
          state.ToString());
    now = Philox::FromState(BitsAt(state, 0), BitsAt(state, 1), BitsAt(state, 2));
    Philox next = now;
    next.Skip(groups);
    state.data<uint64_t>()[0] = next.counter_low();
    state.data<uint64_t>()[1] = next.counter_high();
    return Error::success();
  }));
  return use(now);
}

namespace {

// --- From bits to values. Each distribution defines how many values a group of four numbers gives.

// Uniform in [0, 1).
template <typename T>
struct Uniform {
  static constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
  void operator()(const Philox::Group& x, T* out) const {
    for (int i = 0; i < kGroup; ++i) {
      if constexpr (std::is_same_v<T, double>) {
        out[i] = ToDouble(x[2 * i], x[2 * i + 1]);
      } else if constexpr (std::is_same_v<T, float>) {
        out[i] = ToFloat(x[i]);
      } else if constexpr (std::is_same_v<T, Eigen::half>) {
        out[i] = std::bit_cast<T>(static_cast<uint16_t>(15 << 10 | (x[i] & 0x3ff))) - T(1);
      } else {
        out[i] = std::bit_cast<T>(static_cast<uint16_t>(127 << 7 | (x[i] & 0x7f))) - T(1);
      }
    }
  }
};

// Uniform integers: any value of the type if `full`, else in [low, low + range).
template <typename T>
struct UniformInt {
  static constexpr int kGroup = sizeof(T) == 8 ? 2 : 4;
  using U = std::make_unsigned_t<T>;
  bool full = true;
  U low = 0, range = 1;
  void operator()(const Philox::Group& x, T* out) const {
    for (int i = 0; i < kGroup; ++i) {
      U bits;
      if constexpr (sizeof(T) == 8)
        bits = uint64_t{x[2 * i + 1]} << 32 | x[2 * i];
      else
        bits = x[i];
      out[i] = static_cast<T>(full ? bits : low + bits % range);
    }
  }
};

template <typename T>
struct Normal {
  static constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
  void operator()(const Philox::Group& x, T* out) const {
    if constexpr (std::is_same_v<T, double>) {
      NormalPair(x.data(), out);
    } else {
      for (int i = 0; i < 4; i += 2) {
        float pair[2];
        NormalFloats(x[i], x[i + 1], pair);
        out[i] = T(pair[0]);
        out[i + 1] = T(pair[1]);
      }
    }
  }
};

template <typename T, typename Distribution>
void Fill(KernelContext& ctx, Philox philox, const Distribution& distribution, Tensor& out) {
  constexpr int kGroup = Distribution::kGroup;
  int64_t n = out.num_elements();
  T* to = out.data<T>();
  ctx.ParallelFor((n + kGroup - 1) / kGroup, 30, [&](int64_t begin, int64_t end) {
    Philox mine = philox;
    mine.Skip(begin);
    for (int64_t group = begin; group < end; ++group) {
      T values[kGroup];
      distribution(mine.Next(), values);
      std::copy_n(values, std::min<int64_t>(kGroup, n - group * kGroup), to + group * kGroup);
    }
  });
}

// Normal values below 2 in magnitude. Rejection decides how many random numbers a value takes, so
// each group of values has its own section of the stream.
template <typename T>
void FillTruncated(KernelContext& ctx, Philox philox, Tensor& out) {
  constexpr int kGroup = std::is_same_v<T, double> ? 2 : 4;
  int64_t n = out.num_elements();
  T* to = out.data<T>();
  ctx.ParallelFor((n + kGroup - 1) / kGroup, 60, [&](int64_t begin, int64_t end) {
    for (int64_t group = begin; group < end; ++group) {
      Philox mine = philox;
      mine.Skip(group * (kGroup * kReserved / 4));
      PhiloxNumbers numbers(mine);
      int64_t size = std::min<int64_t>(kGroup, n - group * kGroup);
      for (int64_t i = 0; i < size;) {
        std::conditional_t<std::is_same_v<T, double>, double, float> pair[2];
        uint32_t x[4];
        for (int k = 0; k < (std::is_same_v<T, double> ? 4 : 2); ++k) x[k] = numbers.Next();
        if constexpr (std::is_same_v<T, double>)
          NormalPair(x, pair);
        else
          NormalFloats(x[0], x[1], pair);
        for (auto value : pair) {
          if (std::abs(value) < 2 && i < size) to[group * kGroup + i++] = T(value);
        }
      }
    }
  });
}

// --- The kinds of tensor, and the sources of their generator

enum class Kind { kUniform, kNormal, kTruncated, kInt, kFullInt };

// For kInt, `low` and `high` are scalars of the output's dtype.
Error FillWith(KernelContext& ctx, Kind kind, Philox philox, Tensor& out, const Tensor* low,
               const Tensor* high) {
  if (kind == Kind::kInt && (low->rank() != 0 || high->rank() != 0)) {
    return MakeError("the bounds are of shapes {0} and {1}, scalars were expected",
                     DimsText(low->dims()), DimsText(high->dims()));
  }
  if (kind == Kind::kInt || kind == Kind::kFullInt) {
    Error error = Error::success();
    bool known =
        ForType(out.dtype(), TypeList<int32_t, int64_t, uint32_t, uint64_t>(), [&](auto tag) {
          using T = typename decltype(tag)::type;
          UniformInt<T> distribution;
          if (kind == Kind::kInt) {
            T from = *low->data<T>(), to = *high->data<T>();
            if (from >= to) {
              error = MakeError("the range from {0} up to {1} is empty", from, to);
              return true;
            }
            using U = std::make_unsigned_t<T>;
            distribution = {false, static_cast<U>(from),
                            static_cast<U>(static_cast<U>(to) - static_cast<U>(from))};
          }
          Fill<T>(ctx, philox, distribution, out);
          return true;
        });
    if (!known)
      return MakeError("cannot generate random numbers of {0}", DataTypeName(out.dtype()));
    return error;
  }
  bool known = ForType(out.dtype(), FloatTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if (kind == Kind::kUniform) Fill<T>(ctx, philox, Uniform<T>(), out);
    if (kind == Kind::kNormal) Fill<T>(ctx, philox, Normal<T>(), out);
    if (kind == Kind::kTruncated) FillTruncated<T>(ctx, philox, out);
    return true;
  });
  return known ? Error::success()
               : MakeError("cannot generate random numbers of {0}", DataTypeName(out.dtype()));
}

template <Kind kKind>
Expected<KernelFn> MakeStateful(const KernelSetup& setup) {
  return KernelFn([philox = SharedPhilox(setup)](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    bool is_int = kKind == Kind::kInt;
    Philox now = philox.Take(out->num_elements() * kReserved);
    return FillWith(ctx, kKind, now, *out, is_int ? &ctx.input(1) : nullptr,
                    is_int ? &ctx.input(2) : nullptr);
  });
}

template <Kind kKind>
Error Stateless(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
  ASSIGN_OR_RETURN(Philox philox, FromSeedInput(ctx.input(1)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  bool is_int = kKind == Kind::kInt;
  return FillWith(ctx, kKind, philox, *out, is_int ? &ctx.input(2) : nullptr,
                  is_int ? &ctx.input(3) : nullptr);
}

// Version 2 of the stateless ops, with key, counter and algorithm as inputs.
template <Kind kKind>
Error StatelessV2(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(0)));
  ASSIGN_OR_RETURN(Philox philox, FromKeyAndCounter(ctx.input(1), ctx.input(2), ctx.input(3)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  bool is_int = kKind == Kind::kInt;
  return FillWith(ctx, kKind, philox, *out, is_int ? &ctx.input(4) : nullptr,
                  is_int ? &ctx.input(5) : nullptr);
}

// Outputs the key and counter, and the algorithm if the op has that output.
Error KeyCounter(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Philox philox, FromSeedInput(ctx.input(0)));
  ASSIGN_OR_RETURN(Tensor * key, ctx.Allocate(0, {1}));
  ASSIGN_OR_RETURN(Tensor * counter, ctx.Allocate(1, {2}));
  key->data<uint64_t>()[0] = philox.key();
  counter->data<uint64_t>()[0] = philox.counter_low();
  counter->data<uint64_t>()[1] = philox.counter_high();
  if (ctx.num_outputs() < 3) return Error::success();
  ASSIGN_OR_RETURN(Tensor * algorithm, ctx.Allocate(2, {}));
  *algorithm->data<int32_t>() = kPhiloxAlgorithm;
  return Error::success();
}

Error Algorithm(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<int32_t>() = kPhiloxAlgorithm;
  return Error::success();
}

template <Kind kKind>
Error FromGenerator(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  RETURN_IF_ERROR(CheckAlgorithm(ctx.input(1).IntAt(0)));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  bool is_int = kKind == Kind::kInt;
  return WithGenerator(ctx, *variable, out->num_elements() * kReserved, [&](Philox philox) {
    return FillWith(ctx, kKind, philox, *out, is_int ? &ctx.input(3) : nullptr,
                    is_int ? &ctx.input(4) : nullptr);
  });
}

// Advances a generator past the numbers reserved for `delta` values; outputs its state before that
// if the op has an output.
Error ReadAndSkip(KernelContext& ctx) {
  ASSIGN_OR_RETURN(StoredVariable * variable, VariableIn(ctx, 0));
  RETURN_IF_ERROR(CheckAlgorithm(ctx.input(1).IntAt(0)));
  uint64_t delta = BitsAt(ctx.input(2), 0);
  auto put_out = [&](Philox philox) -> Error {
    if (ctx.num_outputs() == 0) return Error::success();
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {3}));
    out->data<uint64_t>()[0] = philox.counter_low();
    out->data<uint64_t>()[1] = philox.counter_high();
    out->data<uint64_t>()[2] = philox.key();
    return Error::success();
  };
  return WithGenerator(ctx, *variable, delta * kReserved, put_out);
}

// Shuffles rows: each position takes one of the remaining rows.
Error Shuffle(KernelContext& ctx, Philox philox) {
  const Tensor& in = ctx.input(0);
  if (in.rank() == 0 || in.num_elements() <= 1 || in.dim(0) <= 1) {
    ctx.SetOutput(0, in);
    return Error::success();
  }
  int64_t rows = in.dim(0), row = in.num_elements() / rows;
  std::vector<int64_t> order(rows);
  std::iota(order.begin(), order.end(), 0);
  PhiloxNumbers numbers(philox);
  for (int64_t i = 0; i + 1 < rows; ++i)
    std::swap(order[i], order[i + numbers.Next() % static_cast<uint32_t>(rows - i)]);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, in.dims()));
  for (int64_t i = 0; i < rows; ++i)
    CopyElements(in.dtype(), At(in, order[i] * row), At(*out, i * row), row);
  return Error::success();
}

Expected<KernelFn> MakeShuffle(const KernelSetup& setup) {
  return KernelFn([philox = SharedPhilox(setup)](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    bool moves = in.rank() > 0 && in.dim(0) > 1 && in.num_elements() > 1;
    return Shuffle(ctx, philox.Take(moves ? (in.dim(0) - 1 + 3) / 4 : 0));
  });
}

Error StatelessShuffle(KernelContext& ctx) {
  ASSIGN_OR_RETURN(Philox philox, FromKeyAndCounter(ctx.input(1), ctx.input(2), ctx.input(3)));
  return Shuffle(ctx, philox);
}

#define GRAPNEL_RANDOM_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_RANDOM_KERNEL("RandomUniform", MakeStateful<Kind::kUniform>);
GRAPNEL_RANDOM_KERNEL("RandomStandardNormal", MakeStateful<Kind::kNormal>);
GRAPNEL_RANDOM_KERNEL("TruncatedNormal", MakeStateful<Kind::kTruncated>);
GRAPNEL_RANDOM_KERNEL("RandomUniformInt", MakeStateful<Kind::kInt>);
GRAPNEL_RANDOM_KERNEL("RandomShuffle", MakeShuffle);
GRAPNEL_RANDOM_KERNEL("StatelessShuffle", KernelOf<StatelessShuffle>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomUniform", KernelOf<Stateless<Kind::kUniform>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomNormal", KernelOf<Stateless<Kind::kNormal>>);
GRAPNEL_RANDOM_KERNEL("StatelessTruncatedNormal", KernelOf<Stateless<Kind::kTruncated>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomUniformInt", KernelOf<Stateless<Kind::kInt>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomUniformFullInt", KernelOf<Stateless<Kind::kFullInt>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomUniformV2", KernelOf<StatelessV2<Kind::kUniform>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomNormalV2", KernelOf<StatelessV2<Kind::kNormal>>);
GRAPNEL_RANDOM_KERNEL("StatelessTruncatedNormalV2", KernelOf<StatelessV2<Kind::kTruncated>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomUniformIntV2", KernelOf<StatelessV2<Kind::kInt>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomUniformFullIntV2", KernelOf<StatelessV2<Kind::kFullInt>>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomGetKeyCounter", KernelOf<KeyCounter>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomGetKeyCounterAlg", KernelOf<KeyCounter>);
GRAPNEL_RANDOM_KERNEL("StatelessRandomGetAlg", KernelOf<Algorithm>);
GRAPNEL_RANDOM_KERNEL("StatefulUniform", KernelOf<FromGenerator<Kind::kUniform>>);
GRAPNEL_RANDOM_KERNEL("StatefulStandardNormalV2", KernelOf<FromGenerator<Kind::kNormal>>);
GRAPNEL_RANDOM_KERNEL("StatefulTruncatedNormal", KernelOf<FromGenerator<Kind::kTruncated>>);
GRAPNEL_RANDOM_KERNEL("StatefulUniformInt", KernelOf<FromGenerator<Kind::kInt>>);
GRAPNEL_RANDOM_KERNEL("StatefulUniformFullInt", KernelOf<FromGenerator<Kind::kFullInt>>);
GRAPNEL_RANDOM_KERNEL("RngSkip", KernelOf<ReadAndSkip>);
GRAPNEL_RANDOM_KERNEL("RngReadAndSkip", KernelOf<ReadAndSkip>);

}  // namespace
}  // namespace grapnel
