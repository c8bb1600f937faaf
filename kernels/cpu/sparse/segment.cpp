// SparseSegmentSum, -Mean and -SqrtN: rows of data selected by index and summed by ascending
// segment ids, the variants with a given number of segments, and their gradients.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/common/epilogue.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

enum class Scaling { kSum, kMean, kSqrtN };

double DivisorOf(Scaling how, int64_t count) {
  if (how == Scaling::kSum || count == 0) return 1;
  double n = static_cast<double>(count);
  return how == Scaling::kMean ? n : std::sqrt(n);
}

// One entry per selected row.
struct Picks {
  std::vector<int64_t> rows, segments, counts;  // counts: rows per segment
};

Expected<Picks> ReadPicks(const Tensor& indices, const Tensor& ids, int64_t rows) {
  if (indices.rank() != 1 || ids.rank() != 1 || indices.dim(0) != ids.dim(0))
    return MakeError(
        "indices and segment_ids must be vectors of one length, got shapes {0} and {1}",
        DimsText(indices.dims()), DimsText(ids.dims()));
  Picks picks;
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t row = indices.IntAt(i), id = ids.IntAt(i);
    if (row < 0 || row >= rows)
      return MakeError("indices[{0}] = {1} is not in [0, {2})", i, row, rows);
    if (id < 0) return MakeError("segment_ids[{0}] = {1} is negative", i, id);
    picks.rows.push_back(row);
    picks.segments.push_back(id);
  }
  return picks;
}

void CountSegments(Picks& picks, int64_t segments) {
  picks.counts.assign(segments, 0);
  for (int64_t id : picks.segments) ++picks.counts[id];
}

// Sums columns [c0, c0 + n) of some rows, scaled, in TensorFlow's order: in groups of eight after
// the first two to nine. `group` must have space for n elements.
template <typename T>
void SumRows(const T* in, llvm::ArrayRef<int64_t> rows, int64_t width, int64_t c0, int64_t n,
             Scaling how, ComputeType<T>* group, ComputeType<T>* sum) {
  using Compute = ComputeType<T>;
  constexpr size_t kGroup = 8, kLongestInverse = 9;
  size_t count = rows.size(), rest = count % kGroup;
  auto add = [&](size_t begin, size_t end, Compute* to) {
    for (size_t i = begin; i < end; ++i) {
      const T* from = in + rows[i] * width + c0;
      for (int64_t c = 0; c < n; ++c) {
        Compute value = static_cast<Compute>(from[c]);
        to[c] = i == begin ? value : AddOf(to[c], value);
      }
    }
  };
  size_t done = std::min(count, rest < 2 ? rest + kGroup : rest);
  add(0, done, sum);
  for (; done < count; done += kGroup) {
    add(done, done + kGroup, group);
    for (int64_t c = 0; c < n; ++c) sum[c] = AddOf(sum[c], group[c]);
  }
  if (how == Scaling::kSum || count == 1) return;
  Compute divisor = static_cast<Compute>(DivisorOf(how, static_cast<int64_t>(count)));
  for (int64_t c = 0; c < n; ++c) {
    sum[c] = static_cast<Compute>(count <= kLongestInverse ? sum[c] * (Compute(1) / divisor)
                                                           : sum[c] / divisor);
  }
}

// Sums rows with ascending segment ids; 16-bit floats round once per segment.
template <typename T>
void SumSegments(KernelContext& ctx, const T* in, const Picks& picks, Scaling how, int64_t segments,
                 int64_t width, T* out) {
  using Compute = ComputeType<T>;
  constexpr int64_t kColumns = 64;
  int64_t blocks = (width + kColumns - 1) / kColumns;
  int64_t picked = static_cast<int64_t>(picks.rows.size());
  ctx.ParallelFor(blocks, (picked + segments) * std::min(width, kColumns) * 0.6,
                  [&](int64_t begin, int64_t end) {
                    for (int64_t c0 = begin * kColumns; c0 < std::min(width, end * kColumns);
                         c0 += kColumns) {
                      int64_t n = std::min(kColumns, width - c0), first = 0;
                      for (int64_t s = 0; s < segments; first += picks.counts[s++]) {
                        T* to = out + s * width + c0;
                        Compute sum[kColumns] = {}, group[kColumns];
                        llvm::ArrayRef<int64_t> rows(picks.rows.data() + first, picks.counts[s]);
                        if (!rows.empty()) SumRows(in, rows, width, c0, n, how, group, sum);
                        for (int64_t c = 0; c < n; ++c) to[c] = static_cast<T>(sum[c]);
                      }
                    }
                  });
}

// out[to[i]] += in[from[i]] * factor(i), in order; out has `rows` rows and starts as zeros.
template <typename T, typename F>
void AddRows(KernelContext& ctx, const T* in, const std::vector<int64_t>& from,
             const std::vector<int64_t>& to, int64_t rows, int64_t width, F&& factor, T* out) {
  using Compute = ComputeType<T>;
  constexpr int64_t kColumns = 64;
  int64_t blocks = (width + kColumns - 1) / kColumns, picked = static_cast<int64_t>(from.size());
  ctx.ParallelFor(blocks, (picked + rows) * std::min(width, kColumns) * 0.6,
                  [&](int64_t begin, int64_t end) {
                    int64_t c0 = begin * kColumns, n = std::min(width, end * kColumns) - c0;
                    std::vector<Compute> wide(kIsSmallFloat<T> ? rows * n : 0);
                    auto row_of = [&](int64_t row) {
                      if constexpr (kIsSmallFloat<T>)
                        return wide.data() + row * n;
                      else
                        return out + row * width + c0;
                    };
                    for (int64_t row = 0; row < rows; ++row)
                      std::fill_n(row_of(row), n, Compute(0));
                    for (int64_t i = 0; i < picked; ++i) {
                      const T* source = in + from[i] * width + c0;
                      Compute* target = row_of(to[i]);
                      Compute f = factor(i);
                      for (int64_t c = 0; c < n; ++c)
                        target[c] = AddOf(target[c], MulOf(static_cast<Compute>(source[c]), f));
                    }
                    if constexpr (kIsSmallFloat<T>) {
                      for (int64_t row = 0; row < rows; ++row)
                        Narrow(row_of(row), out + row * width + c0, n);
                    }
                  });
}

template <typename T>
Error SparseSegment(KernelContext& ctx, Scaling how) {
  const Tensor &data = ctx.input(0), &ids = ctx.input(2);
  if (data.rank() < 1) return MakeError("data must be at least a vector, got a scalar");
  ASSIGN_OR_RETURN(Picks picks, ReadPicks(ctx.input(1), ids, data.dim(0)));
  for (size_t i = 1; i < picks.segments.size(); ++i) {
    if (picks.segments[i] < picks.segments[i - 1])
      return MakeError("segment_ids must not decrease: {0} follows {1} at index {2}",
                       picks.segments[i], picks.segments[i - 1], i);
  }
  int64_t last = picks.segments.empty() ? -1 : picks.segments.back();
  if (last == INT64_MAX) return MakeError("segment_ids end at {0}: too many segments", last);
  int64_t segments = last + 1;
  if (ctx.num_inputs() > 3) {
    if (ctx.input(3).num_elements() != 1) return MakeError("num_segments must have one element");
    int64_t given = ctx.input(3).IntAt(0);
    if (given < segments)
      return MakeError(
          "num_segments must be at least {0}, the last segment id plus 1 (0 without ids), got {1}",
          segments, given);
    segments = given;
  }
  Dims dims(data.dims().begin(), data.dims().end());
  dims[0] = segments;
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  int64_t width = out->num_elements() / segments;
  CountSegments(picks, segments);
  SumSegments(ctx, data.data<T>(), picks, how, segments, width, out->data<T>());
  return Error::success();
}

// For the V2 gradients, which output only the selected rows, and the indices of these rows in a
// second output.
Error KeepPickedRows(KernelContext& ctx, Picks& picks, int64_t& rows) {
  std::vector<int64_t> kept = picks.rows;
  llvm::sort(kept);
  kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
  for (int64_t& row : picks.rows)
    row = std::lower_bound(kept.begin(), kept.end(), row) - kept.begin();
  rows = static_cast<int64_t>(kept.size());
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(1, {rows}));
  for (int64_t i = 0; i < rows; ++i) {
    if (out->dtype() == proto::DT_INT32)
      out->data<int32_t>()[i] = static_cast<int32_t>(kept[i]);
    else
      out->data<int64_t>()[i] = kept[i];
  }
  return Error::success();
}

template <typename T>
Error SparseSegmentGrad(KernelContext& ctx, Scaling how) {
  const Tensor& grad = ctx.input(0);
  if (grad.rank() < 1) return MakeError("grad must be at least a vector, got a scalar");
  if (ctx.input(3).num_elements() != 1) return MakeError("output_dim0 must have one element");
  int64_t rows = ctx.input(3).IntAt(0), segments = grad.dim(0);
  if (rows < 0) return MakeError("output_dim0 must not be negative, got {0}", rows);
  ASSIGN_OR_RETURN(Picks picks, ReadPicks(ctx.input(1), ctx.input(2), rows));
  for (size_t i = 0; i < picks.segments.size(); ++i) {
    if (picks.segments[i] >= segments)
      return MakeError("segment_ids[{0}] = {1} is not in [0, {2})", i, picks.segments[i], segments);
  }
  if (ctx.num_outputs() > 1) RETURN_IF_ERROR(KeepPickedRows(ctx, picks, rows));
  Dims dims(grad.dims().begin(), grad.dims().end());
  dims[0] = rows;
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  if (out->num_elements() == 0) return Error::success();
  CountSegments(picks, segments);
  using Compute = ComputeType<T>;
  AddRows(
      ctx, grad.data<T>(), picks.segments, picks.rows, rows, out->num_elements() / rows,
      [&](int64_t i) {
        return static_cast<Compute>(1 / DivisorOf(how, picks.counts[picks.segments[i]]));
      },
      out->data<T>());
  return Error::success();
}

template <Scaling how, typename Types, bool gradient>
Expected<KernelFn> MakeSparseSegment(const KernelSetup& setup) {
  KernelFn fn;
  ForType(setup.output_type(0), Types(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [](KernelContext& ctx) {
      if constexpr (gradient)
        return SparseSegmentGrad<T>(ctx, how);
      else
        return SparseSegment<T>(ctx, how);
    };
    return true;
  });
  return fn;
}

#define GRAPNEL_SPARSE_SEGMENT(op, how, types)                                            \
  GRAPNEL_CPU_KERNEL("SparseSegment" op, (MakeSparseSegment<Scaling::how, types, false>), \
                     OfTypes("T", DataTypesOf(types())));                                 \
  GRAPNEL_CPU_KERNEL("SparseSegment" op "WithNumSegments",                                \
                     (MakeSparseSegment<Scaling::how, types, false>),                     \
                     OfTypes("T", DataTypesOf(types())));                                 \
  GRAPNEL_CPU_KERNEL("SparseSegment" op "Grad",                                           \
                     (MakeSparseSegment<Scaling::how, FloatTypes, true>),                 \
                     OfTypes("T", DataTypesOf(FloatTypes())));                            \
  GRAPNEL_CPU_KERNEL("SparseSegment" op "GradV2",                                         \
                     (MakeSparseSegment<Scaling::how, FloatTypes, true>),                 \
                     OfTypes("T", DataTypesOf(FloatTypes())))
GRAPNEL_SPARSE_SEGMENT("Sum", kSum, RealTypes);
GRAPNEL_SPARSE_SEGMENT("Mean", kMean, FloatTypes);
GRAPNEL_SPARSE_SEGMENT("SqrtN", kSqrtN, FloatTypes);

}  // namespace
}  // namespace grapnel
