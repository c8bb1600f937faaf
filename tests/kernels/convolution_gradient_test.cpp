// Tests gradients of convolutions against loops over every pair of input and output element.
#include "tests/kernels/nn_values.h"

namespace grapnel::nn_test {
namespace {

// Calls f(output index, input index, filter index) for all products that the convolution sums.
void ForProducts(const ConvCase& c, const std::function<void(int64_t, int64_t, int64_t)>& f) {
  ConvGeometry g = GeometryOf(c);
  int64_t rank = static_cast<int64_t>(c.strides.size()), in_channels = c.input.back();
  int64_t filter_in = c.filter[rank], filter_out = c.filter[rank + 1];
  int64_t groups = c.depthwise ? 1 : in_channels / filter_in;
  int64_t out_channels = c.depthwise ? filter_in * filter_out : filter_out;
  Dims out{c.input[0]};
  out.append(g.out.begin(), g.out.end());
  out.push_back(out_channels);
  Dims taps(c.filter.begin(), c.filter.begin() + rank);
  ForAll(out, [&](llvm::ArrayRef<int64_t> o) {
    ForAll(taps, [&](llvm::ArrayRef<int64_t> k) {
      Dims in{o[0]};
      for (int64_t d = 0; d < rank; ++d) {
        in.push_back(o[1 + d] * c.strides[d] - g.before[d] + k[d] * c.dilations[d]);
        if (in.back() < 0 || in.back() >= c.input[1 + d]) return;
      }
      Dims w(k.begin(), k.end());
      w.append({0, 0});
      for (int64_t i = 0; i < (c.depthwise ? 1 : filter_in); ++i) {
        Dims at = in;
        int64_t m = o[1 + rank];
        if (c.depthwise) {
          at.push_back(m / filter_out);
          w[rank] = m / filter_out;
          w[rank + 1] = m % filter_out;
        } else {
          at.push_back(m / (filter_out / groups) * filter_in + i);
          w[rank] = i;
          w[rank + 1] = m;
        }
        f(At(out, o), At(c.input, at), At(c.filter, w));
      }
    });
  });
}

Dims OutputOf(const ConvCase& c) {
  Dims out{c.input[0]};
  for (int64_t size : GeometryOf(c).out) out.push_back(size);
  size_t rank = c.strides.size();
  out.push_back(c.depthwise ? c.filter[rank] * c.filter[rank + 1] : c.filter[rank + 1]);
  return out;
}

Tensor Sizes(llvm::ArrayRef<int64_t> dims) {
  Values values = Zeros({static_cast<int64_t>(dims.size())});
  for (size_t i = 0; i < dims.size(); ++i) values[i] = static_cast<double>(dims[i]);
  return ToTensor(values, DT_INT32);
}

Values Formed(const Values& x, bool first) { return first ? Turned(x, true) : x; }

std::string Named(const ConvCase& c, const char* of) {
  if (c.depthwise) return std::string("DepthwiseConv2dNativeBackprop") + of;
  return c.strides.size() == 3 ? std::string("Conv3DBackprop") + of + "V2"
                               : std::string("Conv2DBackprop") + of;
}

void Check(const ConvCase& c, DataType dtype = DT_FLOAT, bool first = false) {
  Values input = Random(c.input), filter = Random(c.filter), grad = Random(OutputOf(c));
  Values to_input = Zeros(c.input), to_filter = Zeros(c.filter);
  ForProducts(c, [&](int64_t o, int64_t i, int64_t w) {
    to_input[i] += grad[o] * filter[w];
    to_filter[w] += grad[o] * input[i];
  });
  ConvNodeOptions options{ConvOp(c), dtype, first};
  double tolerance = 10 * Tolerance(dtype);

  OneNode of_input(Named(c, "Input"));
  SetConvAttrs(of_input, c, options);
  of_input.Input(Sizes(Formed(input, first).dims)).Input(ToTensor(filter, dtype));
  of_input.Input(ToTensor(Formed(grad, first), dtype)).Outputs({dtype});
  std::vector<Tensor> out = RunNode(of_input);
  ASSERT_FALSE(out.empty()) << c.name;
  ExpectNear(FromTensor(out[0]), Formed(to_input, first), tolerance, c.name + ", of the input");
  if (dtype == DT_INT32) return;

  OneNode of_filter(Named(c, "Filter"));
  SetConvAttrs(of_filter, c, options);
  of_filter.Input(ToTensor(Formed(input, first), dtype)).Input(Sizes(c.filter));
  of_filter.Input(ToTensor(Formed(grad, first), dtype)).Outputs({dtype});
  out = RunNode(of_filter);
  ASSERT_FALSE(out.empty()) << c.name;
  ExpectNear(FromTensor(out[0]), to_filter, tolerance, c.name + ", of the filter");
}

const std::vector<ConvCase>& Cases() {
  static const auto* cases = new std::vector<ConvCase>{
      {"1x1", {2, 3, 4, 5}, {1, 1, 5, 6}},
      {"strided, uneven", {2, 7, 6, 3}, {3, 2, 3, 4}, {2, 2}},
      {"dilated", {1, 8, 7, 2}, {2, 3, 2, 3}, {1, 1}, {3, 2}, "VALID"},
      {"strided past the filter", {1, 9, 9, 2}, {2, 2, 2, 3}, {3, 4}, {1, 1}, "VALID"},
      {"explicit", {1, 5, 6, 3}, {3, 3, 3, 2}, {1, 2}, {1, 1}, "EXPLICIT", {1, 2, 0, 3}},
      {"groups", {1, 5, 6, 6}, {3, 3, 2, 9}},
      {"many channels", {1, 6, 5, 70}, {2, 2, 70, 300}},
      {"depthwise", {2, 6, 7, 40}, {3, 2, 40, 1}, {1, 1}, {1, 1}, "SAME", {}, true},
      {"depthwise, multiplied, strided",
       {1, 6, 7, 3},
       {3, 2, 3, 2},
       {2, 2},
       {1, 1},
       "SAME",
       {},
       true},
      {"depthwise of one channel", {1, 5, 5, 1}, {3, 3, 1, 2}, {1, 1}, {1, 1}, "SAME", {}, true},
      {"three dimensions", {1, 4, 5, 6, 2}, {2, 3, 2, 2, 3}, {1, 2, 1}, {1, 1, 1}},
      {"three dimensions, valid", {1, 4, 5, 6, 2}, {2, 2, 3, 2, 3}, {2, 1, 1}, {1, 1, 2}, "VALID"}};
  return *cases;
}

TEST(ConvGradient, AgreesWithPlainLoops) {
  for (const ConvCase& c : Cases()) Check(c);
}
TEST(ConvGradient, ChannelsFirst) {
  for (const ConvCase& c : Cases()) Check(c, DT_FLOAT, true);
}
TEST(ConvGradient, OtherTypes) {
  for (DataType dtype : {DT_DOUBLE, DT_HALF, DT_BFLOAT16}) Check(Cases()[1], dtype);
}

TEST(ConvGradient, OfIntegers) {
  ConvCase c{"integers", {1, 4, 4, 2}, {2, 2, 2, 3}};
  Values filter = Random(c.filter, true), grad = Random(OutputOf(c), true), want = Zeros(c.input);
  ForProducts(c, [&](int64_t o, int64_t i, int64_t w) { want[i] += grad[o] * filter[w]; });
  OneNode node("Conv2DBackpropInput");
  SetConvAttrs(node, c, {"Conv2D", DT_INT32, false});
  node.Input(Sizes(c.input)).Input(ToTensor(filter, DT_INT32)).Input(ToTensor(grad, DT_INT32));
  node.Outputs({DT_INT32});
  ExpectNear(FromTensor(RunNode(node)[0]), want, 0, "integers");
}

OneNode& Node(OneNode& node, llvm::ArrayRef<int64_t> sizes, llvm::ArrayRef<int64_t> filter,
              llvm::ArrayRef<int64_t> grad) {
  return node.Type("T", DT_FLOAT)
      .Text("padding", "VALID")
      .Ints("strides", {1, 1, 1, 1})
      .Input(Sizes(sizes))
      .Input(ToTensor(Zeros(filter)))
      .Input(ToTensor(Zeros(grad)))
      .Outputs({DT_FLOAT});
}

TEST(ConvGradient, SpatialSizesAreEnough) {
  OneNode node("Conv2DBackpropInput");
  std::vector<Tensor> out = RunNode(Node(node, {4, 5}, {2, 2, 3, 1}, {2, 3, 4, 1}));
  EXPECT_EQ(DimsText(out[0].dims()), "[2,4,5,3]");
}

TEST(ConvGradient, ABatchOfMinusOneIsThatOfTheGradient) {
  OneNode node("Conv2DBackpropInput");
  std::vector<Tensor> out = RunNode(Node(node, {-1, 4, 5, 3}, {2, 2, 3, 1}, {2, 3, 4, 1}));
  EXPECT_EQ(DimsText(out[0].dims()), "[2,4,5,3]");
}

TEST(ConvGradient, EmptyTensors) {
  OneNode none("Conv2DBackpropInput");
  EXPECT_EQ(RunNode(Node(none, {0, 4, 4, 1}, {2, 2, 1, 1}, {0, 3, 3, 1}))[0].num_elements(), 0);
  OneNode no_results("Conv2DBackpropInput");
  Tensor zeros = RunNode(Node(no_results, {1, 1, 1, 1}, {2, 2, 1, 1}, {1, 0, 0, 1}))[0];
  EXPECT_EQ(FromTensor(zeros).v, std::vector<double>{0});
  OneNode no_channels("Conv2DBackpropFilter");
  no_channels.Type("T", DT_FLOAT).Text("padding", "VALID").Ints("strides", {1, 1, 1, 1});
  no_channels.Input(ToTensor(Zeros({1, 2, 2, 0}))).Input(Sizes({1, 1, 3, 2})).Outputs({DT_FLOAT});
  no_channels.Input(ToTensor(Random({1, 2, 2, 2})));
  EXPECT_EQ(FromTensor(RunNode(no_channels)[0]).v, std::vector<double>(6, 0));
}

TEST(ConvGradient, Errors) {
  OneNode wrong("Conv2DBackpropInput");
  EXPECT_EQ(ErrorOf(Node(wrong, {1, 4, 4, 1}, {2, 2, 1, 1}, {1, 4, 3, 1})),
            "the gradient must have shape [1,3,3,1], not [1,4,3,1]");
  OneNode channels("Conv2DBackpropInput");
  EXPECT_EQ(
      ErrorOf(Node(channels, {1, 4, 4, 3}, {2, 2, 2, 1}, {1, 3, 3, 1})),
      "an input of shape [1,4,4,3] does not fit a filter of shape [2,2,2,1]: 3 input channels "
      "must be a multiple of 2, and the output channels a multiple of the quotient");
  OneNode sizes("Conv2DBackpropInput");
  EXPECT_EQ(
      ErrorOf(Node(sizes, {1, 4, 4}, {2, 2, 1, 1}, {1, 3, 3, 1})),
      "input_sizes must have 4 numbers, or 2 next to a filter and a gradient of rank 4, not 3");
  OneNode negative("Conv2DBackpropInput");
  EXPECT_EQ(ErrorOf(Node(negative, {1, -4, 4, 1}, {2, 2, 1, 1}, {1, 3, 3, 1})),
            "input_sizes must not be negative (a batch of -1 stands for the gradient's), got "
            "[1,-4,4,1]");
}

}  // namespace
}  // namespace grapnel::nn_test
