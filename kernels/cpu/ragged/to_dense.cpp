// RaggedTensorToTensor: converts rows of different lengths to a dense tensor, truncated or padded.
#include <algorithm>
#include <optional>
#include <vector>

#include "kernels/common/broadcast.h"
#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

enum class PartitionKind { kFirstSize, kRowIds, kRowSplits };

// One ragged dimension: the row that each element belongs to. The elements of the last ragged
// dimension are rows of the values, those of another are the rows of the next.
struct Partition {
  std::vector<int64_t> row_of;
  int64_t longest = 0;
};

// Converts splits to the row number of each element.
Expected<Partition> FromSplits(const Tensor& tensor) {
  Partition partition;
  if (tensor.rank() != 1 || tensor.dim(0) < 1)
    return MakeError("row splits must be a vector of at least one element, got shape {0}",
                     DimsText(tensor.dims()));
  if (tensor.IntAt(0) != 0)
    return MakeError("row splits must start with 0, not {0}", tensor.IntAt(0));
  for (int64_t i = 1; i < tensor.dim(0); ++i) {
    if (tensor.IntAt(i) < tensor.IntAt(i - 1))
      return MakeError("row splits must not decrease: {0} follows {1}", tensor.IntAt(i),
                       tensor.IntAt(i - 1));
    int64_t size = tensor.IntAt(i) - tensor.IntAt(i - 1);
    partition.longest = std::max(partition.longest, size);
    partition.row_of.insert(partition.row_of.end(), size, i - 1);
  }
  return partition;
}

Expected<Partition> FromRowIds(const Tensor& tensor) {
  Partition partition;
  if (tensor.rank() != 1)
    return MakeError("value row ids must be a vector, got shape {0}", DimsText(tensor.dims()));
  int64_t run = 0;
  for (int64_t i = 0; i < tensor.dim(0); ++i) {
    int64_t row = tensor.IntAt(i);
    if (row < 0)
      return MakeError("value row ids must not be negative, got {1} at index {0}", i, row);
    if (i > 0 && row < partition.row_of.back())
      return MakeError("value row ids must not decrease: {0} follows {1}", row,
                       partition.row_of.back());
    run = i > 0 && row == partition.row_of.back() ? run + 1 : 1;
    partition.longest = std::max(partition.longest, run);
    partition.row_of.push_back(row);
  }
  return partition;
}

Expected<PartitionKind> KindOf(llvm::StringRef name) {
  if (name == "FIRST_DIM_SIZE") return PartitionKind::kFirstSize;
  if (name == "VALUE_ROWIDS") return PartitionKind::kRowIds;
  if (name == "ROW_SPLITS") return PartitionKind::kRowSplits;
  return MakeError("row partition type '{0}' is not FIRST_DIM_SIZE, VALUE_ROWIDS or ROW_SPLITS",
                   name);
}

struct Ragged {
  int64_t rows = 0;
  std::vector<Partition> partitions;
};

Expected<Ragged> ReadPartitions(const KernelContext& ctx, const std::vector<PartitionKind>& kinds) {
  Ragged ragged;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const Tensor& tensor = ctx.input(3 + static_cast<int>(i));
    if (kinds[i] == PartitionKind::kFirstSize) {
      if (tensor.num_elements() != 1)
        return MakeError("FIRST_DIM_SIZE must have one element, got shape {0}",
                         DimsText(tensor.dims()));
      ragged.rows = tensor.IntAt(0);
      if (ragged.rows < 0)
        return MakeError("FIRST_DIM_SIZE must not be negative, got {0}", ragged.rows);
    } else if (kinds[i] == PartitionKind::kRowIds) {
      ASSIGN_OR_RETURN(Partition partition, FromRowIds(tensor));
      ragged.partitions.push_back(std::move(partition));
    } else {
      ASSIGN_OR_RETURN(Partition partition, FromSplits(tensor));
      if (i == 0) ragged.rows = tensor.dim(0) - 1;
      ragged.partitions.push_back(std::move(partition));
    }
  }
  return ragged;
}

// Returns the requested shape with unknown sizes filled in from the data.
Expected<Dims> OutputDims(const Tensor& shape, const Ragged& ragged, const Tensor& values) {
  size_t depth = ragged.partitions.size();
  Dims dims{ragged.rows};
  for (const Partition& partition : ragged.partitions) dims.push_back(partition.longest);
  dims.append(values.dims().begin() + 1, values.dims().end());
  if (shape.rank() == 0) {
    if (shape.IntAt(0) != -1)
      return MakeError("a scalar shape must be -1 (unknown), not {0}", shape.IntAt(0));
  } else {
    Dims asked = IntsOf(shape);
    if (asked.size() != dims.size())
      return MakeError("shape {0} must have {1} numbers", IntsText(asked), dims.size());
    for (size_t i = 0; i < asked.size(); ++i) {
      if (asked[i] < -1)
        return MakeError("shape {0} has a size below -1 (unknown)", IntsText(asked));
      if (asked[i] < 0) continue;
      if (i > depth && asked[i] != dims[i])
        return MakeError(
            "shape {0} must end with the values' inner dimensions {1}, or -1 for any of them",
            IntsText(asked), DimsText(values.dims().drop_front()));
      dims[i] = asked[i];
    }
  }
  if (!NumElements(dims)) return MakeError("an output of shape {0} is too large", DimsText(dims));
  return dims;
}

// Returns the output row of each row of the values; -1 if it is truncated.
Expected<std::vector<int64_t>> Places(const Ragged& ragged, llvm::ArrayRef<int64_t> dims,
                                      int64_t values) {
  std::vector<int64_t> places(ragged.rows);
  for (int64_t i = 0; i < ragged.rows; ++i) places[i] = i < dims[0] ? i : -1;
  for (size_t d = 0; d < ragged.partitions.size(); ++d) {
    const std::vector<int64_t>& row_of = ragged.partitions[d].row_of;
    std::vector<int64_t> below(row_of.size());
    int64_t in_row = 0;
    for (size_t i = 0; i < row_of.size(); ++i) {
      if (row_of[i] >= static_cast<int64_t>(places.size()))
        return MakeError(
            "an element of ragged dimension {1} is in row {0}, but there are only {2} rows",
            row_of[i], d, places.size());
      in_row = i > 0 && row_of[i] == row_of[i - 1] ? in_row + 1 : 0;
      bool inside = places[row_of[i]] >= 0 && in_row < dims[d + 1];
      below[i] = inside ? places[row_of[i]] * dims[d + 1] + in_row : -1;
    }
    places = std::move(below);
  }
  if (static_cast<int64_t>(places.size()) > values)
    return MakeError("the row partitions are for {0} values, but there are only {1}", places.size(),
                     values);
  return places;
}

// Fills the whole output with the default value, broadcast to a row of the values.
Error FillWithDefault(KernelContext& ctx, const Tensor& fill, llvm::ArrayRef<int64_t> inner,
                      Tensor& out) {
  if (fill.num_elements() == 1) {
    FillElements(ctx, out.dtype(), out.raw(), out.num_elements(), fill.raw());
    return Error::success();
  }
  ASSIGN_OR_RETURN(BroadcastPlan plan, PlanBroadcast({inner, fill.dims()}));
  if (plan.dims != Dims(inner.begin(), inner.end()))
    return MakeError("default_value of shape {0} does not broadcast to rows of shape {1}",
                     DimsText(fill.dims()), DimsText(inner));
  int64_t width = plan.total;
  for (int64_t row = 0; width > 0 && row < out.num_elements() / width; ++row) {
    plan.ForRows(0, width, [&](int64_t at, llvm::ArrayRef<int64_t> offsets, int64_t n) {
      int64_t step = plan.strides[1].back();
      for (int64_t i = 0; i < n; ++i) {
        CopyElements(out.dtype(), At(fill, offsets[1] + i * step), At(out, row * width + at + i),
                     1);
      }
    });
  }
  return Error::success();
}

Error RaggedToDense(KernelContext& ctx, const std::vector<PartitionKind>& kinds) {
  const Tensor &values = ctx.input(1), &fill = ctx.input(2);
  if (values.rank() < 1) return MakeError("values must have rank 1 or more, got a scalar");
  if (fill.rank() >= values.rank())
    return MakeError("default_value must have a lower rank than values, got shapes {0} and {1}",
                     DimsText(fill.dims()), DimsText(values.dims()));
  ASSIGN_OR_RETURN(Ragged ragged, ReadPartitions(ctx, kinds));
  ASSIGN_OR_RETURN(Dims dims, OutputDims(ctx.input(0), ragged, values));
  ASSIGN_OR_RETURN(std::vector<int64_t> places, Places(ragged, dims, values.dim(0)));
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  llvm::ArrayRef<int64_t> inner = values.dims().drop_front();
  RETURN_IF_ERROR(FillWithDefault(ctx, fill, inner, *out));
  int64_t width = *NumElements(inner);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    CopyElements(values.dtype(), At(values, i * width), At(*out, places[i] * width), width);
  }
  return Error::success();
}

using Names = std::vector<llvm::StringRef>;

Expected<KernelFn> MakeRaggedToDense(const KernelSetup& setup) {
  std::vector<PartitionKind> kinds;
  std::optional<AttrView> types = setup.node().Attr("row_partition_types");
  for (llvm::StringRef name : types ? types->AsStrings().value_or(Names()) : Names()) {
    ASSIGN_OR_RETURN(PartitionKind kind, KindOf(name));
    kinds.push_back(kind);
  }
  if (static_cast<int>(kinds.size()) != setup.num_inputs() - 3)
    return MakeError("there are {0} row partition types, but {1} row partition tensors",
                     kinds.size(), setup.num_inputs() - 3);
  for (size_t i = 0; i < kinds.size(); ++i) {
    bool first = kinds[i] == PartitionKind::kFirstSize;
    if (first && i > 0) return MakeError("FIRST_DIM_SIZE may only be the first row partition type");
    if (!first && i == 0 && kinds[i] == PartitionKind::kRowIds)
      return MakeError("VALUE_ROWIDS cannot be the first row partition type");
  }
  return KernelFn([kinds](KernelContext& ctx) { return RaggedToDense(ctx, kinds); });
}

GRAPNEL_CPU_KERNEL("RaggedTensorToTensor", MakeRaggedToDense);

}  // namespace
}  // namespace grapnel
