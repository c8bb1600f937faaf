// Rarer datasets: sliding windows, reducers by key, a given list, one by chance, sparse batches;
// and those that only say how fast or where.
#include <algorithm>
#include <map>

#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/data/dataset.h"
#include "kernels/cpu/random/philox.h"
#include "kernels/cpu/sparse/sparse_indices.h"
#include "kernels/cpu/state/variant_tensor.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

// The first dataset, as it is: of several alike the fastest may be chosen, so may any. What
// AssertNextDataset asserts is what TensorFlow's optimiser did, which does not run here.
Expected<KernelFn> MakeSame(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(DatasetIn(ctx, 0).takeError());
    ctx.SetOutput(0, ctx.input(0));
    return Error::success();
  });
}

// Shards by elements. Which files a worker reads would be decided on the graph, before it runs.
Expected<KernelFn> MakeAutoShard(const KernelSetup& setup) {
  constexpr int64_t kOff = -1, kByData = 2;
  int64_t policy = setup.node().GetInt("auto_shard_policy");
  return KernelFn([node = setup.node(), policy](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t workers, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t index, ScalarIn(ctx, 2));
    if (workers < 1 || index < 0 || index >= workers)
      return MakeError("worker {0} of {1}: a number from 0 to one less was expected", index,
                       workers);
    if (workers == 1 || policy == kOff) {
      ctx.SetOutput(0, ctx.input(0));
      return Error::success();
    }
    if (policy != kByData)
      return MakeError("auto_shard_policy {0} is for files: by data (2) and off (-1) are supported",
                       policy);
    int64_t n = input->cardinality();
    if (n >= 0) n = n / workers + (index < n % workers);
    PutDataset(ctx, node, n, [=](DatasetContext& begin) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
      return DatasetNext([next = std::move(next), index, workers,
                          at = int64_t{0}](DatasetContext& context) mutable -> NextElement {
        for (;;) {
          ASSIGN_OR_RETURN(auto element, next(context));
          if (!element || at++ % workers == index) return element;
        }
      });
    });
    return Error::success();
  });
}

// --- SlidingWindowDataset

struct Window {
  int64_t size, shift, stride;
  bool drop;
};

// Batches of `size` elements `stride` apart, that begin `shift` apart.
DatasetNext WindowsOf(DatasetNext input, Window window) {
  return [input = std::move(input), window, buffer = std::vector<DatasetElement>(),
          skip = int64_t{0}, done = false](DatasetContext& context) mutable -> NextElement {
    size_t reach = static_cast<size_t>((window.size - 1) * window.stride + 1);
    while (!done && buffer.size() < reach) {
      ASSIGN_OR_RETURN(auto element, input(context));
      done = !element;
      if (!element) break;
      if (skip > 0)
        --skip;
      else
        buffer.push_back(std::move(*element));
    }
    if (buffer.empty() || (window.drop && buffer.size() < reach)) return NoElement();
    std::vector<DatasetElement> rows;
    for (size_t i = 0; i < std::min(buffer.size(), reach); i += window.stride)
      rows.push_back(buffer[i]);
    size_t gone = std::min<size_t>(buffer.size(), window.shift);
    buffer.erase(buffer.begin(), buffer.begin() + gone);
    skip = window.shift - static_cast<int64_t>(gone);
    ASSIGN_OR_RETURN(DatasetElement batch, StackElements(context.services, rows));
    return std::optional(std::move(batch));
  };
}

Expected<KernelFn> MakeSlidingWindow(const KernelSetup& setup) {
  bool drop = setup.node().GetBool("drop_remainder", true);
  return KernelFn([node = setup.node(), drop](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t shift, ScalarIn(ctx, 2));
    ASSIGN_OR_RETURN(int64_t stride, ScalarIn(ctx, 3));
    int64_t reach = 0;
    if (size < 1 || shift < 1 || stride < 1 || __builtin_mul_overflow(size, stride, &reach))
      return MakeError("a window of {0} elements, shift {1}, stride {2}: 1 or more were expected",
                       size, shift, stride);
    PutDataset(ctx, node, Dataset::kUnknown, [=](DatasetContext& begin) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
      return WindowsOf(std::move(next), {size, shift, stride, drop});
    });
    return Error::success();
  });
}

// --- GroupByReducerDataset

struct Reducer {
  CapturedFunction key, init, reduce, finish;
};

// The state of each key at the end, in the order of keys.
Expected<std::map<int64_t, DatasetElement>> StatesOf(DatasetNext& input, DatasetContext& context,
                                                     const Reducer& reducer) {
  std::map<int64_t, DatasetElement> states;
  for (;;) {
    ASSIGN_OR_RETURN(auto element, input(context));
    if (!element) return states;
    ASSIGN_OR_RETURN(DatasetElement key, reducer.key.Call(context, *element));
    if (key.size() != 1 || key[0].dtype() != proto::DT_INT64 || key[0].num_elements() != 1)
      return MakeError("key_func must give a scalar of int64");
    auto it = states.find(key[0].IntAt(0));
    if (it == states.end()) {
      ASSIGN_OR_RETURN(DatasetElement first, reducer.init.Call(context, key));
      it = states.emplace(key[0].IntAt(0), std::move(first)).first;
    }
    DatasetElement arguments = std::move(it->second);
    arguments.insert(arguments.end(), element->begin(), element->end());
    ASSIGN_OR_RETURN(it->second, reducer.reduce.Call(context, std::move(arguments)));
  }
}

DatasetNext ReducedOf(DatasetNext input, Reducer reducer) {
  return [input = std::move(input), reducer = std::move(reducer), started = false,
          states =
              std::map<int64_t, DatasetElement>()](DatasetContext& context) mutable -> NextElement {
    if (!started) {
      ASSIGN_OR_RETURN(states, StatesOf(input, context, reducer));
      started = true;
    }
    if (states.empty()) return NoElement();
    DatasetElement state = std::move(states.begin()->second);
    states.erase(states.begin());
    ASSIGN_OR_RETURN(DatasetElement result, reducer.finish.Call(context, std::move(state)));
    return std::optional(std::move(result));
  };
}

Expected<KernelFn> MakeGroupByReducer(const KernelSetup& setup) {
  const Node& node = setup.node();
  static constexpr const char* kNames[] = {"key", "init", "reduce", "finalize"};
  std::vector<CapturedFunction> functions;
  std::vector<int> ends{1};
  for (const char* name : kNames) {
    ASSIGN_OR_RETURN(CapturedFunction function,
                     CapturedFunction::Make(node, std::string(name) + "_func"));
    functions.push_back(std::move(function));
    ends.push_back(ends.back() +
                   CountTypes(node, std::string("T") + name + "_func_other_arguments"));
  }
  if (ends.back() != setup.num_inputs())
    return MakeError("{0} inputs, {1} were expected", setup.num_inputs(), ends.back());
  return KernelFn([node, functions, ends](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    auto with = [&](int i) { return functions[i].With(InputsOf(ctx, ends[i], ends[i + 1])); };
    Reducer reducer{with(0), with(1), with(2), with(3)};
    PutDataset(ctx, node, Dataset::kUnknown,
               [input, reducer](DatasetContext& begin) -> Expected<DatasetNext> {
                 ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
                 return ReducedOf(std::move(next), reducer);
               });
    return Error::success();
  });
}

// --- ListDataset, SamplingDataset

// The inputs in turn, as many in each element as it has components.
Expected<KernelFn> MakeList(const KernelSetup& setup) {
  int width = CountTypes(setup.node(), "output_types");
  if (width < 1 || setup.num_inputs() % width != 0)
    return MakeError("{0} tensors for elements of {1} components", setup.num_inputs(), width);
  return KernelFn([node = setup.node(), width](KernelContext& ctx) -> Error {
    std::vector<Tensor> all = InputsOf(ctx, 0, ctx.num_inputs());
    int64_t count = static_cast<int64_t>(all.size()) / width;
    PutDataset(ctx, node, count, [all, width](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([all, width, at = size_t{0}](DatasetContext&) mutable -> NextElement {
        if (at == all.size()) return NoElement();
        DatasetElement element(all.begin() + at, all.begin() + at + width);
        at += width;
        return std::optional(std::move(element));
      });
    });
    return Error::success();
  });
}

// Uniform in [0, 1), from the 23 bits of a float's fraction.
float UnitFloat(uint32_t bits) { return static_cast<float>(bits & 0x7fffff) * 0x1p-23f; }

// Each element with a chance of `rate`, by the numbers of the seeds' stream.
Expected<KernelFn> MakeSampling(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    if (ctx.input(1).num_elements() != 1) return MakeError("rate must be a scalar");
    float rate = *ctx.input(1).data<float>();
    ASSIGN_OR_RETURN(int64_t first, ScalarIn(ctx, 2));
    ASSIGN_OR_RETURN(int64_t second, ScalarIn(ctx, 3));
    // Without seeds the numbers follow from the node's name, so that a run can be repeated.
    if (first == 0 && second == 0) first = static_cast<int64_t>(llvm::xxHash64(node.name()));
    PutDataset(ctx, node, Dataset::kUnknown, [=](DatasetContext& begin) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
      PhiloxNumbers numbers(
          Philox::FromSeeds(static_cast<uint64_t>(first), static_cast<uint64_t>(second)));
      return DatasetNext(
          [next = std::move(next), numbers, rate](DatasetContext& context) mutable -> NextElement {
            for (;;) {
              ASSIGN_OR_RETURN(auto element, next(context));
              if (!element || UnitFloat(static_cast<uint32_t>(numbers.Next())) < rate)
                return element;
            }
          });
    });
    return Error::success();
  });
}

// --- Sparse

Expected<Tensor> Packed(const RunServices& services, llvm::ArrayRef<Tensor> parts) {
  ASSIGN_OR_RETURN(Tensor packed, Tensor::Allocate(proto::DT_VARIANT, {3}, services.allocator));
  for (int i = 0; i < 3; ++i) packed.data<ObjectRef>()[i] = new TensorValue(parts[i]);
  return packed;
}

// Elements of any size up to the row's as the rows of a sparse tensor, which has all their values.
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
    if (row.dtype() != dtype) return MakeError("elements of different dtypes");
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
    ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, 1));
    if (size < 1) return MakeError("batches of {0} elements: 1 or more were expected", size);
    Dims row = IntsOf(ctx.input(2));
    for (int64_t d : row) {
      if (d < -1) return MakeError("row_shape {0} has a negative size", IntsText(row));
    }
    PutDataset(ctx, node, CardinalityOfBatches(input->cardinality(), size, false),
               [=](DatasetContext& begin) -> Expected<DatasetNext> {
                 ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
                 return DatasetNext([next = std::move(next), size, row,
                                     done = false](DatasetContext& context) mutable -> NextElement {
                   if (done) return NoElement();
                   ASSIGN_OR_RETURN(auto rows, NextBatch(next, context, size, false, done));
                   if (rows.empty()) return NoElement();
                   ASSIGN_OR_RETURN(Tensor batch, SparseBatch(context.services, rows, row));
                   return std::optional(DatasetElement{std::move(batch)});
                 });
               });
    return Error::success();
  });
}

// The rows of a sparse tensor, each as its places, values and shape.
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
        return MakeError("indices[{0}] is out of order: rows must rise", i);
    }
    PutDataset(ctx, node, dims[0], [=](DatasetContext&) -> Expected<DatasetNext> {
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
    return Error::success();
  });
}

#define GRAPNEL_DATASET_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_DATASET_KERNEL("AssertNextDataset", MakeSame);
GRAPNEL_DATASET_KERNEL("AssertPrevDataset", MakeSame);
GRAPNEL_DATASET_KERNEL("ChooseFastestDataset", MakeSame);
GRAPNEL_DATASET_KERNEL("SleepDataset", MakeSame);
GRAPNEL_DATASET_KERNEL("AutoShardDataset", MakeAutoShard);
GRAPNEL_DATASET_KERNEL("SlidingWindowDataset", MakeSlidingWindow);
GRAPNEL_DATASET_KERNEL("GroupByReducerDataset", MakeGroupByReducer);
GRAPNEL_DATASET_KERNEL("ListDataset", MakeList);
GRAPNEL_DATASET_KERNEL("SamplingDataset", MakeSampling);
GRAPNEL_DATASET_KERNEL("DenseToSparseBatchDataset", MakeDenseToSparse);
GRAPNEL_DATASET_KERNEL("SparseTensorSliceDataset", MakeSparseSlices);

}  // namespace
}  // namespace grapnel
