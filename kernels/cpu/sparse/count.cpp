// Counts occurrences of numbers: DenseCountSparseOutput, SparseCountSparseOutput,
// RaggedCountSparseOutput with sparse results, SparseBincount with dense ones.
#include <algorithm>
#include <map>

#include "kernels/common/dims.h"
#include "kernels/common/dispatch.h"
#include "kernels/cpu/sparse/sparse_indices.h"

namespace grapnel {
namespace {

using CountTypes = Join<IntegerTypes, TypeList<float, double>>;

struct CountOptions {
  int64_t least = -1, most = -1;  // width of the result: minimum, exact; -1: none
  bool binary = false;
};

// The row of each value. If `flat`, there is a single row, and the result has no row dimension.
struct Rows {
  std::vector<int64_t> of;
  int64_t count = 1;
  bool flat = true;
};

Error CheckWeights(const Tensor& values, const Tensor& weights) {
  if (weights.num_elements() == 0) return Error::success();
  if (weights.dims() == values.dims()) return Error::success();
  return MakeError("weights must be empty or have the values' shape {0}, got shape {1}",
                   DimsText(values.dims()), DimsText(weights.dims()));
}

template <typename T>
Error Count(KernelContext& ctx, const CountOptions& options, const Rows& rows, const Tensor& values,
            const Tensor& weights) {
  RETURN_IF_ERROR(CheckWeights(values, weights));
  if (rows.count == 0) return MakeError("there must be at least one row to count in");
  std::vector<std::map<int64_t, T>> counts(rows.count);
  const T* weight = weights.num_elements() > 0 ? weights.data<T>() : nullptr;
  int64_t widest = 0, total = 0;  // starts at 0: even without values the result has width 1
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    int64_t value = values.IntAt(i);
    if (value < 0) return MakeError("values must not be negative: element {0} is {1}", i, value);
    if (options.most >= 0 && value >= options.most) continue;
    widest = std::max(widest, value);
    auto [it, is_new] = counts[rows.of.empty() ? 0 : rows.of[i]].try_emplace(value, T(0));
    total += is_new ? 1 : 0;
    it->second = options.binary ? T(1) : AddOf(it->second, weight ? weight[i] : T(1));
  }
  int64_t rank = rows.flat ? 1 : 2;
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {total, rank}));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(1, {total}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {rank}));
  int64_t *to = indices->data<int64_t>(), at = 0;
  for (int64_t row = 0; row < rows.count; ++row) {
    for (const auto& [value, count] : counts[row]) {
      if (!rows.flat) *to++ = row;
      *to++ = value;
      out->data<T>()[at++] = count;
    }
  }
  if (widest == INT64_MAX)
    return MakeError(
        "value {0} is too large: the number of columns, one more, does not fit into int64", widest);
  if (!rows.flat) shape->data<int64_t>()[0] = rows.count;
  shape->data<int64_t>()[rank - 1] =
      options.most >= 0 ? options.most : std::max(widest + 1, options.least);
  return Error::success();
}

Expected<Rows> DenseRows(const KernelContext& ctx) {
  const Tensor& values = ctx.input(0);
  if (values.rank() < 1 || values.rank() > 2)
    return MakeError("values must be a vector or a matrix, got shape {0}", DimsText(values.dims()));
  Rows rows;
  if (values.rank() == 1) return rows;
  rows.flat = false;
  rows.count = values.dim(0);
  for (int64_t i = 0; i < values.num_elements(); ++i) rows.of.push_back(i / values.dim(1));
  return rows;
}

// Returns the rows of a sparse tensor, by its first dimension, or the single row of a sparse
// vector. Each row takes memory even if empty, so their number is limited.
Expected<Rows> SparseRows(const Tensor& indices, const Tensor& values, const Tensor& shape) {
  RETURN_IF_ERROR(CheckSparseTensor(indices, &values, shape));
  ASSIGN_OR_RETURN(Dims dims, ShapeFrom(shape));
  if (dims.empty()) return MakeError("the input must be at least a sparse vector, not a scalar");
  RETURN_IF_ERROR(CheckSparseIndices(indices, dims, false));
  Rows rows;
  if (dims.size() == 1) return rows;
  if (dims[0] > (int64_t{1} << 28))
    return MakeError("{0} rows are too many: at most 268435456 are supported", dims[0]);
  rows.flat = false;
  rows.count = dims[0];
  rows.of.reserve(indices.dim(0));
  for (int64_t i = 0; i < indices.dim(0); ++i)
    rows.of.push_back(indices.data<int64_t>()[i * indices.dim(1)]);
  return rows;
}

Expected<Rows> RaggedRows(const Tensor& splits, const Tensor& values) {
  if (splits.rank() != 1 || splits.dim(0) < 1 || splits.IntAt(0) != 0)
    return MakeError("splits must be a vector that starts with 0, not {0}", splits.ToString());
  if (values.rank() != 1)
    return MakeError("values must be a vector, got shape {0}", DimsText(values.dims()));
  Rows rows;
  rows.flat = false;
  rows.count = splits.dim(0) - 1;
  for (int64_t i = 0; i < rows.count; ++i) {
    if (splits.IntAt(i + 1) < splits.IntAt(i) || splits.IntAt(i + 1) > values.dim(0))
      return MakeError("splits {0} decrease, or exceed the {1} values", splits.ToString(),
                       values.dim(0));
    rows.of.insert(rows.of.end(), splits.IntAt(i + 1) - splits.IntAt(i), i);
  }
  if (static_cast<int64_t>(rows.of.size()) != values.dim(0))
    return MakeError("splits must end with the number of values, {0}, not {1}", values.dim(0),
                     rows.of.size());
  return rows;
}

enum class Form { kDense, kSparse, kRagged };

template <typename T, Form form>
Error CountSparse(KernelContext& ctx, const CountOptions& options) {
  if constexpr (form == Form::kDense) {
    ASSIGN_OR_RETURN(Rows rows, DenseRows(ctx));
    return Count<T>(ctx, options, rows, ctx.input(0), ctx.input(1));
  } else if constexpr (form == Form::kSparse) {
    ASSIGN_OR_RETURN(Rows rows, SparseRows(ctx.input(0), ctx.input(1), ctx.input(2)));
    return Count<T>(ctx, options, rows, ctx.input(1), ctx.input(3));
  } else {
    ASSIGN_OR_RETURN(Rows rows, RaggedRows(ctx.input(0), ctx.input(1)));
    return Count<T>(ctx, options, rows, ctx.input(1), ctx.input(2));
  }
}

template <Form form>
Expected<KernelFn> MakeCount(const KernelSetup& setup) {
  const Node& node = setup.node();
  CountOptions options{node.GetInt("minlength", -1), node.GetInt("maxlength", -1),
                       node.GetBool("binary_output")};
  KernelFn fn;
  ForType(setup.output_type(1), CountTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [options](KernelContext& ctx) { return CountSparse<T, form>(ctx, options); };
    return true;
  });
  return fn;
}

// --- SparseBincount

template <typename T>
Error SparseBincount(KernelContext& ctx, bool binary) {
  const Tensor &values = ctx.input(1), &weights = ctx.input(4);
  ASSIGN_OR_RETURN(Rows rows, SparseRows(ctx.input(0), values, ctx.input(2)));
  if (ctx.input(3).rank() != 0) return MakeError("size must be a scalar");
  int64_t size = ctx.input(3).IntAt(0);
  if (size < 0) return MakeError("size must not be negative, got {0}", size);
  RETURN_IF_ERROR(CheckWeights(values, weights));
  Dims dims{size};
  if (!rows.flat) dims.insert(dims.begin(), rows.count);
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  std::fill_n(out->data<T>(), out->num_elements(), T(0));
  const T* weight = weights.num_elements() > 0 ? weights.data<T>() : nullptr;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    int64_t value = values.IntAt(i);
    if (value < 0) return MakeError("values must not be negative: element {0} is {1}", i, value);
    if (value >= size) continue;
    T& bin = out->data<T>()[(rows.flat ? 0 : rows.of[i]) * size + value];
    bin = binary ? T(1) : AddOf(bin, weight ? weight[i] : T(1));
  }
  return Error::success();
}

Expected<KernelFn> MakeSparseBincount(const KernelSetup& setup) {
  bool binary = setup.node().GetBool("binary_output");
  KernelFn fn;
  ForType(setup.output_type(0), NumberTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    fn = [binary](KernelContext& ctx) { return SparseBincount<T>(ctx, binary); };
    return true;
  });
  return fn;
}

GRAPNEL_CPU_KERNEL("DenseCountSparseOutput", MakeCount<Form::kDense>,
                   OfTypes("output_type", DataTypesOf(CountTypes())));
GRAPNEL_CPU_KERNEL("SparseCountSparseOutput", MakeCount<Form::kSparse>,
                   OfTypes("output_type", DataTypesOf(CountTypes())));
GRAPNEL_CPU_KERNEL("RaggedCountSparseOutput", MakeCount<Form::kRagged>,
                   OfTypes("output_type", DataTypesOf(CountTypes())));
GRAPNEL_CPU_KERNEL("SparseBincount", MakeSparseBincount, OfTypes("T", DataTypesOf(NumberTypes())));

}  // namespace
}  // namespace grapnel
