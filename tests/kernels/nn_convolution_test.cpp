// Convolutions of all kinds, plain and fused, with and without oneDNN.
#include <cmath>

#include "gtest/gtest.h"
#include "tests/kernels/nn_values.h"

namespace grapnel {
namespace {

using namespace nn_test;  // NOLINT: the words of these tests

Values ReferenceConv(const ConvCase& c, const Values& input, const Values& filter) {
  ConvGeometry g = GeometryOf(c);
  size_t spatial = c.strides.size();
  int64_t in_channels = c.input.back();
  int64_t multiplier = c.filter.back(),
          channels = c.depthwise ? in_channels * multiplier : multiplier;
  int64_t per_group = c.depthwise ? 1 : c.filter[spatial], groups = in_channels / per_group;
  Dims dims{c.input[0]};
  dims.append(g.out.begin(), g.out.end());
  dims.push_back(channels);
  Values output = Zeros(dims);
  Dims taps(c.filter.begin(), c.filter.begin() + spatial);
  ForAll(dims, [&](llvm::ArrayRef<int64_t> o) {
    double sum = 0;
    int64_t channel = o.back(), group = channel / (channels / groups);
    ForAll(taps, [&](llvm::ArrayRef<int64_t> k) {
      Dims from{o[0]};
      for (size_t i = 0; i < spatial; ++i) {
        int64_t x = o[1 + i] * c.strides[i] - g.before[i] + k[i] * c.dilations[i];
        if (x < 0 || x >= c.input[1 + i]) return;
        from.push_back(x);
      }
      from.push_back(0);
      Dims weight(k.begin(), k.end());
      weight.append({0, 0});
      for (int64_t i = 0; i < per_group; ++i) {
        from.back() = group * per_group + i;
        weight[spatial] = c.depthwise ? from.back() : i;
        weight[spatial + 1] = c.depthwise ? channel % multiplier : channel;
        sum += input[At(c.input, from)] * filter[At(c.filter, weight)];
      }
    });
    output[At(dims, o)] = sum;
  });
  return output;
}

// Between [n, spatial..., c] and [n, c, spatial...].
const std::vector<ConvCase>& ConvCases() {
  static const std::vector<ConvCase> cases = {
      {"1x1", {2, 7, 7, 16}, {1, 1, 16, 32}},
      {"1x1 strided", {1, 9, 8, 16}, {1, 1, 16, 8}, {2, 2}},
      {"3x3", {1, 14, 14, 32}, {3, 3, 32, 48}},
      {"3x3 valid", {2, 9, 11, 5}, {3, 3, 5, 7}, {1, 1}, {1, 1}, "VALID"},
      {"7x7 of an image", {1, 32, 32, 3}, {7, 7, 3, 64}, {2, 2}, {1, 1}, "EXPLICIT", {3, 3, 3, 3}},
      {"unequal strides and explicit padding",
       {1, 10, 9, 4},
       {3, 2, 4, 6},
       {2, 3},
       {1, 1},
       "EXPLICIT",
       {0, 1, 2, 0}},
      {"dilated", {1, 15, 15, 8}, {3, 3, 8, 8}, {1, 1}, {2, 3}},
      {"dilated valid", {1, 15, 15, 8}, {3, 2, 8, 8}, {2, 1}, {2, 2}, "VALID"},
      {"groups", {2, 8, 8, 12}, {3, 3, 4, 18}},
      {"stride over the kernel", {1, 9, 9, 4}, {1, 2, 4, 4}, {4, 3}},
      {"one pixel", {1, 1, 1, 1}, {1, 1, 1, 1}},
      {"kernel over the input", {1, 2, 3, 4}, {5, 5, 4, 4}},
      {"empty batch", {0, 5, 5, 4}, {3, 3, 4, 2}},
      {"no output", {1, 2, 2, 3}, {3, 3, 3, 2}, {1, 1}, {1, 1}, "VALID"},
      {"depthwise", {2, 12, 12, 32}, {3, 3, 32, 1}, {1, 1}, {1, 1}, "SAME", {}, true},
      {"depthwise strided, multiplier",
       {1, 11, 12, 6},
       {3, 3, 6, 2},
       {2, 2},
       {1, 1},
       "VALID",
       {},
       true},
      {"depthwise dilated", {1, 11, 12, 8}, {3, 3, 8, 1}, {1, 1}, {2, 2}, "SAME", {}, true},
      {"3D", {1, 5, 6, 7, 4}, {2, 3, 3, 4, 8}, {1, 2, 1}, {1, 1, 1}},
      {"3D valid dilated", {2, 6, 6, 7, 3}, {2, 2, 3, 3, 5}, {2, 1, 1}, {2, 1, 2}, "VALID"},
  };
  return cases;
}

TEST(Convolution, EqualsThePlainLoopsInEveryFormatDtypeAndPath) {
  for (const ConvCase& c : ConvCases()) {
    Values input = Random(c.input), filter = Random(c.filter),
           want = ReferenceConv(c, input, filter);
    std::vector<DataType> types = {DT_FLOAT, DT_DOUBLE, DT_HALF, DT_BFLOAT16};
    for (DataType dtype : types) {
      for (bool first : {false, true}) {
        for (bool constant : {false, true}) {
          for (bool plain : {false, true}) {
            OneNode node(ConvOp(c));
            SetConvAttrs(node, c, {ConvOp(c), dtype, first});
            node.Input(ToTensor(first && input.size() ? Turned(input, true) : input, dtype));
            if (first && !input.size()) continue;
            node.Input(ToTensor(filter, dtype), constant);
            std::vector<Tensor> got = RunNode(node, plain);
            ASSERT_EQ(got.size(), 1u) << c.name;
            Values result = FromTensor(got[0]);
            if (first && result.size()) result = Turned(result, false);
            if (first && !result.size()) continue;
            std::string what = c.name + " " + DataTypeName(dtype).str() + (first ? " NCHW" : "") +
                               (constant ? " constant" : "") + (plain ? " plain" : "");
            ExpectNear(result, want, Tolerance(dtype), what);
          }
        }
      }
    }
  }
}

TEST(Convolution, OfIntegersWraps) {
  ConvCase c{"int32", {1, 6, 6, 4}, {3, 3, 4, 4}};
  Values input = Random(c.input, true), filter = Random(c.filter, true);
  OneNode node("Conv2D");
  SetConvAttrs(node, c, {"Conv2D", DT_INT32});
  node.Input(ToTensor(input, DT_INT32)).Input(ToTensor(filter, DT_INT32));
  ExpectNear(FromTensor(RunNode(node)[0]), ReferenceConv(c, input, filter), 0, "int32");
}

TEST(Convolution, KeepsAPrimitiveForEachShapeAndRunsItAgain) {
  ConvCase c{"many", {1, 8, 8, 8}, {3, 3, 8, 16}};
  Values filter = Random(c.filter);
  Tensor weights = ToTensor(filter);
  for (int round = 0; round < 2; ++round) {
    OneNode node("Conv2D");
    SetConvAttrs(node, c, {"Conv2D"});
    Values input = Random(c.input);
    node.Input(ToTensor(input)).Input(weights, true);
    Values want = ReferenceConv(c, input, filter);
    for (int run = 0; run < 3; ++run)
      ExpectNear(FromTensor(RunNode(node)[0]), want, 3e-5, "run again");
  }
}

TEST(FusedConvolution, EqualsTheOpsOneByOne) {
  ConvCase plain_case{"conv", {1, 10, 10, 16}, {3, 3, 16, 24}};
  ConvCase depthwise_case{"depthwise", {1, 10, 10, 24}, {3, 3, 24, 1}, {1, 1}, {1, 1}, "SAME", {},
                          true};
  for (const ConvCase& c : {plain_case, depthwise_case}) {
    Values input = Random(c.input), filter = Random(c.filter),
           conv = ReferenceConv(c, input, filter);
    Values bias = Random({24}), side = Random(conv.dims);
    for (const char* activation :
         {"", "Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid", "_MklSwish", "Mish"}) {
      for (bool add : {false, true}) {
        for (int variant = 0; variant < 8; ++variant) {
          bool plain = variant & 1, constant = variant & 2, first = variant & 4;
          std::vector<std::string> ops = {"BiasAdd"};
          if (add) ops.push_back("Add");
          if (*activation) ops.push_back(activation);
          OneNode node(c.depthwise ? "_FusedDepthwiseConv2dNative" : "_FusedConv2D");
          SetConvAttrs(node, c, {"", DT_FLOAT, first});
          node.Attr("fused_ops", FusedOpsAttr(ops)).Attr("leakyrelu_alpha", attr::Float(0.3f));
          node.Input(ToTensor(first ? Turned(input, true) : input))
              .Input(ToTensor(filter), constant);
          node.Input(ToTensor(bias), constant);
          if (add) node.Input(ToTensor(first ? Turned(side, true) : side));
          Values want = conv;
          for (int64_t i = 0; i < want.size(); ++i) {
            want[i] = Activated(activation, want[i] + bias[i % 24] + (add ? side[i] : 0));
          }
          Values got = FromTensor(RunNode(node, plain)[0]);
          ExpectNear(first ? Turned(got, false) : got, want, 1e-4, c.name + activation);
        }
      }
    }
  }
}

TEST(FusedConvolution, OfThreeDimensionsPadsAsItsListSays) {
  ConvCase c{"3D",      {2, 4, 5, 6, 3}, {2, 3, 2, 3, 5},   {1, 2, 1},
             {1, 1, 1}, "VALID",         {1, 0, 2, 1, 0, 1}};
  Values input = Random(c.input), filter = Random(c.filter), bias = Random({5}),
         conv = ReferenceConv(c, input, filter), want = conv;
  for (int64_t i = 0; i < want.size(); ++i) want[i] = std::max(want[i] + bias[i % 5], 0.0);
  for (int variant = 0; variant < 8; ++variant) {
    bool plain = variant & 1, first = variant & 2, fused = variant & 4;
    OneNode node("_FusedConv3D");
    ConvCase listed = c;
    listed.pads.clear();
    SetConvAttrs(node, listed, {"", DT_FLOAT, first});
    // padding_list applies regardless of `padding`.
    node.Text("padding", fused ? "SAME" : "VALID");
    node.Ints("padding_list", Formatted(c.pads, first, 2, 0));
    node.Input(ToTensor(first ? Turned(input, true) : input)).Input(ToTensor(filter));
    if (fused) node.Attr("fused_ops", FusedOpsAttr({"BiasAdd", "Relu"})).Input(ToTensor(bias));
    Values got = FromTensor(RunNode(node, plain)[0]);
    ExpectNear(first ? Turned(got, false) : got, fused ? want : conv, 1e-4, "padding_list");
  }
}

TEST(FusedConvolution, AddsIntoTheMemoryOfAnAddendThatIsGivenAway) {
  ConvCase c{"conv", {1, 8, 8, 16}, {1, 1, 16, 16}};
  Values input = Random(c.input), filter = Random(c.filter), want = ReferenceConv(c, input, filter);
  Values bias = Random({16}), side = Random(want.dims);
  for (int64_t i = 0; i < want.size(); ++i) want[i] += bias[i % 16] + side[i];
  OneNode node("_FusedConv2D");
  SetConvAttrs(node, c, {""});
  node.Attr("fused_ops", FusedOpsAttr({"BiasAdd", "Add"}));
  Tensor addend = ToTensor(side);
  const void* memory = addend.raw();
  node.Input(ToTensor(input))
      .Input(ToTensor(filter))
      .Input(ToTensor(bias))
      .Input(std::move(addend));
  auto got = node.Run(Pool(), HeapAllocator(), /*give=*/true);
  ASSERT_TRUE(bool(got)) << TextOf(got.takeError());
  if (Onednn()) {
    EXPECT_EQ((*got)[0].raw(), memory);
  }
  ExpectNear(FromTensor((*got)[0]), want, 1e-4, "in place");
}

TEST(FusedConvolution, RefusesAListThatPadsBatchOrChannels) {
  OneNode node("_FusedConv3D");
  SetConvAttrs(node, {"3D", {}, {}, {1, 1, 1}, {1, 1, 1}, "VALID"}, {""});
  node.Ints("padding_list", {1, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  node.Input(ToTensor(Zeros({1, 2, 2, 2, 1}))).Input(ToTensor(Zeros({1, 1, 1, 1, 1})));
  EXPECT_EQ(ErrorOf(node), "padding_list must not have the value 1 for dimension 0");
}

TEST(FusedConvolution, MultipliesConstantBatchNormIntoTheFilter) {
  ConvCase c{"conv", {2, 9, 9, 8}, {3, 3, 8, 12}, {2, 2}};
  Values input = Random(c.input), filter = Random(c.filter), conv = ReferenceConv(c, input, filter);
  Values scale = Random({12}), offset = Random({12}), mean = Random({12}), variance = Random({12});
  for (double& x : variance.v) x = std::abs(x) + 0.1;
  for (const char* activation : {"", "Relu", "LeakyRelu"}) {
    for (int variant = 0; variant < 8; ++variant) {
      bool plain = variant & 1, constant = variant & 2, constant_args = variant & 4;
      std::vector<std::string> ops = {"FusedBatchNorm"};
      if (*activation) ops.push_back(activation);
      OneNode node("_FusedConv2D");
      SetConvAttrs(node, c, {""});
      node.Attr("fused_ops", FusedOpsAttr(ops)).Attr("epsilon", attr::Float(0.01f));
      node.Attr("leakyrelu_alpha", attr::Float(0.3f));
      node.Input(ToTensor(input)).Input(ToTensor(filter), constant);
      for (const Values* arg : {&scale, &offset, &mean, &variance})
        node.Input(ToTensor(*arg), constant_args);
      Values want = conv;
      for (int64_t i = 0; i < want.size(); ++i) {
        int64_t ch = i % 12;
        want[i] = Activated(
            activation,
            (want[i] - mean[ch]) * scale[ch] / std::sqrt(variance[ch] + 0.01) + offset[ch]);
      }
      ExpectNear(FromTensor(RunNode(node, plain)[0]), want, 1e-4, activation);
    }
  }
}

TEST(Convolution, ErrorsSayWhatDoesNotFit) {
  auto run = [](const ConvCase& c, const std::function<void(OneNode&)>& change = nullptr) {
    OneNode node("Conv2D");
    SetConvAttrs(node, c, {""});
    if (change) change(node);
    node.Input(ToTensor(Zeros(c.input))).Input(ToTensor(Zeros(c.filter)));
    return ErrorOf(node);
  };
  ConvCase good{"good", {1, 4, 4, 3}, {2, 2, 3, 1}};
  EXPECT_EQ(run(good), "no error");
  EXPECT_EQ(
      run({"", {1, 4, 4, 3}, {2, 2, 2, 1}}),
      "an input of shape [1,4,4,3] does not fit a filter of shape [2,2,2,1]: 3 input channels "
      "must be a positive multiple of 2, and 1 output channels a multiple of the quotient");
  EXPECT_EQ(run({"", {4, 4, 3}, {2, 2, 3, 1}}),
            "input and filter must have rank 4, got shapes [4,4,3] and [2,2,3,1]");
  EXPECT_EQ(run({"", {1, 4, 4, 0}, {2, 2, 0, 1}}), "a filter of shape [2,2,0,1] has no elements");
  EXPECT_EQ(run({"", {1, 2, 4, 3}, {5, 2, 3, 1}, {1, 1}, {1, 1}, "VALID"}),
            "a window of size 5 does not fit into a dimension of size 2 with padding 0 and 0");
  EXPECT_EQ(run(good, [](OneNode& n) { n.Text("padding", "LEFT"); }),
            "padding 'LEFT' is not SAME, VALID or EXPLICIT");
  EXPECT_EQ(run(good, [](OneNode& n) { n.Text("padding", "EXPLICIT"); }),
            "explicit_paddings must have 8 numbers, not 0");
  EXPECT_EQ(run(good, [](OneNode& n) { n.Text("data_format", "HWC"); }),
            "data_format 'HWC' is not NHWC or NCHW");
  EXPECT_EQ(run(good,
                [](OneNode& n) {
                  n.Ints("strides", {1, 0, 1, 1});
                }),
            "strides has 0; each must be from 1 to 2147483647");
  EXPECT_EQ(run(good, [](OneNode& n) { n.Ints("strides", {}); }),
            "strides must have 4 numbers, not 0");
  EXPECT_EQ(run(good,
                [](OneNode& n) {
                  n.Ints("strides", {2, 1, 1, 1});
                }),
            "strides must be 1 for batch and channels");
  EXPECT_EQ(run(good,
                [](OneNode& n) {
                  n.Ints("dilations", {1, 1, 1, 2});
                }),
            "dilations must be 1 for batch and channels");
}

}  // namespace
}  // namespace grapnel
