// Quantized numbers, and numbers rounded as if they were.
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
  // 0 is held exactly: the range moves up to it.
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

TEST(KernelFakeQuant, GradientsStopAtTheEnds) {
  auto out = OpRun("FakeQuantWithMinMaxVarsGradient")
                 .In(Vec<float>({1, 2, 4}))
                 .In(Vec<float>({-9, 0, 9}))
                 .In(Scalar(-1.0f))
                 .In(Scalar(2.0f))
                 .Attr("num_bits", attr::Int(2))
                 .Out({proto::DT_FLOAT, proto::DT_FLOAT, proto::DT_FLOAT})
                 .All();
  EXPECT_EQ(Values<float>(out[0]), (Fs{0, 2, 0}));
  EXPECT_EQ(Values<float>(out[1]), Fs{1});
  EXPECT_EQ(Values<float>(out[2]), Fs{4});
}

TEST(KernelFakeQuant, EachChannelByItself) {
  OpRun run("FakeQuantWithMinMaxVarsPerChannel");
  run.In(Floats({2, 2}, {-9, 9, 9, 0.6f})).In(Vec<float>({-1, 0})).In(Vec<float>({2, 0}));
  EXPECT_EQ(Values<float>(run.Attr("num_bits", attr::Int(2)).One()), (Fs{-1, 0, 2, 0}));
  OpRun bad("FakeQuantWithMinMaxVarsPerChannel");
  bad.In(Floats({2, 2}, {-9, 9, 9, 0.6f})).In(Vec<float>({-1})).In(Vec<float>({2, 0}));
  EXPECT_EQ(bad.ErrorText(), "min and max must be vectors of 2, not [1]");
}

OpRun Quantize(Fs x, Fs low, Fs high, const char* mode) {
  OpRun run("QuantizeV2");
  run.In(Vec<float>(std::move(x)));
  for (Fs* end : {&low, &high}) run.In(end->size() == 1 ? Scalar((*end)[0]) : Vec<float>(*end));
  run.Attr("T", attr::Type(proto::DT_QINT8)).Attr("mode", attr::String(mode));
  run.Out({proto::DT_QINT8, proto::DT_FLOAT, proto::DT_FLOAT});
  return run;
}

std::vector<int> Levels(const Tensor& tensor) {
  const int8_t* data = tensor.data<int8_t>();
  return std::vector<int>(data, data + tensor.num_elements());
}

TEST(KernelQuantize, InEachMode) {
  EXPECT_EQ(Levels(Quantize({-9, 0, 9}, {0}, {255}, "MIN_COMBINED").All()[0]),
            (std::vector<int>{-128, -128, -119}));
  auto scaled = Quantize({-9, 0.5f, 1, 500}, {-64}, {127}, "SCALED").All();
  EXPECT_EQ(Levels(scaled[0]), (std::vector<int>{-9, 1, 1, 127}));
  EXPECT_EQ(Values<float>(scaled[1]), Fs{-128});
  EXPECT_EQ(Levels(Quantize({-128, 127}, {-128}, {127}, "MIN_FIRST").All()[0]),
            (std::vector<int>{-128, 127}));
  Tensor axis = Quantize({1, 1}, {-1, -2}, {1, 2}, "SCALED").Attr("axis", attr::Int(0)).All()[0];
  EXPECT_EQ(Levels(axis), (std::vector<int>{127, 64}));
  EXPECT_EQ(Levels(Quantize({}, {-1}, {1}, "SCALED").All()[0]), std::vector<int>{});
}

TEST(KernelQuantize, Errors) {
  EXPECT_EQ(Quantize({1}, {1}, {0}, "SCALED").ErrorText(),
            "max_range 0.00 is below min_range 1.00");
  EXPECT_EQ(Quantize({1}, {0, 0}, {1}, "SCALED").ErrorText(),
            "min_range and max_range must hold 1 numbers, not shape [2]");
  EXPECT_EQ(Quantize({1}, {0}, {1}, "BEST").ErrorText(),
            "mode 'BEST' is not MIN_COMBINED, MIN_FIRST or SCALED");
  EXPECT_EQ(Quantize({1}, {0}, {1}, "MIN_FIRST")
                .Attr("round_mode", attr::String("HALF_TO_EVEN"))
                .ErrorText(),
            "round_mode HALF_TO_EVEN is for mode SCALED only, not MIN_FIRST");
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
