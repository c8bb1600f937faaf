// Numbers rounded as if they were quantized, where NaN or nearness counts.
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
