// Recurrent cells, connectionist temporal classification, and random numbers by rejection: what
// they refuse, and small values by hand. The rest are cases from TensorFlow in testdata.
#include <cmath>

#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using F = std::vector<float>;
using I = std::vector<int64_t>;

OpRun Cell(Tensor x, Tensor weights) {
  OpRun run("LSTMBlockCell");
  run.In(std::move(x)).In(Iota<float>({1, 1})).In(Iota<float>({1, 1})).In(std::move(weights));
  for (int i = 0; i < 3; ++i) run.In(Iota<float>({1}));
  return run.In(Iota<float>({4})).Out(std::vector<DataType>(7, proto::DT_FLOAT));
}

// Without weights the gates are those of the bias 0, 1, 2, 3: input, cell, forget, output.
TEST(KernelSequence, StepsALongShortTermMemory) {
  auto out = Cell(Iota<float>({1, 2}), Floats({3, 4}, F(12, 0))).All();
  float cs = 0.5f * std::tanh(1.f);
  EXPECT_FLOAT_EQ(Values<float>(out[1])[0], cs);
  EXPECT_FLOAT_EQ(Values<float>(out[6])[0], std::tanh(cs) / (1 + std::exp(-3.f)));
  EXPECT_EQ(Cell(Iota<float>({1, 2}), Iota<float>({2, 4})).ErrorText(),
            "input 3 is of shape [2,4], [3,4] was expected");
}

OpRun Loss(std::vector<int32_t> labels, int32_t steps) {
  std::vector<int64_t> indices;
  for (size_t i = 0; i < labels.size(); ++i) {
    indices.push_back(0);
    indices.push_back(static_cast<int64_t>(i));
  }
  int64_t count = static_cast<int64_t>(labels.size());
  return OpRun("CTCLoss")
      .In(Floats({2, 1, 2}, {0, 0, 0, 0}))
      .In(Make<int64_t>({count, 2}, indices))
      .In(Vec<int32_t>(std::move(labels)))
      .In(Ints({1}, {steps}))
      .Out({proto::DT_FLOAT, proto::DT_FLOAT});
}

// Of four paths of two steps three give one label.
TEST(KernelSequence, LosesByAllAlignments) {
  EXPECT_FLOAT_EQ(Values<float>(Loss({0}, 2).One())[0], -std::log(0.75f));
  EXPECT_EQ(Loss({0, 0, 0}, 2).ErrorText(),
            "example 0 has 3 labels for 2 steps (and ignore_longer_outputs_than_inputs is false)");
  EXPECT_EQ(Loss({-1}, 2).ErrorText(), "label -1 of example 0 is negative");
  EXPECT_EQ(Loss({}, 2).ErrorText(), "example 0 has no labels");
  EXPECT_EQ(Loss({1, 0}, 2).ErrorText(), "label 0 of example 0 follows one that stands for none");
  EXPECT_EQ(Loss({0}, 3).ErrorText(), "sequence_length[0] is 3, inputs have 2 steps");
}

TEST(KernelSequence, DecodesTheLikeliestClass) {
  auto decode = [](int32_t steps) {
    return OpRun("CTCGreedyDecoder")
        .In(Floats({3, 1, 3}, {5, 0, 0, 0, 0, 5, 0, 5, 0}))
        .In(Ints({1}, {steps}))
        .Out({proto::DT_INT64, proto::DT_INT64, proto::DT_INT64, proto::DT_FLOAT});
  };
  auto out = decode(3).All();
  EXPECT_EQ(Values<int64_t>(out[1]), (I{0, 1}));
  EXPECT_EQ(Values<int64_t>(out[2]), (I{1, 2}));
  EXPECT_EQ(Values<float>(out[3]), (F{-15}));
  EXPECT_EQ(decode(4).ErrorText(), "sequence_length[0] is 4, inputs have 3 steps");
}

TEST(KernelSequence, DrawsFromWhatFits) {
  auto gamma = [](Tensor alpha) {
    return OpRun("StatelessRandomGammaV2")
        .In(Ints({2}, {2, 3}))
        .In(Vec<int64_t>({1, 2}))
        .In(std::move(alpha));
  };
  EXPECT_EQ(gamma(Iota<float>({2})).Out({proto::DT_FLOAT}).ErrorText(),
            "shape [2,3] does not end with that of the parameters, [2]");
  // Without an end of the search for one there is no value.
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
