// Datasets of sparse tensors: batches of dense elements, and the rows of a sparse tensor.
#include <algorithm>

#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/data/dataset.h"
#include "kernels/cpu/sparse/sparse_indices.h"
#include "kernels/cpu/state/variant_tensor.h"

namespace grapnel {
namespace {

Expected<Tensor> Packed(const RunServices& services, llvm::ArrayRef<Tensor> parts) {
  ASSIGN_OR_RETURN(Tensor packed, Tensor::Allocate(proto::DT_VARIANT, {3}, services.allocator));
  for (int i = 0; i < 3; ++i) packed.data<ObjectRef>()[i] = new TensorValue(parts[i]);
  return packed;
}

// Combines dense elements, each no larger than the row shape, into a sparse tensor that holds all
// values of these elements.
Expected<Tensor> SparseBatch(const RunServices& services, llvm::ArrayRef<DatasetElement> rows,
                             const Dims& asked) {
  Dims dims(asked.begin(), asked.end());
  int64_t count = 0, rank = static_cast<int64_t>(dims.size());
  for (const DatasetElement& row : rows) {
    if (row.size() != 1 || row[0].rank() != rank)
      return MakeError("elements must have one component of rank {0}", rank);
    for (int64_t d = 0; d < rank; ++d) {
      if (asked[d] >= 0 && row[0].dim(d) > asked[d])
        return MakeError("an element of shape {0} does not fit in rows of {1}",
                         DimsText(row[0].dims()), IntsText(asked));
      dims[d] = std::max(dims[d], row[0].dim(d));
    }
    count += row[0].num_elements();
  }
  DataType dtype = rows[0][0].dtype();
  ASSIGN_OR_RETURN(Tensor indices,
                   Tensor::Allocate(proto::DT_INT64, {count, rank + 1}, services.allocator));
  ASSIGN_OR_RETURN(Tensor values, Tensor::Allocate(dtype, {count}, services.allocator));
  ASSIGN_OR_RETURN(Tensor shape, Tensor::Allocate(proto::DT_INT64, {rank + 1}, services.allocator));
  int64_t *to = indices.data<int64_t>(), at = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    const Tensor& row = rows[r][0];
    if (row.dtype() != dtype) return MakeError("elements of a batch have different dtypes");
    Dims strides = RowMajorStrides(row.dims());
    for (int64_t i = 0; i < row.num_elements(); ++i) {
      *to++ = static_cast<int64_t>(r);
      for (int64_t d = 0; d < rank; ++d) *to++ = i / strides[d] % row.dim(static_cast<int>(d));
    }
    CopyElements(dtype, row.raw(), At(values, at), row.num_elements());
    at += row.num_elements();
  }
  shape.data<int64_t>()[0] = static_cast<int64_t>(rows.size());
  std::copy(dims.begin(), dims.end(), shape.data<int64_t>() + 1);
  return Packed(services, {indices, values, shape});
}

Expected<KernelFn> MakeDenseToSparse(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    if (input->spec().dtypes.size() > 1)
      return MakeError("elements must have one component, the dataset's have {0}",
                       input->spec().dtypes.size());
    ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, 1));
    if (size < 1) return MakeError("batches of {0} elements: 1 or more were expected", size);
    Dims row = IntsOf(ctx.input(2));
    for (int64_t d : row) {
      if (d < -1) return MakeError("row_shape {0} has a size below -1", IntsText(row));
    }
    return PutDataset(ctx, node, CardinalityOfBatches(input->cardinality(), size, false),
                      [=](DatasetContext& begin) -> Expected<DatasetNext> {
                        ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
                        return DatasetNext([next = std::move(next), size, row, done = false](
                                               DatasetContext& context) mutable -> NextElement {
                          if (done) return NoElement();
                          ASSIGN_OR_RETURN(auto rows, NextBatch(next, context, size, false, done));
                          if (rows.empty()) return NoElement();
                          ASSIGN_OR_RETURN(Tensor batch, SparseBatch(context.services, rows, row));
                          return std::optional(DatasetElement{std::move(batch)});
                        });
                      });
  });
}

// Yields the rows of a sparse tensor, each as indices, values and shape.
Expected<KernelFn> MakeSparseSlices(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    Tensor indices = ctx.input(0), values = ctx.input(1);
    RETURN_IF_ERROR(CheckSparseTensor(indices, &values, ctx.input(2)));
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(2)));
    if (dims.empty()) return MakeError("dense_shape must have at least one number");
    RETURN_IF_ERROR(CheckSparseIndices(indices, dims, false));
    int64_t depth = static_cast<int64_t>(dims.size());
    for (int64_t i = 1; i < indices.dim(0); ++i) {
      if (indices.IntAt(i * depth) < indices.IntAt((i - 1) * depth))
        return MakeError("indices[{0}] is out of order: row numbers must not decrease", i);
    }
    return PutDataset(ctx, node, dims[0], [=](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([=, row = int64_t{0},
                          at = int64_t{0}](DatasetContext& context) mutable -> NextElement {
        if (row == dims[0]) return NoElement();
        int64_t begin = at, inner = depth - 1;
        while (at < indices.dim(0) && indices.IntAt(at * depth) == row) ++at;
        auto make = [&](DataType dtype, llvm::ArrayRef<int64_t> size) {
          return Tensor::Allocate(dtype, size, context.services.allocator);
        };
        ASSIGN_OR_RETURN(Tensor places, make(proto::DT_INT64, {at - begin, inner}));
        ASSIGN_OR_RETURN(Tensor part, make(values.dtype(), {at - begin}));
        ASSIGN_OR_RETURN(Tensor shape, make(proto::DT_INT64, {inner}));
        for (int64_t i = begin; i < at; ++i)
          std::copy_n(indices.data<int64_t>() + i * depth + 1, inner,
                      places.data<int64_t>() + (i - begin) * inner);
        CopyElements(values.dtype(), At(values, begin), part.raw(), at - begin);
        std::copy(dims.begin() + 1, dims.end(), shape.data<int64_t>());
        ++row;
        return std::optional(DatasetElement{std::move(places), std::move(part), std::move(shape)});
      });
    });
  });
}

GRAPNEL_CPU_KERNEL("DenseToSparseBatchDataset", MakeDenseToSparse, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("SparseTensorSliceDataset", MakeSparseSlices, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
