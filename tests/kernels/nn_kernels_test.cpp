// Pools, normalization, softmax, bias, and the oneDNN module itself.
#include <cmath>
#include <thread>

#include "gtest/gtest.h"
#include "tests/kernels/nn_values.h"

namespace grapnel {
namespace {

using namespace nn_test;  // NOLINT: the words of these tests

TEST(Pool, EqualsThePlainLoopsAndCountsNoPadding) {
  const std::vector<ConvCase> cases = {
      {"2x2", {2, 8, 8, 5}, {2, 2}, {2, 2}},
      {"3x3 of 2", {1, 11, 12, 16}, {3, 3}, {2, 2}},
      {"3x3 valid", {1, 11, 12, 3}, {3, 3}, {2, 1}, {1, 1}, "VALID"},
      {"explicit", {1, 7, 7, 3}, {3, 3}, {2, 2}, {1, 1}, "EXPLICIT", {1, 1, 0, 2}},
      {"larger than the input", {1, 2, 2, 4}, {5, 5}, {1, 1}},
      {"3D", {1, 5, 6, 7, 3}, {2, 3, 2}, {1, 2, 2}, {1, 1, 1}},
  };
  for (const ConvCase& c : cases) {
    ConvGeometry g = GeometryOf(c);
    Values input = Random(c.input);
    size_t spatial = c.strides.size();
    Dims dims{c.input[0]};
    dims.append(g.out.begin(), g.out.end());
    dims.push_back(c.input.back());
    Values largest = Zeros(dims), mean = Zeros(dims);
    ForAll(dims, [&](llvm::ArrayRef<int64_t> o) {
      double most = -INFINITY, sum = 0;
      int count = 0;
      ForAll(c.filter, [&](llvm::ArrayRef<int64_t> k) {
        Dims from{o[0]};
        for (size_t i = 0; i < spatial; ++i) {
          int64_t x = o[1 + i] * c.strides[i] - g.before[i] + k[i];
          if (x < 0 || x >= c.input[1 + i]) return;
          from.push_back(x);
        }
        from.push_back(o.back());
        double value = input[At(c.input, from)];
        most = std::max(most, value);
        sum += value;
        ++count;
      });
      largest[At(dims, o)] = most;
      mean[At(dims, o)] = sum / count;
    });
    for (bool is_max : {true, false}) {
      if (c.padding == "EXPLICIT" && !is_max) continue;
      for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16}) {
        for (bool first : {false, true}) {
          OneNode node(std::string(is_max ? "MaxPool" : "AvgPool") + (spatial == 3 ? "3D" : ""));
          SetConvAttrs(node, c, {"", dtype, first});
          node.Ints("ksize", Formatted(c.filter, first))
              .Input(ToTensor(first ? Turned(input, true) : input, dtype));
          Values got = FromTensor(RunNode(node)[0]);
          ExpectNear(first ? Turned(got, false) : got, is_max ? largest : mean, Tolerance(dtype),
                     c.name);
        }
      }
    }
  }
}

TEST(Pool, TakesSizesAsInputsAndPoolsOverChannels) {
  Values input = Random({1, 2, 2, 4});
  Values ones = Zeros({4}), window = Zeros({4});
  ones.v = {1, 1, 1, 1};
  window.v = {1, 2, 2, 1};
  OneNode v2("MaxPoolV2");
  v2.Type("T", DT_FLOAT)
      .Text("padding", "VALID")
      .Input(ToTensor(input))
      .Input(ToTensor(window, DT_INT32));
  v2.Input(ToTensor(ones, DT_INT32));
  Values got = FromTensor(RunNode(v2)[0]);
  for (int c = 0; c < 4; ++c) {
    EXPECT_EQ(got[c], std::max({input[c], input[4 + c], input[8 + c], input[12 + c]}));
  }
  OneNode channels("MaxPool");
  channels.Type("T", DT_FLOAT)
      .Text("padding", "VALID")
      .Ints("ksize", {1, 1, 1, 2})
      .Ints("strides", {1, 1, 1, 2});
  channels.Input(ToTensor(input));
  got = FromTensor(RunNode(channels)[0]);
  ASSERT_EQ(DimsText(got.dims), "[1,2,2,2]");
  EXPECT_EQ(got[3], std::max(input[6], input[7]));
}

TEST(Pool, ErrorsSayWhatIsWrong) {
  auto run = [](llvm::StringRef op, const std::vector<int64_t>& ksize,
                const std::vector<int64_t>& strides) {
    OneNode node(op);
    node.Type("T", DT_FLOAT).Text("padding", "SAME").Ints("ksize", ksize).Ints("strides", strides);
    node.Input(ToTensor(Zeros({1, 4, 4, 3})));
    return ErrorOf(node);
  };
  EXPECT_EQ(run("MaxPool", {1, 2, 2}, {1, 1, 1, 1}), "ksize must have 4 numbers, not 3");
  EXPECT_EQ(run("MaxPool", {2, 2, 2, 1}, {1, 1, 1, 1}),
            "cannot pool over the batch: ksize and strides must be 1 for it");
  EXPECT_EQ(run("MaxPool", {1, 1, 1, 2}, {1, 1, 1, 2}),
            "3 channels are not divisible by the window of 2 channels");
  EXPECT_EQ(run("AvgPool", {1, 1, 1, 3}, {1, 1, 1, 3}),
            "channels are pooled only by MaxPool, in no other dimension, with channels last and a "
            "stride equal to the window");
}

TEST(BatchNorm, TrainsAndInfersWithAllOutputs) {
  for (bool first : {false, true}) {
    for (bool training : {false, true}) {
      for (double factor : {1.0, 0.25}) {
        Values x = Random({2, 9, 16, 3});
        Values scale = Random({3}), offset = Random({3}), mean = Random({3}),
               variance = Random({3});
        for (double& v : variance.v) v = std::abs(v) + 0.5;
        OneNode node("FusedBatchNormV3");
        node.Type("T", DT_FLOAT).Type("U", DT_FLOAT).Text("data_format", first ? "NCHW" : "NHWC");
        node.Attr("is_training", attr::Bool(training)).Attr("epsilon", attr::Float(0.01f));
        node.Attr("exponential_avg_factor", attr::Float(factor));
        node.Input(ToTensor(first ? Turned(x, true) : x));
        for (const Values* v : {&scale, &offset, &mean, &variance}) node.Input(ToTensor(*v));
        node.Outputs(std::vector<DataType>(6, DT_FLOAT));
        std::vector<Tensor> got = RunNode(node);
        ASSERT_EQ(got.size(), 6u);
        Values used_mean = mean, used_variance = variance, new_mean = mean, new_variance = variance;
        int64_t n = x.size() / 3;
        if (training) {
          used_mean = used_variance = Zeros({3});
          for (int64_t i = 0; i < x.size(); ++i) used_mean[i % 3] += x[i] / n;
          for (int64_t i = 0; i < x.size(); ++i)
            used_variance[i % 3] += std::pow(x[i] - used_mean[i % 3], 2) / n;
          for (int c = 0; c < 3; ++c) {
            new_mean[c] = (1 - factor) * mean[c] + factor * used_mean[c];
            new_variance[c] = (1 - factor) * variance[c] + factor * used_variance[c] * n / (n - 1);
          }
        }
        Values want = x;
        for (int64_t i = 0; i < x.size(); ++i) {
          int c = i % 3;
          want[i] =
              (x[i] - used_mean[c]) * scale[c] / std::sqrt(used_variance[c] + 0.01) + offset[c];
        }
        Values y = FromTensor(got[0]);
        ExpectNear(first ? Turned(y, false) : y, want, 1e-4, "y");
        ExpectNear(FromTensor(got[1]), new_mean, 1e-5, "batch_mean");
        ExpectNear(FromTensor(got[2]), new_variance, 1e-5, "batch_variance");
        ExpectNear(FromTensor(got[3]), used_mean, 1e-5, "reserve_space_1");
        ExpectNear(FromTensor(got[4]), used_variance, 1e-5, "reserve_space_2");
        EXPECT_EQ(got[5].num_elements(), 0);
      }
    }
  }
}

TEST(BatchNorm, FusedWithSideInputAndRelu) {
  Values x = Random({1, 3, 3, 4}), side = Random({1, 3, 3, 4}), one = Zeros({4}), zero = Zeros({4});
  one.v.assign(4, 1);
  OneNode node("_FusedBatchNormEx");
  node.Type("T", DT_HALF)
      .Type("U", DT_FLOAT)
      .Attr("is_training", attr::Bool(false))
      .Attr("epsilon", attr::Float(0));
  node.Attr("num_side_inputs", attr::Int(1)).Text("activation_mode", "Relu");
  node.Input(ToTensor(x, DT_HALF))
      .Input(ToTensor(one))
      .Input(ToTensor(zero))
      .Input(ToTensor(zero))
      .Input(ToTensor(one));
  node.Input(ToTensor(side, DT_HALF));
  node.Outputs({DT_HALF, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT, DT_FLOAT});
  Values want = x;
  for (int64_t i = 0; i < x.size(); ++i) want[i] = std::max(0.0, x[i] + side[i]);
  ExpectNear(FromTensor(RunNode(node)[0]), want, 2e-3, "ex");
}

void ExpectSoftmax(DataType dtype, int64_t n, bool log) {
  Values x = Random({5, 60, n});
  for (double& v : x.v) v *= 8;
  x[3] = dtype == DT_FLOAT ? 1000 : 40;
  Values want = x;
  for (int64_t r = 0; r < 300; ++r) {
    double most = *std::max_element(x.v.begin() + r * n, x.v.begin() + (r + 1) * n), sum = 0;
    for (int64_t i = 0; i < n; ++i) sum += std::exp(x[r * n + i] - most);
    for (int64_t i = 0; i < n; ++i) {
      double shifted = x[r * n + i] - most;
      want[r * n + i] = log ? shifted - std::log(sum) : std::exp(shifted) / sum;
    }
  }
  OneNode node(log ? "LogSoftmax" : "Softmax");
  node.Type("T", dtype).Input(ToTensor(x, dtype));
  // A logarithm in 16 bits has one more rounding.
  ExpectNear(FromTensor(RunNode(node)[0]), want, (log ? 2 : 1) * Tolerance(dtype),
             DataTypeName(dtype).str());
}

TEST(Softmax, EqualsTheFormulaAndNeverOverflows) {
  for (bool log : {false, true}) {
    for (DataType dtype : {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16}) {
      for (int64_t n : {1, 2, 10, 31, 37}) ExpectSoftmax(dtype, n, log);
    }
  }
  OneNode scalar("Softmax");
  scalar.Type("T", DT_FLOAT).Input(ToTensor(Zeros({})));
  EXPECT_EQ(ErrorOf(scalar), "the logits must have rank 1 or more, not shape []");
}

// Exponentials are computed in whole vectors, wherever a thread begins.
TEST(Softmax, IsTheSameOnAnyNumberOfThreads) {
  for (int64_t n : {1, 3, 10, 31, 45}) {
    OneNode node("Softmax");
    node.Type("T", DT_FLOAT).Input(ToTensor(Random({4001, n})));
    std::vector<float> first;
    for (int threads : {1, 2, 3, 4, 7, 16}) {
      ThreadPool pool(threads);
      std::vector<Tensor> outputs = llvm::cantFail(node.Run(pool));
      llvm::ArrayRef<float> got(outputs[0].data<float>(), outputs[0].num_elements());
      if (first.empty()) first.assign(got.begin(), got.end());
      EXPECT_TRUE(got.equals(first)) << n << " on " << threads;
    }
  }
}

TEST(Lrn, EqualsTheFormula) {
  Values x = Random({1, 2, 2, 9}), want = x;
  for (float beta : {0.5f, 0.75f, 1.0f}) {
    for (int64_t i = 0; i < x.size(); ++i) {
      double sum = 0;
      for (int64_t c = std::max<int64_t>(0, i % 9 - 2); c <= std::min<int64_t>(8, i % 9 + 2); ++c) {
        sum += std::pow(x[i / 9 * 9 + c], 2);
      }
      want[i] = x[i] / std::pow(1.5 + 0.3 * sum, beta);
    }
    OneNode node("LRN");
    node.Type("T", DT_FLOAT).Attr("depth_radius", attr::Int(2)).Attr("bias", attr::Float(1.5f));
    node.Attr("alpha", attr::Float(0.3f)).Attr("beta", attr::Float(beta)).Input(ToTensor(x));
    ExpectNear(FromTensor(RunNode(node)[0]), want, 1e-5, "lrn");
  }
}

TEST(BiasAdd, AddsAlongTheChannelsInPlaceWhenItMay) {
  Values x = Random({2, 3, 4, 3}, true), bias = Random({3}, true);
  for (bool first : {false, true}) {
    Values want = x;
    for (int64_t i = 0; i < x.size(); ++i) want[i] += bias[first ? i / 12 % 3 : i % 3];
    for (DataType dtype : DataTypesOf(NumberTypes())) {
      OneNode node("BiasAdd");
      node.Type("T", dtype).Text("data_format", first ? "NCHW" : "NHWC");
      Tensor input = ToTensor(x, dtype);
      const void* memory = input.raw();
      node.Input(std::move(input)).Input(ToTensor(bias, dtype));
      auto got = node.Run(Pool(), HeapAllocator(), /*give=*/true);
      ASSERT_TRUE(bool(got)) << TextOf(got.takeError());
      EXPECT_EQ((*got)[0].raw(), memory);
      ExpectNear(FromTensor((*got)[0]), FromTensor(ToTensor(want, dtype)), 0,
                 DataTypeName(dtype).str());
    }
  }
  OneNode wrong("BiasAdd");
  wrong.Type("T", DT_FLOAT).Input(ToTensor(Zeros({2, 3}))).Input(ToTensor(Zeros({2})));
  EXPECT_EQ(ErrorOf(wrong),
            "the bias must be a vector of 3 elements for input [2,3], got shape [2]");
}

TEST(OnednnModule, IsThereInTheTests) {
  ASSERT_TRUE(Onednn()) << WhyNoOnednn();
  EXPECT_EQ(WhyNoOnednn(), "");
  WithoutOnednn off;
  EXPECT_EQ(Onednn(), nullptr);
}

// Two kernels at once on one pool: the one that finds the pool busy still gets its threads.
TEST(OnednnModule, SharesThePoolWithOtherThreads) {
  ConvCase c{"conv", {1, 28, 28, 64}, {3, 3, 64, 64}};
  Values input = Random(c.input), filter = Random(c.filter);
  OneNode once("Conv2D");
  SetConvAttrs(once, c, {""});
  once.Input(ToTensor(input)).Input(ToTensor(filter), true);
  Values want = FromTensor(RunNode(once)[0]);
  std::vector<std::thread> threads;
  std::vector<Values> results(3);
  threads.reserve(results.size());
  for (Values& result : results) {
    threads.emplace_back([&] {
      OneNode node("Conv2D");
      SetConvAttrs(node, c, {""});
      node.Input(ToTensor(input)).Input(ToTensor(filter), true);
      for (int i = 0; i < 20; ++i) result = FromTensor(RunNode(node)[0]);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Values& result : results) ExpectNear(result, want, 0, "at the same time");
}

}  // namespace
}  // namespace grapnel
