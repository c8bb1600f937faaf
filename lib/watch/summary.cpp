#include "lib/watch/summary.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "lib/io/png_writer.h"
#include "lib/ir/tensor_name.h"
#include "lib/watch/expression_place.h"
#include "lib/watch/number_array.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr int kBuckets = 30;
constexpr int64_t kMostImages = 3;

// A kind of summary: the name that users type, the name of TensorBoard's plugin, and the data
// class.
struct Kind {
  const char *name, *plugin;
  proto::DataClass data;
};
constexpr Kind kKinds[] = {{"scalar", "scalars", proto::DATA_CLASS_SCALAR},
                           {"histogram", "histograms", proto::DATA_CLASS_TENSOR},
                           {"image", "images", proto::DATA_CLASS_BLOB_SEQUENCE},
                           {"text", "text", proto::DATA_CLASS_TENSOR}};
const Kind& KindOf(SummaryKind kind) { return kKinds[static_cast<int>(kind)]; }

bool IsNumber(DataType type) {
  return IsFloating(type) || IsInteger(type) || type == proto::DT_BOOL;
}

std::string TypeAndShape(const Tensor& tensor) {
  return (DataTypeName(tensor.dtype()) + DimsText(tensor.dims())).str();
}

// Calls `use` with each element, converted to double.
template <typename Use>
Error ForEach(const Tensor& tensor, Use use) {
  if (tensor.dtype() == proto::DT_FLOAT || tensor.dtype() == proto::DT_DOUBLE) {
    bool is_float = tensor.dtype() == proto::DT_FLOAT;
    for (int64_t i = 0; i < tensor.num_elements(); ++i)
      use(is_float ? tensor.data<float>()[i] : tensor.data<double>()[i]);
    return Error::success();
  }
  ASSIGN_OR_RETURN(NumberArray array, NumbersOf(tensor));
  for (NumberArray::Number value : array.values) use(static_cast<double>(value));
  return Error::success();
}

proto::TensorProto ProtoOf(const Tensor& tensor) {
  proto::TensorProto made;
  made.ParseFromString(tensor.ToLiteral().ToTensorProto());
  return made;
}

Error AddScalar(const Tensor& tensor, proto::TensorProto* out) {
  if (!IsNumber(tensor.dtype()))
    return MakeError("a scalar summary needs a number, this is {0}", TypeAndShape(tensor));
  if (tensor.num_elements() != 1)
    return MakeError(
        "a scalar summary needs one element, this is {0}: take mean(...) or another "
        "reduction, or a histogram",
        TypeAndShape(tensor));
  out->set_dtype(proto::DT_FLOAT);
  out->mutable_tensor_shape();
  return ForEach(tensor, [&](double value) { out->add_float_val(static_cast<float>(value)); });
}

// Writes the same buckets as tf.summary.histogram. If all values are equal, both edges of every
// bucket are that value, and the last bucket has the count; if there are no values, all numbers are
// 0.
Error AddHistogram(const Tensor& tensor, proto::TensorProto* out) {
  if (!IsNumber(tensor.dtype()))
    return MakeError("a histogram summary needs numbers, this is {0}", TypeAndShape(tensor));
  double least = std::numeric_limits<double>::infinity(), most = -least;
  int64_t count = 0;
  RETURN_IF_ERROR(ForEach(tensor, [&](double value) {
    if (!std::isfinite(value)) return;
    least = std::min(least, value);
    most = std::max(most, value);
    ++count;
  }));
  std::vector<double> rows(kBuckets * 3);
  double width = most / kBuckets - least / kBuckets;
  for (int b = 0; b < kBuckets && count > 0; ++b) {
    rows[3 * b] = most == least ? least : least + b * width;
    rows[3 * b + 1] = most == least || b + 1 == kBuckets ? most : least + (b + 1) * width;
  }
  RETURN_IF_ERROR(ForEach(tensor, [&](double value) {
    if (!std::isfinite(value)) return;
    double bucket = most == least ? kBuckets - 1 : std::floor(value / width - least / width);
    rows[3 * static_cast<int>(std::clamp(bucket, 0.0, kBuckets - 1.0)) + 2] += 1;
  }));
  out->set_dtype(proto::DT_DOUBLE);
  out->mutable_tensor_shape()->add_dim()->set_size(kBuckets);
  out->mutable_tensor_shape()->add_dim()->set_size(3);
  out->set_tensor_content(
      std::string(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double)));
  return Error::success();
}

// Returns the number of images, height, width and channels; nullopt if the tensor's shape or dtype
// is not that of images.
std::optional<std::array<int64_t, 4>> ImageDims(const Tensor& tensor) {
  llvm::ArrayRef<int64_t> dims = tensor.dims();
  std::array<int64_t, 4> all = {1, 1, 1, 1};
  if (!IsNumber(tensor.dtype()) || dims.size() < 2 || dims.size() > 4) return std::nullopt;
  std::copy(dims.begin(), dims.end(), all.begin() + (dims.size() == 4 ? 0 : 1));
  if (all[3] < 1 || all[3] > 4) return std::nullopt;
  return all;
}

// Converts a value to uint8 like tf.image.convert_image_dtype with saturation.
uint8_t PixelOf(double value, double scale) {
  if (std::isnan(value)) return 0;
  return static_cast<uint8_t>(std::clamp(value * scale, 0.0, 255.0));
}

Error AddImages(const Tensor& tensor, proto::TensorProto* out) {
  auto dims = ImageDims(tensor);
  if (!dims)
    return MakeError(
        "an image summary needs numbers of shape [n,h,w,c], [h,w,c] or [h,w] with c from 1 to 4, "
        "this is {0}",
        TypeAndShape(tensor));
  auto [number, height, width, channels] = *dims;
  int64_t count = std::min(number, kMostImages), size = height * width * channels;
  DataType type = tensor.dtype();
  double scale = IsFloating(type)         ? 255.5
                 : type == proto::DT_BOOL ? 255
                                          : 1 / std::ldexp(1.0, 8 * (DataTypeSize(type) - 1));
  if (IsInteger(type) && !DataTypeName(type).starts_with("u")) scale *= 2;
  std::vector<uint8_t> pixels;
  pixels.reserve(size * count);
  RETURN_IF_ERROR(ForEach(number > count ? tensor.Slice(0, count) : tensor,
                          [&](double value) { pixels.push_back(PixelOf(value, scale)); }));
  out->set_dtype(proto::DT_STRING);
  out->mutable_tensor_shape()->add_dim()->set_size(2 + count);
  out->add_string_val(std::to_string(width));
  out->add_string_val(std::to_string(height));
  for (int64_t i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::string png,
                     PngOf(pixels.data() + i * size, height, width, static_cast<int>(channels)));
    out->add_string_val(std::move(png));
  }
  return Error::success();
}

}  // namespace

llvm::StringRef SummaryKindName(SummaryKind kind) { return KindOf(kind).name; }

std::optional<SummaryKind> UsualKind(const Tensor& tensor) {
  if (!tensor || tensor.HoldsObjects()) return std::nullopt;
  if (tensor.dtype() == proto::DT_STRING) return SummaryKind::kText;
  if (!IsNumber(tensor.dtype())) return std::nullopt;
  return tensor.num_elements() == 1 ? SummaryKind::kScalar : SummaryKind::kHistogram;
}

std::string UsualTag(llvm::StringRef tensor) { return WithoutZeroIndex(tensor).str(); }

Expected<SummaryRequest> SummaryRequest::Parse(llvm::StringRef text) {
  auto [name, rest] = text.split(':');
  std::vector<std::string> names;
  SummaryRequest request;
  bool is_kind = false;
  for (size_t k = 0; k < std::size(kKinds); ++k) {
    names.push_back(kKinds[k].name);
    if (name != kKinds[k].name) continue;
    request.kind = static_cast<SummaryKind>(k);
    is_kind = true;
  }
  if (rest.empty() || !is_kind)
    return MakeError("'{0}': KIND:TENSOR was expected, as in scalar:loss:0; the kinds are {1}",
                     text, llvm::join(names, ", "));
  auto expression = TensorExpression::ParseFirst(&rest);
  size_t column = rest.data() - text.data();
  if (!expression) return CaretError(text, column, expression.takeError());
  request.expression = std::move(*expression);
  request.tag = UsualTag(request.expression.text());
  if (rest.empty()) return request;
  if (!rest.consume_front("=") || rest.empty())
    return CaretError(text, column, MakeError("an operator, the end, or =TAG was expected"));
  request.tag = rest.str();
  return request;
}

Expected<proto::Summary::Value> SummaryOf(SummaryKind kind, const Tensor& tensor) {
  proto::Summary::Value value;
  proto::TensorProto* out = value.mutable_tensor();
  switch (kind) {
    case SummaryKind::kScalar:
      RETURN_IF_ERROR(AddScalar(tensor, out));
      break;
    case SummaryKind::kHistogram:
      RETURN_IF_ERROR(AddHistogram(tensor, out));
      break;
    case SummaryKind::kImage:
      RETURN_IF_ERROR(AddImages(tensor, out));
      break;
    case SummaryKind::kText:
      if (tensor.dtype() != proto::DT_STRING)
        return MakeError("a text summary needs strings, this is {0}", TypeAndShape(tensor));
      *out = ProtoOf(tensor);
  }
  proto::SummaryMetadata* metadata = value.mutable_metadata();
  metadata->mutable_plugin_data()->set_plugin_name(KindOf(kind).plugin);
  metadata->set_data_class(KindOf(kind).data);
  return value;
}

}  // namespace grapnel
