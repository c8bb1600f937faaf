#include "kernels/common/half_fold.h"

#include <algorithm>

#include "kernels/common/half_lanes.h"

namespace grapnel {
namespace {

constexpr int kAtATime = 4;
// A row with more elements is split into two halves, which are folded separately.
template <typename T>
constexpr int64_t kLongestRow = (std::is_same_v<T, Eigen::half> ? 200 : 128) * HalfLanes::kCount;
constexpr int64_t kShortestUnrolledColumn = 16;

struct Sum {
  static constexpr float kStart = 0;
  template <typename V>
  static V Of(V a, V b) {
    return a + b;
  }
};
struct Product {
  static constexpr float kStart = 1;
  template <typename V>
  static V Of(V a, V b) {
    return a * b;
  }
};

template <typename Op, typename T>
float Step(float a, float b) {
  return RoundedTo<T>(Op::Of(a, b));
}

// Folds `count` groups of eight lanes, `stride` elements apart: one at a time or, unrolled, four at
// a time.
template <typename Op, typename T>
SteppedLanes<T> FoldLanes(const T* in, int64_t count, int64_t stride, bool unroll) {
  using Lanes = SteppedLanes<T>;
  Lanes lanes(Op::kStart);
  int64_t i = 0;
  if (unroll) {
    Lanes more[kAtATime];
    std::fill_n(more, kAtATime, Lanes(Op::kStart));
    for (; i + kAtATime <= count; i += kAtATime) {
      for (int k = 0; k < kAtATime; ++k)
        more[k] = Op::Of(more[k], Lanes::At(in + (i + k) * stride));
    }
    lanes = more[0];
    for (int k = 1; k < kAtATime; ++k) lanes = Op::Of(lanes, more[k]);
  }
  for (; i < count; ++i) lanes = Op::Of(lanes, Lanes::At(in + i * stride));
  return lanes;
}

template <typename Op, typename T>
float RowOf(const T* in, int64_t n, int64_t first) {
  constexpr int64_t kLanes = HalfLanes::kCount;
  if (n > kLongestRow<T>) {
    int64_t cut = (first + (n + 1) / 2 + kLanes - 1) / kLanes * kLanes;
    int64_t left = std::min(cut - first, n);
    float sum = RowOf<Op>(in, left, first);
    return left < n ? Step<Op, T>(sum, RowOf<Op>(in + left, n - left, cut)) : sum;
  }
  int64_t groups = n / kLanes;
  float lanes[kLanes];
  FoldLanes<Op>(in, groups, kLanes, groups >= kAtATime).To(lanes);
  float rest = Op::kStart;
  for (int64_t i = groups * kLanes; i < n; ++i) rest = Step<Op, T>(rest, static_cast<float>(in[i]));
  float of_lanes[kLanes / 2];
  for (int i = 0; i < kLanes / 2; ++i) of_lanes[i] = Op::Of(lanes[i], lanes[i + kLanes / 2]);
  float all = Op::Of(Op::Of(of_lanes[0], of_lanes[2]), Op::Of(of_lanes[1], of_lanes[3]));
  return Step<Op, T>(rest, RoundedTo<T>(all));
}

template <typename Op, typename T>
float ColumnOf(const T* in, int64_t rows, int64_t stride) {
  float sum = Op::kStart;
  for (int64_t i = 0; i < rows; ++i) sum = Step<Op, T>(sum, static_cast<float>(in[i * stride]));
  return sum;
}

}  // namespace

template <typename T>
float FoldRow(HalfFold fold, const T* in, int64_t n, int64_t first) {
  return fold == HalfFold::kProduct ? RowOf<Product>(in, n, first) : RowOf<Sum>(in, n, first);
}

template <typename T>
void FoldEightColumns(HalfFold fold, const T* in, int64_t rows, int64_t stride, float* out) {
  bool unroll = rows >= kShortestUnrolledColumn && fold != HalfFold::kSumOneByOne;
  if (fold == HalfFold::kProduct)
    FoldLanes<Product>(in, rows, stride, unroll).To(out);
  else
    FoldLanes<Sum>(in, rows, stride, unroll).To(out);
}

template <typename T>
float FoldColumn(HalfFold fold, const T* in, int64_t rows, int64_t stride) {
  return fold == HalfFold::kProduct ? ColumnOf<Product>(in, rows, stride)
                                    : ColumnOf<Sum>(in, rows, stride);
}

#define INSTANTIATE(T)                                                               \
  template float FoldRow(HalfFold, const T*, int64_t, int64_t);                      \
  template void FoldEightColumns(HalfFold, const T*, int64_t rows, int64_t, float*); \
  template float FoldColumn(HalfFold, const T*, int64_t, int64_t)
INSTANTIATE(Eigen::half);
INSTANTIATE(Eigen::bfloat16);
#undef INSTANTIATE

}  // namespace grapnel
