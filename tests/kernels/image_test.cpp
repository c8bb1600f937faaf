// Colours, crops, sizes of images and boxes on them.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using V = std::vector<int32_t>;
using D = std::vector<int64_t>;
using Fs = std::vector<float>;

void ExpectNear(const Tensor& got, const Fs& want, float tolerance = 1e-5f) {
  Fs values = Values<float>(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << i;
}

// --- Colours

TEST(KernelColor, ThereAndBack) {
  Tensor rgb = Floats({4, 3}, {0.5f, 0.25f, 0, 0, 1, 0.5f, 0.3f, 0.3f, 0.3f, 0, 0, 0});
  Tensor hsv = OpRun("RGBToHSV").In(rgb).One();
  ExpectNear(hsv, {1 / 12.0f, 1, 0.5f, 5 / 12.0f, 1, 1, 0, 0, 0.3f, 0, 0, 0});
  ExpectNear(OpRun("HSVToRGB").In(hsv).One(), Values<float>(rgb));
  EXPECT_EQ(OpRun("RGBToHSV").In(Iota<float>({2, 4})).ErrorText(),
            "the last dimension must be 3 channels, not shape [2,4]");
  EXPECT_EQ(DimsOf(OpRun("HSVToRGB").In(Floats({0, 3}, {})).One()), (D{0, 3}));
}

TEST(KernelColor, Adjusts) {
  auto run = [](const char* op, Tensor x, float by) {
    return OpRun(op).In(std::move(x)).In(Scalar(by));
  };
  Tensor red = Floats({1, 1, 3}, {1, 0, 0});
  ExpectNear(run("AdjustHue", red, 1 / 3.0f).One(), {0, 1, 0});
  ExpectNear(run("AdjustHue", red, -1 / 3.0f).One(), {0, 0, 1});
  ExpectNear(run("AdjustSaturation", red, 0.5f).One(), {1, 0.5f, 0.5f});
  ExpectNear(run("AdjustContrastv2", Floats({1, 2, 1}, {1, 3}), 2).One(), {0, 4});
  EXPECT_EQ(run("AdjustHue", Iota<float>({1, 3}), 1).ErrorText(),
            "images must have rank 3 or more, not shape [1,3]");
  EXPECT_EQ(OpRun("AdjustHue").In(red).In(Vec<float>({1, 2})).ErrorText(),
            "delta must be a scalar, not [2]");
  EXPECT_EQ(DimsOf(run("AdjustContrastv2", Floats({0, 2, 2, 1}, {}), 2).One()), (D{0, 2, 2, 1}));
}

// --- CropAndResize

OpRun Crop(Fs box, int32_t of, const char* method = "bilinear") {
  OpRun run("CropAndResize");
  run.In(Iota<float>({1, 3, 3, 1})).In(Floats({1, 4}, std::move(box))).In(Vec<int32_t>({of}));
  run.In(Vec<int32_t>({2, 2})).Attr("method", attr::String(method));
  run.Attr("extrapolation_value", attr::Float(-1)).Out({proto::DT_FLOAT});
  return run;
}

TEST(KernelCropAndResize, BilinearAndNearest) {
  ExpectNear(Crop({0, 0, 0.5f, 0.25f}, 0).One(), {0, 0.5f, 3, 3.5f});
  ExpectNear(Crop({0, 0, 0.5f, 0.2f}, 0, "nearest").One(), {0, 0, 3, 3});
  ExpectNear(Crop({1, 1, 0, 1.5f}, 0).One(), {8, -1, 2, -1});
  EXPECT_EQ(Crop({0, 0, 1, 1}, 1).ErrorText(), "box_ind[0] = 1 is not in [0, 1)");
  EXPECT_EQ(Crop({0, 0, 1, NAN}, 0).ErrorText(), "box 0 has a number that is not finite");
  EXPECT_EQ(Crop({0, 0, 1, 1}, 0, "cubic").ErrorText(),
            "method 'cubic' is not bilinear or nearest");
}

TEST(KernelCropAndResize, Gradients) {
  Tensor image = OpRun("CropAndResizeGradImage")
                     .In(Floats({1, 1, 2, 1}, {1, 2}))
                     .In(Floats({1, 4}, {0, 0, 0, 0.5f}))
                     .In(Vec<int32_t>({0}))
                     .In(Vec<int32_t>({1, 1, 3, 1}))
                     .Attr("T", attr::Type(proto::DT_FLOAT))
                     .Out({proto::DT_FLOAT})
                     .One();
  ExpectNear(image, {1, 2, 0});
  Tensor boxes = OpRun("CropAndResizeGradBoxes")
                     .In(Floats({1, 1, 2, 1}, {1, 2}))
                     .In(Floats({1, 1, 3, 1}, {0, 10, 30}))
                     .In(Floats({1, 4}, {0, 0.25f, 0, 0.75f}))
                     .In(Vec<int32_t>({0}))
                     .Out({proto::DT_FLOAT})
                     .One();
  ExpectNear(boxes, {0, 20, 0, 80});
}

// --- Sizes

OpRun Resize(const char* op, Tensor x, V size, bool centers = false) {
  OpRun run(op);
  run.In(std::move(x)).In(Vec<int32_t>(std::move(size)));
  run.Attr("half_pixel_centers", attr::Bool(centers)).Out({proto::DT_FLOAT});
  return run;
}

TEST(KernelResize, AreaAndBicubic) {
  ExpectNear(Resize("ResizeArea", Iota<float>({1, 2, 4, 1}), {1, 2}).One(), {2.5f, 4.5f});
  ExpectNear(Resize("ResizeArea", Floats({1, 1, 3, 1}, {0, 3, 6}), {1, 2}).One(), {1, 5});
  // At whole pixels a cubic is exact.
  ExpectNear(Resize("ResizeBicubic", Iota<float>({1, 2, 4, 1}), {1, 2}).One(), {0, 2});
  ExpectNear(Resize("ResizeBicubic", Iota<float>({1, 1, 3, 1}), {1, 3}, true).One(), {0, 1, 2});
  ExpectNear(Resize("ResizeBicubic", Floats({1, 1, 4, 1}, {0, 0, 1, 1}), {1, 8}).One(),
             {0, 0, 0, 0.5f, 1, 1.09375f, 1, 1}, 0.1f);
  EXPECT_EQ(DimsOf(Resize("ResizeArea", Floats({0, 2, 2, 1}, {}), {1, 2}).One()), (D{0, 1, 2, 1}));
  EXPECT_EQ(Resize("ResizeArea", Iota<float>({2, 2}), {1, 2}).ErrorText(),
            "images must be [batch, height, width, channels], not [2,2]");
  EXPECT_EQ(Resize("ResizeBicubic", Iota<float>({1, 2, 2, 1}), {0, 2}).ErrorText(),
            "output dimensions must be positive, got 0 x 2");
}

TEST(KernelResize, Gradients) {
  Tensor grads = Floats({1, 1, 4, 1}, {1, 2, 4, 8}), image = Iota<float>({1, 1, 2, 1});
  ExpectNear(OpRun("ResizeBilinearGrad").In(grads).In(image).One(), {2, 13});
  ExpectNear(OpRun("ResizeNearestNeighborGrad").In(grads).In(Vec<int32_t>({1, 2})).One(), {3, 12});
  Tensor cubic = OpRun("ResizeBicubicGrad").In(grads).In(image).One();
  EXPECT_NEAR(cubic.data<float>()[0] + cubic.data<float>()[1], 15, 1e-5);
  EXPECT_EQ(OpRun("ResizeBilinearGrad").In(grads).In(Iota<float>({2, 1, 2, 1})).ErrorText(),
            "original_image must have batch and channels of grads [1,1,4,1], not shape [2,1,2,1]");
}

// --- Boxes

Tensor Boxes() { return Floats({4, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9f, 0, 2, 1, 3, 1, 3, 0, 2}); }

OpRun Nms(const char* op, Fs scores, int32_t most, float iou, float score) {
  OpRun run(op);
  run.In(Boxes()).In(Vec<float>(std::move(scores))).In(Scalar(most));
  run.In(Scalar(iou)).In(Scalar(score)).Out({proto::DT_INT32});
  return run;
}

TEST(KernelNonMaxSuppression, DropsWhatOverlaps) {
  EXPECT_EQ(Values<int32_t>(Nms("NonMaxSuppressionV3", {1, 2, 3, 3}, 4, 0.5f, 0).One()), (V{2, 1}));
  EXPECT_EQ(Values<int32_t>(Nms("NonMaxSuppressionV3", {1, 2, 3, 4}, 1, 0.5f, 0).One()), V{3});
  EXPECT_EQ(Values<int32_t>(Nms("NonMaxSuppressionV3", {1, 2, 3, 3}, 4, 0.95f, 1.5f).One()),
            (V{2, 1}));
  auto padded = Nms("NonMaxSuppressionV4", {1, 2, 3, 3}, 3, 0.5f, 0)
                    .Attr("pad_to_max_output_size", attr::Bool(true))
                    .Out({proto::DT_INT32, proto::DT_INT32})
                    .All();
  EXPECT_EQ(Values<int32_t>(padded[0]), (V{2, 1, 0}));
  EXPECT_EQ(Values<int32_t>(padded[1]), V{2});
}

TEST(KernelNonMaxSuppression, LowersScores) {
  auto soft = Nms("NonMaxSuppressionV5", {1, 2, 3, 0.1f}, 4, 1, 0)
                  .In(Scalar(0.5f))
                  .Out({proto::DT_INT32, proto::DT_FLOAT, proto::DT_INT32})
                  .All();
  EXPECT_EQ(Values<int32_t>(soft[0]), (V{2, 1, 0, 3}));
  ExpectNear(soft[1], {3, 2, std::exp(-0.81f), 0.1f * std::exp(-1.0f)});
  EXPECT_EQ(Values<int32_t>(soft[2]), V{4});
}

TEST(KernelNonMaxSuppression, Errors) {
  EXPECT_EQ(Nms("NonMaxSuppressionV3", {1}, 4, 0.5f, 0).ErrorText(),
            "scores must be a vector of 4, not [1]");
  EXPECT_EQ(Nms("NonMaxSuppressionV3", {1, 1, 1, 1}, -1, 0.5f, 0).ErrorText(),
            "max_output_size must not be negative, got -1");
  EXPECT_EQ(Nms("NonMaxSuppressionV3", {1, 1, 1, 1}, 1, 1.5f, 0).ErrorText(),
            "iou_threshold must be in [0, 1], got 1.50");
}

TEST(KernelCombinedNonMaxSuppression, TakesTheBestOfAllClasses) {
  auto run = [](int32_t per_class, int32_t total, bool pad) {
    return OpRun("CombinedNonMaxSuppression")
        .In(Boxes().Reshaped({1, 4, 1, 4}))
        .In(Floats({1, 4, 2}, {0.9f, 0.2f, 0.8f, 0.6f, 0.1f, 0.7f, 0, 0}))
        .In(Scalar(per_class))
        .In(Scalar(total))
        .In(Scalar(0.5f))
        .In(Scalar(0.15f))
        .Attr("pad_per_class", attr::Bool(pad))
        .Out({proto::DT_FLOAT, proto::DT_FLOAT, proto::DT_FLOAT, proto::DT_INT32});
  };
  auto out = run(2, 5, false).All();
  EXPECT_EQ(Values<float>(out[1]), (Fs{0.9f, 0.7f, 0.6f, 0, 0}));
  EXPECT_EQ(Values<float>(out[2]), (Fs{0, 1, 1, 0, 0}));
  EXPECT_EQ(Values<int32_t>(out[3]), V{3});
  EXPECT_EQ((Fs(out[0].data<float>() + 4, out[0].data<float>() + 8)), (Fs{0, 1, 1, 1}));
  EXPECT_EQ(DimsOf(run(2, 5, true).All()[1]), (D{1, 4}));
  EXPECT_EQ(run(0, 5, true).ErrorText(), "max_output_size_per_class must be positive, got 0");
}

}  // namespace
}  // namespace grapnel
