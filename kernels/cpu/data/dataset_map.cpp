// Datasets that call functions: map, filter, take while, flat map, interleave, scan, group by
// window; and ReduceDataset.
#include "kernels/cpu/data/dataset.h"
#include "lib/support/memory_budget.h"

namespace grapnel {
namespace {

constexpr int64_t kUnknown = Dataset::kUnknown;

// The inputs of these ops: the dataset, the function's captured tensors, then `extra` numbers.
struct FunctionInputs {
  DatasetRef input;
  CapturedFunction function;
};
Expected<FunctionInputs> Read(const KernelContext& ctx, const CapturedFunction& function,
                              int extra) {
  ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
  return FunctionInputs{input, function.With(InputsOf(ctx, 1, ctx.num_inputs() - extra))};
}

// The last of the `extra` numbers is num_parallel_calls.
Error CheckCalls(const KernelContext& ctx, const Node& node, int extra) {
  if (extra == 0) return Error::success();
  RETURN_IF_ERROR(CheckDeterminism(node));
  ASSIGN_OR_RETURN(int64_t calls, ScalarIn(ctx, ctx.num_inputs() - 1));
  return CheckParallelCalls(calls);
}

// --- One to one

DatasetNext MappedOf(DatasetNext input, const CapturedFunction& function) {
  return [input = std::move(input), function](DatasetContext& context) mutable -> NextElement {
    ASSIGN_OR_RETURN(auto element, input(context));
    if (!element) return NoElement();
    ASSIGN_OR_RETURN(DatasetElement mapped, function.Call(context, std::move(*element)));
    return std::optional(std::move(mapped));
  };
}

// The last `extra` inputs are numbers that control parallelism.
template <int extra>
Expected<KernelFn> MakeMap(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "f"));
  bool preserves = setup.node().GetBool("preserve_cardinality");
  return KernelFn([node = setup.node(), function, preserves](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(FunctionInputs in, Read(ctx, function, extra));
    RETURN_IF_ERROR(CheckCalls(ctx, node, extra));
    auto begin = [in](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, in.input->MakeIterator(context));
      return MappedOf(std::move(next), in.function);
    };
    return PutDataset(ctx, node, preserves ? in.input->cardinality() : kUnknown, begin);
  });
}

Expected<KernelFn> MakeMapAndBatch(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "f"));
  bool preserves = setup.node().GetBool("preserve_cardinality");
  return KernelFn([node = setup.node(), function, preserves](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(FunctionInputs in, Read(ctx, function, 3));
    ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, ctx.num_inputs() - 3));
    ASSIGN_OR_RETURN(int64_t calls, ScalarIn(ctx, ctx.num_inputs() - 2));
    ASSIGN_OR_RETURN(int64_t drop, ScalarIn(ctx, ctx.num_inputs() - 1));
    RETURN_IF_ERROR(CheckParallelCalls(calls));
    if (size <= 0) return MakeError("a batch of {0} elements: 1 or more were expected", size);
    auto begin = [in, size, drop](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, in.input->MakeIterator(context));
      return BatchesOf(MappedOf(std::move(next), in.function), size, drop != 0);
    };
    int64_t n = preserves ? in.input->cardinality() : kUnknown;
    return PutDataset(ctx, node, CardinalityOfBatches(n, size, drop != 0), begin);
  });
}

// --- Filtering

// Passes on all elements for which the predicate is true or, in TakeWhile (`stops`), those before
// the first for which it is false.
template <int extra, bool stops>
Expected<KernelFn> MakeFilter(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "predicate"));
  return KernelFn([node = setup.node(), function](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(FunctionInputs in, Read(ctx, function, extra));
    RETURN_IF_ERROR(CheckCalls(ctx, node, extra));
    auto begin = [in](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, in.input->MakeIterator(context));
      return DatasetNext([next = std::move(next), in,
                          done = false](DatasetContext& context) mutable -> NextElement {
        while (!done) {
          ASSIGN_OR_RETURN(auto element, next(context));
          if (!element) break;
          ASSIGN_OR_RETURN(bool wanted, in.function.Test(context, *element));
          if (wanted) return element;
          done = stops;
        }
        done = true;
        return NoElement();
      });
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

// --- One to many: the function makes a dataset from an element

Expected<DatasetNext> Unfold(DatasetContext& context, const CapturedFunction& function,
                             DatasetElement element) {
  ASSIGN_OR_RETURN(DatasetElement results, function.Call(context, std::move(element)));
  if (results.size() != 1)
    return MakeError("the function gives {0} results, a dataset was expected", results.size());
  ASSIGN_OR_RETURN(DatasetRef dataset, DatasetOf(results[0]));
  return dataset->MakeIterator(context);
}

// Keeps `cycle` datasets open, and yields `block` elements of each in cyclic order.
DatasetNext InterleavedOf(DatasetNext input, const CapturedFunction& function, int64_t cycle,
                          int64_t block) {
  return [input = std::move(input), function, open = std::vector<DatasetNext>(cycle), block,
          at = size_t{0}, given = int64_t{0}, left = int64_t{0},
          done = false](DatasetContext& context) mutable -> NextElement {
    auto advance = [&] {
      at = (at + 1) % open.size();
      given = 0;
    };
    while (!done || left > 0) {
      if (open[at]) {
        ASSIGN_OR_RETURN(auto element, open[at](context));
        if (element) {
          if (++given == block) advance();
          return element;
        }
        open[at] = DatasetNext();
        --left;
        advance();
      } else if (done) {
        advance();
      } else {
        ASSIGN_OR_RETURN(auto element, input(context));
        done = !element;
        if (done) continue;
        ASSIGN_OR_RETURN(open[at], Unfold(context, function, std::move(*element)));
        ++left;
      }
    }
    return NoElement();
  };
}

Expected<KernelFn> MakeFlatMap(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "f"));
  return KernelFn([node = setup.node(), function](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(FunctionInputs in, Read(ctx, function, 0));
    auto begin = [in](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, in.input->MakeIterator(context));
      return InterleavedOf(std::move(next), in.function, 1, 1);
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

// After the captured tensors come cycle_length, block_length and `extra` numbers for parallelism.
template <int extra>
Expected<KernelFn> MakeInterleave(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "f"));
  return KernelFn([node = setup.node(), function](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(FunctionInputs in, Read(ctx, function, 2 + extra));
    int first = ctx.num_inputs() - 2 - extra;
    ASSIGN_OR_RETURN(int64_t cycle, ScalarIn(ctx, first));
    ASSIGN_OR_RETURN(int64_t block, ScalarIn(ctx, first + 1));
    // Below, a cycle_length of -1 (automatic) becomes the number of cores that this process may
    // use, whatever the threads of this run: the order of elements depends on it.
    if (extra > 0 && cycle > 0) {
      ASSIGN_OR_RETURN(int64_t calls, ScalarIn(ctx, ctx.num_inputs() - 1));
      if (calls > cycle)
        return MakeError("num_parallel_calls is {0}, at most cycle_length, {1}, was expected",
                         calls, cycle);
    }
    if (extra == 3) {
      ASSIGN_OR_RETURN(int64_t buffered, ScalarIn(ctx, first + 2));
      ASSIGN_OR_RETURN(int64_t ahead, ScalarIn(ctx, first + 3));
      if (buffered < -1 || buffered == 0 || ahead < -1)
        return MakeError(
            "buffer_output_elements must be -1 or positive and prefetch_input_elements at least "
            "-1, got {0} and {1}",
            buffered, ahead);
    }
    if (cycle == -1) cycle = ThreadPool().num_threads();
    if (cycle <= 0 || block <= 0) {
      return MakeError(
          "cycle_length must be at least 1, or -1 for the number of cores, and block_length at "
          "least 1, got {0} and {1}",
          cycle, block);
    }
    RETURN_IF_ERROR(CheckCalls(ctx, node, extra));
    RETURN_IF_ERROR(CheckMemory(cycle, sizeof(DatasetNext)));
    auto begin = [in, cycle, block](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, in.input->MakeIterator(context));
      return InterleavedOf(std::move(next), in.function, cycle, block);
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

// --- With a state

// Splits the results of a function of state and element into the new state and the rest.
Error TakeState(DatasetElement& results, DatasetElement& state) {
  if (results.size() < state.size()) {
    return MakeError("the function gives {0} results, but the state alone needs {1}",
                     results.size(), state.size());
  }
  std::copy_n(results.begin(), state.size(), state.begin());
  results.erase(results.begin(), results.begin() + state.size());
  return Error::success();
}

DatasetElement Joined(DatasetElement a, const DatasetElement& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Expected<KernelFn> MakeScan(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "f"));
  bool preserves = setup.node().GetBool("preserve_cardinality");
  int count = CountTypes(setup.node(), "Tstate");
  return KernelFn([node = setup.node(), function, preserves, count](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    DatasetElement initial = InputsOf(ctx, 1, 1 + count);
    CapturedFunction with = function.With(InputsOf(ctx, 1 + count, ctx.num_inputs()));
    auto begin = [input, initial, with,
                  spec = SpecOfAttrs(node)](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return DatasetNext([next = std::move(next), state = initial, with,
                          spec](DatasetContext& context) mutable -> NextElement {
        ASSIGN_OR_RETURN(auto element, next(context));
        if (!element) return NoElement();
        ASSIGN_OR_RETURN(DatasetElement results, with.Call(context, Joined(state, *element)));
        RETURN_IF_ERROR(TakeState(results, state));
        RETURN_IF_ERROR(spec.Check(results));
        return std::optional(std::move(results));
      });
    };
    return PutDataset(ctx, node, preserves ? input->cardinality() : kUnknown, begin);
  });
}

Expected<KernelFn> MakeReduce(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(CapturedFunction function, CapturedFunction::Make(setup.node(), "f"));
  int count = CountTypes(setup.node(), "Tstate");
  ElementSpec spec = SpecOfAttrs(setup.node());
  return KernelFn([function, count, spec](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    DatasetElement state = InputsOf(ctx, 1, 1 + count);
    CapturedFunction with = function.With(InputsOf(ctx, 1 + count, ctx.num_inputs()));
    DatasetWalk walk(input);
    std::map<std::string, std::shared_ptr<IteratorState>> states;
    DatasetContext context{ctx.services(), states};
    for (;;) {
      ASSIGN_OR_RETURN(auto element, walk.Next(ctx.services()));
      if (!element) break;
      ASSIGN_OR_RETURN(DatasetElement results,
                       with.Call(context, Joined(std::move(state), *element)));
      if (static_cast<int>(results.size()) != count)
        return MakeError("the function gives {0} results, {1} were expected", results.size(),
                         count);
      state = std::move(results);
    }
    if (ctx.num_outputs() != count)
      return MakeError("the state has {0} tensors, but the node has {1} outputs", count,
                       ctx.num_outputs());
    RETURN_IF_ERROR(spec.Check(state));
    for (int i = 0; i < count; ++i) ctx.SetOutput(i, std::move(state[i]));
    return Error::success();
  });
}

// --- Grouping by key: when a group reaches its window size, a function makes a dataset from it

struct GroupByWindow {
  CapturedFunction key, reduce, size;
};

Expected<int64_t> IntFrom(DatasetContext& context, const CapturedFunction& function,
                          DatasetElement arguments, const char* what) {
  ASSIGN_OR_RETURN(DatasetElement results, function.Call(context, std::move(arguments)));
  if (results.size() == 1 && results[0].dtype() == proto::DT_INT64 &&
      results[0].num_elements() == 1)
    return results[0].IntAt(0);
  return MakeError("{0} must return one int64", what);
}

Expected<DatasetNext> ReducedGroup(DatasetContext& context, const GroupByWindow& with, int64_t key,
                                   const ElementSpec& spec, std::vector<DatasetElement> group) {
  ASSIGN_OR_RETURN(Tensor number, Tensor::Allocate(proto::DT_INT64, {}));
  *number.data<int64_t>() = key;
  int64_t size = static_cast<int64_t>(group.size());
  auto begin = [group = std::move(group)](DatasetContext&) -> Expected<DatasetNext> {
    return DatasetNext([group, at = size_t{0}](DatasetContext&) mutable -> NextElement {
      if (at == group.size()) return NoElement();
      return std::optional(group[at++]);
    });
  };
  Tensor dataset = Tensor::OfObject(proto::DT_VARIANT, new Dataset("Window", size, spec, begin));
  return Unfold(context, with.reduce, {std::move(number), std::move(dataset)});
}

DatasetNext GroupedOf(DatasetNext input, const GroupByWindow& with, const ElementSpec& spec) {
  return [input = std::move(input), with, spec, current = DatasetNext(), done = false,
          groups = std::map<int64_t, std::vector<DatasetElement>>(),
          sizes = std::map<int64_t, int64_t>()](DatasetContext& context) mutable -> NextElement {
    for (;;) {
      if (current) {
        ASSIGN_OR_RETURN(auto element, current(context));
        if (element) return element;
        current = DatasetNext();
      }
      if (done) {  // flush the remaining groups, by key
        if (groups.empty()) return NoElement();
        auto first = groups.extract(groups.begin());
        ASSIGN_OR_RETURN(current,
                         ReducedGroup(context, with, first.key(), spec, std::move(first.mapped())));
        continue;
      }
      ASSIGN_OR_RETURN(auto element, input(context));
      done = !element;
      if (done) continue;
      ASSIGN_OR_RETURN(int64_t key, IntFrom(context, with.key, *element, "key_func"));
      if (!sizes.count(key)) {
        ASSIGN_OR_RETURN(Tensor number, Tensor::Allocate(proto::DT_INT64, {}));
        *number.data<int64_t>() = key;
        ASSIGN_OR_RETURN(int64_t size, IntFrom(context, with.size, {number}, "window_size_func"));
        if (size <= 0)
          return MakeError("the window size {0} for key {1} is not positive", size, key);
        sizes[key] = size;
      }
      auto& group = groups[key];
      group.push_back(std::move(*element));
      if (static_cast<int64_t>(group.size()) < sizes[key]) continue;
      ASSIGN_OR_RETURN(current, ReducedGroup(context, with, key, spec, std::move(group)));
      groups.erase(key);
      sizes.erase(key);
    }
  };
}

Expected<KernelFn> MakeGroupByWindow(const KernelSetup& setup) {
  const Node& node = setup.node();
  GroupByWindow with;
  ASSIGN_OR_RETURN(with.key, CapturedFunction::Make(node, "key_func"));
  ASSIGN_OR_RETURN(with.reduce, CapturedFunction::Make(node, "reduce_func"));
  ASSIGN_OR_RETURN(with.size, CapturedFunction::Make(node, "window_size_func"));
  int keys = CountTypes(node, "Tkey_func_other_arguments");
  int reduces = CountTypes(node, "Treduce_func_other_arguments");
  return KernelFn([node, with, keys, reduces](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    GroupByWindow mine;
    mine.key = with.key.With(InputsOf(ctx, 1, 1 + keys));
    mine.reduce = with.reduce.With(InputsOf(ctx, 1 + keys, 1 + keys + reduces));
    mine.size = with.size.With(InputsOf(ctx, 1 + keys + reduces, ctx.num_inputs()));
    auto begin = [input, mine](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return GroupedOf(std::move(next), mine, input->spec());
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

#define GRAPNEL_DATASET_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_DATASET_KERNEL("MapDataset", MakeMap<0>);
GRAPNEL_DATASET_KERNEL("ParallelMapDataset", MakeMap<1>);
GRAPNEL_DATASET_KERNEL("ParallelMapDatasetV2", MakeMap<1>);
GRAPNEL_DATASET_KERNEL("MapAndBatchDataset", MakeMapAndBatch);
GRAPNEL_DATASET_KERNEL("FilterDataset", (MakeFilter<0, false>));
GRAPNEL_DATASET_KERNEL("ParallelFilterDataset", (MakeFilter<1, false>));
GRAPNEL_DATASET_KERNEL("TakeWhileDataset", (MakeFilter<0, true>));
GRAPNEL_DATASET_KERNEL("FlatMapDataset", MakeFlatMap);
GRAPNEL_DATASET_KERNEL("InterleaveDataset", MakeInterleave<0>);
GRAPNEL_DATASET_KERNEL("ParallelInterleaveDatasetV2", MakeInterleave<1>);
GRAPNEL_DATASET_KERNEL("ParallelInterleaveDatasetV3", MakeInterleave<1>);
GRAPNEL_DATASET_KERNEL("ParallelInterleaveDatasetV4", MakeInterleave<3>);
GRAPNEL_DATASET_KERNEL("ScanDataset", MakeScan);
GRAPNEL_CPU_KERNEL("ReduceDataset", MakeReduce, KernelCost::kWide);
GRAPNEL_DATASET_KERNEL("GroupByWindowDataset", MakeGroupByWindow);

}  // namespace
}  // namespace grapnel
