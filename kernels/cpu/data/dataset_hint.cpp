// Datasets that specify only speed, threads or placement: their elements are those of their input.
// Only AutoShardDataset may keep a part of them.
#include <google/protobuf/unknown_field_set.h>

#include <chrono>
#include <thread>

#include "kernels/cpu/data/dataset.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// Outputs the first input dataset unchanged: ChooseFastestDataset has several equivalent inputs and
// may choose any; AssertNextDataset and AssertPrevDataset check TensorFlow's dataset optimizer,
// which does not run here.
Expected<KernelFn> MakeSame(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(DatasetIn(ctx, 0).takeError());
    ctx.SetOutput(0, ctx.input(0));
    return Error::success();
  });
}

// Creates a separate dataset with the elements of its input.
Error PutForwarding(KernelContext& ctx, const Node& node) {
  ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
  return PutDataset(ctx, node, input->cardinality(),
                    [input](DatasetContext& context) { return input->MakeIterator(context); });
}

Expected<KernelFn> MakeForwarding(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) { return PutForwarding(ctx, node); });
}

// Input 1 is a number of threads or elements, `kLeast` or more.
template <int kLeast>
Expected<KernelFn> MakeWithNumber(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(int64_t number, ScalarIn(ctx, 1));
    if (number < kLeast)
      return MakeError("input 1 is {0}, at least {1} was expected", number, kLeast);
    return PutForwarding(ctx, node);
  });
}

// True if the bytes are a TensorFlow dataset Options message. Its content is not checked further
// because no option changes an element.
bool IsOptions(llvm::StringRef bytes) {
  constexpr int kMessages[] = {2, 3, 5, 7, 12}, kTexts[] = {10, 11};
  google::protobuf::UnknownFieldSet fields;
  if (!fields.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return false;
  for (int i = 0; i < fields.field_count(); ++i) {
    const auto& field = fields.field(i);
    if (field.type() != google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) continue;
    const std::string& value = field.length_delimited();
    if (llvm::is_contained(kMessages, field.number()) && !IsMessage(value)) return false;
    if (llvm::is_contained(kTexts, field.number()) && !llvm::json::isUTF8(value)) return false;
  }
  return true;
}

Expected<KernelFn> MakeOptions(const KernelSetup& setup) {
  if (!IsOptions(setup.node().GetString("serialized_options")))
    return MakeError("attribute 'serialized_options' is not a serialized Options message");
  return MakeForwarding(setup);
}

// Waits until the time is over or the run is canceled.
Error Wait(int64_t microseconds, const CancelFlag* cancel) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLook = std::chrono::milliseconds(10);
  auto start = Clock::now();
  for (;;) {
    RETURN_IF_ERROR(StopIfCancelled(cancel));
    int64_t gone =
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start).count();
    if (gone >= microseconds) return Error::success();
    std::this_thread::sleep_for(
        std::min<std::chrono::microseconds>(kLook, std::chrono::microseconds(microseconds - gone)));
  }
}

// Sleeps before each element.
Expected<KernelFn> MakeSleep(const KernelSetup& setup) {
  return KernelFn([node = setup.node()](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t microseconds, ScalarIn(ctx, 1));
    if (microseconds < 0)
      return MakeError("sleep_microseconds is {0}, 0 or more was expected", microseconds);
    return PutDataset(ctx, node, input->cardinality(),
                      [input, microseconds](DatasetContext& begin) -> Expected<DatasetNext> {
                        ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
                        return DatasetNext([next = std::move(next), microseconds](
                                               DatasetContext& context) mutable -> NextElement {
                          RETURN_IF_ERROR(Wait(microseconds, context.services.cancel));
                          return next(context);
                        });
                      });
  });
}

// True if `fits` accepts the op of `node`, of a node that it is computed from, or of any node in a
// function that one of these calls.
bool StandsOn(const Node& node, llvm::function_ref<bool(llvm::StringRef)> fits) {
  std::vector<Node> open = {node};
  llvm::DenseSet<std::pair<const Graph*, NodeId>> seen;
  auto add = [&](const Node& next) {
    if (next && seen.insert({&next.graph(), next.id()}).second) open.push_back(next);
  };
  while (!open.empty()) {
    Node now = open.back();
    open.pop_back();
    if (fits(now.op())) return true;
    for (int i = 0; i < now.num_inputs(); ++i) add(now.input_node(i));
    for (llvm::StringRef called : CalledFunctions(now)) {
      const Function* function = node.graph().module().FindFunction(called);
      if (!function) continue;
      for (Node inner : function->body.nodes()) add(inner);
    }
  }
  return false;
}

bool ReadsFiles(llvm::StringRef op) {
  return llvm::StringSwitch<bool>(op)
      .Cases("TFRecordDataset", "TFRecordDatasetV2", "TextLineDataset", true)
      .Cases("FixedLengthRecordDataset", "FixedLengthRecordDatasetV2", true)
      .Cases("ArrayRecordDataset", "RecordIODataset", "SSTableDataset", true)
      .Default(false);
}

// Shards by element for policy DATA, and for AUTO if the dataset reads no files. Does not shard for
// OFF, or for HINT without a ShardDataset. The other policies are errors if there are several
// workers: they would require a rewrite of the graph before it runs.
Expected<KernelFn> MakeAutoShard(const KernelSetup& setup) {
  constexpr int64_t kOff = -1, kAuto = 0, kByData = 2, kByHint = 3;
  // TensorFlow's enum has 32 bits.
  auto policy = static_cast<int32_t>(setup.node().GetInt("auto_shard_policy"));
  if (policy < kOff || policy > kByHint)
    return MakeError("auto_shard_policy {0} is not valid: expected {1} to {2}", policy, kOff,
                     kByHint);
  if (int64_t replicas = setup.node().GetInt("num_replicas"); replicas < 0)
    return MakeError("num_replicas is {0}: 0 or more was expected", replicas);
  // In TensorFlow, policy AUTO shards by file if the dataset reads files, else by data.
  if (policy == kAuto && !StandsOn(setup.node(), ReadsFiles)) policy = kByData;
  auto is_shard = [](llvm::StringRef op) { return op == "ShardDataset"; };
  if (policy == kByHint && !StandsOn(setup.node(), is_shard)) policy = kOff;
  return KernelFn([node = setup.node(), policy](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(DatasetRef input, DatasetIn(ctx, 0));
    ASSIGN_OR_RETURN(int64_t workers, ScalarIn(ctx, 1));
    ASSIGN_OR_RETURN(int64_t index, ScalarIn(ctx, 2));
    if (workers < 1 || index < 0 || index >= workers)
      return MakeError(
          "the worker index must be at least 0 and less than the number of workers, got {0} of {1}",
          index, workers);
    if (workers == 1 || policy == kOff) {
      ctx.SetOutput(0, ctx.input(0));
      return Error::success();
    }
    if (policy != kByData)
      return MakeError(
          "auto_shard_policy {0} would shard by file or by hint, which is not supported for more "
          "than one worker: use 2 (by data) or -1 (off)",
          policy);
    int64_t n = input->cardinality();
    if (n >= 0) n = n / workers + (index < n % workers);
    return PutDataset(ctx, node, n, [=](DatasetContext& begin) -> Expected<DatasetNext> {
      ASSIGN_OR_RETURN(DatasetNext next, input->MakeIterator(begin));
      return DatasetNext([next = std::move(next), index, workers,
                          at = int64_t{0}](DatasetContext& context) mutable -> NextElement {
        for (;;) {
          ASSIGN_OR_RETURN(auto element, next(context));
          if (!element || at++ % workers == index) return element;
        }
      });
    });
  });
}

GRAPNEL_CPU_KERNEL("AssertNextDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("AssertPrevDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ChooseFastestDataset", MakeSame, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("SleepDataset", MakeSleep, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("PrefetchDataset", MakeWithNumber<-1>, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("OptionsDataset", MakeOptions, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ModelDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("OptimizeDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("OptimizeDatasetV2", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("RewriteDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("FinalizeDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("MaxIntraOpParallelismDataset", MakeWithNumber<0>, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("PrivateThreadPoolDataset", MakeWithNumber<0>, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("NonSerializableDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("LatencyStatsDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("BytesProducedStatsDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("SetStatsAggregatorDataset", MakeForwarding, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("AutoShardDataset", MakeAutoShard, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
