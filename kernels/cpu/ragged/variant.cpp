// Ragged tensors as variants, one per row or one for all, which is how map_fn and datasets pass
// them.
#include "kernels/cpu/ragged/variant.h"

#include "kernels/cpu/array/data_move.h"

namespace grapnel {
namespace {

void SetSplit(Tensor& splits, int64_t i, int64_t value) {
  if (splits.dtype() == proto::DT_INT32)
    splits.data<int32_t>()[i] = static_cast<int32_t>(value);
  else
    splits.data<int64_t>()[i] = value;
}

Error CheckSplits(const Tensor& splits, int64_t rows) {
  if (splits.rank() != 1 || splits.num_elements() < 1 || splits.IntAt(0) != 0)
    return MakeError("splits {0}: a vector that starts with 0 was expected", splits.ToString());
  for (int64_t i = 1; i < splits.num_elements(); ++i) {
    if (splits.IntAt(i) < splits.IntAt(i - 1))
      return MakeError("splits {0} decrease at {1}", splits.ToString(), i);
  }
  if (splits.IntAt(splits.num_elements() - 1) == rows) return Error::success();
  return MakeError("splits {0} end before or after the {1} rows that they split", splits.ToString(),
                   rows);
}

// Returns rows [begin, end) with their splits at each level, from the outermost in.
Expected<ObjectRef> RowsOf(KernelContext& ctx, llvm::ArrayRef<Tensor> splits, const Tensor& values,
                           int64_t begin, int64_t end) {
  llvm::IntrusiveRefCntPtr<RaggedValue> part(new RaggedValue);
  for (const Tensor& level : splits) {
    ASSIGN_OR_RETURN(Tensor mine, ctx.Scratch(level.dtype(), {end - begin + 1}));
    int64_t first = level.IntAt(begin);
    for (int64_t i = begin; i <= end; ++i) SetSplit(mine, i - begin, level.IntAt(i) - first);
    end = level.IntAt(end);
    begin = first;
    part->splits.push_back(std::move(mine));
  }
  Tensor slice = values.Slice(begin, end);
  ASSIGN_OR_RETURN(part->values, ctx.Scratch(slice.dtype(), slice.dims()));
  CopyElements(slice.dtype(), slice.raw(), part->values.raw(), slice.num_elements());
  return ObjectRef(std::move(part));
}

Expected<KernelFn> MakeToVariant(const KernelSetup& setup) {
  bool by_row = setup.node().GetBool("batched_input");
  return KernelFn([by_row](KernelContext& ctx) -> Error {
    int levels = ctx.num_inputs() - 1;
    std::vector<Tensor> splits;
    splits.reserve(levels);
    for (int i = 0; i < levels; ++i) splits.push_back(ctx.input(i));
    const Tensor values = ctx.input(levels);
    if (values.rank() == 0 && (levels > 0 || by_row))
      return MakeError("the values are a scalar, rows were expected");
    for (int i = levels; i-- > 0;) {
      int64_t rows = i + 1 < levels ? splits[i + 1].num_elements() - 1 : values.dim(0);
      RETURN_IF_ERROR(CheckSplits(splits[i], rows));
    }
    if (!by_row) {
      llvm::IntrusiveRefCntPtr<RaggedValue> whole(new RaggedValue);
      whole->splits = std::move(splits);
      whole->values = values;
      ctx.SetOutput(0, Tensor::OfObject(proto::DT_VARIANT, std::move(whole)));
      return Error::success();
    }
    int64_t rows = levels > 0 ? splits[0].num_elements() - 1 : values.dim(0);
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {rows}));
    for (int64_t i = 0; i < rows; ++i) {
      if (levels == 0) {
        llvm::IntrusiveRefCntPtr<RaggedValue> row(new RaggedValue);
        Tensor slice = values.Slice(i, i + 1).Reshaped(values.dims().drop_front());
        ASSIGN_OR_RETURN(row->values, ctx.Scratch(slice.dtype(), slice.dims()));
        CopyElements(slice.dtype(), slice.raw(), row->values.raw(), slice.num_elements());
        out->data<ObjectRef>()[i] = std::move(row);
        continue;
      }
      ASSIGN_OR_RETURN(out->data<ObjectRef>()[i],
                       RowsOf(ctx, llvm::ArrayRef(splits).drop_front(), values, splits[0].IntAt(i),
                              splits[0].IntAt(i + 1)));
    }
    return Error::success();
  });
}

// Concatenates the parts. Outputs: the splits of each level, then the values.
Error Stack(KernelContext& ctx, llvm::ArrayRef<const RaggedValue*> parts,
            llvm::ArrayRef<int64_t> outer, int inner_levels, DataType values_type) {
  int level = 0;
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < outer.size(); ++d) {
    rows *= outer[d];
    ASSIGN_OR_RETURN(Tensor * splits, ctx.Allocate(level++, {rows + 1}));
    for (int64_t i = 0; i <= rows; ++i) SetSplit(*splits, i, i * outer[d + 1]);
  }
  int64_t count = parts.size();
  ASSIGN_OR_RETURN(Tensor * lengths, ctx.Allocate(level++, {count + 1}));
  SetSplit(*lengths, 0, 0);
  int64_t total = 0;
  for (int64_t i = 0; i < count; ++i) SetSplit(*lengths, i + 1, total += parts[i]->num_rows());
  for (int k = 0; k < inner_levels; ++k) {
    int64_t size = 1;
    for (const RaggedValue* part : parts) size += part->splits[k].num_elements() - 1;
    ASSIGN_OR_RETURN(Tensor * splits, ctx.Allocate(level++, {size}));
    int64_t at = 0, offset = 0;
    SetSplit(*splits, at++, 0);
    for (const RaggedValue* part : parts) {
      const Tensor& mine = part->splits[k];
      for (int64_t i = 1; i < mine.num_elements(); ++i)
        SetSplit(*splits, at++, offset + mine.IntAt(i));
      offset += mine.IntAt(mine.num_elements() - 1);
    }
  }
  Dims dims = {0};
  for (size_t i = 0; i < parts.size(); ++i) {
    const Tensor& values = parts[i]->values;
    if (values.dtype() != values_type) {
      return MakeError("the values have dtype {0}, {1} was expected", DataTypeName(values.dtype()),
                       DataTypeName(values_type));
    }
    if (values.rank() == 0) return MakeError("element {0} is a scalar, rows were expected", i);
    if (i == 0) dims.append(values.dims().begin() + 1, values.dims().end());
    if (values.dims().drop_front() != llvm::ArrayRef<int64_t>(dims).drop_front()) {
      return MakeError(
          "values of shapes {0} and {1} cannot be joined: they differ past the first dimension",
          DimsText(parts[0]->values.dims()), DimsText(values.dims()));
    }
    dims[0] += values.dim(0);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(level, dims));
  int64_t at = 0;
  for (const RaggedValue* part : parts) {
    CopyElements(values_type, part->values.raw(), At(*out, at), part->values.num_elements());
    at += part->values.num_elements();
  }
  return Error::success();
}

Expected<KernelFn> MakeFromVariant(const KernelSetup& setup) {
  int64_t inner = setup.node().GetInt("input_ragged_rank", -1);
  int64_t levels = setup.node().GetInt("output_ragged_rank");
  return KernelFn([inner, levels](KernelContext& ctx) -> Error {
    const Tensor encoded = ctx.input(0);
    std::vector<const RaggedValue*> parts;
    int64_t inner_levels = inner < 0 ? levels - encoded.rank() : inner;
    if (inner_levels < 0 || inner_levels + encoded.rank() != levels ||
        ctx.num_outputs() != levels + 1) {
      return MakeError(
          "variants of shape {0} with {1} ragged levels inside cannot give a ragged tensor of {2} "
          "levels in {3} outputs",
          DimsText(encoded.dims()), inner_levels, levels, ctx.num_outputs());
    }
    for (int64_t i = 0; i < encoded.num_elements(); ++i) {
      auto* part = dynamic_cast<RaggedValue*>(encoded.data<ObjectRef>()[i].get());
      if (!part)
        return MakeError("element {0} of {1} is not a ragged tensor", i, encoded.ToString());
      if (static_cast<int64_t>(part->splits.size()) != inner_levels) {
        return MakeError("element {0} has {1} ragged levels, {2} were expected", i,
                         part->splits.size(), inner_levels);
      }
      for (int k = 0; k < inner_levels; ++k) {
        if (part->splits[k].dtype() != ctx.output_type(k))
          return MakeError("the splits have dtype {0}, {1} was expected",
                           DataTypeName(part->splits[k].dtype()), DataTypeName(ctx.output_type(k)));
      }
      parts.push_back(part);
    }
    DataType values_type = ctx.output_type(ctx.num_outputs() - 1);
    if (encoded.rank() > 0)
      return Stack(ctx, parts, encoded.dims(), static_cast<int>(inner_levels), values_type);
    if (parts[0]->values.dtype() != values_type) {
      return MakeError("the values have dtype {0}, {1} was expected",
                       DataTypeName(parts[0]->values.dtype()), DataTypeName(values_type));
    }
    for (int k = 0; k < inner_levels; ++k) ctx.SetOutput(k, parts[0]->splits[k]);
    ctx.SetOutput(ctx.num_outputs() - 1, parts[0]->values);
    return Error::success();
  });
}

GRAPNEL_CPU_KERNEL("RaggedTensorToVariant", MakeToVariant);
GRAPNEL_CPU_KERNEL("RaggedTensorFromVariant", MakeFromVariant);

}  // namespace
}  // namespace grapnel
