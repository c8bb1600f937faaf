#include "kernels/common/half_fold.h"

#include <algorithm>

#include "kernels/common/stepped.h"

namespace grapnel {
namespace {

constexpr int kLanes = 8;
constexpr int kAtATime = 4;
constexpr int64_t kLongestRow = 200 * kLanes;  // longer ones are folded as two halves
constexpr int64_t kShortestUnrolledColumn = 16;

struct Sum {
  static constexpr float kStart = 0;
  static float Of(float a, float b) { return a + b; }
};
struct Product {
  static constexpr float kStart = 1;
  static float Of(float a, float b) { return a * b; }
};

template <typename Op>
float Step(float a, float b) {
  return RoundedTo<Eigen::half>(Op::Of(a, b));
}

template <typename Op>
void StepLanes(const Eigen::half* in, float* lanes) {
  for (int i = 0; i < kLanes; ++i) lanes[i] = Step<Op>(lanes[i], static_cast<float>(in[i]));
}

// Of `count` groups of lanes, `stride` elements apart: one after the other, or four at a time.
template <typename Op>
void FoldLanes(const Eigen::half* in, int64_t count, int64_t stride, bool unroll, float* lanes) {
  std::fill_n(lanes, kLanes, Op::kStart);
  int64_t i = 0;
  if (unroll) {
    float more[kAtATime][kLanes];
    std::fill_n(&more[0][0], kAtATime * kLanes, Op::kStart);
    for (; i + kAtATime <= count; i += kAtATime) {
      for (int k = 0; k < kAtATime; ++k) StepLanes<Op>(in + (i + k) * stride, more[k]);
    }
    std::copy_n(more[0], kLanes, lanes);
    for (int k = 1; k < kAtATime; ++k) {
      for (int lane = 0; lane < kLanes; ++lane) lanes[lane] = Step<Op>(lanes[lane], more[k][lane]);
    }
  }
  for (; i < count; ++i) StepLanes<Op>(in + i * stride, lanes);
}

template <typename Op>
float RowOf(const Eigen::half* in, int64_t n, int64_t first) {
  if (n > kLongestRow) {
    int64_t cut = (first + (n + 1) / 2 + kLanes - 1) / kLanes * kLanes;
    int64_t left = std::min(cut - first, n);
    float sum = RowOf<Op>(in, left, first);
    return left < n ? Step<Op>(sum, RowOf<Op>(in + left, n - left, cut)) : sum;
  }
  float lanes[kLanes];
  int64_t groups = n / kLanes;
  FoldLanes<Op>(in, groups, kLanes, groups >= kAtATime, lanes);
  float rest = Op::kStart;
  for (int64_t i = groups * kLanes; i < n; ++i) rest = Step<Op>(rest, static_cast<float>(in[i]));
  float of_lanes[kLanes / 2];
  for (int i = 0; i < kLanes / 2; ++i) of_lanes[i] = Op::Of(lanes[i], lanes[i + kLanes / 2]);
  float all = Op::Of(Op::Of(of_lanes[0], of_lanes[2]), Op::Of(of_lanes[1], of_lanes[3]));
  return Step<Op>(rest, RoundedTo<Eigen::half>(all));
}

template <typename Op>
float ColumnOf(const Eigen::half* in, int64_t rows, int64_t stride) {
  float sum = Op::kStart;
  for (int64_t i = 0; i < rows; ++i) sum = Step<Op>(sum, static_cast<float>(in[i * stride]));
  return sum;
}

}  // namespace

float FoldRow(HalfFold fold, const Eigen::half* in, int64_t n, int64_t first) {
  return fold == HalfFold::kSum ? RowOf<Sum>(in, n, first) : RowOf<Product>(in, n, first);
}

void FoldEightColumns(HalfFold fold, const Eigen::half* in, int64_t rows, int64_t stride,
                      float* out) {
  bool unroll = rows >= kShortestUnrolledColumn;
  if (fold == HalfFold::kSum)
    FoldLanes<Sum>(in, rows, stride, unroll, out);
  else
    FoldLanes<Product>(in, rows, stride, unroll, out);
}

float FoldColumn(HalfFold fold, const Eigen::half* in, int64_t rows, int64_t stride) {
  return fold == HalfFold::kSum ? ColumnOf<Sum>(in, rows, stride)
                                : ColumnOf<Product>(in, rows, stride);
}

}  // namespace grapnel
