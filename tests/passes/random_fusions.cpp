// Groups of ops that fuse into one: activations written as separate ops, and layers with the ops
// after them. Inner nodes have no other readers, which would prevent the fusion.
#include "tests/passes/random_graph_maker.h"

namespace grapnel {

// Swish, Mish or a LeakyRelu.
Port RandomGraphMaker::Spelled(Port x) {
  switch (Below(3)) {
    case 0:
      return Float("Mul", {x, Float("Sigmoid", {x})});
    case 1:
      return Float("Mul", {x, Float("Tanh", {Float("Softplus", {x})})});
    default:
      return Float("Maximum", {x, Float("Mul", {Number(0.25), x})});
  }
}

void RandomGraphMaker::Activation() {
  Value a;
  if (!FindFloat(&a)) return;
  Keep(Spelled(a.port).node, 0, a.type, a.dims, a.magnitude, {a});
}

void RandomGraphMaker::LayerActivation() {
  Value layer, sum;
  if (!(Chance(70) ? MakeConvolution(&layer) : MakeProduct(&layer))) return;
  bool norm = layer.dims.size() == 4 && Chance(30);
  if (!norm) {
    sum = MakeBias(layer);
  } else if (!MakeNorm(layer, /*of_constants=*/true, &sum)) {
    Keep(layer.port.node, 0, layer.type, layer.dims, layer.magnitude, {layer});
    return;
  }
  Port port = Chance(60)
                  ? Spelled(sum.port)
                  : Float(Pick<std::string>({"Relu", "Relu6", "Elu", "LeakyRelu"}), {sum.port});
  Keep(port.node, 0, sum.type, sum.dims, sum.magnitude, {sum});
}

void RandomGraphMaker::Residual() {
  Value layer, other;
  if (!(Chance(50) ? MakeConvolution(&layer) : MakeProduct(&layer))) return;
  Value sum = MakeBias(layer);
  if (!Find(&other, [&](const Value& v) {
        return v.type == sum.type && v.dims == sum.dims && v.magnitude <= kLargest;
      }))
    other = Placeholder(sum.type, sum.dims);
  double magnitude = sum.magnitude + other.magnitude;
  Port added = Float("AddV2", {sum.port, other.port});
  if (Chance(60)) added = Float(Pick<std::string>({"Relu", "Relu6", "Elu"}), {added});
  Keep(added.node, 0, sum.type, sum.dims, magnitude, {sum, other});
}

// GELU of a product and its bias, by Erf, Erfc or Tanh.
void RandomGraphMaker::Gelu() {
  Value product;
  if (!MakeProduct(&product)) return;
  Value bias = ConstantOf(proto::DT_FLOAT, {product.dims.back()});
  Port x = Float("BiasAdd", {product.port, bias.port}), sum;
  if (Chance(33)) {
    sum = Float("Erfc", {Float("Mul", {Float("Neg", {x}), Number(0.70710678)})});
  } else if (Chance(50)) {
    sum = Float("AddV2", {Float("Erf", {Float("Mul", {x, Number(0.70710678)})}), Number(1)});
  } else {
    Port cube = Float("Mul", {Float("Mul", {x, Number(0.044715)}), Float("Square", {x})});
    Port tanh = Float("Tanh", {Float("Mul", {Float("AddV2", {x, cube}), Number(0.79788456)})});
    sum = Float("AddV2", {tanh, Number(1)});
  }
  Port result = Float("Mul", {x, Float("Mul", {sum, Number(0.5)})});
  Keep(result.node, 0, proto::DT_FLOAT, product.dims, product.magnitude + bias.magnitude,
       {product, bias});
}

// As in Keras 2: rows, counted when the graph runs, are the channels of an image.
void RandomGraphMaker::LayerNorm() {
  Value a;
  if (!FindFloat(&a, Chance(50) ? 2 : 3, 10)) return;
  int64_t depth = a.dims.back(),
          rows = NumElements(a.dims).value_or(0) / std::max<int64_t>(depth, 1);
  if (rows == 0) return;
  auto pack = [&](llvm::ArrayRef<Port> sizes) {
    Port port = {Typed("Pack", sizes, proto::DT_INT32), 0};
    graph().SetAttr(port.node, "N", attr::Int(static_cast<int64_t>(sizes.size())));
    return port;
  };
  // 0, unknown to passes.
  Value fed = Placeholder(proto::DT_INT32, {});
  Port zero = {Typed("FloorMod", {fed.port, Int(1)}, proto::DT_INT32), 0};
  Port count = {Typed("AddV2", {zero, Int(rows)}, proto::DT_INT32), 0};
  Port before = Float("Reshape", {a.port, pack({Int(1), count, Int(depth), Int(1)})});
  Port counts = pack({count}), none = Constant(Literal::Make(proto::DT_FLOAT, {0}, ""));
  Port norm = Float("FusedBatchNormV3", {before, Float("Fill", {counts, Number(1)}),
                                         Float("Fill", {counts, Number(0)}), none, none});
  graph().SetAttr(norm.node, "U", attr::Type(proto::DT_FLOAT));
  graph().SetAttr(norm.node, "data_format", attr::String("NCHW"));
  graph().SetAttr(norm.node, "epsilon", attr::Float(0.01f));
  Port shape = {Typed("Shape", {a.port}, proto::DT_FLOAT), 0};
  Value gamma = ConstantOf(proto::DT_FLOAT, {depth}), beta = ConstantOf(proto::DT_FLOAT, {depth});
  Port scaled = Float("Mul", {Float("Reshape", {norm, shape}), gamma.port});
  Port sum = Float("AddV2", {scaled, beta.port});
  // If numbers hardly differ, their differences are divided by the root of epsilon.
  double magnitude = 10 * a.magnitude * std::max(gamma.magnitude, 1.0) + beta.magnitude;
  Keep(sum.node, 0, a.type, a.dims, magnitude, {a, gamma, beta});
}

void RandomGraphMaker::SqueezeBias() {
  Value a;
  if (!FindFloat(&a, 4, 10)) return;
  Dims dims = {a.dims[0] * a.dims[1], a.dims[2], 3};
  Port wide = Float("Reshape", {a.port, Ints({1, dims[0], dims[1], a.dims[3]})});
  graph().SetAttr(wide.node, "Tshape", attr::Type(proto::DT_INT32));
  Value filter = ConstantOf(proto::DT_FLOAT, {1, 1, a.dims[3], 3});
  Port conv = Float("Conv2D", {wide, filter.port});
  graph().SetAttr(conv.node, "strides", attr::Ints({1, 1, 1, 1}));
  graph().SetAttr(conv.node, "padding", attr::String("SAME"));
  Port squeezed = Float("Squeeze", {conv});
  graph().SetAttr(squeezed.node, "squeeze_dims", attr::Ints({0}));
  Value bias = ConstantOf(proto::DT_FLOAT, {3});
  Port sum = Float("BiasAdd", {squeezed, bias.port});
  Keep(sum.node, 0, a.type, dims, a.magnitude * filter.magnitude * a.dims[3] + bias.magnitude,
       {a, bias});
}

// A batch of products, a factor, and a mask for all heads.
void RandomGraphMaker::Attention() {
  Value a;
  if (!FindFloat(&a, 4, 10)) return;
  Dims dims = {a.dims[0], a.dims[1], a.dims[2], a.dims[2]};
  Port product = Float("BatchMatMulV2", {a.port, a.port});
  graph().SetAttr(product.node, "adj_y", attr::Bool(true));
  Port scaled = Float("Mul", {product, Number(0.5)});
  Value mask = ConstantOf(proto::DT_FLOAT, {a.dims[0], 1, a.dims[2], a.dims[2]});
  Port sum = Float("AddV2", {scaled, mask.port});
  double magnitude = a.magnitude * a.magnitude * a.dims[3] + mask.magnitude;
  Keep(sum.node, 0, a.type, dims, magnitude, {a, mask});
}

void RandomGraphMaker::PaddedConv3D() {
  Value a;
  if (!FindFloat(&a, 4, 10)) return;
  Dims dims = {1, a.dims[0], a.dims[1], a.dims[2], a.dims[3]};
  Port deep = Float("Reshape", {a.port, Ints(std::vector<int64_t>(dims.begin(), dims.end()))});
  graph().SetAttr(deep.node, "Tshape", attr::Type(proto::DT_INT32));
  Port paddings =
      Constant(Literal::Integers(proto::DT_INT32, {5, 2}, {0, 0, 1, 1, 1, 1, 1, 1, 0, 0}));
  Port padded = Float("Pad", {deep, paddings});
  graph().SetAttr(padded.node, "Tpaddings", attr::Type(proto::DT_INT32));
  Value filter = ConstantOf(proto::DT_FLOAT, {3, 3, 3, a.dims[3], 2});
  Port conv = Float("Conv3D", {padded, filter.port});
  graph().SetAttr(conv.node, "strides", attr::Ints({1, 1, 1, 1, 1}));
  graph().SetAttr(conv.node, "padding", attr::String("VALID"));
  dims[4] = 2;
  double magnitude = a.magnitude * filter.magnitude * 27 * a.dims[3];
  Keep(conv.node, 0, a.type, dims, magnitude, {a});
}

// With a fed scale and offset: constants would be folded.
void RandomGraphMaker::NormRelu() {
  Value a, norm;
  if (!FindFloat(&a, 4) || !MakeNorm(a, /*of_constants=*/false, &norm)) return;
  Keep(Float("Relu", {norm.port}).node, 0, norm.type, norm.dims, norm.magnitude, {norm});
}

void RandomGraphMaker::HashBucket() {
  Value a;
  if (!Find(&a, [](const Value& v) { return v.type == proto::DT_INT32; })) return;
  Port text{Typed("AsString", {a.port}, proto::DT_INT32), 0};
  NodeId hash = Add("StringToHashBucketFast", {text});
  graph().SetAttr(hash, "num_buckets", attr::Int(10));
  Keep(hash, 0, proto::DT_INT64, a.dims, 10, {a}, true);
}

}  // namespace grapnel
