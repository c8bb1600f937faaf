// Random parts of images: RandomCrop; SampleDistortedBoundingBox, its V2 and its stateless form
// only choose the part. (tensorflow/core/kernels/image/sample_distorted_bounding_box_op.cc)
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include "kernels/common/dispatch.h"
#include "kernels/common/to_integer.h"
#include "kernels/cpu/array/data_move.h"
#include "kernels/cpu/random/random.h"

namespace grapnel {
namespace {

// --- RandomCrop

Error Crop(KernelContext& ctx, Philox philox) {
  const Tensor &in = ctx.input(0), &size = ctx.input(1);
  if (in.rank() != 3 || size.rank() != 1 || size.dim(0) != 2)
    return MakeError(
        "expected an image [height, width, channels] and two sizes, got shapes {0} "
        "and {1}",
        DimsText(in.dims()), DimsText(size.dims()));
  int64_t height = size.IntAt(0), width = size.IntAt(1), channels = in.dim(2);
  if (height < 0 || width < 0 || height > in.dim(0) || width > in.dim(1))
    return MakeError("cannot crop {0} x {1} from an image of {2} x {3}", height, width, in.dim(0),
                     in.dim(1));
  PhiloxNumbers numbers(philox);
  int64_t left = 0, top = 0;
  if (in.dim(1) > width) left = numbers.Next() % static_cast<uint32_t>(in.dim(1) - width + 1);
  if (in.dim(0) > height) top = numbers.Next() % static_cast<uint32_t>(in.dim(0) - height + 1);
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {height, width, channels}));
  for (int64_t y = 0; y < height; ++y)
    CopyElements(in.dtype(), At(in, ((top + y) * in.dim(1) + left) * channels),
                 At(*out, y * width * channels), width * channels);
  return Error::success();
}

Expected<KernelFn> MakeCrop(const KernelSetup& setup) {
  return KernelFn(
      [philox = SharedPhilox(setup)](KernelContext& ctx) { return Crop(ctx, philox.Take(1)); });
}

// --- SampleDistortedBoundingBox

struct Box {
  int32_t left = 0, top = 0, right = 0, bottom = 0;

  float Area() const { return static_cast<float>(int64_t{right - left} * int64_t{bottom - top}); }
};

Box Common(const Box& a, const Box& b) {
  Box both = {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
              std::min(a.bottom, b.bottom)};
  return both.left > both.right || both.top > both.bottom ? Box() : both;
}

struct SampleAttrs {
  float least_covered;
  float ratios[2], areas[2];
  int64_t attempts;
  bool whole_without_boxes;
};

struct ImageSize {
  int32_t height, width;
};

int32_t Rounded(float x) { return static_cast<int32_t>(std::lrint(x)); }

// Returns a size with this aspect ratio whose area is within the bounds; nullopt if the size drawn
// does not fit the bounds or the image.
std::optional<ImageSize> SampleSize(ImageSize image, const SampleAttrs& attrs, float ratio,
                                    PhiloxNumbers& numbers) {
  if (attrs.areas[0] > attrs.areas[1] || image.width <= 0 || image.height <= 0) return std::nullopt;
  auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  float least = attrs.areas[0] * width * height, most = attrs.areas[1] * width * height;
  int32_t low = Rounded(std::sqrt(least / ratio)), high = Rounded(std::sqrt(most / ratio));
  auto width_of = [ratio](int32_t h) { return Rounded(static_cast<float>(h) * ratio); };
  if (width_of(high) > image.width) {
    constexpr float kLittle = 0.0000001f;
    high = ToInteger<int32_t>((image.width + 0.5 - kLittle) / ratio);
    if (width_of(high) > image.width) --high;
  }
  high = std::min(high, image.height);
  int32_t rows = std::min(low, high);
  // The difference is computed in int64 because it may exceed int32.
  if (rows < high)
    rows += static_cast<int32_t>(numbers.Below(static_cast<uint32_t>(int64_t{high} - rows + 1)));
  auto area_of = [&](int32_t h) { return static_cast<float>(int64_t{width_of(h)} * h); };
  if (area_of(rows) < least) ++rows;
  if (area_of(rows) > most) --rows;
  ImageSize size = {rows, width_of(rows)};
  bool fits = area_of(rows) >= least && area_of(rows) <= most && size.width <= image.width &&
              size.height <= image.height && size.width > 0 && size.height > 0;
  return fits ? std::optional<ImageSize>(size) : std::nullopt;
}

bool Covers(const Box& crop, float least, llvm::ArrayRef<Box> objects) {
  constexpr float kLeastArea = 1;
  if (crop.Area() < kLeastArea) return false;
  return llvm::any_of(objects, [&](const Box& object) {
    return object.Area() >= kLeastArea && Common(crop, object).Area() / object.Area() >= least;
  });
}

Expected<Box> SampleBox(const KernelContext& ctx, ImageSize image, const SampleAttrs& attrs,
                        llvm::ArrayRef<Box> objects, PhiloxNumbers numbers) {
  for (int64_t i = 0; i < attrs.attempts; ++i) {
    if (i % 4096 == 4095) RETURN_IF_ERROR(StopIfCancelled(ctx.services().cancel));
    float ratio = numbers.NextFloat() * (attrs.ratios[1] - attrs.ratios[0]) + attrs.ratios[0];
    if (!(ratio > 0)) continue;
    std::optional<ImageSize> size = SampleSize(image, attrs, ratio, numbers);
    if (!size) continue;
    Box box;
    if (size->height < image.height)
      box.top = static_cast<int32_t>(numbers.Below(image.height - size->height));
    if (size->width < image.width)
      box.left = static_cast<int32_t>(numbers.Below(image.width - size->width));
    box.right = box.left + size->width;
    box.bottom = box.top + size->height;
    if (Covers(box, attrs.least_covered, objects)) return box;
  }
  return Box{0, 0, image.width, image.height};
}

Expected<std::vector<Box>> ObjectsIn(const Tensor& boxes, ImageSize image,
                                     bool whole_without_boxes) {
  if (boxes.rank() != 3 || boxes.dim(2) != 4)
    return MakeError("bounding_boxes must be [batch, boxes, 4], got shape {0}",
                     DimsText(boxes.dims()));
  std::vector<Box> objects(boxes.num_elements() / 4);
  auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  for (size_t b = 0; b < objects.size(); ++b) {
    const float* box = boxes.data<float>() + 4 * b;
    for (int i = 0; i < 4; ++i) {
      if (!(box[i] >= 0 && box[i] <= 1))
        return MakeError("all bounding box coordinates must be in [0, 1], got {0}", box[i]);
    }
    objects[b] = {static_cast<int32_t>(box[1] * width), static_cast<int32_t>(box[0] * height),
                  static_cast<int32_t>(box[3] * width), static_cast<int32_t>(box[2] * height)};
  }
  if (!objects.empty()) return objects;
  if (!whole_without_boxes)
    return MakeError("no bounding boxes were given, and use_image_if_no_bounding_boxes is false");
  return std::vector<Box>{{0, 0, image.width, image.height}};
}

Error PutBox(KernelContext& ctx, ImageSize image, const Box& box) {
  ASSIGN_OR_RETURN(Tensor * begin, ctx.Allocate(0, {3}));
  ASSIGN_OR_RETURN(Tensor * size, ctx.Allocate(1, {3}));
  ASSIGN_OR_RETURN(Tensor * part, ctx.Allocate(2, {1, 1, 4}));
  const int64_t begins[3] = {box.top, box.left, 0};
  const int64_t sizes[3] = {box.bottom - box.top, box.right - box.left, -1};
  ForType(begin->dtype(), IntegerTypes(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int i = 0; i < 3; ++i) {
      begin->data<T>()[i] = static_cast<T>(begins[i]);
      size->data<T>()[i] = static_cast<T>(sizes[i]);
    }
    return true;
  });
  auto width = static_cast<float>(image.width), height = static_cast<float>(image.height);
  const float ends[4] = {static_cast<float>(box.top) / height, static_cast<float>(box.left) / width,
                         static_cast<float>(box.bottom) / height,
                         static_cast<float>(box.right) / width};
  std::copy_n(ends, 4, part->data<float>());
  return Error::success();
}

Error Sample(KernelContext& ctx, SampleAttrs attrs, Philox philox) {
  const Tensor& size = ctx.input(0);
  if (size.rank() != 1 || size.dim(0) != 3)
    return MakeError("image_size must be height, width and channels, got shape {0}",
                     DimsText(size.dims()));
  for (int i : {0, 1}) {
    if (size.IntAt(i) < 0 || size.IntAt(i) >= std::numeric_limits<int32_t>::max())
      return MakeError("image height and width must be in [0, 2^31 - 1), got {0}", size.IntAt(i));
  }
  ImageSize image = {static_cast<int32_t>(size.IntAt(0)), static_cast<int32_t>(size.IntAt(1))};
  if (ctx.num_inputs() > 2) {
    if (ctx.input(2).rank() != 0)
      return MakeError("min_object_covered must be a scalar, got shape {0}",
                       DimsText(ctx.input(2).dims()));
    attrs.least_covered = *ctx.input(2).data<float>();
  }
  if (!(attrs.least_covered >= 0))
    return MakeError("min_object_covered must be non-negative, got {0}", attrs.least_covered);
  ASSIGN_OR_RETURN(std::vector<Box> objects,
                   ObjectsIn(ctx.input(1), image, attrs.whole_without_boxes));
  ASSIGN_OR_RETURN(Box box, SampleBox(ctx, image, attrs, objects, PhiloxNumbers(philox)));
  return PutBox(ctx, image, box);
}

Error ReadPair(const Node& node, const char* key, float least, float (&pair)[2]) {
  std::vector<float> values;
  if (auto attr = node.Attr(key)) values = attr->AsFloats().value_or(std::vector<float>());
  if (values.empty()) values = {least, least < 0.1f ? 1.0f : 1.33f};
  bool is_area = values.size() == 2 && std::string_view(key) == "area_range";
  bool fits = values.size() == 2 && values[0] > 0 && values[1] > 0 &&
              (!is_area || (values[0] <= 1 && values[1] <= 1));
  if (!fits)
    return MakeError("{0} must be two positive numbers{1}", key, is_area ? " up to 1" : "");
  std::copy_n(values.begin(), 2, pair);
  return Error::success();
}

Expected<SampleAttrs> ReadSampleAttrs(const Node& node) {
  SampleAttrs attrs;
  attrs.least_covered = node.GetFloat("min_object_covered", 0.1f);
  attrs.attempts = node.GetInt("max_attempts", 100);
  attrs.whole_without_boxes = node.GetBool("use_image_if_no_bounding_boxes");
  RETURN_IF_ERROR(ReadPair(node, "aspect_ratio_range", 0.75f, attrs.ratios));
  RETURN_IF_ERROR(ReadPair(node, "area_range", 0.05f, attrs.areas));
  if (attrs.attempts < 1 || attrs.attempts > std::numeric_limits<int32_t>::max())
    return MakeError("max_attempts must be in [1, 2^31), got {0}", attrs.attempts);
  return attrs;
}

Expected<KernelFn> MakeSample(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SampleAttrs attrs, ReadSampleAttrs(setup.node()));
  return KernelFn([attrs, philox = SharedPhilox(setup)](KernelContext& ctx) {
    return Sample(ctx, attrs, philox.Take(attrs.attempts));
  });
}

Expected<KernelFn> MakeStatelessSample(const KernelSetup& setup) {
  ASSIGN_OR_RETURN(SampleAttrs attrs, ReadSampleAttrs(setup.node()));
  return KernelFn([attrs](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Philox philox, FromSeedInput(ctx.input(3)));
    return Sample(ctx, attrs, philox);
  });
}

GRAPNEL_CPU_KERNEL("RandomCrop", MakeCrop, OfTypes("T", DataTypesOf(RealTypes())));
GRAPNEL_CPU_KERNEL("SampleDistortedBoundingBox", MakeSample,
                   OfTypes("T", DataTypesOf(IntegerTypes())));
GRAPNEL_CPU_KERNEL("SampleDistortedBoundingBoxV2", MakeSample,
                   OfTypes("T", DataTypesOf(IntegerTypes())));
GRAPNEL_CPU_KERNEL("StatelessSampleDistortedBoundingBox", MakeStatelessSample,
                   OfTypes("T", DataTypesOf(IntegerTypes())));

}  // namespace
}  // namespace grapnel
