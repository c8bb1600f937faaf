// Datasets that group elements: batches, padded batches, windows, Unbatch and Rebatch.
#include <algorithm>
#include <deque>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/data/dataset.h"
#include "llvm/Support/MathExtras.h"

namespace grapnel {
namespace {

Expected<int64_t> BatchSize(const KernelContext& ctx, int i) {
  ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, i));
  if (size > 0) return size;
  return MakeError("a batch of {0} elements: 1 or more were expected", size);
}

// drop_remainder, if present, is the last input.
Expected<KernelFn> MakeBatch(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t size, BatchSize(ctx, 1));
    int64_t drop = 0;
    if (ctx.num_inputs() > 2) {
      ASSIGN_OR_RETURN(drop, ScalarIn(ctx, ctx.num_inputs() - 1));
    }
    auto begin = [input, size, drop](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return BatchesOf(std::move(next), size, drop != 0);
    };
    return PutDataset(ctx, node, CardinalityOfBatches(input->cardinality(), size, drop != 0),
                      begin);
  });
}

// --- Padded batches

struct Padding {
  std::vector<Dims> shapes;  // of each component; -1: the longest of the batch
  std::vector<Tensor> values;
};

Error FillWith(const Tensor& value, Tensor& out) {
  bool known =
      ForType(out.dtype(), Join<NumberTypes, TypeList<bool, std::string>>(), [&](auto tag) {
        using T = typename decltype(tag)::type;
        std::fill_n(out.data<T>(), out.num_elements(), *value.data<T>());
        return true;
      });
  return known ? Error::success()
               : MakeError("tensors of dtype {0} cannot be padded", DataTypeName(out.dtype()));
}

// Copies the elements of `from` to the same indices in the part of `to` that starts at `offset` and
// has shape `to_dims`.
void CopyCorner(const Tensor& from, Tensor& to, int64_t offset, llvm::ArrayRef<int64_t> to_dims) {
  if (from.num_elements() == 0) return;
  int rank = from.rank();
  int64_t width = rank ? from.dim(rank - 1) : 1;
  Dims strides = RowMajorStrides(to_dims);
  for (int64_t row = 0; row < from.num_elements() / width; ++row) {
    int64_t rest = row, at = offset;
    for (int d = rank - 2; d >= 0; --d) {
      at += rest % from.dim(d) * strides[d];
      rest /= from.dim(d);
    }
    CopyElements(from.dtype(), At(from, row * width), At(to, at), width);
  }
}

Expected<Tensor> PaddedOf(const RunServices& services, llvm::ArrayRef<DatasetElement> elements,
                          size_t c, Dims dims, const Tensor& value) {
  for (const DatasetElement& element : elements) {
    const Tensor& tensor = element[c];
    bool fits = tensor.rank() == static_cast<int>(dims.size());
    for (int d = 0; fits && d < tensor.rank(); ++d) fits = dims[d] < 0 || tensor.dim(d) <= dims[d];
    if (!fits) {
      return MakeError("component {0} of an element is of shape {1}, which cannot be padded to {2}",
                       c, DimsText(tensor.dims()), IntsText(dims));
    }
  }
  Dims whole = {static_cast<int64_t>(elements.size())};
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t longest = 0;
    for (const DatasetElement& element : elements)
      longest = std::max(longest, element[c].dim(static_cast<int>(d)));
    whole.push_back(dims[d] < 0 ? longest : dims[d]);
  }
  ASSIGN_OR_RETURN(Tensor out, Tensor::Allocate(elements[0][c].dtype(), whole, services.allocator));
  if (value.dtype() != out.dtype() || value.num_elements() != 1) {
    return MakeError("padding for component {0} is {1}, a scalar of {2} was expected", c,
                     value.ToString(), DataTypeName(out.dtype()));
  }
  RETURN_IF_ERROR(FillWith(value, out));
  auto row = llvm::ArrayRef<int64_t>(whole).drop_front();
  int64_t row_size = NumElements(row).value_or(0);
  for (size_t k = 0; k < elements.size(); ++k) CopyCorner(elements[k][c], out, k * row_size, row);
  return out;
}

DatasetNext PaddedBatchesOf(DatasetNext input, int64_t size, bool drop, Padding padding) {
  return [input = std::move(input), size, drop, padding = std::move(padding),
          done = false](DatasetContext& context) mutable -> NextElement {
    ASSIGN_OR_RETURN(auto elements, NextBatch(input, context, size, drop, done));
    if (elements.empty()) return NoElement();
    if (elements[0].size() != padding.shapes.size()) {
      return MakeError("elements have {0} components, but there is padding for {1}",
                       elements[0].size(), padding.shapes.size());
    }
    DatasetElement batch;
    for (size_t c = 0; c < padding.shapes.size(); ++c) {
      ASSIGN_OR_RETURN(Tensor part, PaddedOf(context.services, elements, c, padding.shapes[c],
                                             padding.values[c]));
      batch.push_back(std::move(part));
    }
    return std::optional(std::move(batch));
  };
}

// Inputs: dataset, batch_size, a shape per component, a padding value per component, optionally
// drop_remainder.
Expected<KernelFn> MakePaddedBatch(const KernelSetup& setup) {
  int count = static_cast<int>(setup.node().GetInt("N"));
  return KernelFn([node = setup.node(), count](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t size, BatchSize(ctx, 1));
    if (ctx.num_inputs() < 2 + 2 * count)
      return MakeError("the node has {0} inputs, but {1} components need at least {2}",
                       ctx.num_inputs(), count, 2 + 2 * count);
    Padding padding;
    for (int i = 0; i < count; ++i) {
      if (ctx.input(2 + i).rank() != 1 || ctx.input(2 + count + i).rank() != 0)
        return MakeError("component {0}: its padded shape must be a vector, its padding a scalar",
                         i);
      padding.shapes.push_back(IntsOf(ctx.input(2 + i)));
    }
    for (const Dims& shape : padding.shapes) {
      if (llvm::any_of(shape, [](int64_t size) { return size < -1; }))
        return MakeError("padded shape {0} has a size below -1", IntsText(shape));
    }
    padding.values = InputsOf(ctx, 2 + count, 2 + 2 * count);
    int64_t drop = 0;
    if (ctx.num_inputs() > 2 + 2 * count) {
      ASSIGN_OR_RETURN(drop, ScalarIn(ctx, 2 + 2 * count));
    }
    auto begin = [=](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return PaddedBatchesOf(std::move(next), size, drop != 0, padding);
    };
    return PutDataset(ctx, node, CardinalityOfBatches(input->cardinality(), size, drop != 0),
                      begin);
  });
}

// --- Unbatching

// Yields the rows of the elements of `input`.
DatasetNext RowsOf(DatasetNext input) {
  return [input = std::move(input), batch = DatasetElement(),
          row = int64_t{0}](DatasetContext& context) mutable -> NextElement {
    while (batch.empty() || row == batch[0].dim(0)) {
      ASSIGN_OR_RETURN(auto element, input(context));
      if (!element) return NoElement();
      batch = std::move(*element);
      row = 0;
      for (const Tensor& tensor : batch) {
        if (tensor.rank() > 0 && tensor.dim(0) == batch[0].dim(0)) continue;
        return MakeError(
            "all components of a batch must have at least one dimension and the same number of "
            "rows, one has shape {0}",
            DimsText(tensor.dims()));
      }
    }
    DatasetElement element;
    for (const Tensor& tensor : batch) {
      ASSIGN_OR_RETURN(Tensor part, CopyOfRow(context.services, tensor, row));
      element.push_back(std::move(part));
    }
    ++row;
    return std::optional(std::move(element));
  };
}

Expected<KernelFn> MakeUnbatch(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    int64_t n = input->cardinality(), size = -1;
    for (const Shape& shape : input->spec().shapes) {
      if (shape.known_rank() && shape.rank() > 0 && shape.IsKnown(0)) size = shape.dim(0);
    }
    if (n >= 0) n = size > 0 ? CardinalityOfRepeat(n, size) : Dataset::kUnknown;
    auto begin = [input](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return RowsOf(std::move(next));
    };
    return PutDataset(ctx, node, n, begin);
  });
}

// Regroups the rows into batches of the given sizes, which are used in cyclic order.
Expected<KernelFn> MakeRebatch(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t drop, ScalarIn(ctx, 2));
    Dims sizes = IntsOf(ctx.input(1));
    for (int64_t size : sizes) {
      if (size <= 0) return MakeError("a batch of {0} elements: 1 or more were expected", size);
    }
    if (sizes.empty()) return MakeError("batch_sizes is empty");
    auto begin = [input, sizes, drop](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return DatasetNext([rows = RowsOf(std::move(next)), sizes, drop,
                          turn = size_t{0}](DatasetContext& context) mutable -> NextElement {
        std::vector<DatasetElement> elements;
        size_t size = sizes[turn++ % sizes.size()];
        while (elements.size() < size) {
          ASSIGN_OR_RETURN(auto element, rows(context));
          if (!element) break;
          elements.push_back(std::move(*element));
        }
        if (elements.empty() || (drop && elements.size() < size)) return NoElement();
        ASSIGN_OR_RETURN(DatasetElement batch, StackElements(context.services, elements));
        return std::optional(std::move(batch));
      });
    };
    return PutDataset(ctx, node, Dataset::kUnknown, begin);
  });
}

// --- Windows: one dataset per component

struct Window {
  int64_t size = 0, shift = 0, stride = 0;
  bool drop = false;
  // The number of input elements that the window spans; saturates at INT64_MAX.
  int64_t reach() const {
    int64_t before_last = 0;
    bool is_endless = llvm::MulOverflow(size - 1, stride, before_last);
    return is_endless || before_last == INT64_MAX ? INT64_MAX : before_last + 1;
  }
};

Tensor DatasetOfColumn(std::vector<Tensor> column, const ElementSpec& spec, size_t c) {
  int64_t size = static_cast<int64_t>(column.size());
  auto begin = [column = std::move(column)](DatasetContext&) -> Expected<DatasetNext> {
    return DatasetNext([column, at = size_t{0}](DatasetContext&) mutable -> NextElement {
      if (at == column.size()) return NoElement();
      return std::optional(DatasetElement{column[at++]});
    });
  };
  ElementSpec of_column;
  if (c < spec.dtypes.size()) of_column.dtypes = {spec.dtypes[c]};
  if (c < spec.shapes.size()) of_column.shapes = {spec.shapes[c]};
  return Tensor::OfObject(proto::DT_VARIANT,
                          new Dataset("Window", size, std::move(of_column), begin));
}

DatasetNext WindowsOf(DatasetNext input, Window window, ElementSpec spec) {
  return [input = std::move(input), window, spec = std::move(spec),
          held = std::deque<DatasetElement>(),
          done = false](DatasetContext& context) mutable -> NextElement {
    while (!done && static_cast<int64_t>(held.size()) < window.reach()) {
      ASSIGN_OR_RETURN(auto element, input(context));
      done = !element;
      if (element) held.push_back(std::move(*element));
    }
    bool partial = static_cast<int64_t>(held.size()) < window.reach();
    if (held.empty() || (partial && window.drop)) return NoElement();
    DatasetElement columns;
    for (size_t c = 0; c < held[0].size(); ++c) {
      std::vector<Tensor> column;
      for (size_t k = 0; k < held.size(); k += window.stride) column.push_back(held[k][c]);
      columns.push_back(DatasetOfColumn(std::move(column), spec, c));
    }
    int64_t size = static_cast<int64_t>(held.size());
    held.erase(held.begin(), held.begin() + std::min(size, window.shift));
    for (int64_t i = size; i < window.shift && !done; ++i) {
      ASSIGN_OR_RETURN(auto element, input(context));
      done = !element;
    }
    return std::optional(std::move(columns));
  };
}

Expected<KernelFn> MakeWindow(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    Window window;
    ASSIGN_OR_RETURN(window.size, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(window.shift, ScalarIn(ctx, 2));
    ASSIGN_OR_RETURN(window.stride, ScalarIn(ctx, 3));
    ASSIGN_OR_RETURN(int64_t drop, ScalarIn(ctx, 4));
    window.drop = drop != 0;
    if (window.size <= 0 || window.shift <= 0 || window.stride <= 0)
      return MakeError("a window of size {0}, shift {1}, stride {2}: all must be 1 or more",
                       window.size, window.shift, window.stride);
    int64_t n = input->cardinality();
    if (n >= 0 && window.drop)
      n = n < window.reach() ? 0 : (n - window.reach()) / window.shift + 1;
    else if (n >= 0)
      n = n / window.shift + (n % window.shift != 0);
    auto begin = [input, window](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return WindowsOf(std::move(next), window, input->spec());
    };
    return PutDataset(ctx, node, n, begin);
  });
}

#define GRAPNEL_DATASET_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_DATASET_KERNEL("BatchDataset", MakeBatch);
GRAPNEL_DATASET_KERNEL("BatchDatasetV2", MakeBatch);
GRAPNEL_DATASET_KERNEL("ParallelBatchDataset", MakeBatch);
GRAPNEL_DATASET_KERNEL("PaddedBatchDataset", MakePaddedBatch);
GRAPNEL_DATASET_KERNEL("PaddedBatchDatasetV2", MakePaddedBatch);
GRAPNEL_DATASET_KERNEL("UnbatchDataset", MakeUnbatch);
GRAPNEL_DATASET_KERNEL("ExperimentalUnbatchDataset", MakeUnbatch);
GRAPNEL_DATASET_KERNEL("RebatchDatasetV2", MakeRebatch);
GRAPNEL_DATASET_KERNEL("WindowDataset", MakeWindow);

}  // namespace
}  // namespace grapnel
