// Shape functions of image and audio ops: decoding, resizing, cropping, boxes.
#include <algorithm>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// Returns the height and width that the vector in input i specifies.
std::pair<int64_t, int64_t> SizeAt(ShapeContext& c, int i) {
  c.Equal(c.WithRank(i, 1).dim(0), 2, "the number of sizes and 2");
  const Elements* size = c.elements(i);
  if (!size || size->size() != 2) return {kUnknownDim, kUnknownDim};
  return {DimOfElement((*size)[0]), DimOfElement((*size)[1])};
}

void Resize(ShapeContext& c, int size_at) {
  Shape images = c.WithRank(0, 4);
  auto [height, width] = SizeAt(c, size_at);
  images.set_dim(1, height);
  images.set_dim(2, width);
  c.Out(0, std::move(images));
}

void ResizeShape(ShapeContext& c) { Resize(c, 1); }
void TransformShape(ShapeContext& c) { Resize(c, 2); }

void QuantizedResizeShape(ShapeContext& c) {
  Resize(c, 1);
  c.Out(1, Shape::Scalar());
  c.Out(2, Shape::Scalar());
}

void ResizeNearestGradShape(ShapeContext& c) { Resize(c, 1); }
void OriginalImageShape(ShapeContext& c) { c.Out(0, c.in(1)); }

void CropAndResizeShape(ShapeContext& c) {
  Shape images = c.WithRank(0, 4), boxes = c.WithRank(1, 2), indices = c.WithRank(2, 1);
  auto [height, width] = SizeAt(c, 3);
  int64_t count = c.Equal(boxes.dim(0), indices.dim(0), "boxes and their images");
  c.Out(0, Shape(Dims{count, height, width, images.dim(3)}));
}

void CropGradImageShape(ShapeContext& c) { c.Out(0, c.ShapeFrom(3)); }
void CropGradBoxesShape(ShapeContext& c) { c.Out(0, c.WithRank(2, 2)); }

void GlimpseShape(ShapeContext& c) {
  Shape images = c.WithRank(0, 4), offsets = c.WithRank(2, 2);
  auto [height, width] = SizeAt(c, 1);
  int64_t batch = c.Equal(images.dim(0), offsets.dim(0), "batch sizes");
  c.Out(0, Shape(Dims{batch, height, width, images.dim(3)}));
}

void DecodeImageShape(ShapeContext& c) {
  int64_t channels = c.Int("channels");
  Shape image(Dims{kUnknownDim, kUnknownDim, channels == 0 ? kUnknownDim : channels});
  if (c.op() == "DecodeGif") image = Shape(Dims{kUnknownDim, kUnknownDim, kUnknownDim, 3});
  // An animated image has a fourth dimension, so the rank is unknown.
  if (c.op() == "DecodeImage" && c.Bool("expand_animations", true)) image = Shape::Unknown();
  c.Out(0, std::move(image));
}

// The input is an image or a batch of images: its last dimensions are [height, width, channels].
void PixelsShape(ShapeContext& c) { c.Out(0, c.WithRankAtLeast(0, 3)); }

// The input has RGB or HSV pixels: its last dimension is the three channels.
void ThreeChannelsShape(ShapeContext& c) {
  Shape image = c.WithRankAtLeast(0, 1);
  if (!image.known_rank() || image.rank() == 0) return;
  image.set_dim(image.rank() - 1,
                c.Equal(image.dim(image.rank() - 1), 3, "the number of channels and 3"));
  c.Out(0, std::move(image));
}

// The outputs, depending on the version of the op: indices, scores (V5), the number of valid
// indices (V4, V5).
void NonMaxSuppressionShape(ShapeContext& c) {
  Shape boxes = c.WithRank(0, 2), scores = c.WithRank(1, 1);
  c.Equal(boxes.dim(0), scores.dim(0), "boxes and scores");
  int64_t count = c.Bool("pad_to_max_output_size") ? c.SizeFrom(2) : kUnknownDim;
  c.Out(0, VectorOf(count));
  if (c.num_outputs() == 3) c.Out(1, VectorOf(count));
  if (c.num_outputs() > 1) c.Out(c.num_outputs() - 1, Shape::Scalar());
}

void CombinedNonMaxSuppressionShape(ShapeContext& c) {
  Shape boxes = c.WithRank(0, 4), scores = c.WithRank(1, 3);
  std::optional<int64_t> per_class = c.integer(2), total = c.integer(3);
  int64_t batch = c.Equal(boxes.dim(0), scores.dim(0), "batch sizes"), count = kUnknownDim;
  if (total && *total >= 0 && !c.Bool("pad_per_class")) count = *total;
  if (total && per_class && *total >= 0 && c.Bool("pad_per_class") && scores.dim(2) >= 0) {
    count = std::min(*total, MulDims(*per_class, scores.dim(2)));
  }
  c.Out(0, Shape(Dims{batch, count, 4}));
  c.Out(1, MatrixOf(batch, count));
  c.Out(2, MatrixOf(batch, count));
  c.Out(3, VectorOf(batch));
}

void SampleBoxShape(ShapeContext& c) {
  c.Out(0, VectorOf(3));
  c.Out(1, VectorOf(3));
  c.Out(2, Shape(Dims{1, 1, 4}));
}

// The output has a string for each image.
void EncodePngShape(ShapeContext& c) { c.Out(0, SubShape(c.WithRankAtLeast(0, 3), 0, -3)); }

void JpegShapeShape(ShapeContext& c) { c.Out(0, VectorOf(3)); }

void DecodeWavShape(ShapeContext& c) {
  int64_t samples = c.Int("desired_samples", -1), channels = c.Int("desired_channels", -1);
  c.Out(0, MatrixOf(samples < 0 ? kUnknownDim : samples, channels < 0 ? kUnknownDim : channels));
  c.Out(1, Shape::Scalar());
}

void SpectrogramShape(ShapeContext& c) {
  Shape input = c.WithRank(0, 2);
  int64_t window = c.Int("window_size"), stride = c.Int("stride"), bins = 1;
  if (window <= 0 || stride <= 0) return;
  while (bins < window && bins < (int64_t{1} << 40)) bins *= 2;
  int64_t samples = input.dim(0), rows = kUnknownDim;
  if (samples >= 0) rows = samples < window ? 0 : 1 + (samples - window) / stride;
  c.Out(0, Shape(Dims{input.dim(1), rows, 1 + bins / 2}));
}

void MfccShape(ShapeContext& c) {
  Shape spectrogram = c.WithRank(0, 3);
  spectrogram.set_dim(2, c.Int("dct_coefficient_count", kUnknownDim));
  c.Out(0, std::move(spectrogram));
}

constexpr ShapeRule kRules[] = {
    {"ResizeArea", ResizeShape},
    {"ResizeBicubic", ResizeShape},
    {"ResizeBilinear", ResizeShape},
    {"ResizeNearestNeighbor", ResizeShape},
    {"ScaleAndTranslate", ResizeShape},
    {"QuantizedResizeBilinear", QuantizedResizeShape},
    {"ResizeBicubicGrad", OriginalImageShape},
    {"ResizeBilinearGrad", OriginalImageShape},
    {"ScaleAndTranslateGrad", OriginalImageShape},
    {"ResizeNearestNeighborGrad", ResizeNearestGradShape},
    {"ImageProjectiveTransformV2", TransformShape},
    {"ImageProjectiveTransformV3", TransformShape},
    {"CropAndResize", CropAndResizeShape},
    {"CropAndResizeGradImage", CropGradImageShape},
    {"CropAndResizeGradBoxes", CropGradBoxesShape},
    {"ExtractGlimpse", GlimpseShape},
    {"ExtractGlimpseV2", GlimpseShape},
    {"DecodeAndCropJpeg", DecodeImageShape},
    {"DecodeBmp", DecodeImageShape},
    {"DecodeGif", DecodeImageShape},
    {"DecodeImage", DecodeImageShape},
    {"DecodeJpeg", DecodeImageShape},
    {"DecodePng", DecodeImageShape},
    {"EncodeJpeg", ScalarOutputs},
    {"EncodePng", EncodePngShape},
    {"EncodeWav", ScalarOutputs},
    {"ExtractJpegShape", JpegShapeShape},
    {"AdjustContrast", PixelsShape},
    {"AdjustContrastv2", PixelsShape},
    {"AdjustHue", PixelsShape},
    {"AdjustSaturation", PixelsShape},
    {"HSVToRGB", ThreeChannelsShape},
    {"RGBToHSV", ThreeChannelsShape},
    {"DrawBoundingBoxes", PixelsShape},
    {"DrawBoundingBoxesV2", PixelsShape},
    {"NonMaxSuppression", NonMaxSuppressionShape},
    {"NonMaxSuppressionV2", NonMaxSuppressionShape},
    {"NonMaxSuppressionWithOverlaps", NonMaxSuppressionShape},
    {"NonMaxSuppressionV3", NonMaxSuppressionShape},
    {"NonMaxSuppressionV4", NonMaxSuppressionShape},
    {"NonMaxSuppressionV5", NonMaxSuppressionShape},
    {"CombinedNonMaxSuppression", CombinedNonMaxSuppressionShape},
    {"SampleDistortedBoundingBox", SampleBoxShape},
    {"SampleDistortedBoundingBoxV2", SampleBoxShape},
    {"StatelessSampleDistortedBoundingBox", SampleBoxShape},
    {"DecodeWav", DecodeWavShape},
    {"AudioSpectrogram", SpectrogramShape},
    {"Mfcc", MfccShape},
};

}  // namespace

llvm::ArrayRef<ShapeRule> ImageShapeRules() { return kRules; }

}  // namespace grapnel
