// Random numbers by rejection sampling.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using I = std::vector<int64_t>;

TEST(KernelSequence, DrawsFromWhatFits) {
  auto gamma = [](Tensor alpha) {
    return OpRun("StatelessRandomGammaV2")
        .In(Ints({2}, {2, 3}))
        .In(Vec<int64_t>({1, 2}))
        .In(std::move(alpha));
  };
  EXPECT_EQ(gamma(Iota<float>({2})).Out({proto::DT_FLOAT}).ErrorText(),
            "shape [2,3] does not end with that of the parameters, [2]");
  // Where the search for a value would never end, the result is NaN.
  EXPECT_TRUE(std::isnan(Values<float>(gamma(Scalar(-1.f)).Out({proto::DT_FLOAT}).One())[0]));
  Tensor counts = OpRun("StatelessRandomPoisson")
                      .In(Ints({1}, {3}))
                      .In(Vec<int64_t>({1, 2}))
                      .In(Vec<double>({-1, HUGE_VAL, std::nan("")}))
                      .Out({proto::DT_INT64})
                      .One();
  EXPECT_EQ(Values<int64_t>(counts), (I{0, 0, 0}));
  auto draw = OpRun("StatelessMultinomial")
                  .In(Floats({2, 0}, {}))
                  .In(Ints({}, {1}))
                  .In(Vec<int64_t>({1, 2}))
                  .Out({proto::DT_INT64});
  EXPECT_EQ(draw.ErrorText(), "logits of shape [2,0] have no classes");
}

}  // namespace
}  // namespace grapnel
