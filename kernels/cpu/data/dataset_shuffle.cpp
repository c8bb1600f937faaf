// Shuffled datasets with TensorFlow's random numbers: each iteration uses a Philox stream, whose
// seeds are the next two numbers from the seed generator or, without reshuffling, those of the
// generator itself (tensorflow/core/kernels/data/shuffle_dataset_op.cc, random_seed_ops.cc).
#include <mutex>

#include "kernels/common/philox.h"
#include "kernels/cpu/data/dataset.h"
#include "llvm/Support/xxhash.h"

namespace grapnel {
namespace {

struct Seeds {
  uint64_t first = 0, second = 0;
};

class SeedGenerator : public Object {
 public:
  SeedGenerator(Seeds seeds, bool reshuffles)
      : seeds_(seeds),
        reshuffles_(reshuffles),
        numbers_(Philox::FromSeeds(seeds.first, seeds.second)) {}
  std::string ToString() const override { return "generator of seeds"; }
  Seeds Next() {
    if (!reshuffles_) return seeds_;
    std::lock_guard lock(mutex_);
    uint64_t first = numbers_.Next();
    return {first, numbers_.Next()};
  }

 private:
  Seeds seeds_;
  bool reshuffles_;
  std::mutex mutex_;
  PhiloxNumbers numbers_;
};
using GeneratorRef = llvm::IntrusiveRefCntPtr<SeedGenerator>;

// Without seeds, TensorFlow draws different numbers in each process; here they are derived from the
// node's name, so that a run can be repeated.
Expected<Seeds> SeedsIn(const KernelContext& ctx, const Node& node, int i) {
  ASSIGN_OR_RETURN(int64_t first, ScalarIn(ctx, i));
  ASSIGN_OR_RETURN(int64_t second, ScalarIn(ctx, i + 1));
  if (first == 0 && second == 0) return Seeds{llvm::xxHash64(node.name()), 0};
  return Seeds{static_cast<uint64_t>(first), static_cast<uint64_t>(second)};
}

GeneratorRef GeneratorIn(const KernelContext& ctx, int i) {
  if (i >= ctx.num_inputs() || ctx.input(i).dtype() != proto::DT_RESOURCE) return nullptr;
  return dynamic_cast<SeedGenerator*>(ctx.input(i).data<ObjectRef>()->get());
}

// Keeps a buffer full and yields a random element from it at each step. The buffer is a ring: live
// elements start at `start`, and the chosen one is swapped with the first.
DatasetNext ShuffledOf(DatasetNext input, int64_t size, Seeds seeds) {
  return
      [input = std::move(input), size, buffer = std::vector<DatasetElement>(),
       numbers = PhiloxNumbers(Philox::FromSeeds(seeds.first, seeds.second)), start = uint64_t{0},
       end = uint64_t{0}, done = false](DatasetContext& context) mutable -> NextElement {
        while (!done && (size < 0 || end - start < static_cast<uint64_t>(size))) {
          ASSIGN_OR_RETURN(auto element, input(context));
          done = !element;
          if (done) break;
          if (size < 0 || buffer.size() < static_cast<size_t>(size))
            buffer.push_back(std::move(*element));
          else
            buffer[end % size] = std::move(*element);
          ++end;
        }
        if (start == end) return NoElement();
        size_t first = start % buffer.size();
        size_t chosen = (start + numbers.Next() % (end - start)) % buffer.size();
        ++start;
        std::swap(buffer[chosen], buffer[first]);
        return std::optional(std::move(buffer[first]));
      };
}

Expected<int64_t> BufferSize(const KernelContext& ctx) {
  ASSIGN_OR_RETURN(int64_t size, ScalarIn(ctx, 1));
  if (size > 0) return size;
  // -2 is TensorFlow's number for an unknown cardinality.
  if (size == -1 || size == Dataset::kUnknown) return -1;
  return MakeError("a buffer of {0} elements: 1 or more were expected, or -1 or -2 for all", size);
}

// In version 2, input 2 is a generator; the other versions have seeds and, in version 3, optionally
// a generator.
Expected<KernelFn> MakeShuffle(const KernelSetup& setup) {
  bool reshuffles = setup.node().GetBool("reshuffle_each_iteration", true);
  return KernelFn([node = setup.node(), reshuffles](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t size, BufferSize(ctx));
    GeneratorRef generator = GeneratorIn(ctx, ctx.num_inputs() - 1);
    if (!generator) {
      Seeds seeds{llvm::xxHash64(node.name()), 0};
      if (ctx.num_inputs() > 3) {
        ASSIGN_OR_RETURN(seeds, SeedsIn(ctx, node, 2));
      }
      generator = new SeedGenerator(seeds, reshuffles);
    }
    auto begin = [input, size, generator](DatasetContext& context) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(context));
      return ShuffledOf(std::move(next), size, generator->Next());
    };
    return PutDataset(ctx, node, input->cardinality(), begin);
  });
}

// Each repetition is shuffled separately.
Expected<KernelFn> MakeShuffleAndRepeat(const KernelSetup& setup) {
  bool reshuffles = setup.node().GetBool("reshuffle_each_iteration", true);
  return KernelFn([node = setup.node(), reshuffles](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t size, BufferSize(ctx));
    ASSIGN_OR_RETURN(Seeds seeds, SeedsIn(ctx, node, 2));
    ASSIGN_OR_RETURN(int64_t count, ScalarIn(ctx, 4));
    if (count < -1 || count == 0)
      return MakeError("count must be positive, or -1 to repeat forever, got {0}", count);
    GeneratorRef generator = GeneratorIn(ctx, 5);
    if (!generator) generator = new SeedGenerator(seeds, reshuffles);
    auto begin = [=](DatasetContext&) -> Expected<DatasetNext> {
      return DatasetNext([=, next = DatasetNext(),
                          round = int64_t{0}](DatasetContext& context) mutable -> NextElement {
        while (count < 0 || round < count) {
          bool fresh = !next;
          if (fresh) {
            ASSIGN_OR_RETURN(DatasetNext in_order, input->MakeIterator(context));
            next = ShuffledOf(std::move(in_order), size, generator->Next());
          }
          ASSIGN_OR_RETURN(auto element, next(context));
          if (element) return element;
          next = DatasetNext();
          if (fresh) break;  // an empty input, however often repeated
          ++round;
        }
        return NoElement();
      });
    };
    return PutDataset(ctx, node, CardinalityOfRepeat(input->cardinality(), count), begin);
  });
}

Expected<KernelFn> MakeGenerator(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Seeds seeds, SeedsIn(ctx, node, 0));
    ASSIGN_OR_RETURN(int64_t reshuffles, ScalarIn(ctx, 2));
    GeneratorRef generator(new SeedGenerator(seeds, reshuffles != 0));
    ctx.SetOutput(0, Tensor::OfObject(proto::DT_RESOURCE, generator));
    ctx.SetOutput(1, Tensor::OfObject(proto::DT_VARIANT, generator));
    return Error::success();
  });
}

// A placeholder for a generator that the dataset creates itself.
Expected<KernelFn> MakeDummy(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor none, Tensor::Allocate(proto::DT_RESOURCE, {}));
    ctx.SetOutput(0, std::move(none));
    return Error::success();
  });
}

// An infinite dataset of 32-bit numbers as int64.
Expected<KernelFn> MakeRandom(const KernelSetup& setup) {
  bool again = setup.node().GetBool("rerandomize_each_iteration");
  return KernelFn([node = setup.node(), again](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Seeds seeds, SeedsIn(ctx, node, 0));
    GeneratorRef generator = GeneratorIn(ctx, 2);
    if (!generator) generator = new SeedGenerator(seeds, again);
    auto begin = [generator](DatasetContext&) -> Expected<DatasetNext> {
      Seeds mine = generator->Next();
      PhiloxNumbers numbers(Philox::FromSeeds(mine.first, mine.second));
      return DatasetNext([numbers](DatasetContext&) mutable -> NextElement {
        ASSIGN_OR_RETURN(Tensor number, Tensor::Allocate(proto::DT_INT64, {}));
        *number.data<int64_t>() = numbers.Next();
        return std::optional(DatasetElement{std::move(number)});
      });
    };
    return PutDataset(ctx, node, Dataset::kInfinite, begin);
  });
}

#define GRAPNEL_DATASET_KERNEL(op, make) GRAPNEL_CPU_KERNEL(op, make, KernelCost::kCheap)
GRAPNEL_DATASET_KERNEL("ShuffleDataset", MakeShuffle);
GRAPNEL_DATASET_KERNEL("ShuffleDatasetV2", MakeShuffle);
GRAPNEL_DATASET_KERNEL("ShuffleDatasetV3", MakeShuffle);
GRAPNEL_DATASET_KERNEL("ShuffleAndRepeatDataset", MakeShuffleAndRepeat);
GRAPNEL_DATASET_KERNEL("ShuffleAndRepeatDatasetV2", MakeShuffleAndRepeat);
GRAPNEL_DATASET_KERNEL("AnonymousSeedGenerator", MakeGenerator);
GRAPNEL_DATASET_KERNEL("DummySeedGenerator", MakeDummy);
GRAPNEL_DATASET_KERNEL("RandomDataset", MakeRandom);
GRAPNEL_DATASET_KERNEL("RandomDatasetV2", MakeRandom);

}  // namespace
}  // namespace grapnel
