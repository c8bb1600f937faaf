// Rounding to quantized levels, where NaN or small differences matter.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using Fs = std::vector<float>;

OpRun Fake(Fs x, float low, float high) {
  OpRun run("FakeQuantWithMinMaxVars");
  run.In(Vec<float>(std::move(x))).In(Scalar(low)).In(Scalar(high)).Attr("num_bits", attr::Int(2));
  return run;
}

TEST(KernelFakeQuant, RoundsWithinANudgedRange) {
  EXPECT_EQ(Values<float>(Fake({-9, -0.6f, 0.4f, 0.6f, 9}, -1, 2).One()), (Fs{-1, -1, 0, 1, 2}));
  // 0 must be exact: the range moves up to it.
  EXPECT_EQ(Values<float>(Fake({0, 1, 9}, 2, 5).One()), (Fs{0, 1, 3}));
  EXPECT_EQ(Values<float>(Fake({-1, 1}, 0, 0).One()), (Fs{0, 0}));
  EXPECT_TRUE(std::isnan(Values<float>(Fake({NAN}, -1, 2).One())[0]));
  EXPECT_EQ(Values<float>(Fake({}, -1, 2).One()), Fs{});
  EXPECT_EQ(Fake({1}, -1, 2).Attr("num_bits", attr::Int(17)).ErrorText(),
            "num_bits must be in [2, 16], got 17");
  EXPECT_EQ(OpRun("FakeQuantWithMinMaxArgs")
                .In(Vec<float>({1}))
                .Attr("min", attr::Float(3))
                .Attr("max", attr::Float(1))
                .ErrorText(),
            "min must be below max, got 3.00 and 1.00");
}

std::vector<int> Levels(const Tensor& tensor, bool is_signed) {
  std::vector<int> levels;
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    levels.push_back(is_signed ? *(static_cast<const int8_t*>(tensor.raw()) + i)
                               : *(static_cast<const uint8_t*>(tensor.raw()) + i));
  }
  return levels;
}

// Where TensorFlow has oneDNN enabled, oneDNN rounds inputs that are not constant. The expected
// values are those of TensorFlow 2.21 with TF_ENABLE_ONEDNN_OPTS=1 and 0.
TEST(KernelQuantize, RoundsAsOneDnnWhereThatIsOn) {
  auto run = [](bool onednn, Fs x, float low, float high, DataType type, const char* mode,
                const char* round) {
    return OpRun("QuantizeV2")
        .OneDnn(onednn)
        .In(Vec<float>(std::move(x)))
        .In(Scalar(low))
        .In(Scalar(high))
        .Attr("T", attr::Type(type))
        .Attr("mode", attr::String(mode))
        .Attr("round_mode", attr::String(round))
        .Out({type, proto::DT_FLOAT, proto::DT_FLOAT})
        .All();
  };
  using Levels8 = std::vector<int>;
  constexpr const char *kAway = "HALF_AWAY_FROM_ZERO", *kEven = "HALF_TO_EVEN";
  Fs x = {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 100.5f, -3.5f, -2.4999998f, -0.49999997f};
  auto first = [&](bool onednn, Fs in, float low, float high) {
    return Levels(run(onednn, std::move(in), low, high, proto::DT_QUINT8, "MIN_FIRST", kAway)[0],
                  false);
  };
  EXPECT_EQ(first(true, x, -3, 252), (Levels8{0, 2, 2, 4, 4, 104, 0, 1, 2}));
  EXPECT_EQ(first(false, x, -3, 252), (Levels8{0, 1, 2, 4, 5, 104, 0, 1, 3}));
  Fs z = {-3.0f, -2.9f, -2.0f, 1.0f, 3.3f, 7.0f};
  EXPECT_EQ(first(true, z, -3, 4), (Levels8{0, 4, 36, 146, 229, 255}));
  EXPECT_EQ(first(false, z, -3, 4), (Levels8{0, 3, 36, 145, 229, 255}));

  Fs a = {-4.1f, -0.3f, 2.5f, 3.9f, 7.0f};
  auto with = run(true, a, -4, 3, proto::DT_QINT8, "SCALED", kEven);
  auto without = run(false, a, -4, 3, proto::DT_QINT8, "SCALED", kEven);
  EXPECT_EQ(Levels(with[0], true), (Levels8{-128, -10, 80, 124, 127}));
  EXPECT_EQ(Values<float>(with[2])[0], 4);
  EXPECT_EQ(Levels(without[0], true), (Levels8{-128, -10, 80, 125, 127}));
  EXPECT_EQ(Values<float>(without[2])[0], 3.96875f);
}

TEST(KernelQuantizedAvgPool, CutsOffWithoutOneDnn) {
  auto run = [](bool onednn, Tensor x) {
    DataType type = x.dtype();
    return OpRun("QuantizedAvgPool")
        .OneDnn(onednn)
        .In(std::move(x))
        .In(Scalar(-1.0f))
        .In(Scalar(1.0f))
        .Attr("ksize", attr::Ints({1, 2, 2, 1}))
        .Attr("strides", attr::Ints({1, 1, 1, 1}))
        .Attr("padding", attr::String("VALID"))
        .Out({type, proto::DT_FLOAT, proto::DT_FLOAT})
        .All()[0];
  };
  Tensor small = Make<int8_t>({1, 2, 4, 1}, {-3, -2, 0, 1, 5, 6, -7, -8}).Bitcast(proto::DT_QINT8);
  EXPECT_EQ(Levels(run(true, small), true), (std::vector<int>{2, -1, -4}));
  EXPECT_EQ(Levels(run(false, small), true), (std::vector<int>{1, 0, -3}));
  Tensor large = Make<uint8_t>({1, 2, 4, 1}, {3, 2, 0, 1, 5, 6, 7, 8}).Bitcast(proto::DT_QUINT8);
  EXPECT_EQ(Levels(run(true, large), false), (std::vector<int>{4, 4, 4}));
  EXPECT_EQ(Levels(run(false, large), false), (std::vector<int>{4, 3, 4}));
}

TEST(KernelDequantize, InEachMode) {
  auto run = [](const char* mode) {
    Tensor levels = Vec<int8_t>({-128, 0, 127}).Bitcast(proto::DT_QINT8);
    Tensor out = OpRun("Dequantize")
                     .In(levels)
                     .In(Scalar(-128.0f))
                     .In(Scalar(127.0f))
                     .Attr("mode", attr::String(mode))
                     .Out({proto::DT_FLOAT})
                     .One();
    return Values<float>(out);
  };
  for (const char* mode : {"MIN_COMBINED", "MIN_FIRST", "SCALED"}) {
    Fs values = run(mode);
    EXPECT_NEAR(values[0], -128, 0.01) << mode;
    EXPECT_NEAR(values[1], 0, 0.01) << mode;
    EXPECT_NEAR(values[2], 127, 0.01) << mode;
  }
}

}  // namespace
}  // namespace grapnel
