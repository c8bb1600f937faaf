// CombinedNonMaxSuppression: chooses boxes for each class of each image separately, then the best
// across all classes.
#include <algorithm>
#include <limits>
#include <queue>
#include <vector>

#include "kernels/cpu/image/box_overlap.h"
#include "lib/exec/kernel.h"

namespace grapnel {
namespace {

struct Attrs {
  bool pad_per_class, clip;
};

struct Limits {
  int64_t per_class, total;
  float overlap, score;
};

struct Found {
  const float* box;
  float score;
  int64_t kind;
};

Expected<Limits> ReadLimits(const KernelContext& ctx) {
  for (int i = 2; i < 6; ++i) {
    if (ctx.input(i).num_elements() != 1)
      return MakeError("input {0} must have one element, got shape {1}", i,
                       DimsText(ctx.input(i).dims()));
  }
  Limits limits{ctx.input(2).IntAt(0), ctx.input(3).IntAt(0), *ctx.input(4).data<float>(),
                *ctx.input(5).data<float>()};
  if (limits.per_class <= 0)
    return MakeError("max_output_size_per_class must be positive, got {0}", limits.per_class);
  if (limits.total <= 0) return MakeError("max_total_size must be positive, got {0}", limits.total);
  if (!(limits.overlap >= 0 && limits.overlap <= 1))
    return MakeError("iou_threshold must be in [0, 1], got {0}", limits.overlap);
  return limits;
}

// boxes[i * box_stride] and scores[i * score_stride] are the corners and the score of box i for one
// class. Stores the chosen boxes, at most `most`, from found[0] on. The heap here and std::sort
// below order equal scores as TensorFlow does; other algorithms would choose other boxes.
void ChooseOfClass(const float* boxes, int64_t box_stride, const float* scores,
                   int64_t score_stride, int64_t count, int64_t kind, const Limits& limits,
                   int64_t most, Found* found) {
  struct Candidate {
    int64_t box;
    float score;
  };
  auto below = [](const Candidate& a, const Candidate& b) { return a.score < b.score; };
  std::priority_queue<Candidate, std::vector<Candidate>, decltype(below)> queue(below);
  for (int64_t i = 0; i < count; ++i) {
    if (scores[i * score_stride] > limits.score) queue.push({i, scores[i * score_stride]});
  }
  for (int64_t chosen = 0; chosen < most && !queue.empty();) {
    Candidate next = queue.top();
    queue.pop();
    const float* box = boxes + next.box * box_stride;
    bool good = true;
    for (int64_t j = chosen; good && j-- > 0;)
      good = !(BoxOverlap(box, found[j].box) > limits.overlap);
    if (good) found[chosen++] = {box, next.score, kind};
  }
}

Error Check(const Tensor& boxes, const Tensor& scores) {
  if (boxes.rank() != 4 || boxes.dim(3) != 4)
    return MakeError("boxes must be [batch, boxes, classes, 4], got shape {0}",
                     DimsText(boxes.dims()));
  if (scores.rank() != 3 || scores.dim(0) != boxes.dim(0) || scores.dim(1) != boxes.dim(1))
    return MakeError("scores must be [{0}, {1}, classes], got shape {2}", boxes.dim(0),
                     boxes.dim(1), DimsText(scores.dims()));
  if (boxes.dim(2) != 1 && boxes.dim(2) != scores.dim(2))
    return MakeError("boxes must be for 1 or {0} classes, not {1}", scores.dim(2), boxes.dim(2));
  return Error::success();
}

Error Combined(KernelContext& ctx, const Attrs& attrs) {
  const Tensor &boxes = ctx.input(0), &scores = ctx.input(1);
  RETURN_IF_ERROR(Check(boxes, scores));
  ASSIGN_OR_RETURN(Limits limits, ReadLimits(ctx));
  int64_t batch = boxes.dim(0), count = boxes.dim(1), shared = boxes.dim(2), kinds = scores.dim(2);
  int64_t size = limits.total, most = std::min(limits.per_class, count);
  if (attrs.pad_per_class) size = std::min(size, limits.per_class * kinds);
  Tensor* out[4];
  for (int i = 0; i < 4; ++i) {
    Dims dims{batch};
    if (i < 3) dims.push_back(size);
    if (i == 0) dims.push_back(4);
    if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
    ASSIGN_OR_RETURN(out[i], ctx.Allocate(i, dims));
    if (i < 3) std::fill_n(out[i]->data<float>(), out[i]->num_elements(), 0.0f);
  }
  ctx.ParallelFor(batch, 50.0 * count * kinds, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      // The sort below puts the entries that a class leaves empty last.
      std::vector<Found> found(kinds * most, {nullptr, -std::numeric_limits<float>::infinity(), 0});
      for (int64_t kind = 0; kind < kinds; ++kind) {
        const float* first =
            boxes.data<float>() + (b * count * shared + (shared > 1 ? kind : 0)) * 4;
        ChooseOfClass(first, shared * 4, scores.data<float>() + b * count * kinds + kind, kinds,
                      count, kind, limits, most, found.data() + kind * most);
      }
      std::sort(found.begin(), found.end(),
                [](const Found& a, const Found& b) { return a.score > b.score; });
      int64_t valid = std::count_if(found.begin(), found.end(),
                                    [](const Found& one) { return one.box != nullptr; });
      valid = std::min(valid, size);
      for (int64_t i = 0; i < valid; ++i) {
        float* box = out[0]->data<float>() + (b * size + i) * 4;
        for (int k = 0; k < 4; ++k)
          box[k] = attrs.clip ? std::max(std::min(found[i].box[k], 1.0f), 0.0f) : found[i].box[k];
        out[1]->data<float>()[b * size + i] = found[i].score;
        out[2]->data<float>()[b * size + i] = static_cast<float>(found[i].kind);
      }
      out[3]->data<int32_t>()[b] = static_cast<int32_t>(valid);
    }
  });
  return Error::success();
}

Expected<KernelFn> MakeCombined(const KernelSetup& setup) {
  Attrs attrs{setup.node().GetBool("pad_per_class"), setup.node().GetBool("clip_boxes", true)};
  return KernelFn([attrs](KernelContext& ctx) { return Combined(ctx, attrs); });
}

GRAPNEL_CPU_KERNEL("CombinedNonMaxSuppression", MakeCombined);

}  // namespace
}  // namespace grapnel
