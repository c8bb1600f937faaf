// Convolutions and poolings, with their second gradients.
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

// The ops of a family of convolutions, and their common attributes.
struct Convolution {
  const char *forward, *of_input, *of_filter;
  std::vector<const char*> attributes;
};
const Convolution& TwoDimensional() {
  static const auto* const k = new Convolution{
      "Conv2D",
      "Conv2DBackpropInput",
      "Conv2DBackpropFilter",
      {"dilations", "strides", "padding", "explicit_paddings", "use_cudnn_on_gpu", "data_format"}};
  return *k;
}
const Convolution& Depthwise() {
  static const auto* const k =
      new Convolution{"DepthwiseConv2dNative",
                      "DepthwiseConv2dNativeBackpropInput",
                      "DepthwiseConv2dNativeBackpropFilter",
                      {"dilations", "strides", "padding", "explicit_paddings", "data_format"}};
  return *k;
}
const Convolution& ThreeDimensional() {
  static const auto* const k = new Convolution{"Conv3D",
                                               "Conv3DBackpropInputV2",
                                               "Conv3DBackpropFilterV2",
                                               {"dilations", "strides", "padding", "data_format"}};
  return *k;
}

InputGradients ForwardOf(G& g, const Convolution& conv) {
  Values shapes = g.ShapeN({g.x(0), g.x(1)});
  std::vector<OpAttribute> attributes = g.Attrs(conv.attributes);
  Value of_input = g.Op(conv.of_input, {shapes[0], g.x(1), g.dy()}, attributes);
  return {of_input, g.Op(conv.of_filter, {g.x(0), shapes[1], g.dy()}, attributes)};
}
GRAPNEL_GRADIENT("Conv2D", [](G& g) { return ForwardOf(g, TwoDimensional()); });
GRAPNEL_GRADIENT("Conv3D", [](G& g) { return ForwardOf(g, ThreeDimensional()); });
GRAPNEL_GRADIENT("DepthwiseConv2dNative", [](G& g) -> InputGradients {
  const Convolution& conv = Depthwise();
  std::vector<OpAttribute> attributes = g.Attrs(conv.attributes);
  Value of_input = g.Op(conv.of_input, {g.ShapeOf(g.x(0)), g.x(1), g.dy()}, attributes);
  return {of_input, g.Op(conv.of_filter, {g.x(0), g.ShapeOf(g.x(1)), g.dy()}, attributes)};
});

InputGradients BackpropInputOf(G& g, const Convolution& conv) {
  std::vector<OpAttribute> attributes = g.Attrs(conv.attributes);
  Value of_filter = g.Op(conv.of_filter, {g.dy(), g.ShapeOf(g.x(1)), g.x(2)}, attributes);
  return {Gradient(), of_filter, g.Op(conv.forward, {g.dy(), g.x(1)}, attributes)};
}
InputGradients BackpropFilterOf(G& g, const Convolution& conv) {
  std::vector<OpAttribute> attributes = g.Attrs(conv.attributes);
  Value of_input = g.Op(conv.of_input, {g.ShapeOf(g.x(0)), g.dy(), g.x(2)}, attributes);
  return {of_input, Gradient(), g.Op(conv.forward, {g.x(0), g.dy()}, attributes)};
}
GRAPNEL_GRADIENT("Conv2DBackpropInput", [](G& g) { return BackpropInputOf(g, TwoDimensional()); });
GRAPNEL_GRADIENT("Conv2DBackpropFilter",
                 [](G& g) { return BackpropFilterOf(g, TwoDimensional()); });
GRAPNEL_GRADIENT("DepthwiseConv2dNativeBackpropInput",
                 [](G& g) { return BackpropInputOf(g, Depthwise()); });
GRAPNEL_GRADIENT("DepthwiseConv2dNativeBackpropFilter",
                 [](G& g) { return BackpropFilterOf(g, Depthwise()); });
GRAPNEL_GRADIENT("Conv3DBackpropInputV2",
                 [](G& g) { return BackpropInputOf(g, ThreeDimensional()); });
GRAPNEL_GRADIENT("Conv3DBackpropFilterV2",
                 [](G& g) { return BackpropFilterOf(g, ThreeDimensional()); });

InputGradients Dilation2DOf(G& g) {
  std::vector<OpAttribute> attributes = g.Attrs({"strides", "rates", "padding"});
  Value of_input = g.Op("Dilation2DBackpropInput", {g.x(0), g.x(1), g.dy()}, attributes);
  return {of_input, g.Op("Dilation2DBackpropFilter", {g.x(0), g.x(1), g.dy()}, attributes)};
}
GRAPNEL_GRADIENT("Dilation2D", Dilation2DOf);

// --- Pooling.

const char* const kPooling[] = {"ksize", "strides", "padding", "data_format"};

InputGradients AveragePoolOf(G& g, const char* op, llvm::StringRef name = {}) {
  return {g.Op(op, {g.ShapeOf(g.x(0)), g.dy()}, g.Attrs(kPooling), name)};
}
GRAPNEL_GRADIENT("AvgPool", [](G& g) { return AveragePoolOf(g, "AvgPoolGrad"); });
GRAPNEL_GRADIENT("AvgPool3D", [](G& g) { return AveragePoolOf(g, "AvgPool3DGrad"); });

InputGradients AveragePoolGradOf(G& g, const char* op) {
  Value shape = StopGradient(g.x(0));
  return {shape, g.Op(op, {g.dy()}, g.Attrs(kPooling))};
}
GRAPNEL_GRADIENT("AvgPoolGrad", [](G& g) { return AveragePoolGradOf(g, "AvgPool"); });
GRAPNEL_GRADIENT("AvgPool3DGrad", [](G& g) { return AveragePoolGradOf(g, "AvgPool3D"); });

GRAPNEL_GRADIENT("MaxPool", [](G& g) -> InputGradients {
  return {g.Op("MaxPoolGrad", {g.x(), g.y(), g.dy()},
               g.Attrs({"ksize", "strides", "padding", "explicit_paddings", "data_format"}))};
});
GRAPNEL_GRADIENT("MaxPool3D", [](G& g) -> InputGradients {
  return {g.Op("MaxPool3DGrad", {g.x(), g.y(), g.dy()}, g.Attrs(kPooling))};
});
GRAPNEL_GRADIENT("MaxPoolV2", [](G& g) -> InputGradients {
  return {g.Op("MaxPoolGradV2", {g.x(0), g.y(), g.dy(), g.x(1), g.x(2)},
               g.Attrs({"padding", "data_format"}))};
});
GRAPNEL_GRADIENT("MaxPoolWithArgmax", [](G& g) -> InputGradients {
  return {g.Op("MaxPoolGradWithArgmax", {g.x(), g.dy(0), g.y(1)},
               g.Attrs({"ksize", "strides", "padding", "include_batch_in_index"}))};
});

// The gradient of MaxPoolGrad and of MaxPoolGradGrad: `op` passes the incoming gradient between the
// same positions in the other direction. The first two inputs, the pooling's input and output, get
// zeros.
InputGradients MaxPoolGradOf(G& g, const char* op) {
  Value of_input = g.ZerosLike(g.x(0));
  Value of_output = g.ZerosLike(g.x(1));
  std::vector<Operand> operands = {g.x(0), g.x(1), g.dy()};
  for (int i = 3; i < g.num_inputs(); ++i) operands.push_back(g.x(i));
  bool has_sizes = g.num_inputs() > 3;
  std::vector<OpAttribute> attributes =
      has_sizes ? g.Attrs({"padding", "data_format"}) : g.Attrs(kPooling);
  return {of_input, of_output, g.Op(op, operands, attributes)};
}
GRAPNEL_GRADIENT("MaxPoolGrad", [](G& g) { return MaxPoolGradOf(g, "MaxPoolGradGrad"); });
GRAPNEL_GRADIENT("MaxPoolGradGrad", [](G& g) { return MaxPoolGradOf(g, "MaxPoolGrad"); });
GRAPNEL_GRADIENT("MaxPoolGradV2", [](G& g) { return MaxPoolGradOf(g, "MaxPoolGradGradV2"); });
GRAPNEL_GRADIENT("MaxPool3DGrad", [](G& g) { return MaxPoolGradOf(g, "MaxPool3DGradGrad"); });
GRAPNEL_GRADIENT("MaxPool3DGradGrad", [](G& g) { return MaxPoolGradOf(g, "MaxPool3DGrad"); });

GRAPNEL_GRADIENT("FractionalMaxPool", [](G& g) -> InputGradients {
  return {g.Op("FractionalMaxPoolGrad", {g.x(), g.y(), g.dy(0), g.y(1), g.y(2)},
               g.Attrs({"overlapping"}))};
});
GRAPNEL_GRADIENT("FractionalAvgPool", [](G& g) -> InputGradients {
  Shape shape = g.x().shape();
  if (!shape.IsFullyKnown())
    return g.Fail("its gradient needs the shape of its input, which must be known while tracing");
  Literal dims = Literal::Integers(proto::DT_INT64, {shape.rank()}, shape.dims());
  return {g.Op("FractionalAvgPoolGrad", {dims, g.dy(0), g.y(1), g.y(2)}, g.Attrs({"overlapping"}))};
});

}  // namespace
}  // namespace grapnel
