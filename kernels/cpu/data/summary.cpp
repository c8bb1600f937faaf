// Ops that create Summary messages: ScalarSummary, HistogramSummary, ImageSummary, AudioSummary,
// AudioSummaryV2, TensorSummary, TensorSummaryV2, MergeSummary.
#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/array/tensor_message.h"
#include "kernels/cpu/data/summary_message.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

Error PutSummary(KernelContext& ctx, std::string bytes) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = std::move(bytes);
  return Error::success();
}

Expected<std::string> TextIn(const KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).num_elements() == 1) return *ctx.input(i).data<std::string>();
  return MakeError("{0} must have one element, got shape {1}", name, DimsText(ctx.input(i).dims()));
}

// --- ScalarSummary

// Writes one value per tag.
Error ScalarSummary(KernelContext& ctx) {
  const Tensor &tags = ctx.input(0), &values = ctx.input(1);
  if (tags.dims() != values.dims())
    return MakeError("tags and values are not the same shape: {0} and {1}", DimsText(tags.dims()),
                     DimsText(values.dims()));
  std::string summary;
  for (int64_t i = 0; i < tags.num_elements(); ++i) {
    summary += SummaryOfValue(ScalarValue(tags.data<std::string>()[i], RealAt(values, i)));
  }
  return PutSummary(ctx, std::move(summary));
}

// --- HistogramSummary

Error HistogramSummary(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 0, "tags"));
  ASSIGN_OR_RETURN(std::string value, HistogramValue(tag, ctx.input(1)));
  return PutSummary(ctx, SummaryOfValue(value));
}

// --- ImageSummary, AudioSummary

Expected<KernelFn> MakeImageSummary(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(Tensor bad_color, BadColorOf(setup.node()));
  int64_t most = setup.node().GetInt("max_images", 3);
  return KernelFn([most, bad_color](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 0, "tag"));
    ASSIGN_OR_RETURN(std::string summary, ImageSummaryOf(tag, ctx.input(1), most, bad_color));
    return PutSummary(ctx, std::move(summary));
  });
}

// The rate is an attribute or, in V2, an input.
Expected<KernelFn> MakeAudioSummary(const KernelSetup& setup) {
  int64_t most = setup.node().GetInt("max_outputs", 3);
  float rate = setup.node().GetFloat("sample_rate", 0);
  return KernelFn([most, rate](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 0, "tag"));
    float hertz = rate;
    if (ctx.num_inputs() > 2) {
      if (ctx.input(2).num_elements() != 1) return MakeError("sample_rate must have one element");
      hertz = *ctx.input(2).data<float>();
    }
    ASSIGN_OR_RETURN(std::string summary, AudioSummaryOf(tag, ctx.input(1), hertz, most));
    return PutSummary(ctx, std::move(summary));
  });
}

// --- TensorSummary, MergeSummary

Expected<KernelFn> MakeTensorSummary(const KernelSetup& setup) {
  return KernelFn([name = setup.node().name().str()](KernelContext& ctx) -> Error {
    if (ctx.input(0).HoldsObjects())
      return MakeError("a summary cannot hold {0}: its elements are objects, not values",
                       ctx.input(0).ToString(0));
    std::string value, summary;
    AppendText(&value, kNodeName, name);
    AppendBytesField(&value, kTensor, TensorMessage(ctx.input(0)));
    AppendBytesField(&summary, 1, value);
    return PutSummary(ctx, std::move(summary));
  });
}

bool IsMessage(llvm::StringRef bytes) {
  WireReader reader(bytes);
  while (reader.Next()) {
  }
  return !reader.failed();
}

Error TensorSummaryV2(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 0, "tag"));
  ASSIGN_OR_RETURN(std::string metadata, TextIn(ctx, 2, "serialized_summary_metadata"));
  if (ctx.input(1).HoldsObjects())
    return MakeError("a summary cannot hold {0}: its elements are objects, not values",
                     ctx.input(1).ToString(0));
  if (!IsMessage(metadata))
    return MakeError("serialized_summary_metadata is not a serialized message");
  std::string value, summary;
  AppendText(&value, kTag, tag);
  AppendBytesField(&value, kTensor, TensorMessage(ctx.input(1)));
  AppendBytesField(&value, kMetadata, metadata);
  AppendBytesField(&summary, 1, value);
  return PutSummary(ctx, std::move(summary));
}

llvm::StringRef TagOf(llvm::StringRef value) {
  llvm::StringRef tag;
  WireReader reader(value);
  while (reader.Next()) {
    if (reader.Is(kTag, WireType::kBytes)) tag = reader.bytes();
  }
  return tag;
}

// Concatenates the values of all inputs; a tag must not repeat.
Error MergeSummary(KernelContext& ctx) {
  std::string merged;
  llvm::StringSet<> tags;
  for (int i = 0; i < ctx.num_inputs(); ++i) {
    const Tensor& in = ctx.input(i);
    for (int64_t k = 0; k < in.num_elements(); ++k) {
      WireReader reader(in.data<std::string>()[k]);
      while (reader.Next()) {
        if (!reader.Is(1, WireType::kBytes)) continue;
        llvm::StringRef tag = TagOf(reader.bytes());
        if (!llvm::json::isUTF8(tag))
          return MakeError(
              "could not parse one of the summary inputs: input {0} has a tag that is not UTF-8",
              i);
        // A summary by TensorSummary has no tag.
        if (!tag.empty() && !tags.insert(tag).second)
          return MakeError("duplicate tag {0} found in summary inputs", tag);
        AppendBytesField(&merged, 1, reader.bytes());
      }
      if (reader.failed())
        return MakeError("could not parse one of the summary inputs: input {0}", i);
    }
  }
  return PutSummary(ctx, std::move(merged));
}

GRAPNEL_CPU_KERNEL("ScalarSummary", KernelOf<ScalarSummary>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("HistogramSummary", KernelOf<HistogramSummary>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("ImageSummary", MakeImageSummary);
GRAPNEL_CPU_KERNEL("AudioSummary", MakeAudioSummary);
GRAPNEL_CPU_KERNEL("AudioSummaryV2", MakeAudioSummary);
GRAPNEL_CPU_KERNEL("TensorSummary", MakeTensorSummary);
GRAPNEL_CPU_KERNEL("TensorSummaryV2", KernelOf<TensorSummaryV2>);
GRAPNEL_CPU_KERNEL("MergeSummary", KernelOf<MergeSummary>);

}  // namespace
}  // namespace grapnel
