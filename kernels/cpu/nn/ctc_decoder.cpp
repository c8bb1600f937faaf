// Connectionist temporal classification: decodes logits over time to labels, greedily or by beam
// search (tensorflow/core/util/ctc/ctc_beam_search.h).
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

#include "kernels/common/dispatch.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Sizes {
  int64_t times, batch, classes;
};

Expected<Sizes> CheckInputs(const KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &lengths = ctx.input(1);
  if (in.rank() != 3)
    return MakeError("inputs of shape {0}: [time,batch,classes] was expected", DimsText(in.dims()));
  Sizes n{in.dim(0), in.dim(1), in.dim(2)};
  if (n.times == 0) return MakeError("inputs of shape {0} have no steps", DimsText(in.dims()));
  if (n.classes == 0) return MakeError("inputs of shape {0} have no classes", DimsText(in.dims()));
  if (lengths.rank() != 1 || lengths.dim(0) != n.batch)
    return MakeError("sequence_length of shape {0}: [{1}] was expected", DimsText(lengths.dims()),
                     n.batch);
  for (int64_t b = 0; b < n.batch; ++b) {
    if (lengths.IntAt(b) > n.times)
      return MakeError("sequence_length[{0}] is {1}, but inputs have only {2} steps", b,
                       lengths.IntAt(b), n.times);
  }
  return n;
}

using Labels = std::vector<int>;

// Writes the labels of all examples as a sparse matrix to outputs `at`, at + step, at + 2 * step.
Error PutLabels(KernelContext& ctx, int at, int step, llvm::ArrayRef<Labels> examples) {
  int64_t total = 0, longest = 0;
  for (const Labels& labels : examples) {
    int64_t size = static_cast<int64_t>(labels.size());
    total += size;
    longest = std::max(longest, size);
  }
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(at, {total, 2}));
  ASSIGN_OR_RETURN(Tensor * values, ctx.Allocate(at + step, {total}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(at + 2 * step, {2}));
  int64_t k = 0;
  for (size_t b = 0; b < examples.size(); ++b) {
    for (size_t i = 0; i < examples[b].size(); ++i, ++k) {
      indices->data<int64_t>()[2 * k] = static_cast<int64_t>(b);
      indices->data<int64_t>()[2 * k + 1] = static_cast<int64_t>(i);
      values->data<int64_t>()[k] = examples[b][i];
    }
  }
  shape->data<int64_t>()[0] = static_cast<int64_t>(examples.size());
  shape->data<int64_t>()[1] = longest;
  return Error::success();
}

template <typename T>
Error Greedy(KernelContext& ctx, bool merge, int64_t blank) {
  ASSIGN_OR_RETURN(Sizes n, CheckInputs(ctx));
  if (blank < 0) blank += n.classes;
  if (blank < 0 || blank >= n.classes)
    return MakeError("blank_index {0} is out of range for {1} classes",
                     blank < 0 ? blank - n.classes : blank, n.classes);
  ASSIGN_OR_RETURN(Tensor * scores, ctx.Allocate(3, {n.batch, 1}));
  std::vector<Labels> examples(n.batch);
  for (int64_t b = 0; b < n.batch; ++b) {
    T score = 0;
    int64_t previous = -1;
    for (int64_t t = 0; t < ctx.input(1).IntAt(b); ++t) {
      const T* row = ctx.input(0).data<T>() + (t * n.batch + b) * n.classes;
      int64_t best = std::max_element(row, row + n.classes) - row;
      score += -row[best];
      if (best != blank && !(merge && best == previous))
        examples[b].push_back(static_cast<int>(best));
      previous = best;
    }
    scores->data<T>()[b] = score;
  }
  return PutLabels(ctx, 0, 1, examples);
}

// --- Search: label prefixes, with the probabilities that they end in a blank and in their last
// label

template <typename T>
constexpr T kNever = -std::numeric_limits<T>::infinity();

template <typename T>
T LogAdd(T a, T b) {
  if (a == kNever<T>) return b;
  if (b == kNever<T>) return a;
  return std::max(a, b) + std::log1p(std::exp(-std::abs(a - b)));
}

template <typename T>
struct Scores {
  T total = kNever<T>, blank = kNever<T>, label = kNever<T>;
};

template <typename T>
struct Prefix {
  Prefix* parent = nullptr;
  int label = -1;
  Scores<T> before, now;
  std::map<int, std::unique_ptr<Prefix>> children;
  bool IsActive() const { return now.total != kNever<T>; }
};

template <typename T>
class BeamSearch {
 public:
  BeamSearch(int64_t classes, size_t width) : classes_(classes), width_(width) {
    root_.now.total = root_.now.blank = 0;
    leaves_.push_back(&root_);
  }

  void Step(const T* row) {
    T most = *std::max_element(row, row + classes_), sum = 0;
    for (int64_t c = 0; c < classes_; ++c) sum += std::exp(row[c] - most);
    T norm = most + std::log(sum);
    int blank = static_cast<int>(classes_) - 1;
    std::vector<Prefix<T>*> branches = std::move(leaves_);
    leaves_.clear();
    for (Prefix<T>* b : branches) b->before = b->now;
    for (Prefix<T>* b : branches) {
      if (b->parent) {
        if (b->parent->IsActive())
          b->now.label =
              LogAdd(b->now.label, b->label == b->parent->label ? b->parent->before.blank
                                                                : b->parent->before.total);
        b->now.label += row[b->label] - norm;
      }
      b->now.blank = b->before.total + row[blank] - norm;
      b->now.total = LogAdd(b->now.blank, b->now.label);
      Push(b);
    }
    for (Prefix<T>* b : branches) {
      if (!IsCandidate(b->before.total)) continue;
      for (int label = 0; label < blank; ++label) Grow(*b, label, row[label] - norm);
    }
  }

  // Returns the best prefixes, best first; empty when there are fewer than `count`.
  std::vector<std::pair<Labels, T>> Best(size_t count, bool merge) const {
    std::vector<std::pair<Labels, T>> best;
    if (leaves_.size() < count) return best;
    for (size_t i = 0; i < count; ++i) {
      Labels labels;
      int previous = -1;
      for (const Prefix<T>* p = leaves_[i]; p->parent; p = p->parent) {
        if (!merge || p->label != previous) labels.push_back(p->label);
        previous = p->label;
      }
      std::reverse(labels.begin(), labels.end());
      best.emplace_back(std::move(labels), leaves_[i]->now.total);
    }
    return best;
  }

 private:
  bool IsCandidate(T total) const {
    return total > kNever<T> && (leaves_.size() < width_ || total > leaves_.back()->now.total);
  }

  // Leaves (the prefixes that the search continues) are sorted, best first; of equal ones the older
  // comes first.
  void Push(Prefix<T>* prefix) {
    auto place = std::upper_bound(
        leaves_.begin(), leaves_.end(), prefix,
        [](const Prefix<T>* a, const Prefix<T>* b) { return a->now.total > b->now.total; });
    leaves_.insert(place, prefix);
  }

  void Grow(Prefix<T>& parent, int label, T score) {
    auto& child = parent.children[label];
    if (!child) {
      child = std::make_unique<Prefix<T>>();
      child->parent = &parent;
      child->label = label;
    }
    if (child->IsActive()) return;
    T previous = label == parent.label ? parent.before.blank : parent.before.total;
    child->now = {score + previous, kNever<T>, score + previous};
    if (!IsCandidate(child->now.total)) {
      child->now = child->before = Scores<T>();
      return;
    }
    if (leaves_.size() == width_) {  // drop the worst leaf from the search
      leaves_.back()->now = Scores<T>();
      leaves_.pop_back();
    }
    Push(child.get());
  }

  int64_t classes_;
  size_t width_;
  Prefix<T> root_;
  std::vector<Prefix<T>*> leaves_;
};

template <typename T>
Error Search(KernelContext& ctx, int64_t width, int paths, bool merge) {
  ASSIGN_OR_RETURN(Sizes n, CheckInputs(ctx));
  ASSIGN_OR_RETURN(Tensor * scores, ctx.Allocate(3 * paths, {n.batch, paths}));
  std::vector<std::vector<Labels>> decoded(paths, std::vector<Labels>(n.batch));
  for (int64_t b = 0; b < n.batch; ++b) {
    BeamSearch<T> search(n.classes, width);
    for (int64_t t = 0; t < ctx.input(1).IntAt(b); ++t)
      search.Step(ctx.input(0).data<T>() + (t * n.batch + b) * n.classes);
    auto best = search.Best(paths, merge);
    if (best.empty())
      return MakeError("example {0}: the search has fewer than top_paths = {1} results", b, paths);
    for (int p = 0; p < paths; ++p) {
      decoded[p][b] = std::move(best[p].first);
      scores->data<T>()[b * paths + p] = best[p].second;
    }
  }
  for (int p = 0; p < paths; ++p) RETURN_IF_ERROR(PutLabels(ctx, p, paths, decoded[p]));
  return Error::success();
}

bool IsFloat(const KernelSetup& setup) {
  return setup.node().GetType("T", proto::DT_FLOAT) == proto::DT_FLOAT;
}

Expected<KernelFn> MakeGreedy(const KernelSetup& setup) {
  bool merge = setup.node().GetBool("merge_repeated"), is_float = IsFloat(setup);
  int64_t blank = setup.node().GetInt("blank_index", -1);
  return KernelFn([=](KernelContext& ctx) {
    return is_float ? Greedy<float>(ctx, merge, blank) : Greedy<double>(ctx, merge, blank);
  });
}

Expected<KernelFn> MakeSearch(const KernelSetup& setup) {
  bool merge = setup.node().GetBool("merge_repeated", true), is_float = IsFloat(setup);
  int64_t width = setup.node().GetInt("beam_width"), paths = setup.node().GetInt("top_paths");
  if (width <= 0 || paths <= 0 || paths > width)
    return MakeError(
        "beam_width must be 1 or more and top_paths in [1, beam_width], got {0} and {1}", width,
        paths);
  return KernelFn([=](KernelContext& ctx) {
    int count = static_cast<int>(paths);
    return is_float ? Search<float>(ctx, width, count, merge)
                    : Search<double>(ctx, width, count, merge);
  });
}

GRAPNEL_CPU_KERNEL("CTCGreedyDecoder", MakeGreedy,
                   OfTypes("T", DataTypesOf(TypeList<float, double>())));
GRAPNEL_CPU_KERNEL("CTCBeamSearchDecoder", MakeSearch,
                   OfTypes("T", DataTypesOf(TypeList<float, double>())));

}  // namespace
}  // namespace grapnel
