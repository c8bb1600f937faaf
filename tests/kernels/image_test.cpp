// Color conversions and back, gradients of resizing, and combined non-max suppression.
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

// --- Colors

TEST(KernelColor, ThereAndBack) {
  Tensor rgb = Floats({4, 3}, {0.5f, 0.25f, 0, 0, 1, 0.5f, 0.3f, 0.3f, 0.3f, 0, 0, 0});
  Tensor hsv = OpRun("RGBToHSV").In(rgb).One();
  ExpectNear(hsv, {1 / 12.0f, 1, 0.5f, 5 / 12.0f, 1, 1, 0, 0, 0.3f, 0, 0, 0});
  ExpectNear(OpRun("HSVToRGB").In(hsv).One(), Values<float>(rgb));
  EXPECT_EQ(OpRun("RGBToHSV").In(Iota<float>({2, 4})).ErrorText(),
            "the last dimension must be 3 channels, got shape [2,4]");
  EXPECT_EQ(DimsOf(OpRun("HSVToRGB").In(Floats({0, 3}, {})).One()), (D{0, 3}));
}

// --- CropAndResize

// --- Sizes

TEST(KernelResize, Gradients) {
  Tensor grads = Floats({1, 1, 4, 1}, {1, 2, 4, 8}), image = Iota<float>({1, 1, 2, 1});
  ExpectNear(OpRun("ResizeBilinearGrad").In(grads).In(image).One(), {2, 13});
  ExpectNear(OpRun("ResizeNearestNeighborGrad").In(grads).In(Vec<int32_t>({1, 2})).One(), {3, 12});
  Tensor cubic = OpRun("ResizeBicubicGrad").In(grads).In(image).One();
  EXPECT_NEAR(cubic.data<float>()[0] + cubic.data<float>()[1], 15, 1e-5);
  EXPECT_EQ(OpRun("ResizeBilinearGrad").In(grads).In(Iota<float>({2, 1, 2, 1})).ErrorText(),
            "original_image must have rank 4 and the batch and channels of grads, whose shape is "
            "[1,1,4,1], got shape [2,1,2,1]");
}

// A pixel's position is a product that is rounded before the half is subtracted: here that decides
// between two steps of bicubic's table. The expected number is TensorFlow's.
TEST(KernelResize, BicubicPlacesAreRounded) {
  std::vector<float> wide = Values<float>(OpRun("ResizeBicubic")
                                              .In(Floats({1, 1, 5, 1}, {0, 0, 0, 0, 1024}))
                                              .In(Vec<int32_t>({1, 1131}))
                                              .Attr("half_pixel_centers", attr::Bool(true))
                                              .One());
  EXPECT_NEAR(wide[1010], 1005.6292f, 0.01f);
}

// --- Boxes

Tensor Boxes() { return Floats({4, 4}, {0, 0, 1, 1, 0, 0, 1, 0.9f, 0, 2, 1, 3, 1, 3, 0, 2}); }

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
