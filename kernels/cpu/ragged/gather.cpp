// RaggedGather and RaggedTensorToSparse. A ragged tensor consists of its values and, for each
// ragged dimension, the row splits, the outermost first.
#include <vector>

#include "kernels/common/indices.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

using Splits = std::vector<int64_t>;

Splits SplitsOf(const Tensor& tensor) {
  Splits splits(tensor.num_elements());
  for (size_t i = 0; i < splits.size(); ++i) splits[i] = tensor.IntAt(i);
  return splits;
}

Error StoreSplits(KernelContext& ctx, int output, const Splits& splits) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(output, {static_cast<int64_t>(splits.size())}));
  for (size_t i = 0; i < splits.size(); ++i) {
    if (out->dtype() == proto::DT_INT64)
      out->data<int64_t>()[i] = splits[i];
    else
      out->data<int32_t>()[i] = static_cast<int32_t>(splits[i]);
  }
  return Error::success();
}

// Reads inputs [0, count) as nested splits over the rows of `values`. Unless `whole`, the splits
// need not start at 0 or reach the last row.
Expected<std::vector<Splits>> ReadSplits(const KernelContext& ctx, int count, const Tensor& values,
                                         bool whole) {
  std::vector<Splits> nested;
  if (values.rank() < 1) return MakeError("the values must have rank 1 or more, got a scalar");
  for (int d = 0; d < count; ++d) {
    if (ctx.input(d).rank() != 1 || ctx.input(d).dim(0) < 1)
      return MakeError("splits must be a vector of at least one element, got shape {0}",
                       DimsText(ctx.input(d).dims()));
    nested.push_back(SplitsOf(ctx.input(d)));
  }
  for (int d = 0; d < count; ++d) {
    const Splits& splits = nested[d];
    int64_t limit = d + 1 < count ? static_cast<int64_t>(nested[d + 1].size()) - 1 : values.dim(0);
    for (size_t i = 1; i < splits.size(); ++i) {
      if (splits[i] < splits[i - 1])
        return MakeError("splits must not decrease: {0} follows {1}", splits[i], splits[i - 1]);
    }
    if (splits.front() < 0 || (whole && splits.front() != 0))
      return MakeError("splits must start with {0}, not {1}", whole ? "0" : "0 or more",
                       splits.front());
    if (splits.back() > limit || (whole && splits.back() != limit))
      return MakeError("there are {0} rows one level down, so the splits cannot end with {1}",
                       limit, splits.back());
  }
  return nested;
}

// --- RaggedGather

struct Rows {
  int64_t begin, end;
};

// Replaces runs of rows with the runs of their parts one level down; `splits` gets the row splits
// of these parts.
std::vector<Rows> Descend(const std::vector<Rows>& rows, const Splits& below, Splits& splits) {
  std::vector<Rows> parts;
  splits.push_back(0);
  for (const Rows& run : rows) {
    for (int64_t row = run.begin; row < run.end; ++row)
      splits.push_back(splits.back() + below[row + 1] - below[row]);
    if (run.begin < run.end) parts.push_back({below[run.begin], below[run.end]});
  }
  return parts;
}

Error RaggedGather(KernelContext& ctx, int ragged) {
  const Tensor &values = ctx.input(ragged), &indices = ctx.input(ragged + 1);
  ASSIGN_OR_RETURN(std::vector<Splits> nested, ReadSplits(ctx, ragged, values, false));
  RETURN_IF_ERROR(CheckIndices(indices, static_cast<int64_t>(nested[0].size()) - 1));
  int output = 0;
  // Indices of several dimensions form rows of equal length.
  int64_t rows = indices.rank() > 0 ? indices.dim(0) : 1;
  for (int d = 1; d < indices.rank(); ++d, ++output) {
    Splits splits(rows + 1);
    for (int64_t i = 0; i <= rows; ++i) splits[i] = i * indices.dim(d);
    RETURN_IF_ERROR(StoreSplits(ctx, output, splits));
    rows *= indices.dim(d);
  }
  std::vector<Rows> runs;
  for (int64_t i = 0; i < indices.num_elements(); ++i)
    runs.push_back({indices.IntAt(i), indices.IntAt(i) + 1});
  for (int d = 0; d < ragged; ++d) {
    Splits splits;
    runs = Descend(runs, nested[d], splits);
    // A scalar index removes the outermost dimension.
    if (d == 0 && indices.rank() == 0) continue;
    RETURN_IF_ERROR(StoreSplits(ctx, output++, splits));
  }
  Dims dims(values.dims().begin(), values.dims().end());
  dims[0] = 0;
  for (const Rows& run : runs) dims[0] += run.end - run.begin;
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(output, dims));
  int64_t width = values.dim(0) == 0 ? 0 : values.num_elements() / values.dim(0), at = 0;
  for (const Rows& run : runs) {
    int64_t n = (run.end - run.begin) * width;
    CopyElements(values.dtype(), At(values, run.begin * width), At(*out, at), n);
    at += n;
  }
  return Error::success();
}

Expected<KernelFn> MakeRaggedGather(const KernelSetup& setup) {
  int ragged = static_cast<int>(setup.node().GetInt("PARAMS_RAGGED_RANK", 1));
  int outputs = static_cast<int>(setup.node().GetInt("OUTPUT_RAGGED_RANK", ragged));
  if (ragged < 1 || setup.num_inputs() != ragged + 2 || setup.num_outputs() != outputs + 1)
    return MakeError(
        "PARAMS_RAGGED_RANK must be 1 or more and two less than the number of inputs, and "
        "OUTPUT_RAGGED_RANK one less than that of outputs, got {0} and {1} for {2} inputs and {3} "
        "outputs",
        ragged, outputs, setup.num_inputs(), setup.num_outputs());
  return KernelFn([ragged, outputs](KernelContext& ctx) -> Error {
    int expected = ragged + ctx.input(ragged + 1).rank() - 1;
    if (outputs != expected)
      return MakeError("OUTPUT_RAGGED_RANK must be {0} for indices of shape {1}, not {2}", expected,
                       DimsText(ctx.input(ragged + 1).dims()), outputs);
    return RaggedGather(ctx, ragged);
  });
}

// --- RaggedTensorToSparse

Error RaggedToSparse(KernelContext& ctx, int ragged) {
  const Tensor& values = ctx.input(ragged);
  ASSIGN_OR_RETURN(std::vector<Splits> nested, ReadSplits(ctx, ragged, values, true));
  int depth = ragged + values.rank(), inner = values.rank() - 1;
  ASSIGN_OR_RETURN(Tensor * indices, ctx.Allocate(0, {values.num_elements(), depth}));
  ASSIGN_OR_RETURN(Tensor * shape, ctx.Allocate(2, {depth}));
  int64_t* sizes = shape->data<int64_t>();
  sizes[0] = static_cast<int64_t>(nested[0].size()) - 1;
  for (int d = 0; d < ragged; ++d) {
    sizes[d + 1] = 0;
    for (size_t i = 1; i < nested[d].size(); ++i)
      sizes[d + 1] = std::max(sizes[d + 1], nested[d][i] - nested[d][i - 1]);
  }
  for (int d = 0; d < inner; ++d) sizes[ragged + 1 + d] = values.dim(d + 1);
  // The current row of each dimension.
  std::vector<int64_t> row(ragged, 0);
  int64_t* to = indices->data<int64_t>();
  int64_t width = values.dim(0) == 0 ? 0 : values.num_elements() / values.dim(0);
  for (int64_t i = 0; i < values.dim(0); ++i) {
    int64_t at = i;
    for (int d = ragged - 1; d >= 0; --d) {
      while (nested[d][row[d] + 1] <= at) ++row[d];
      at = row[d];
    }
    for (int64_t k = 0; k < width; ++k, to += depth) {
      to[0] = row[0];
      for (int d = 0; d < ragged; ++d)
        to[d + 1] = (d + 1 < ragged ? row[d + 1] : i) - nested[d][row[d]];
      int64_t rest = k;
      for (int d = inner; d > 0; --d) {
        to[ragged + d] = rest % values.dim(d);
        rest /= values.dim(d);
      }
    }
  }
  ctx.SetOutput(1, values.Reshaped({values.num_elements()}));
  return Error::success();
}

Expected<KernelFn> MakeRaggedToSparse(const KernelSetup& setup) {
  int ragged = setup.num_inputs() - 1;
  if (ragged < 1) return MakeError("there must be at least one tensor of splits");
  return KernelFn([ragged](KernelContext& ctx) { return RaggedToSparse(ctx, ragged); });
}

GRAPNEL_CPU_KERNEL("RaggedGather", MakeRaggedGather);
GRAPNEL_CPU_KERNEL("RaggedTensorToSparse", MakeRaggedToSparse);

}  // namespace
}  // namespace grapnel
