// SegmentSum, -Prod, -Min, -Max and -Mean over rows with ascending ids, and UnsortedSegmentSum,
// -Prod, -Min and -Max over rows with any ids. Threads split the columns, so that the order in
// which the rows of a segment are combined does not depend on them.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/common/epilogue.h"
#include "kernels/common/half_fold.h"
#include "kernels/common/half_lanes.h"
#include "kernels/common/indices.h"

namespace grapnel {
namespace {

enum class Reduction { kSum, kProd, kMin, kMax, kMean };

// For kMin and kMax: a new NaN replaces the value so far, and a NaN so far is replaced, as in
// TensorFlow's loop.
template <Reduction how, typename T>
T Combine(T so_far, T value) {
  if constexpr (how == Reduction::kProd) return MulOf(so_far, value);
  if constexpr (how == Reduction::kMin) return so_far < value ? so_far : value;
  if constexpr (how == Reduction::kMax) return so_far > value ? so_far : value;
  return AddOf(so_far, value);
}

// Sums and products of 16-bit floats round at each step, as in TensorFlow.
template <Reduction how, typename T>
constexpr bool kSteps = kIsSmallFloat<T>&& how != Reduction::kMin&& how != Reduction::kMax;

template <Reduction how, typename T>
void CombineSteps(const T* from, int64_t n, float* to) {
  using Lanes = SteppedLanes<T>;
  int64_t c = 0;
  for (; c + Lanes::kCount <= n; c += Lanes::kCount) {
    Lanes so_far = Lanes::At(to + c), value = Lanes::At(from + c);
    (how == Reduction::kProd ? so_far * value : so_far + value).To(to + c);
  }
  for (; c < n; ++c) to[c] = RoundedTo<T>(Combine<how>(to[c], static_cast<float>(from[c])));
}

template <Reduction how, typename T>
T EmptyUnsorted() {
  if constexpr (how == Reduction::kProd) return T(1);
  if constexpr (how == Reduction::kMin) return std::numeric_limits<T>::max();
  if constexpr (how == Reduction::kMax) return std::numeric_limits<T>::lowest();
  return T(0);
}

// The value of a segment without rows, for ascending ids.
template <Reduction how, typename T>
T EmptySorted() {
  return how == Reduction::kProd ? T(1) : T(0);
}

// `ids[row]` is the segment of a row of `width` elements; negative ids are dropped. If `sorted`, a
// segment starts with its first row, else with the value of an empty segment.
using RowReducer = void (*)(KernelContext& ctx, const Tensor& data, const std::vector<int64_t>& ids,
                            int64_t width, int64_t segments, bool sorted, Tensor* result);

// Reduces columns [c0, c1) of segments with ascending ids in the order of TensorFlow's matrix
// reduction.
template <Reduction how, typename T>
void FoldSegments(const T* data, const std::vector<int64_t>& ids, int64_t width, int64_t c0,
                  int64_t c1, T* out) {
  constexpr int64_t kStep = 8;
  HalfFold fold = how == Reduction::kProd   ? HalfFold::kProduct
                  : how == Reduction::kMean ? HalfFold::kSumOneByOne
                                            : HalfFold::kSum;
  int64_t rows = static_cast<int64_t>(ids.size());
  for (int64_t begin = 0, end = 0; begin < rows; begin = end) {
    while (end < rows && ids[end] == ids[begin]) ++end;
    const T* from = data + begin * width;
    T* to = out + ids[begin] * width;
    int64_t count = end - begin;
    if (count == 1) {
      std::copy(from + c0, from + c1, to + c0);
      continue;
    }
    float parts = how == Reduction::kMean ? RoundedTo<T>(static_cast<float>(count)) : 1;
    for (int64_t c = c0; c < c1; c += kStep) {
      float folded[kStep];
      int64_t n = std::min(kStep, c1 - c);
      if (n == kStep) {
        FoldEightColumns(fold, from + c, count, width, folded);
      } else {
        for (int64_t i = 0; i < n; ++i) folded[i] = FoldColumn(fold, from + c + i, count, width);
      }
      for (int64_t i = 0; i < n; ++i) to[c + i] = static_cast<T>(folded[i] / parts);
    }
  }
}

template <Reduction how, typename T>
void ReduceRows(KernelContext& ctx, const Tensor& tensor, const std::vector<int64_t>& ids,
                int64_t width, int64_t segments, bool sorted, Tensor* result) {
  using Compute = ComputeType<T>;
  const T* data = tensor.data<T>();
  T* out = result->data<T>();
  T empty = sorted ? EmptySorted<how, T>() : EmptyUnsorted<how, T>();
  std::vector<int64_t> counts(segments);
  for (int64_t id : ids) {
    if (id >= 0) ++counts[id];
  }
  constexpr int64_t kColumns = 64;
  int64_t blocks = (width + kColumns - 1) / kColumns;
  int64_t rows = static_cast<int64_t>(ids.size());
  ctx.ParallelFor(blocks, (rows + segments) * std::min(width, kColumns) * 0.6,
                  [&](int64_t begin, int64_t end) {
                    int64_t c0 = begin * kColumns, n = std::min(width, end * kColumns) - c0;
                    if constexpr (kSteps<how, T>) {
                      if (sorted) {
                        for (int64_t s = 0; s < segments; ++s)
                          std::fill_n(out + s * width + c0, n, empty);
                        return FoldSegments<how>(data, ids, width, c0, c0 + n, out);
                      }
                    }
                    std::vector<Compute> wide(kIsSmallFloat<T> ? segments * n : 0);
                    std::vector<uint8_t> seen(segments);
                    auto row_of = [&](int64_t segment) {
                      if constexpr (kIsSmallFloat<T>)
                        return wide.data() + segment * n;
                      else
                        return out + segment * width + c0;
                    };
                    for (int64_t s = 0; s < segments; ++s)
                      std::fill_n(row_of(s), n, static_cast<Compute>(empty));
                    for (int64_t row = 0; row < rows; ++row) {
                      int64_t id = ids[row];
                      if (id < 0) continue;
                      const T* from = data + row * width + c0;
                      Compute* to = row_of(id);
                      if (sorted && !seen[id]) {
                        for (int64_t c = 0; c < n; ++c) to[c] = static_cast<Compute>(from[c]);
                      } else if constexpr (kSteps<how, T>) {
                        CombineSteps<how>(from, n, to);
                      } else {
                        GRAPNEL_VECTORIZE
                        for (int64_t c = 0; c < n; ++c)
                          to[c] = Combine<how>(to[c], static_cast<Compute>(from[c]));
                      }
                      seen[id] = 1;
                    }
                    for (int64_t s = 0; s < segments; ++s) {
                      Compute* row = row_of(s);
                      if constexpr (how == Reduction::kMean) {
                        if (counts[s] > 1) {
                          for (int64_t c = 0; c < n; ++c)
                            row[c] = static_cast<Compute>(row[c] / static_cast<Compute>(counts[s]));
                        }
                      }
                      if constexpr (kIsSmallFloat<T>) Narrow(row, out + s * width + c0, n);
                    }
                  });
}

// --- Ascending ids

Expected<std::vector<int64_t>> ReadRisingIds(const Tensor& data, const Tensor& ids) {
  if (data.rank() < 1) return MakeError("data must be at least a vector, got a scalar");
  if (ids.rank() != 1 || ids.dim(0) != data.dim(0))
    return MakeError("segment_ids must be a vector of {0} elements, got shape {1}", data.dim(0),
                     DimsText(ids.dims()));
  std::vector<int64_t> values(ids.num_elements());
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = ids.IntAt(i);
    if (values[i] < 0) return MakeError("segment_ids[{0}] = {1} is negative", i, values[i]);
    if (i > 0 && values[i] < values[i - 1])
      return MakeError("segment_ids must not decrease: {0} follows {1} at index {2}", values[i],
                       values[i - 1], i);
  }
  return values;
}

Error SegmentReduce(KernelContext& ctx, RowReducer reduce) {
  const Tensor& data = ctx.input(0);
  ASSIGN_OR_RETURN(std::vector<int64_t> ids, ReadRisingIds(data, ctx.input(1)));
  int64_t last = ids.empty() ? -1 : ids.back();
  if (last == INT64_MAX) return MakeError("segment_ids end at {0}: too many segments", last);
  int64_t segments = last + 1;
  Dims dims(data.dims().begin(), data.dims().end());
  dims[0] = segments;
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t width = data.num_elements() / data.dim(0);
  reduce(ctx, data, ids, width, segments, /*sorted=*/true, out);
  return Error::success();
}

// --- Any ids

Error UnsortedReduce(KernelContext& ctx, RowReducer reduce) {
  const Tensor &data = ctx.input(0), &ids = ctx.input(1);
  if (ctx.input(2).num_elements() != 1) return MakeError("num_segments must have one element");
  int64_t segments = ctx.input(2).IntAt(0);
  if (segments < 0) return MakeError("num_segments must not be negative, got {0}", segments);
  if (ids.rank() > data.rank() || data.dims().take_front(ids.rank()) != ids.dims())
    return MakeError("data's shape {0} does not start with that of segment_ids, {1}",
                     DimsText(data.dims()), DimsText(ids.dims()));
  Dims dims{segments};
  dims.append(data.dims().begin() + ids.rank(), data.dims().end());
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  std::vector<int64_t> rows(ids.num_elements());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = ids.IntAt(i);
    // When rows have no elements, TensorFlow does not check their ids either.
    if (rows[i] >= segments && data.num_elements() > 0)
      return MakeError("segment_ids{0} = {1} is not below num_segments {2}",
                       PositionText(ids.dims(), i), rows[i], segments);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t width = out->num_elements() / segments;
  reduce(ctx, data, rows, width, segments, /*sorted=*/false, out);
  return Error::success();
}

template <Reduction how, typename Types, Error (*kernel)(KernelContext&, RowReducer)>
Expected<KernelFn> MakeSegment(const KernelSetup& setup) {
  RowReducer reduce = ForType(setup.output_type(0), Types(), [](auto tag) -> RowReducer {
    return ReduceRows<how, typename decltype(tag)::type>;
  });
  return KernelFn([reduce](KernelContext& ctx) { return kernel(ctx, reduce); });
}

#define GRAPNEL_SEGMENT(op, how, types)                                                          \
  GRAPNEL_CPU_KERNEL("Segment" op, (MakeSegment<Reduction::how, types, SegmentReduce>),          \
                     OfTypes("T", DataTypesOf(types())));                                        \
  GRAPNEL_CPU_KERNEL("UnsortedSegment" op, (MakeSegment<Reduction::how, types, UnsortedReduce>), \
                     OfTypes("T", DataTypesOf(types())))
GRAPNEL_SEGMENT("Sum", kSum, NumberTypes);
GRAPNEL_SEGMENT("Prod", kProd, NumberTypes);
GRAPNEL_SEGMENT("Min", kMin, RealTypes);
GRAPNEL_SEGMENT("Max", kMax, RealTypes);
GRAPNEL_CPU_KERNEL("SegmentMean", (MakeSegment<Reduction::kMean, NumberTypes, SegmentReduce>),
                   OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
