// Gradients of activations and batch norm.
#include <cmath>
#include <limits>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using Fs = std::vector<float>;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

void ExpectNear(const Tensor& got, const Fs& want, float tolerance = 1e-5f) {
  Fs values = Values<float>(got);
  ASSERT_EQ(values.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(values[i], want[i], tolerance) << i;
}

Fs Of(const char* op, Fs a, Fs b) {
  return Values<float>(OpRun(op).In(Vec<float>(std::move(a))).In(Vec<float>(std::move(b))).One());
}

TEST(KernelActivationGradient, OnBothSidesOfTheCorner) {
  EXPECT_EQ(Of("ReluGrad", {5, 5, 5}, {-1, 0, 2}), (Fs{0, 0, 5}));
  EXPECT_EQ(Of("Relu6Grad", {5, 5, 5}, {2, 6, 7}), (Fs{5, 0, 0}));
  EXPECT_EQ(Of("EluGrad", {4, 4}, {-0.5f, 2}), (Fs{2, 4}));
  EXPECT_EQ(Of("SoftsignGrad", {4, 4}, {-1, 0}), (Fs{1, 4}));
  EXPECT_EQ(Of("SoftplusGrad", {4}, {0}), (Fs{2}));
  EXPECT_EQ(Of("TanhGrad", {0.5f}, {4}), (Fs{3}));
  EXPECT_EQ(Of("SigmoidGrad", {0.25f}, {4}), (Fs{0.75f}));
  EXPECT_EQ(Of("ReciprocalGrad", {3}, {2}), (Fs{-18}));
  EXPECT_EQ(Of("SqrtGrad", {4}, {2}), (Fs{0.25f}));
  EXPECT_EQ(Of("RsqrtGrad", {2}, {3}), (Fs{-12}));
  Tensor leaky = OpRun("LeakyReluGrad")
                     .In(Vec<float>({8, 8}))
                     .In(Vec<float>({-1, 1}))
                     .Attr("alpha", attr::Float(0.5f))
                     .One();
  EXPECT_EQ(Values<float>(leaky), (Fs{4, 8}));
  EXPECT_TRUE(std::isnan(Of("ReluGrad", {kNaN}, {-1})[0]));
  EXPECT_EQ(Values<int32_t>(OpRun("ReluGrad").In(Ints({2}, {3, 4})).In(Ints({2}, {-1, 1})).One()),
            (std::vector<int32_t>{0, 4}));
  Tensor z = OpRun("TanhGrad").In(Vec<Complex64>({{0, 1}})).In(Vec<Complex64>({{1, 1}})).One();
  EXPECT_EQ(Values<Complex64>(z), (std::vector<Complex64>{{2, 2}}));
  Tensor w = OpRun("ReciprocalGrad").In(Vec<Complex64>({{1, 1}})).In(Vec<Complex64>({1})).One();
  EXPECT_EQ(Values<Complex64>(w), (std::vector<Complex64>{{0, 2}}));
  EXPECT_EQ(Of("ReluGrad", {}, {}), Fs{});
  EXPECT_EQ(OpRun("ReluGrad").In(Vec<float>({1})).In(Vec<float>({1, 2})).ErrorText(),
            "both inputs must have the same shape, got shapes [1] and [2]");
}

OpRun NormGradient(bool training, const char* format = "NHWC") {
  bool first = format[1] == 'C';
  std::vector<int64_t> dims =
      first ? std::vector<int64_t>{1, 1, 2, 2} : std::vector<int64_t>{1, 2, 2, 1};
  OpRun run("FusedBatchNormGradV3");
  run.In(Floats(dims, {1, 2, 3, 4})).In(Floats(dims, {1, 3, 5, 7}));
  run.In(Vec<float>({2})).In(Vec<float>({4})).In(Vec<float>({5})).In(Floats({0}, {}));
  run.Attr("epsilon", attr::Float(0)).Attr("is_training", attr::Bool(training));
  run.Attr("data_format", attr::String(format));
  run.Out(std::vector<DataType>(5, proto::DT_FLOAT));
  return run;
}

TEST(KernelBatchNormGradient, TrainingAndInference) {
  // The gradient is linear in x, so nothing remains after removing mean and slope.
  for (const char* format : {"NHWC", "NCHW"}) {
    auto out = NormGradient(true, format).All();
    ExpectNear(out[0], {0, 0, 0, 0});
    ExpectNear(out[1], {10 / std::sqrt(5.0f)});
    ExpectNear(out[2], {10});
    EXPECT_EQ(DimsOf(out[3]), std::vector<int64_t>{});
  }
  float factor = 2 / std::sqrt(5.0f);
  ExpectNear(NormGradient(false).All()[0], {factor, 2 * factor, 3 * factor, 4 * factor});
}

}  // namespace
}  // namespace grapnel
