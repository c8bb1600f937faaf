// Kernels that sample images: errors.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;

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
  EXPECT_EQ(resample({0, 1}, {1, 1}).ErrorText(),
            "an image of 2 x 2 cannot become one of 0 x 1: all four sizes must be at least 1");
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
