// Steps with sums: reductions, products, convolutions, and the ops after them in a network.
#include <algorithm>

#include "tests/passes/random_graph_maker.h"

namespace grapnel {

bool RandomGraphMaker::MakeProduct(Value* made) {
  Value a, b;
  if (!FindFloat(&a, 2)) return false;
  bool ta = Chance(30), tb = Chance(30);
  int64_t m = a.dims[ta ? 1 : 0], k = a.dims[ta ? 0 : 1], n = Pick<int64_t>({4, 6, 3});
  if (!Chance(40) || !Find(&b, [&](const Value& v) {
        return v.type == proto::DT_FLOAT && v.dims.size() == 2 && v.dims[tb ? 1 : 0] == k &&
               v.magnitude <= kLargest;
      }))
    b = ConstantOf(proto::DT_FLOAT, tb ? Dims{n, k} : Dims{k, n});
  n = b.dims[tb ? 0 : 1];
  double magnitude = a.magnitude * b.magnitude * k;
  if (magnitude > kLargest) return false;
  Port port = Float("MatMul", {a.port, b.port});
  graph().SetAttr(port.node, "transpose_a", attr::Bool(ta));
  graph().SetAttr(port.node, "transpose_b", attr::Bool(tb));
  *made = {port, proto::DT_FLOAT, {m, n}, magnitude, std::max({a.scale, b.scale, magnitude})};
  return true;
}

bool RandomGraphMaker::MakeConvolution(Value* made) {
  Value a;
  if (!FindFloat(&a, 4) || a.dims[1] < 3 || a.dims[2] < 3) return false;
  int64_t out = 3, size = Pick<int64_t>({1, 3});
  Value filter = ConstantOf(proto::DT_FLOAT, {size, size, a.dims[3], out});
  double magnitude = a.magnitude * filter.magnitude * size * size * a.dims[3];
  if (magnitude > kLargest) return false;
  Port port = Float("Conv2D", {a.port, filter.port});
  graph().SetAttr(port.node, "strides", attr::Ints({1, 1, 1, 1}));
  graph().SetAttr(port.node, "padding", attr::String("SAME"));
  *made = {port,
           proto::DT_FLOAT,
           {a.dims[0], a.dims[1], a.dims[2], out},
           magnitude,
           std::max(a.scale, magnitude)};
  return true;
}

bool RandomGraphMaker::MakeNorm(const Value& of, bool of_constants, Value* made) {
  Dims channels = {of.dims.back()};
  double magnitude = (of.magnitude + 2) * 3 + 2;
  if (magnitude > kLargest) return false;
  auto parameter = [&] {
    return of_constants ? ConstantOf(proto::DT_FLOAT, channels)
                        : Placeholder(proto::DT_FLOAT, channels);
  };
  Value scale = parameter(), offset = parameter(), mean = ConstantOf(proto::DT_FLOAT, channels),
        variance = ConstantOf(proto::DT_FLOAT, channels, 0.5);
  Port port =
      Float("FusedBatchNormV3", {of.port, scale.port, offset.port, mean.port, variance.port});
  graph().SetAttr(port.node, "U", attr::Type(proto::DT_FLOAT));
  graph().SetAttr(port.node, "is_training", attr::Bool(false));
  *made = {port, proto::DT_FLOAT, of.dims, magnitude, std::max(of.scale, magnitude)};
  return true;
}

RandomGraphMaker::Value RandomGraphMaker::MakeBias(const Value& of) {
  Value bias = ConstantOf(proto::DT_FLOAT, {of.dims.back()});
  double magnitude = of.magnitude + bias.magnitude;
  Port port = Float(Chance(25) ? "AddV2" : "BiasAdd", {of.port, bias.port});
  return {port, proto::DT_FLOAT, of.dims, magnitude, std::max(of.scale, magnitude)};
}

void RandomGraphMaker::Reduce() {
  Value a;
  if (!FindFloat(&a)) return;
  std::string op = Pick<std::string>({"Sum", "Mean", "Max", "Min"});
  bool keep = Chance(40);
  std::vector<int64_t> axes;
  Dims dims;
  double factor = 1;
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (Chance(45)) {
      axes.push_back(i);
      factor *= a.dims[i];
      if (keep) dims.push_back(1);
    } else {
      dims.push_back(a.dims[i]);
    }
  }
  double magnitude = op == "Sum" ? a.magnitude * factor : a.magnitude;
  if (magnitude > kLargest) return;
  NodeId id = Typed(op, {a.port, Ints(axes)}, a.type);
  graph().SetAttr(id, "Tidx", attr::Type(proto::DT_INT32));
  graph().SetAttr(id, "keep_dims", attr::Bool(keep));
  Keep(id, 0, a.type, dims, magnitude, {a});
}

void RandomGraphMaker::MatMul() {
  Value product;
  if (!MakeProduct(&product)) return;
  Keep(product.port.node, 0, product.type, product.dims, product.magnitude, {product});
  if (Chance(60)) Bias(product);
}

void RandomGraphMaker::Bias(const Value& a) {
  Value sum = MakeBias(a);
  Keep(sum.port.node, 0, sum.type, sum.dims, sum.magnitude, {sum});
  if (!Chance(70)) return;
  std::string op = Pick<std::string>({"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"});
  Port port = Float(op, {sum.port});
  Keep(port.node, 0, sum.type, sum.dims, sum.magnitude + 1, {sum});
}

void RandomGraphMaker::BiasAdd() {
  Value a;
  if (Find(&a, [](const Value& v) {
        return v.type == proto::DT_FLOAT && v.dims.size() >= 2 && v.magnitude < kLargest / 2;
      }))
    Bias(a);
}

void RandomGraphMaker::Convolve() {
  Value conv, norm;
  if (!MakeConvolution(&conv)) return;
  Keep(conv.port.node, 0, conv.type, conv.dims, conv.magnitude, {conv});
  if (Chance(40)) return Bias(conv);
  if (!Chance(60) || !MakeNorm(conv, /*of_constants=*/true, &norm)) return;
  Keep(norm.port.node, 0, norm.type, norm.dims, norm.magnitude, {norm});
  if (Chance(60))
    Keep(Float("Relu", {norm.port}).node, 0, norm.type, norm.dims, norm.magnitude, {norm});
}

}  // namespace grapnel
