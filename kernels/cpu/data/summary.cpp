// Summaries as messages: ScalarSummary, HistogramSummary, TensorSummary, TensorSummaryV2,
// MergeSummary.
#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/kernel_of.h"
#include "kernels/cpu/data/tensor_message.h"
#include "lib/ir/wire.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// Field numbers of Summary.Value.
enum ValueField : uint32_t {
  kTag = 1,
  kSimple = 2,
  kHistogram = 5,
  kNodeName = 7,
  kTensor = 8,
  kMetadata = 9
};

template <typename T>
void AppendFixed(std::string* out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out->append(bytes, sizeof value);
}
// As protobuf writes a field that has no presence of its own: not when it is 0.
void AppendDouble(std::string* out, uint32_t field, double value) {
  if (value == 0 && !std::signbit(value)) return;
  AppendTag(out, field, WireType::kFixed64);
  AppendFixed(out, value);
}
void AppendText(std::string* out, uint32_t field, llvm::StringRef text) {
  if (!text.empty()) AppendBytesField(out, field, text);
}

Error PutSummary(KernelContext& ctx, std::string bytes) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<std::string>() = std::move(bytes);
  return Error::success();
}

Expected<std::string> TextIn(const KernelContext& ctx, int i, const char* name) {
  if (ctx.input(i).num_elements() == 1) return *ctx.input(i).data<std::string>();
  return MakeError("{0} must be a scalar, not {1}", name, DimsText(ctx.input(i).dims()));
}

double RealAt(const Tensor& tensor, int64_t i) {
  double value = 0;
  ForType(tensor.dtype(), RealTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (kIsSmallFloat<T>)
      value = static_cast<double>(static_cast<float>(tensor.data<T>()[i]));
    else
      value = static_cast<double>(tensor.data<T>()[i]);
    return true;
  });
  return value;
}

// --- ScalarSummary

// A value for each tag.
Error ScalarSummary(KernelContext& ctx) {
  const Tensor &tags = ctx.input(0), &values = ctx.input(1);
  if (tags.dims() != values.dims())
    return MakeError("tags and values are not the same shape: {0} and {1}", DimsText(tags.dims()),
                     DimsText(values.dims()));
  std::string summary;
  for (int64_t i = 0; i < tags.num_elements(); ++i) {
    std::string value;
    AppendText(&value, kTag, tags.data<std::string>()[i]);
    AppendTag(&value, kSimple, WireType::kFixed32);
    AppendFixed(&value, static_cast<float>(RealAt(values, i)));
    AppendBytesField(&summary, 1, value);
  }
  return PutSummary(ctx, std::move(summary));
}

// --- HistogramSummary

// Upper ends of buckets that grow by a tenth each from 1e-12 to 1e20, on both sides of 0.
const std::vector<double>& BucketLimits() {
  static const std::vector<double> limits = [] {
    std::vector<double> up;
    for (double v = 1.0e-12; v < 1.0e20; v *= 1.1) up.push_back(v);
    up.push_back(DBL_MAX);
    std::vector<double> all;
    for (size_t i = up.size(); i-- > 0;) all.push_back(-up[i]);
    all.push_back(0);
    all.insert(all.end(), up.begin(), up.end());
    return all;
  }();
  return limits;
}

struct Histogram {
  double least = DBL_MAX, most = -DBL_MAX, count = 0, sum = 0, squares = 0;
  std::vector<double> buckets = std::vector<double>(BucketLimits().size());

  void Add(double value) {
    const std::vector<double>& limits = BucketLimits();
    size_t bucket = std::upper_bound(limits.begin(), limits.end(), value) - limits.begin();
    buckets[std::min(bucket, buckets.size() - 1)] += 1;
    least = std::min(least, value);
    most = std::max(most, value);
    count += 1;
    sum += value;
    squares += value * value;
  }

  // Runs of empty buckets become one.
  std::string Message() const {
    std::string out, limits, counts;
    for (size_t i = 0; i < buckets.size(); ++i) {
      while (buckets[i] == 0 && i + 1 < buckets.size() && buckets[i + 1] == 0) ++i;
      AppendFixed(&limits, BucketLimits()[i]);
      AppendFixed(&counts, buckets[i]);
    }
    AppendDouble(&out, 1, least);
    AppendDouble(&out, 2, most);
    AppendDouble(&out, 3, count);
    AppendDouble(&out, 4, sum);
    AppendDouble(&out, 5, squares);
    AppendBytesField(&out, 6, limits);
    AppendBytesField(&out, 7, counts);
    return out;
  }
};

Error HistogramSummary(KernelContext& ctx) {
  ASSIGN_OR_RETURN(std::string tag, TextIn(ctx, 0, "tags"));
  const Tensor& values = ctx.input(1);
  Histogram histogram;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    double value = RealAt(values, i);
    if (!std::isfinite(value))
      return MakeError("{0} in summary histogram for '{1}'", std::isnan(value) ? "NaN" : "infinity",
                       tag);
    histogram.Add(value);
  }
  std::string value, summary;
  AppendText(&value, kTag, tag);
  AppendBytesField(&value, kHistogram, histogram.Message());
  AppendBytesField(&summary, 1, value);
  return PutSummary(ctx, std::move(summary));
}

// --- TensorSummary, MergeSummary

Expected<KernelFn> MakeTensorSummary(const KernelSetup& setup) {
  return KernelFn([name = setup.node().name().str()](KernelContext& ctx) -> Error {
    if (ctx.input(0).HoldsObjects())
      return MakeError("{0} has no summary", ctx.input(0).ToString(0));
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
  if (ctx.input(1).HoldsObjects()) return MakeError("{0} has no summary", ctx.input(1).ToString(0));
  if (!IsMessage(metadata)) return MakeError("serialized_summary_metadata is no message");
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

// The values of all, one after the other; a tag may come once.
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
              "could not parse one of the summary inputs: {0} has a tag that is no text", i);
        // Version 2 summaries of tensors may have none.
        if (!tag.empty() && !tags.insert(tag).second)
          return MakeError("duplicate tag {0} found in summary inputs", tag);
        AppendBytesField(&merged, 1, reader.bytes());
      }
      if (reader.failed()) return MakeError("could not parse one of the summary inputs: {0}", i);
    }
  }
  return PutSummary(ctx, std::move(merged));
}

GRAPNEL_CPU_KERNEL("ScalarSummary", KernelOf<ScalarSummary>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("HistogramSummary", KernelOf<HistogramSummary>,
                   OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("TensorSummary", MakeTensorSummary);
GRAPNEL_CPU_KERNEL("TensorSummaryV2", KernelOf<TensorSummaryV2>);
GRAPNEL_CPU_KERNEL("MergeSummary", KernelOf<MergeSummary>);

}  // namespace
}  // namespace grapnel
