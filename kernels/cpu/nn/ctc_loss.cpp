// Connectionist temporal classification: the loss of labels without alignment to time, and its
// gradient (Graves et al., 2006; tensorflow/core/util/ctc/ctc_loss_calculator.h). The last class is
// the blank.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// log(exp(a) + exp(b))
double LogAdd(double a, double b) {
  if (a == kNever) return b;
  if (b == kNever) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

struct Options {
  bool collapse = false, merge = true, ignore_longer = false;
};

// Returns the labels with blanks before, between and after them. With `collapse`, a run of equal
// labels counts as one label.
std::vector<int> WithBlanks(const std::vector<int>& labels, int blank, bool collapse) {
  std::vector<int> out = {blank};
  for (size_t i = 0; i < labels.size(); ++i) {
    if (collapse && i > 0 && labels[i] == labels[i - 1]) continue;
    out.push_back(labels[i]);
    out.push_back(blank);
  }
  return out;
}

// One example, with log probabilities by [time][class].
struct Example {
  int64_t times = 0, classes = 0;
  std::vector<double> log_y;
  std::vector<int> path;
  bool merge = true;
  double y(int64_t t, int64_t u) const { return log_y[t * classes + path[u]]; }
  int blank() const { return static_cast<int>(classes) - 1; }
  // Whether state u may repeat, and whether it may be reached from u - 2.
  bool CanStay(size_t u) const { return merge || path[u] == blank(); }
  bool CanSkipTo(size_t u) const {
    return u > 1 && path[u] != blank() && !(merge && path[u] == path[u - 2]);
  }
};

// Sets (*through)[t * states + u] to the logarithm of the probability of all paths through state u
// at time t (those from the start times those to the end). Returns the logarithm for all paths.
double ForwardBackward(const Example& example, std::vector<double>* through) {
  size_t states = example.path.size();
  int64_t times = example.times;
  std::vector<double> alpha(times * states, kNever), beta(times * states, kNever);
  for (size_t u = 0; u < std::min<size_t>(2, states); ++u) alpha[u] = example.y(0, u);
  for (int64_t t = 1; t < times; ++t) {
    const double* before = &alpha[(t - 1) * states];
    for (size_t u = 0; u < states; ++u) {
      double sum = example.CanStay(u) ? before[u] : kNever;
      if (u > 0) sum = LogAdd(sum, before[u - 1]);
      if (example.CanSkipTo(u)) sum = LogAdd(sum, before[u - 2]);
      alpha[t * states + u] = sum + example.y(t, u);
    }
  }
  for (size_t u = states - std::min<size_t>(2, states); u < states; ++u)
    beta[(times - 1) * states + u] = 0;
  for (int64_t t = times - 2; t >= 0; --t) {
    const double* after = &beta[(t + 1) * states];
    for (size_t u = 0; u < states; ++u) {
      double sum = example.CanStay(u) ? after[u] + example.y(t + 1, u) : kNever;
      if (u + 1 < states) sum = LogAdd(sum, after[u + 1] + example.y(t + 1, u + 1));
      if (u + 2 < states && example.CanSkipTo(u + 2))
        sum = LogAdd(sum, after[u + 2] + example.y(t + 1, u + 2));
      beta[t * states + u] = sum;
    }
  }
  double total = kNever;
  for (size_t u = 0; u < states; ++u) total = LogAdd(total, alpha[u] + beta[u]);
  through->resize(alpha.size());
  for (size_t i = 0; i < alpha.size(); ++i) (*through)[i] = alpha[i] + beta[i];
  return total;
}

// Writes the gradient of one example: softmax minus the posterior probability of each class at each
// time. Returns the loss.
template <typename T>
double LossOf(const Example& example, T* gradient, int64_t stride) {
  std::vector<double> through, by_class(example.classes);
  double total = ForwardBackward(example, &through);
  size_t states = example.path.size();
  for (int64_t t = 0; t < example.times; ++t) {
    std::fill(by_class.begin(), by_class.end(), kNever);
    for (size_t u = 0; u < states && total != kNever; ++u) {
      double& sum = by_class[example.path[u]];
      sum = LogAdd(sum, through[t * states + u]);
    }
    for (int64_t c = 0; c < example.classes; ++c) {
      double expected = by_class[c] == kNever ? 0 : std::exp(by_class[c] - total);
      gradient[t * stride + c] =
          static_cast<T>(std::exp(example.log_y[t * example.classes + c]) - expected);
    }
  }
  return -total;
}

template <typename T>
std::vector<double> LogSoftmax(const T* in, int64_t times, int64_t classes, int64_t stride) {
  std::vector<double> out(times * classes);
  for (int64_t t = 0; t < times; ++t) {
    const T* row = in + t * stride;
    T most = *std::max_element(row, row + classes);
    double sum = 0;
    for (int64_t c = 0; c < classes; ++c) sum += std::exp(row[c] - most);
    // Probabilities that underflow to 0 in T count as 0, as in TensorFlow.
    for (int64_t c = 0; c < classes; ++c)
      out[t * classes + c] = std::log(double{static_cast<T>(std::exp(row[c] - most) / sum)});
  }
  return out;
}

struct Sizes {
  int64_t times, batch, classes;
};

Expected<Sizes> CheckInputs(const KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &indices = ctx.input(1), &lengths = ctx.input(3);
  if (in.rank() != 3)
    return MakeError("inputs of shape {0}: [time,batch,classes] was expected", DimsText(in.dims()));
  Sizes n{in.dim(0), in.dim(1), in.dim(2)};
  if (n.batch == 0 || n.classes == 0)
    return MakeError("inputs of shape {0} have no examples or no classes", DimsText(in.dims()));
  if (indices.rank() != 2 || indices.dim(1) != 2 || ctx.input(2).rank() != 1 ||
      ctx.input(2).dim(0) != indices.dim(0)) {
    return MakeError(
        "labels at indices of shape {0} with values of shape {1}: [n,2] and [n] were "
        "expected",
        DimsText(indices.dims()), DimsText(ctx.input(2).dims()));
  }
  if (lengths.rank() != 1 || lengths.dim(0) != n.batch)
    return MakeError("sequence_length of shape {0}: [{1}] was expected", DimsText(lengths.dims()),
                     n.batch);
  for (int64_t b = 0; b < n.batch; ++b) {
    if (lengths.IntAt(b) < 0 || lengths.IntAt(b) > n.times)
      return MakeError("sequence_length[{0}] is {1}, not in [0, {2}], as inputs have {2} steps", b,
                       lengths.IntAt(b), n.times);
  }
  return n;
}

// Labels equal to the blank or greater are dropped, and no other label may follow them. The result
// of an ignored example is nullopt.
Expected<std::vector<std::optional<std::vector<int>>>> ReadLabels(const KernelContext& ctx,
                                                                  const Sizes& n,
                                                                  bool ignore_longer) {
  std::vector<std::optional<std::vector<int>>> labels(n.batch, std::vector<int>());
  std::vector<int64_t> given(n.batch);
  const Tensor &indices = ctx.input(1), &values = ctx.input(2);
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    int64_t b = indices.IntAt(2 * i), label = values.IntAt(i);
    if (b < 0 || b >= n.batch)
      return MakeError("a label belongs to example {0}, but there are {1} examples", b, n.batch);
    if (label < 0) return MakeError("label {0} of example {1} is negative", label, b);
    bool ended = given[b]++ > static_cast<int64_t>(labels[b]->size());
    if (label >= n.classes - 1) continue;
    if (ended) {
      return MakeError(
          "label {0} of example {1} follows a label that is the blank (the last class) or above it",
          label, b);
    }
    labels[b]->push_back(static_cast<int>(label));
  }
  for (int64_t b = 0; b < n.batch; ++b) {
    int64_t steps = ctx.input(3).IntAt(b);
    if (given[b] == 0) return MakeError("example {0} has no labels", b);
    if (steps >= given[b]) continue;
    if (!ignore_longer) {
      return MakeError(
          "example {0} has {1} labels for {2} steps (and "
          "ignore_longer_outputs_than_inputs is false)",
          b, given[b], steps);
    }
    labels[b].reset();
  }
  return labels;
}

template <typename T>
Error Loss(KernelContext& ctx, const Options& options) {
  ASSIGN_OR_RETURN(Sizes n, CheckInputs(ctx));
  ASSIGN_OR_RETURN(auto labels, ReadLabels(ctx, n, options.ignore_longer));
  ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, {n.batch}));
  ASSIGN_OR_RETURN(Tensor * gradient, ctx.Allocate(1, ctx.input(0).dims()));
  std::fill_n(loss->data<T>(), n.batch, T(0));
  std::fill_n(gradient->data<T>(), gradient->num_elements(), T(0));
  int64_t stride = n.batch * n.classes;
  std::vector<Example> examples(n.batch);
  for (int64_t b = 0; b < n.batch; ++b) {
    Example& example = examples[b];
    example.times = ctx.input(3).IntAt(b);
    example.classes = n.classes;
    example.merge = options.merge;
    if (labels[b]) example.path = WithBlanks(*labels[b], example.blank(), options.collapse);
  }
  double cost = n.times * n.classes * 30.0;
  ctx.ParallelFor(n.batch, cost, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      Example& example = examples[b];
      if (!labels[b]) continue;
      example.log_y =
          LogSoftmax(ctx.input(0).data<T>() + b * n.classes, example.times, n.classes, stride);
      loss->data<T>()[b] =
          static_cast<T>(LossOf(example, gradient->data<T>() + b * n.classes, stride));
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeLoss(const KernelSetup& setup) {
  Options options;
  options.collapse = setup.node().GetBool("preprocess_collapse_repeated");
  options.merge = setup.node().GetBool("ctc_merge_repeated", true);
  options.ignore_longer = setup.node().GetBool("ignore_longer_outputs_than_inputs");
  bool is_float = setup.node().GetType("T", proto::DT_FLOAT) == proto::DT_FLOAT;
  return KernelFn([options, is_float](KernelContext& ctx) {
    return is_float ? Loss<float>(ctx, options) : Loss<double>(ctx, options);
  });
}

GRAPNEL_CPU_KERNEL("CTCLoss", MakeLoss, OfTypes("T", DataTypesOf(TypeList<float, double>())));

}  // namespace
}  // namespace grapnel
