// Datasets that pass the elements of their inputs on unchanged: zipped, joined, interleaved,
// repeated, restricted, filtered or cached.
#include <algorithm>
#include <mutex>

#include "kernels/common/dims.h"
#include "kernels/cpu/data/dataset.h"
#include "llvm/ADT/StringSet.h"

namespace grapnel {
namespace {

constexpr int64_t kInfinite = Dataset::kInfinite, kUnknown = Dataset::kUnknown;

// --- Several inputs

int64_t CardinalityOfZip(llvm::ArrayRef<DatasetRef> inputs) {
  int64_t least = kInfinite;
  for (const DatasetRef& input : inputs) {
    int64_t n = input->cardinality();
    if (n == kUnknown) return kUnknown;
    if (n != kInfinite && (least == kInfinite || n < least)) least = n;
  }
  return least;
}

Expected<std::vector<DatasetRef>> DatasetsIn(const KernelContext& ctx, int begin) {
  std::vector<DatasetRef> inputs;
  for (int i = begin; i < ctx.num_inputs(); ++i) {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, i));
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Expected<std::vector<DatasetNext>> BeginAll(DatasetContext& context,
                                            llvm::ArrayRef<DatasetRef> inputs) {
  std::vector<DatasetNext> nexts;
  for (const DatasetRef& input : inputs) {
    ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
    nexts.push_back(std::move(next));
  }
  return nexts;
}

Expected<KernelFn> MakeZip(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::vector<DatasetRef> inputs, DatasetsIn(ctx, 0));
    auto begin = [inputs](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(std::vector<DatasetNext> nexts, BeginAll(context, inputs));
      return DatasetNext(
          [nexts = std::move(nexts), done = false](DatasetContext& context) mutable -> NextElement {
            DatasetElement joined;
            for (DatasetNext& next : nexts) {
              if (done) break;
              ASSIGN_OR_RETURN(auto element, next(context));
              done = !element;
              if (element) joined.insert(joined.end(), element->begin(), element->end());
            }
            if (done) return NoElement();
            return std::optional(std::move(joined));
          });
    };
    return PutDataset(ctx, node, CardinalityOfZip(inputs), begin);
  });
}

Expected<KernelFn> MakeConcatenate(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::vector<DatasetRef> inputs, DatasetsIn(ctx, 0));
    int64_t total = 0;
    for (const DatasetRef& input : inputs) {
      int64_t n = input->cardinality();
      if (n == kInfinite || total == kInfinite)
        total = kInfinite;
      else if (n == kUnknown || total == kUnknown)
        total = kUnknown;
      else
        total += std::min(n, INT64_MAX - total);
    }
    auto begin = [inputs](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([inputs, at = size_t{0},
                          next = DatasetNext()](DatasetContext& context) mutable -> NextElement {
        while (at < inputs.size()) {
          if (!next) {
            ASSIGN_OR_RETURN(next, inputs[at]->MakeIterator(context));
          }
          ASSIGN_OR_RETURN(auto element, next(context));
          if (element) return element;
          next = DatasetNext();
          ++at;
        }
        return NoElement();
      });
    };
    return PutDataset(ctx, node, total, begin);
  });
}

// The elements of the first input select the input that the next element is taken from.
Expected<KernelFn> MakeDirectedInterleave(const KernelSetup& setup) {
  bool stops = setup.node().GetBool("stop_on_empty_dataset");
  return KernelFn([node = setup.node(), stops](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::vector<DatasetRef> inputs, DatasetsIn(ctx, 0));
    const ElementSpec numbers = {{proto::DT_INT64}, {Shape::Scalar()}};
    if (Error error = numbers.Check(inputs[0]->spec()))
      return Annotate("the selector", std::move(error));
    auto begin = [inputs, stops](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(std::vector<DatasetNext> nexts, BeginAll(context, inputs));
      return DatasetNext([nexts = std::move(nexts), stops, left = inputs.size() - 1,
                          done = false](DatasetContext& context) mutable -> NextElement {
        while (!done) {
          ASSIGN_OR_RETURN(auto selected, nexts[0](context));
          if (!selected) break;
          if (selected->size() != 1 || (*selected)[0].dtype() != proto::DT_INT64 ||
              (*selected)[0].rank() != 0)
            return MakeError("each selector element must be a single int64 scalar, got {0}",
                             selected->empty() ? "nothing" : (*selected)[0].ToString());
          int64_t i = (*selected)[0].IntAt(0), count = static_cast<int64_t>(nexts.size()) - 1;
          if (i < 0 || i >= count)
            return MakeError("dataset {0} was selected, but there are {1} datasets", i, count);
          if (!nexts[i + 1]) continue;
          ASSIGN_OR_RETURN(auto element, nexts[i + 1](context));
          if (element) return element;
          nexts[i + 1] = DatasetNext();
          // Ends with the first dataset that ends (stop_on_empty_dataset) or with the last one,
          // even if the selector has more elements: it may be infinite.
          done = stops || --left == 0;
        }
        done = true;
        return NoElement();
      });
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

// --- Repetition and restriction

DatasetNext RepeatedOf(DatasetRef input, int64_t count) {
  return [input = std::move(input), count, next = DatasetNext(),
          epoch = int64_t{0}](DatasetContext& context) mutable -> NextElement {
    while (count < 0 || epoch < count) {
      bool fresh = !next;
      if (fresh) {
        ASSIGN_OR_RETURN(next, input->MakeIterator(context));
      }
      ASSIGN_OR_RETURN(auto element, next(context));
      if (element) return element;
      next = DatasetNext();
      ++epoch;
      if (fresh && count < 0) count = 0;  // repeating an empty dataset forever yields nothing
    }
    return NoElement();
  };
}

Expected<KernelFn> MakeRepeat(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t count, ScalarIn(ctx, 1));
    auto begin = [input, count](DatasetContext&) -> Expected<DatasetNext> {
      return RepeatedOf(input, count);
    };
    return PutDataset(ctx, node, CardinalityOfRepeat(input->cardinality(), count), begin);
  });
}

// Yields elements first, first + step, ... below `end` (negative: to the last).
Expected<DatasetNext> PartOf(DatasetContext& context, const DatasetRef& input, int64_t first,
                             int64_t step, int64_t end) {
  ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
  return DatasetNext([next = std::move(next), wanted = first, step, end,
                      at = int64_t{0}](DatasetContext& context) mutable -> NextElement {
    while (end < 0 || wanted < end) {
      ASSIGN_OR_RETURN(auto element, next(context));
      if (!element) end = 0;
      if (!element) break;
      if (at++ < wanted) continue;
      wanted += step;
      return element;
    }
    return NoElement();
  });
}

Expected<KernelFn> MakeTake(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t count, ScalarIn(ctx, 1));
    int64_t n = input->cardinality();
    if (n == kInfinite && count >= 0) n = count;
    if (n >= 0 && count >= 0) n = std::min(n, count);
    return PutDataset(ctx, node, n, [input, count](DatasetContext& context) {
      return PartOf(context, input, 0, 1, count);
    });
  });
}

Expected<KernelFn> MakeSkip(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t count, ScalarIn(ctx, 1));
    int64_t n = input->cardinality();
    if (n >= 0) n = count < 0 ? 0 : std::max<int64_t>(0, n - count);
    // A negative count skips all elements.
    return PutDataset(ctx, node, n, [input, count](DatasetContext& context) {
      return PartOf(context, input, std::max<int64_t>(count, 0), 1, count < 0 ? 0 : -1);
    });
  });
}

Expected<KernelFn> MakeShard(const KernelSetup& setup) {
  bool needs_one = setup.node().GetBool("require_non_empty");
  return KernelFn([node = setup.node(), needs_one](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t shards, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t index, ScalarIn(ctx, 2));
    if (shards <= 0 || index < 0 || index >= shards)
      return MakeError(
          "the shard index must be at least 0 and less than the number of shards, got {0} of {1}",
          index, shards);
    int64_t n = input->cardinality();
    if (n >= 0 && needs_one && n < shards)
      return MakeError("{0} elements are too few for {1} shards, which must not be empty", n,
                       shards);
    if (n >= 0) n = n / shards + (index < n % shards);
    return PutDataset(ctx, node, n, [=](DatasetContext& context) {
      return PartOf(context, input, index, shards, -1);
    });
  });
}

Expected<KernelFn> MakeAssertCardinality(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t expected, ScalarIn(ctx, 1));
    auto begin = [input, expected](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return DatasetNext([next = std::move(next), expected,
                          count = int64_t{0}](DatasetContext& context) mutable -> NextElement {
        ASSIGN_OR_RETURN(auto element, next(context));
        if (element) ++count;
        bool differs = element ? expected != kInfinite && count > expected : count != expected;
        if (!differs) return element;
        return MakeError("the dataset has {0}{1} elements, {2} were asserted",
                         element ? "at least " : "", count,
                         expected == kInfinite ? "infinitely many" : std::to_string(expected));
      });
    };
    return PutDataset(ctx, node, expected, begin);
  });
}

// --- Caches

// The elements of a dataset that was iterated to its end once.
class MemoryCache : public Object {
 public:
  std::string ToString() const override { return "cache of a dataset"; }
  std::mutex mutex;
  bool complete = false;
  std::vector<DatasetElement> elements;
};
using CacheRef = llvm::IntrusiveRefCntPtr<MemoryCache>;

class DummyResource : public Object {
 public:
  std::string ToString() const override { return "nothing in particular"; }
};

Expected<DatasetNext> CachedOf(DatasetContext& context, const DatasetRef& input,
                               const CacheRef& cache) {
  std::unique_lock lock(cache->mutex);
  if (cache->complete) {
    return DatasetNext([cache, at = size_t{0}](DatasetContext&) mutable -> NextElement {
      if (at == cache->elements.size()) return NoElement();
      return std::optional(cache->elements[at++]);
    });
  }
  lock.unlock();
  ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
  return DatasetNext([next = std::move(next), cache, seen = std::vector<DatasetElement>()](
                         DatasetContext& context) mutable -> NextElement {
    ASSIGN_OR_RETURN(auto element, next(context));
    if (element) {
      seen.push_back(*element);
      return element;
    }
    std::lock_guard lock(cache->mutex);
    if (!cache->complete) cache->elements = std::move(seen);
    cache->complete = true;
    return NoElement();
  });
}

Expected<KernelFn> MakeCache(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    const Tensor& file = ctx.input(1);
    if (file.num_elements() != 1 || !file.data<std::string>()->empty())
      return MakeError("a dataset is cached in memory only: filename must be one empty string");
    CacheRef cache;
    if (ctx.num_inputs() > 2 && ctx.input(2).HoldsObjects())
      cache = dynamic_cast<MemoryCache*>(ctx.input(2).data<ObjectRef>()->get());
    if (!cache) cache = new MemoryCache;
    return PutDataset(ctx, node, input->cardinality(), [input, cache](DatasetContext& context) {
      return CachedOf(context, input, cache);
    });
  });
}

template <typename Resource>
Expected<KernelFn> MakeResource(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ObjectRef object(new Resource);
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, object));
    if (ctx.num_outputs() > 1) ctx.SetOutput(1, Tensor::OfObject(proto::DT_VARIANT, object));
    return Error::success();
  });
}

// The handle owns the resource, which is freed with its last copy: there is nothing to delete.
Expected<KernelFn> MakeDelete(const KernelSetup&) {
  return KernelFn([](KernelContext&) -> Error { return Error::success(); });
}

// --- Filters

std::string BytesOf(const DatasetElement& element) {
  std::string bytes;
  for (const Tensor& tensor : element) {
    bytes += DimsText(tensor.dims());
    if (tensor.dtype() != proto::DT_STRING) {
      bytes.append(static_cast<const char*>(tensor.raw()), tensor.byte_size());
      continue;
    }
    for (int64_t i = 0; i < tensor.num_elements(); ++i) {
      const std::string& text = tensor.data<std::string>()[i];
      bytes += std::to_string(text.size()) + ":" + text;
    }
  }
  return bytes;
}

Expected<KernelFn> MakeUnique(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    auto begin = [input](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return DatasetNext([next = std::move(next), seen = llvm::StringSet<>()](
                             DatasetContext& context) mutable -> NextElement {
        for (;;) {
          ASSIGN_OR_RETURN(auto element, next(context));
          if (!element) return NoElement();
          for (const Tensor& tensor : *element) {
            if (tensor.HoldsObjects())
              return MakeError(
                  "{0} cannot be compared with other tensors: its elements are objects, not values",
                  tensor.ToString());
          }
          if (seen.insert(BytesOf(*element)).second) return element;
        }
      });
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

Expected<KernelFn> MakeIgnoreErrors(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    auto begin = [input](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return DatasetNext([next = std::move(next)](DatasetContext& context) mutable -> NextElement {
        for (;;) {
          NextElement element = next(context);
          if (element) return element;
          llvm::consumeError(element.takeError());
        }
      });
    };
    return PutDataset(ctx, node, kUnknown, begin);
  });
}

#define GRAPNEL_DATASET_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_DATASET_KERNEL("ZipDataset", MakeZip);
GRAPNEL_DATASET_KERNEL("ConcatenateDataset", MakeConcatenate);
GRAPNEL_DATASET_KERNEL("DirectedInterleaveDataset", MakeDirectedInterleave);
GRAPNEL_DATASET_KERNEL("RepeatDataset", MakeRepeat);
GRAPNEL_DATASET_KERNEL("TakeDataset", MakeTake);
GRAPNEL_DATASET_KERNEL("SkipDataset", MakeSkip);
GRAPNEL_DATASET_KERNEL("ShardDataset", MakeShard);
GRAPNEL_DATASET_KERNEL("AssertCardinalityDataset", MakeAssertCardinality);
GRAPNEL_DATASET_KERNEL("CacheDataset", MakeCache);
GRAPNEL_DATASET_KERNEL("CacheDatasetV2", MakeCache);
GRAPNEL_DATASET_KERNEL("UniqueDataset", MakeUnique);
GRAPNEL_DATASET_KERNEL("IgnoreErrorsDataset", MakeIgnoreErrors);
GRAPNEL_DATASET_KERNEL("AnonymousMemoryCache", MakeResource<MemoryCache>);
GRAPNEL_DATASET_KERNEL("DummyMemoryCache", MakeResource<DummyResource>);
GRAPNEL_DATASET_KERNEL("DummyIterationCounter", MakeResource<DummyResource>);
GRAPNEL_DATASET_KERNEL("DeleteMemoryCache", MakeDelete);
GRAPNEL_DATASET_KERNEL("DeleteSeedGenerator", MakeDelete);

}  // namespace
}  // namespace grapnel
