// NonMaxSuppression, V2 to V5 and WithOverlaps: selects boxes by descending score and drops those
// that overlap a better one too much; V5 can lower their scores instead.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/image/box_overlap.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

template <typename T>
struct Limits {
  int64_t most = 0;
  T overlap, score;
  T sigma = T(0);  // above 0: overlaps lower scores instead of removing boxes
};

template <typename T>
struct Candidate {
  int64_t box;
  T score;
  // The number of chosen boxes that have already been compared with this one.
  size_t seen = 0;
};

template <typename T>
struct Chosen {
  std::vector<int64_t> boxes;
  std::vector<T> scores;
};

// Compares the candidate with the boxes chosen since the last time. Without sigma, returns false if
// one of them overlaps it too much; with sigma, they lower its score, and it stays a candidate.
template <typename T, typename F>
bool Survives(Candidate<T>& candidate, const Chosen<T>& chosen, const Limits<T>& limits,
              F&& overlap_of) {
  bool soft = limits.sigma > T(0);
  for (size_t j = chosen.boxes.size(); j-- > candidate.seen;) {
    T overlap = overlap_of(candidate.box, chosen.boxes[j]);
    if (!soft && overlap > limits.overlap) return false;
    if (soft) {
      T scale = T(-0.5) / limits.sigma;
      candidate.score =
          candidate.score * static_cast<T>(std::exp(static_cast<float>(scale * overlap * overlap)));
    }
    if (candidate.score <= limits.score) break;
  }
  candidate.seen = chosen.boxes.size();
  return true;
}

// The earlier of equally scored boxes comes first.
template <typename T, typename F>
Chosen<T> Choose(const T* scores, int64_t count, const Limits<T>& limits, F&& overlap_of) {
  auto below = [](const Candidate<T>& a, const Candidate<T>& b) {
    return a.score < b.score || (a.score == b.score && a.box > b.box);
  };
  std::priority_queue<Candidate<T>, std::vector<Candidate<T>>, decltype(below)> queue(below);
  for (int64_t i = 0; i < count; ++i) {
    if (scores[i] > limits.score) queue.push({i, scores[i]});
  }
  Chosen<T> chosen;
  while (static_cast<int64_t>(chosen.boxes.size()) < limits.most && !queue.empty()) {
    Candidate<T> next = queue.top();
    queue.pop();
    T before = next.score;
    if (!Survives(next, chosen, limits, overlap_of)) continue;
    if (next.score == before) {
      chosen.boxes.push_back(next.box);
      chosen.scores.push_back(next.score);
    } else if (next.score > limits.score) {
      queue.push(next);
    }
  }
  return chosen;
}

// Returns a scalar of float or half as T.
template <typename T>
Expected<T> ScalarAt(const KernelContext& ctx, int i, const char* name) {
  const Tensor& tensor = ctx.input(i);
  if (tensor.num_elements() != 1)
    return MakeError("{0} must have one element, got shape {1}", name, DimsText(tensor.dims()));
  if (tensor.dtype() == proto::DT_HALF) return static_cast<T>(*tensor.data<Eigen::half>());
  return static_cast<T>(*tensor.data<float>());
}

template <typename T>
Expected<Limits<T>> ReadLimits(const KernelContext& ctx, int version, float iou_attr) {
  Limits<T> limits;
  if (ctx.input(2).num_elements() != 1)
    return MakeError("max_output_size must have one element, got shape {0}",
                     DimsText(ctx.input(2).dims()));
  limits.most = ctx.input(2).IntAt(0);
  if (limits.most < 0)
    return MakeError("max_output_size must not be negative, got {0}", limits.most);
  limits.overlap = static_cast<T>(iou_attr);
  limits.score = std::numeric_limits<T>::lowest();
  if (version >= 2) {
    ASSIGN_OR_RETURN(limits.overlap, ScalarAt<T>(ctx, 3, "iou_threshold"));
  }
  if (version >= 3) {
    ASSIGN_OR_RETURN(limits.score, ScalarAt<T>(ctx, 4, "score_threshold"));
  }
  if (version >= 5) {
    ASSIGN_OR_RETURN(limits.sigma, ScalarAt<T>(ctx, 5, "soft_nms_sigma"));
    if (!(limits.sigma >= T(0)))
      return MakeError("soft_nms_sigma must be 0 or more, got {0}",
                       static_cast<float>(limits.sigma));
  }
  if (!(limits.overlap >= T(0) && limits.overlap <= T(1)))
    return MakeError("iou_threshold must be in [0, 1], got {0}",
                     static_cast<float>(limits.overlap));
  return limits;
}

Error CheckScores(const Tensor& scores, int64_t boxes) {
  if (scores.rank() == 1 && scores.dim(0) == boxes) return Error::success();
  return MakeError("scores must be a vector of {0} elements, got shape {1}", boxes,
                   DimsText(scores.dims()));
}

// V4 also outputs the number of boxes, and V5 the number and the scores; both may pad with zeros.
template <typename T>
Error Store(KernelContext& ctx, const Chosen<T>& chosen, int64_t most, bool pad) {
  int64_t count = static_cast<int64_t>(chosen.boxes.size()), size = pad ? most : count;
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {size}));
  std::fill_n(indices->data<int32_t>(), size, 0);
  std::copy(chosen.boxes.begin(), chosen.boxes.end(), indices->data<int32_t>());
  if (ctx.num_outputs() == 3) {
    ASSIGN_OR_RETURN(Tensor * scores, ctx.Allocate(1, {size}));
    std::fill_n(scores->data<T>(), size, T(0));
    std::copy(chosen.scores.begin(), chosen.scores.end(), scores->data<T>());
  }
  if (ctx.num_outputs() > 1) {
    ASSIGN_OR_RETURN(Tensor * valid, ctx.Allocate(ctx.num_outputs() - 1, {}));
    *valid->data<int32_t>() = static_cast<int32_t>(count);
  }
  return Error::success();
}

template <typename T>
Error Suppress(KernelContext& ctx, int version, float iou_attr, bool pad) {
  const Tensor &boxes = ctx.input(0), &scores = ctx.input(1);
  if (boxes.rank() != 2 || boxes.dim(1) != 4)
    return MakeError("boxes must be [boxes, 4], got shape {0}", DimsText(boxes.dims()));
  RETURN_IF_ERROR(CheckScores(scores, boxes.dim(0)));
  ASSIGN_OR_RETURN(Limits<T> limits, ReadLimits<T>(ctx, version, iou_attr));
  const T* corners = boxes.data<T>();
  Chosen<T> chosen = Choose(
      scores.data<T>(), boxes.dim(0), limits,
      [corners](int64_t i, int64_t j) { return BoxOverlap(corners + 4 * i, corners + 4 * j); });
  return Store(ctx, chosen, limits.most, pad);
}

Expected<KernelFn> MakeSuppression(const KernelSetup& setup) {
  llvm::StringRef op = setup.node().op();
  int version = 1;
  if (op.take_back(2).front() == 'V') version = op.back() - '0';
  float iou = setup.node().GetFloat("iou_threshold", 0.5f);
  bool pad = setup.node().GetBool("pad_to_max_output_size");
  bool half = setup.input_type(0) == proto::DT_HALF;
  return KernelFn([version, iou, pad, half](KernelContext& ctx) {
    return half ? Suppress<Eigen::half>(ctx, version, iou, pad)
                : Suppress<float>(ctx, version, iou, pad);
  });
}

// The overlaps are a matrix input and need not be between 0 and 1.
Error SuppressWithOverlaps(KernelContext& ctx) {
  const Tensor& overlaps = ctx.input(0);
  if (overlaps.rank() != 2 || overlaps.dim(0) != overlaps.dim(1))
    return MakeError("overlaps must be a square matrix, got shape {0}", DimsText(overlaps.dims()));
  int64_t n = overlaps.dim(0);
  RETURN_IF_ERROR(CheckScores(ctx.input(1), n));
  Limits<float> limits;
  if (ctx.input(2).num_elements() != 1)
    return MakeError("max_output_size must have one element, got shape {0}",
                     DimsText(ctx.input(2).dims()));
  limits.most = ctx.input(2).IntAt(0);
  if (limits.most < 0)
    return MakeError("max_output_size must not be negative, got {0}", limits.most);
  ASSIGN_OR_RETURN(limits.overlap, ScalarAt<float>(ctx, 3, "overlap_threshold"));
  ASSIGN_OR_RETURN(limits.score, ScalarAt<float>(ctx, 4, "score_threshold"));
  const float* at = overlaps.data<float>();
  Chosen<float> chosen = Choose(ctx.input(1).data<float>(), n, limits,
                                [at, n](int64_t i, int64_t j) { return at[i * n + j]; });
  return Store(ctx, chosen, limits.most, false);
}

Expected<KernelFn> MakeWithOverlaps(const KernelSetup&) { return KernelFn(SuppressWithOverlaps); }

GRAPNEL_CPU_KERNEL("NonMaxSuppression", MakeSuppression);
GRAPNEL_CPU_KERNEL("NonMaxSuppressionV2", MakeSuppression);
GRAPNEL_CPU_KERNEL("NonMaxSuppressionV3", MakeSuppression);
GRAPNEL_CPU_KERNEL("NonMaxSuppressionV4", MakeSuppression);
GRAPNEL_CPU_KERNEL("NonMaxSuppressionV5", MakeSuppression);
GRAPNEL_CPU_KERNEL("NonMaxSuppressionWithOverlaps", MakeWithOverlaps);

}  // namespace
}  // namespace grapnel
