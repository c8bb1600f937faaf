// Samples classes in addition to the true ones, for losses over very many classes. The samplers
// draw with uniform or log-uniform probability, by observed frequency or by given weights; one
// takes every class. (tensorflow/core/kernels/range_sampler.cc)
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "kernels/cpu/random/random.h"
#include "lib/support/file.h"

namespace grapnel {
namespace {

// Draws from [0, range).
class Sampler {
 public:
  explicit Sampler(int64_t range) : range_(range) {}
  virtual ~Sampler() = default;
  int64_t range() const { return range_; }
  // The number of distinct classes that can be drawn.
  virtual int64_t possible() const { return range_; }
  virtual int64_t Draw(PhiloxNumbers& numbers) const = 0;
  virtual float Probability(int64_t value) const = 0;
  virtual void See(llvm::ArrayRef<int64_t>) {}

  std::mutex mutex;  // held during draws, which may depend on the classes seen before

 private:
  int64_t range_;
};

class UniformSampler : public Sampler {
 public:
  using Sampler::Sampler;
  int64_t Draw(PhiloxNumbers& numbers) const override {
    return static_cast<int64_t>(numbers.Below64(static_cast<uint64_t>(range())));
  }
  float Probability(int64_t) const override {
    return static_cast<float>(1.0 / static_cast<double>(range()));
  }
};

class LogUniformSampler : public Sampler {
 public:
  using Sampler::Sampler;
  int64_t Draw(PhiloxNumbers& numbers) const override {
    uint32_t x0 = numbers.Next(), x1 = numbers.Next();
    double drawn = std::exp(ToDouble(x0, x1) * LogRange());
    // A value beyond 63 bits converts to the lowest integer on TensorFlow's machines; subtracting 1
    // wraps it to the highest.
    constexpr int64_t kHighest = std::numeric_limits<int64_t>::max();
    bool fits = drawn < 0x1p63;
    return (fits ? static_cast<int64_t>(drawn) - 1 : kHighest) % range();
  }
  float Probability(int64_t value) const override {
    auto x = static_cast<double>(value);
    return static_cast<float>(std::log((x + 2.0) / (x + 1.0)) / LogRange());
  }

 private:
  double LogRange() const { return std::log1p(static_cast<double>(range())); }
};

// Draws a class in proportion to 1 plus the number of times it was a true class.
class UnigramSampler : public Sampler {
 public:
  explicit UnigramSampler(int64_t range) : Sampler(range), total_(range) {}
  int64_t Draw(PhiloxNumbers& numbers) const override {
    int64_t place = numbers.Below(static_cast<uint32_t>(total_)), before = 0;
    for (const auto& seen : seen_) {
      if (place < seen.first + before) break;
      if (place <= seen.first + before + seen.second) return seen.first;
      before += seen.second;
    }
    return place - before;
  }
  float Probability(int64_t value) const override {
    auto seen = seen_.find(value);
    int64_t weight = 1 + (seen == seen_.end() ? 0 : seen->second);
    return static_cast<float>(weight) / static_cast<float>(total_);
  }
  void See(llvm::ArrayRef<int64_t> values) override {
    for (int64_t value : values) {
      if (total_ == std::numeric_limits<int32_t>::max()) return;
      ++seen_[value];
      ++total_;
    }
  }

 private:
  std::map<int64_t, int64_t> seen_;
  int64_t total_;
};

// Draws by weights: a draw selects a class and then it or its alias (Vose's alias method).
class WeightedSampler : public Sampler {
 public:
  explicit WeightedSampler(std::vector<float> weights)
      : Sampler(static_cast<int64_t>(weights.size())), weights_(std::move(weights)) {
    double sum = 0;
    for (float weight : weights_) {
      sum += static_cast<double>(weight);
      total_ += weight;
      possible_ += weight > 0 ? 1 : 0;
    }
    Pair(sum);
  }
  int64_t possible() const override { return possible_; }
  int64_t Draw(PhiloxNumbers& numbers) const override {
    float x = numbers.NextFloat();
    uint32_t i = numbers.Below(static_cast<uint32_t>(range()));
    return x < own_[i] ? i : partner_[i];
  }
  float Probability(int64_t value) const override { return weights_[value] / total_; }

 private:
  void Pair(double sum) {
    size_t n = weights_.size();
    std::vector<double> parts(n);
    std::vector<uint32_t> high, low;
    partner_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      parts[i] = static_cast<double>(weights_[i] * static_cast<float>(n)) / sum;
      (parts[i] < 1 ? low : high).push_back(static_cast<uint32_t>(i));
    }
    while (!high.empty() && !low.empty()) {
      uint32_t l = low.back(), h = high.back();
      low.pop_back();
      high.pop_back();
      partner_[l] = h;
      parts[h] -= 1 - parts[l];
      (parts[h] < 1 ? low : high).push_back(h);
    }
    own_.assign(parts.begin(), parts.end());
    // The remaining probabilities are 1 except for rounding.
    for (const auto* rest : {&high, &low}) {
      for (uint32_t i : *rest) {
        own_[i] = 1;
        partner_[i] = i;
      }
    }
  }

  std::vector<float> weights_, own_;
  std::vector<uint32_t> partner_;
  float total_ = 0;
  int64_t possible_ = 0;
};

// --- The kernels

struct DrawAttrs {
  int64_t true_count, count;
  bool unique;
};

Expected<DrawAttrs> ReadDrawAttrs(const Node& node) {
  DrawAttrs attrs = {node.GetInt("num_true"), node.GetInt("num_sampled"), node.GetBool("unique")};
  for (int64_t value : {attrs.true_count, attrs.count}) {
    if (value < 1 || value > std::numeric_limits<int32_t>::max())
      return MakeError("num_true and num_sampled must be in [1, 2^31), got {0} and {1}",
                       attrs.true_count, attrs.count);
  }
  return attrs;
}

// Returns the expected number of times that a class of this probability is among `count` classes
// drawn in `tries`.
float ExpectedCount(float p, int64_t count, int64_t tries) {
  if (tries == count) return p * static_cast<float>(count);
  return -std::expm1(static_cast<float>(tries) * std::log1p(-p));
}

// Draws the classes; returns the number of tries.
Expected<int64_t> DrawAll(const Sampler& sampler, const DrawAttrs& attrs, PhiloxNumbers numbers,
                          int64_t* drawn) {
  if (!attrs.unique) {
    for (int64_t i = 0; i < attrs.count; ++i) drawn[i] = sampler.Draw(numbers);
    return attrs.count;
  }
  std::unordered_set<int64_t> used;
  int64_t tries = 0;
  for (int64_t i = 0; i < attrs.count; ++tries) {
    if (tries == std::numeric_limits<int32_t>::max())
      return MakeError("could not draw {0} different classes in {1} tries", attrs.count, tries);
    int64_t value = sampler.Draw(numbers);
    if (used.insert(value).second) drawn[i++] = value;
  }
  return tries;
}

Error CheckTrueClasses(const Tensor& classes, int64_t count, int64_t range) {
  if (classes.rank() != 2 || classes.dim(1) != count)
    return MakeError("true_classes must be a matrix with num_true = {0} columns, got shape {1}",
                     count, DimsText(classes.dims()));
  for (int64_t i = 0; i < classes.num_elements(); ++i) {
    int64_t value = classes.data<int64_t>()[i];
    if (value < 0 || value >= range)
      return MakeError("true class {0} is not in [0, {1})", value, range);
  }
  return Error::success();
}

Error DrawCandidates(KernelContext& ctx, Sampler& sampler, const DrawAttrs& attrs, Philox philox) {
  const Tensor& classes = ctx.input(0);
  RETURN_IF_ERROR(CheckTrueClasses(classes, attrs.true_count, sampler.range()));
  if (attrs.unique && attrs.count > sampler.possible())
    return MakeError("cannot draw {0} different classes: only {1} are available", attrs.count,
                     sampler.possible());
  ASSIGN_OR_RETURN(Tensor * drawn, ctx.Allocate(0, {attrs.count}));
  ASSIGN_OR_RETURN(Tensor * of_true, ctx.Allocate(1, classes.dims()));
  ASSIGN_OR_RETURN(Tensor * of_drawn, ctx.Allocate(2, {attrs.count}));
  ASSIGN_OR_RETURN(int64_t tries,
                   DrawAll(sampler, attrs, PhiloxNumbers(philox), drawn->data<int64_t>()));
  auto expect = [&](const Tensor& values, Tensor& counts) {
    for (int64_t i = 0; i < values.num_elements(); ++i)
      counts.data<float>()[i] =
          ExpectedCount(sampler.Probability(values.data<int64_t>()[i]), attrs.count, tries);
  };
  expect(*drawn, *of_drawn);
  expect(classes, *of_true);
  sampler.See(llvm::ArrayRef<int64_t>(classes.data<int64_t>(), classes.num_elements()));
  return Error::success();
}

Expected<KernelFn> MakeOf(const KernelSetup& setup, const std::shared_ptr<Sampler>& sampler) {
  ASSIGN_OR_RETURN(DrawAttrs attrs, ReadDrawAttrs(setup.node()));
  return KernelFn([sampler, attrs, philox = SharedPhilox(setup)](KernelContext& ctx) {
    constexpr int64_t kNumbersEach = 2048;
    std::lock_guard lock(sampler->mutex);
    return DrawCandidates(ctx, *sampler, attrs, philox.Take(kNumbersEach / 4 * attrs.count));
  });
}

template <typename S>
Expected<KernelFn> Make(const KernelSetup& setup) {
  int64_t range = setup.node().GetInt("range_max");
  constexpr bool kCounts = std::is_same_v<S, UnigramSampler>;
  constexpr int64_t kMost =
      kCounts ? std::numeric_limits<int32_t>::max() - 1 : std::numeric_limits<int64_t>::max();
  if (range < 1 || range > kMost)
    return MakeError("range_max must be in [1, {0}], got {1}", kMost, range);
  return MakeOf(setup, std::make_shared<S>(range));
}

struct Shard {
  int64_t count, index;
  bool Holds(int64_t id) const { return id % count == index; }
};

// Returns the last field of each line of a comma-separated file.
Expected<std::vector<float>> WeightsFromFile(llvm::StringRef path) {
  ASSIGN_OR_RETURN(auto file, FileBytes::Open(path));
  llvm::StringRef rest = file->bytes();
  std::vector<float> weights;
  while (!rest.empty()) {
    auto [line, after] = rest.split('\n');
    rest = after;
    double weight = 0;
    if (line.rsplit(',').second.trim().getAsDouble(weight) && line.trim().getAsDouble(weight))
      return MakeError("{0}: the last field of line '{1}' is not a number", path, line);
    weights.push_back(static_cast<float>(weight));
  }
  return weights;
}

Expected<std::vector<float>> GivenWeights(const Node& node) {
  std::string path = node.GetString("vocab_file");
  std::vector<float> weights;
  if (auto attr = node.Attr("unigrams")) weights = attr->AsFloats().value_or(weights);
  if (path.empty() == weights.empty())
    return MakeError("exactly one of vocab_file and unigrams must be given");
  if (path.empty()) return weights;
  return WeightsFromFile(path);
}

Expected<KernelFn> MakeFixed(const KernelSetup& setup) {
  const Node& node = setup.node();
  Shard shard = {node.GetInt("num_shards", 1), node.GetInt("shard")};
  // TensorFlow reads 32 bits.
  auto reserved = static_cast<int32_t>(node.GetInt("num_reserved_ids"));
  int64_t range = node.GetInt("range_max");
  if (shard.count < 1 || shard.index < 0 || shard.index >= shard.count)
    return MakeError("shard must be in [0, num_shards), got {0} of {1}", shard.index, shard.count);
  constexpr int64_t kMost = 1 << 28;
  if (range < 1 || range > kMost || reserved > kMost)  // a negative number reserves no ids
    return MakeError(
        "range_max must be in [1, {0}] and num_reserved_ids at most {0}, got {1} and {2}", kMost,
        range, reserved);
  ASSIGN_OR_RETURN(std::vector<float> given, GivenWeights(node));
  float distortion = node.GetFloat("distortion", 1);
  std::vector<float> weights;
  for (int64_t id = 0; id < reserved; ++id) {
    if (shard.Holds(id)) weights.push_back(0);
  }
  auto id = static_cast<int64_t>(weights.size());
  for (float weight : given) {
    if (shard.Holds(id++)) weights.push_back(std::pow(weight, distortion));
    if (!(weight >= 0)) return MakeError("weights must be 0 or more, got {0}", weight);
  }
  if (static_cast<int64_t>(weights.size()) != range)
    return MakeError("range_max is {0}, but the shard has {1} ids (reserved ids included)", range,
                     weights.size());
  return MakeOf(setup, std::make_shared<WeightedSampler>(std::move(weights)));
}

// Returns every class once.
Expected<KernelFn> MakeAll(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(DrawAttrs attrs, ReadDrawAttrs(setup.node()));
  return KernelFn([attrs](KernelContext& ctx) -> Error {
    const Tensor& classes = ctx.input(0);
    RETURN_IF_ERROR(CheckTrueClasses(classes, attrs.true_count, attrs.count));
    ASSIGN_OR_RETURN(Tensor * drawn, ctx.Allocate(0, {attrs.count}));
    ASSIGN_OR_RETURN(Tensor * of_true, ctx.Allocate(1, classes.dims()));
    ASSIGN_OR_RETURN(Tensor * of_drawn, ctx.Allocate(2, {attrs.count}));
    for (int64_t i = 0; i < attrs.count; ++i) drawn->data<int64_t>()[i] = i;
    for (Tensor* counts : {of_true, of_drawn})
      std::fill_n(counts->data<float>(), counts->num_elements(), 1.0f);
    return Error::success();
  });
}

#define GRAPNEL_SAMPLER_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make)
GRAPNEL_SAMPLER_KERNEL("UniformCandidateSampler", Make<UniformSampler>);
GRAPNEL_SAMPLER_KERNEL("LogUniformCandidateSampler", Make<LogUniformSampler>);
GRAPNEL_SAMPLER_KERNEL("LearnedUnigramCandidateSampler", Make<UnigramSampler>);
GRAPNEL_SAMPLER_KERNEL("ThreadUnsafeUnigramCandidateSampler", Make<UnigramSampler>);
GRAPNEL_SAMPLER_KERNEL("FixedUnigramCandidateSampler", MakeFixed);
GRAPNEL_SAMPLER_KERNEL("AllCandidateSampler", MakeAll);

}  // namespace
}  // namespace grapnel
