#include "kernels/cpu/data/summary_message.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/cpu/data/audio_wav.h"
#include "kernels/cpu/image/codec.h"
#include "lib/proto/summary.pb.h"

namespace grapnel {
namespace {

template <typename T>
void AppendFixed(std::string* out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out->append(bytes, sizeof value);
}
// Appends a double as proto3 does: omits it when it is 0.
void AppendDouble(std::string* out, uint32_t field, double value) {
  if (value == 0 && !std::signbit(value)) return;
  AppendTag(out, field, WireType::kFixed64);
  AppendFixed(out, value);
}
// Upper limits of the histogram buckets, which grow by 10 % each from 1e-12 to 1e20 and end with
// DBL_MAX, on both sides of 0.
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

  // Runs of empty buckets are merged.
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

// --- Images

// Scales and offsets a float pixel to fit a byte.
struct Scaling {
  float scale = 0, offset = 0;
};

template <typename T>
bool IsFinite(const T* pixel, int64_t depth) {
  return std::all_of(pixel, pixel + depth,
                     [](T value) { return std::isfinite(static_cast<double>(value)); });
}

template <typename T>
Scaling ScalingOf(const T* pixels, int64_t count, int64_t depth) {
  constexpr float kAlmostNothing = 1e-6f;
  float least = std::numeric_limits<float>::infinity(), most = -least;
  for (int64_t i = 0; i < count; ++i) {
    if (!IsFinite(pixels + i * depth, depth)) continue;
    for (int64_t j = 0; j < depth; ++j) {
      least = std::min(least, static_cast<float>(pixels[i * depth + j]));
      most = std::max(most, static_cast<float>(pixels[i * depth + j]));
    }
  }
  if (least >= 0) return {most < kAlmostNothing ? 0 : 255 / most, 0};
  float size = std::max(std::fabs(least), std::fabs(most));
  return {size < kAlmostNothing ? 0 : 127 / size, 128};
}

// Computed in the images' own dtype, as in TensorFlow.
template <typename T>
void Scale(const T* pixels, int64_t count, int64_t depth, const uint8_t* bad_color, uint8_t* out) {
  Scaling scaling = ScalingOf(pixels, count, depth);
  auto scale = static_cast<T>(scaling.scale), offset = static_cast<T>(scaling.offset);
  for (int64_t i = 0; i < count; ++i, pixels += depth, out += depth) {
    if (!IsFinite(pixels, depth)) {
      std::copy(bad_color, bad_color + depth, out);
      continue;
    }
    for (int64_t j = 0; j < depth; ++j) {
      double value =
          static_cast<double>(static_cast<T>(static_cast<T>(pixels[j] * scale) + offset));
      out[j] = static_cast<uint8_t>(std::clamp(value, 0.0, 255.0));
    }
  }
}

std::string TagOfOne(llvm::StringRef tag, const char* kind, int64_t most, int64_t i) {
  std::string name = (tag + "/" + kind).str();
  return most > 1 ? name + "/" + std::to_string(i) : name;
}

}  // namespace

std::string SummaryOfValue(llvm::StringRef value) {
  std::string summary;
  AppendBytesField(&summary, 1, value);
  return summary;
}

double RealAt(const Tensor& tensor, int64_t i) {
  double value = 0;
  if (tensor.dtype() == proto::DT_BOOL) return tensor.data<bool>()[i] ? 1 : 0;
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

std::string ScalarValue(llvm::StringRef tag, double scalar) {
  std::string value;
  AppendText(&value, kTag, tag);
  AppendTag(&value, kSimple, WireType::kFixed32);
  AppendFixed(&value, static_cast<float>(scalar));
  return value;
}

Expected<std::string> HistogramValue(llvm::StringRef tag, const Tensor& values) {
  Histogram histogram;
  for (int64_t i = 0; i < values.num_elements(); ++i) {
    double value = RealAt(values, i);
    if (!std::isfinite(value))
      return MakeError("{0} in summary histogram for '{1}'", std::isnan(value) ? "NaN" : "infinity",
                       tag);
    histogram.Add(value);
  }
  std::string value;
  AppendText(&value, kTag, tag);
  AppendBytesField(&value, kHistogram, histogram.Message());
  return value;
}

Expected<Tensor> BadColorOf(const Node& node) {
  auto attr = node.FindAttr("bad_color");
  auto bytes = attr ? attr->AsTensor() : std::nullopt;
  if (!bytes) return Tensor::FromLiteral(Literal::Integers(proto::DT_UINT8, {4}, {255, 0, 0, 255}));
  ASSIGN_OR_RETURN(Literal literal, Literal::FromTensorProto(*bytes));
  if (literal.dtype() != proto::DT_UINT8)
    return MakeError("bad_color must be uint8, not {0}", DataTypeName(literal.dtype()));
  return Tensor::FromLiteral(literal);
}

Expected<std::string> ImageSummaryOf(llvm::StringRef tag, const Tensor& images, int64_t most,
                                     const Tensor& bad_color) {
  int64_t depth = images.rank() == 4 ? images.dim(3) : 0;
  if (depth != 1 && depth != 3 && depth != 4)
    return MakeError("tensor must be 4-D with last dim 1, 3, or 4, not {0}",
                     DimsText(images.dims()));
  if (bad_color.num_elements() < depth)
    return MakeError("bad_color has {0} elements, at least {1} were expected",
                     bad_color.num_elements(), depth);
  ImageSize size{1, images.dim(1), images.dim(2), depth};
  if (size.height > INT32_MAX || size.width > INT32_MAX || size.elements() > INT32_MAX)
    return MakeError(
        "images of shape {0} are too large: the height, the width and the numbers of one image "
        "must be below 2^31",
        DimsText(images.dims()));
  proto::Summary summary;
  std::vector<uint8_t> scaled(size.elements());
  for (int64_t i = 0; i < std::min(most, images.dim(0)); ++i) {
    const uint8_t* pixels = scaled.data();
    int64_t from = i * size.elements(), count = size.height * size.width;
    if (images.dtype() == proto::DT_UINT8) {
      pixels = images.data<uint8_t>() + from;
    } else {
      ForType(images.dtype(), FloatTypes(), [&](auto type) {
        using T = typename decltype(type)::type;
        Scale(images.data<T>() + from, count, depth, bad_color.data<uint8_t>(), scaled.data());
        return true;
      });
    }
    proto::Summary::Value* value = summary.add_value();
    value->set_tag(TagOfOne(tag, "image", most, i));
    value->mutable_image()->set_height(static_cast<int32_t>(size.height));
    value->mutable_image()->set_width(static_cast<int32_t>(size.width));
    value->mutable_image()->set_colorspace(static_cast<int32_t>(depth));
    ASSIGN_OR_RETURN(*value->mutable_image()->mutable_encoded_image_string(),
                     EncodePng(pixels, size, /*wide=*/false, /*compression=*/-1));
  }
  return summary.SerializeAsString();
}

Expected<std::string> AudioSummaryOf(llvm::StringRef tag, const Tensor& sounds, float rate,
                                     int64_t most) {
  if (sounds.rank() != 2 && sounds.rank() != 3)
    return MakeError("tensor must be 3-D or 2-D, not {0}", DimsText(sounds.dims()));
  if (!(rate > 0) || rate > static_cast<float>(INT32_MAX))
    return MakeError("sample_rate must be positive and at most 2^31, got {0}", rate);
  int64_t frames = sounds.dim(1), channels = sounds.rank() == 3 ? sounds.dim(2) : 1;
  proto::Summary summary;
  for (int64_t i = 0; i < std::min(most, sounds.dim(0)); ++i) {
    proto::Summary::Value* value = summary.add_value();
    value->set_tag(TagOfOne(tag, "audio", most, i));
    proto::Summary::Audio* audio = value->mutable_audio();
    audio->set_sample_rate(rate);
    audio->set_num_channels(channels);
    audio->set_length_frames(frames);
    audio->set_content_type("audio/wav");
    ASSIGN_OR_RETURN(*audio->mutable_encoded_audio_string(),
                     WavOf(sounds.data<float>() + i * frames * channels, frames, channels,
                           static_cast<int64_t>(std::lrint(rate))));
  }
  return summary.SerializeAsString();
}

}  // namespace grapnel
