// Patches, pools that say where the largest was, and gradients of pools.
#include "tests/kernels/test_util.h"

namespace grapnel {
namespace {

using D = std::vector<int64_t>;
using Fs = std::vector<float>;

OpRun& Window(OpRun& run, const char* sizes_name, D sizes, D strides, const char* padding) {
  return run.Attr(sizes_name, attr::Ints(sizes))
      .Attr("strides", attr::Ints(strides))
      .Attr("padding", attr::String(padding));
}

OpRun Patches(Tensor x, D sizes, D rates, const char* padding) {
  OpRun run("ExtractImagePatches");
  Window(run, "ksizes", std::move(sizes), {1, 1, 1, 1}, padding).Attr("rates", attr::Ints(rates));
  run.In(std::move(x));
  return run;
}

TEST(KernelPatches, LayWindowsOutAsChannels) {
  Tensor x = Iota<float>({1, 2, 3, 1});
  Tensor out = Patches(x, {1, 2, 2, 1}, {1, 1, 1, 1}, "VALID").One();
  EXPECT_EQ(DimsOf(out), (D{1, 1, 2, 4}));
  EXPECT_EQ(Values<float>(out), (Fs{0, 1, 3, 4, 1, 2, 4, 5}));
  out = Patches(x, {1, 1, 2, 1}, {1, 1, 2, 1}, "SAME").One();
  EXPECT_EQ(DimsOf(out), (D{1, 2, 3, 2}));
  EXPECT_EQ(Values<float>(out), (Fs{0, 1, 0, 2, 1, 0, 0, 4, 3, 5, 4, 0}));
  EXPECT_EQ(DimsOf(Patches(Floats({0, 2, 3, 1}, {}), {1, 1, 2, 1}, {1, 1, 1, 1}, "SAME").One()),
            (D{0, 2, 3, 2}));
}

TEST(KernelPatches, Errors) {
  EXPECT_EQ(Patches(Iota<float>({2, 3}), {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME").ErrorText(),
            "the input must have rank 4, not shape [2,3]");
  EXPECT_EQ(Patches(Iota<float>({1, 2, 3, 1}), {2, 1, 1, 1}, {1, 1, 1, 1}, "SAME").ErrorText(),
            "ksizes, strides and rates must be 1 for batch and channels");
  EXPECT_EQ(Patches(Iota<float>({1, 2, 3, 1}), {1, 0, 1, 1}, {1, 1, 1, 1}, "SAME").ErrorText(),
            "ksizes has 0; each must be at least 1");
}

OpRun Pool(const char* op, std::vector<Tensor> inputs, D sizes, D strides) {
  OpRun run(op);
  Window(run, "ksize", std::move(sizes), std::move(strides), "VALID");
  for (Tensor& input : inputs) run.In(std::move(input));
  return run;
}

TEST(KernelMaxPoolWithArgmax, TheFirstOfEqualsWins) {
  Tensor x = Floats({2, 2, 2, 1}, {3, 3, 1, 2, 0, 5, 5, 1});
  auto run = [&](bool batch) {
    auto out = Pool("MaxPoolWithArgmax", {x}, {1, 2, 2, 1}, {1, 2, 2, 1})
                   .Attr("include_batch_in_index", attr::Bool(batch))
                   .Out({proto::DT_FLOAT, proto::DT_INT64})
                   .All();
    return std::pair(Values<float>(out[0]), Values<int64_t>(out[1]));
  };
  EXPECT_EQ(run(false), std::pair(Fs({3, 5}), D({0, 1})));
  EXPECT_EQ(run(true), std::pair(Fs({3, 5}), D({0, 5})));
  auto empty = Pool("MaxPoolWithArgmax", {Floats({0, 2, 2, 1}, {})}, {1, 2, 2, 1}, {1, 2, 2, 1})
                   .Out({proto::DT_FLOAT, proto::DT_INT32})
                   .All();
  EXPECT_EQ(DimsOf(empty[1]), (D{0, 1, 1, 1}));
}

TEST(KernelMaxPoolWithArgmax, GradientGoesBackByIndex) {
  Tensor x = Iota<float>({1, 2, 2, 1}), grad = Floats({1, 1, 1, 1}, {7});
  auto run = [&](int64_t at) {
    return Pool("MaxPoolGradWithArgmax", {x, grad, Make<int64_t>({1, 1, 1, 1}, {at})}, {1, 2, 2, 1},
                {1, 2, 2, 1});
  };
  EXPECT_EQ(Values<float>(run(2).One()), (Fs{0, 0, 7, 0}));
  EXPECT_EQ(run(4).ErrorText(), "argmax element 0 is 4, not in [0, 4)");
}

TEST(KernelPoolGradient, TwoDimensionsPickTheFirstThreePickAll) {
  Tensor x = Floats({1, 1, 3, 1}, {4, 4, 4}), y = Floats({1, 1, 2, 1}, {4, 4}),
         grad = Floats({1, 1, 2, 1}, {1, 10});
  EXPECT_EQ(Values<float>(Pool("MaxPoolGrad", {x, y, grad}, {1, 1, 2, 1}, {1, 1, 1, 1}).One()),
            (Fs{1, 10, 0}));
  auto deep = [](const Tensor& t) { return t.Reshaped({1, 1, 1, t.dim(2), 1}); };
  EXPECT_EQ(Values<float>(Pool("MaxPool3DGrad", {deep(x), deep(y), deep(grad)}, {1, 1, 1, 2, 1},
                               {1, 1, 1, 1, 1})
                              .One()),
            (Fs{1, 11, 10}));
}

TEST(KernelPoolGradient, MeansShareAndChannelsMayBeFirst) {
  Tensor grad = Floats({1, 1, 2, 1}, {2, 8});
  auto mean = [&] {
    return Pool("AvgPoolGrad", {Vec<int32_t>({1, 1, 3, 1}), grad}, {1, 1, 2, 1}, {1, 1, 1, 1})
        .Attr("T", attr::Type(proto::DT_FLOAT))
        .Out({proto::DT_FLOAT});
  };
  EXPECT_EQ(Values<float>(mean().One()), (Fs{1, 5, 4}));
  Tensor x = Floats({1, 2, 1, 2}, {1, 2, 4, 3}), y = Floats({1, 2, 1, 1}, {2, 4});
  Tensor up = Floats({1, 2, 1, 1}, {5, 6});
  EXPECT_EQ(Values<float>(Pool("MaxPoolGrad", {x, y, up}, {1, 1, 1, 2}, {1, 1, 1, 2})
                              .Attr("data_format", attr::String("NCHW"))
                              .One()),
            (Fs{0, 5, 6, 0}));
}

TEST(KernelPoolGradient, Errors) {
  Tensor x = Iota<float>({1, 2, 2, 1}), one = Iota<float>({1, 1, 1, 1});
  EXPECT_EQ(Pool("MaxPoolGrad", {x, one, x}, {1, 2, 2, 1}, {1, 2, 2, 1}).ErrorText(),
            "the gradient must have shape [1,1,1,1], not [1,2,2,1]");
  EXPECT_EQ(Pool("MaxPoolGrad", {x, x, one}, {1, 2, 2, 1}, {1, 2, 2, 1}).ErrorText(),
            "orig_output must have shape [1,1,1,1], not [1,2,2,1]");
  EXPECT_EQ(Pool("MaxPoolGrad", {x, one, one}, {1, 2, 2}, {1, 2, 2, 1}).ErrorText(),
            "ksize must have 4 numbers, not 3");
}

}  // namespace
}  // namespace grapnel
