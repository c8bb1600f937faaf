// Kernels that move, pool and draw on images: what they refuse. Values of TensorFlow's are in
// testdata.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;

std::string FloatList(const std::vector<float>& values) {
  proto::AttrValue attr;
  for (float value : values) attr.mutable_list()->add_f(value);
  return attr.SerializeAsString();
}

TEST(KernelDilation, RefusesFiltersOfOtherChannels) {
  auto dilate = [](Tensor filter) {
    return OpRun("Dilation2D")
        .In(Iota<float>({1, 3, 3, 2}))
        .In(std::move(filter))
        .Attr("strides", attr::Ints({1, 1, 1, 1}))
        .Attr("rates", attr::Ints({1, 1, 1, 1}))
        .Attr("padding", attr::String("VALID"));
  };
  EXPECT_EQ(DimsOf(dilate(Iota<float>({2, 2, 2})).One()), (D{1, 2, 2, 2}));
  EXPECT_EQ(dilate(Iota<float>({2, 2, 3})).ErrorText(),
            "input and filter must have as many channels: 2 vs. 3");
  EXPECT_EQ(dilate(Iota<float>({2, 2})).ErrorText(),
            "the filter must have rank 3, got shape [2,2]");
}

TEST(KernelFractionalPool, RefusesSequencesThatLeaveTheImage) {
  auto pool = [](const std::vector<float>& ratio) {
    return OpRun("FractionalMaxPool")
        .In(Iota<float>({1, 4, 4, 1}))
        .Attr("pooling_ratio", FloatList(ratio))
        .Out({proto::DT_FLOAT, proto::DT_INT64, proto::DT_INT64});
  };
  EXPECT_EQ(DimsOf(pool({1, 2, 1.5f, 1}).One()), (D{1, 2, 2, 1}));
  EXPECT_EQ(pool({1, 9, 1, 1}).ErrorText(), "pooling_ratio[1] = 9.00 leaves nothing of 4");
  EXPECT_EQ(pool({1, 2, 2}).ErrorText(),
            "pooling_ratio must have 4 numbers, 1 for batch and channels");
  EXPECT_EQ(pool({1, 0.5f, 2, 1}).ErrorText(), "pooling_ratio must be 1 or more, got 0.50");
  auto gradient = [](std::vector<int64_t> rows) {
    return OpRun("FractionalAvgPoolGrad")
        .In(Vec<int64_t>({1, 4, 4, 1}))
        .In(Iota<float>({1, 2, 2, 1}))
        .In(Vec<int64_t>(std::move(rows)))
        .In(Vec<int64_t>({0, 2, 4}))
        .Out({proto::DT_FLOAT});
  };
  EXPECT_EQ(gradient({0, 2, 9}).ErrorText(),
            "row_pooling_sequence[2] = 9 does not rise within [0, 4]");
  EXPECT_EQ(gradient({0, 2, 1}).ErrorText(),
            "row_pooling_sequence[2] = 1 does not rise within [0, 4]");
  EXPECT_EQ(gradient({0, 2}).ErrorText(),
            "row_pooling_sequence must have 3 elements, got shape [2]");
}

TEST(KernelProjectiveTransform, SurvivesPlacesThatAreNone) {
  auto transform = [](const std::vector<float>& t, std::vector<int32_t> size) {
    return OpRun("ImageProjectiveTransformV2")
        .In(Iota<float>({1, 2, 2, 1}))
        .In(Floats({1, static_cast<int64_t>(t.size())}, t))
        .In(Vec(std::move(size)))
        .Attr("dtype", attr::Type(proto::DT_FLOAT))
        .Attr("interpolation", attr::String("BILINEAR"));
  };
  float nan = std::nanf(""), inf = INFINITY;
  EXPECT_EQ(DimsOf(transform({nan, 0, 0, 0, inf, 0, 0, 0}, {2, 2}).One()), (D{1, 2, 2, 1}));
  EXPECT_EQ(transform({1, 0, 0}, {2, 2}).ErrorText(),
            "transforms must be [1 or 1,8], got shape [1,3]");
  EXPECT_EQ(transform({1, 0, 0, 0, 1, 0, 0, 0}, {0, 2}).ErrorText(),
            "output_shape must be two positive numbers");
}

TEST(KernelScaleAndTranslate, RefusesWhatIsNoSize) {
  auto resample = [](std::vector<int32_t> size, std::vector<float> scale) {
    return OpRun("ScaleAndTranslate")
        .In(Iota<float>({1, 2, 2, 1}))
        .In(Vec(std::move(size)))
        .In(Vec(std::move(scale)))
        .In(Vec<float>({0, 0}));
  };
  EXPECT_EQ(DimsOf(resample({3, 1}, {1.5f, 0.5f}).One()), (D{1, 3, 1, 1}));
  EXPECT_EQ(resample({3, 1}, {0, 1}).ErrorText(), "scale must be positive, got 0.00, 1.00");
  EXPECT_EQ(resample({0, 1}, {1, 1}).ErrorText(), "an image of 2 x 2 cannot become one of 0 x 1");
}

TEST(KernelBoundingBoxes, DrawsNothingOfBoxesThatAreNone) {
  auto draw = [](int64_t channels, std::vector<float> box) {
    return OpRun("DrawBoundingBoxes")
        .In(Floats({1, 2, 2, channels}, std::vector<float>(4 * channels, 0.25f)))
        .In(Floats({1, 1, 4}, std::move(box)));
  };
  std::vector<float> grey(4, 0.25f);
  EXPECT_EQ(Values<float>(draw(1, {0, 0, std::nanf(""), 1}).One()), grey);
  EXPECT_EQ(Values<float>(draw(1, {1, 1, 0, 0}).One()), grey);
  EXPECT_EQ(Values<float>(draw(1, {1e30f, 1e30f, 2e30f, 2e30f}).One()), grey);
  EXPECT_EQ(Values<float>(draw(1, {0, 0, 0, 0}).One()),
            (std::vector<float>{1, 0.25f, 0.25f, 0.25f}));
  EXPECT_EQ(draw(2, {0, 0, 1, 1}).ErrorText(), "images must have 1, 3 or 4 channels, got 2");
}

TEST(KernelGlimpse, RefusesNoiseOfTwoKinds) {
  auto glimpse = [](const char* noise) {
    return OpRun("ExtractGlimpse")
        .In(Iota<float>({1, 2, 2, 1}))
        .In(Vec<int32_t>({1, 1}))
        .In(Floats({1, 2}, {std::nanf(""), 0}))
        .Attr("noise", attr::String(noise));
  };
  EXPECT_EQ(DimsOf(glimpse("uniform").One()), (D{1, 1, 1, 1}));
  EXPECT_EQ(glimpse("zero").ErrorText(), "noise 'zero' needs uniform_noise to be false");
  EXPECT_EQ(glimpse("pink").ErrorText(), "noise must be uniform, gaussian or zero, got 'pink'");
}

}  // namespace
}  // namespace grapnel
