// The frame of a random graph: placeholders, a menu of steps, and helpers for steps.
#include "tests/passes/random_graph.h"

#include <algorithm>
#include <cmath>

#include "tests/passes/random_graph_maker.h"

namespace grapnel {

RandomGraph RandomGraphMaker::Make() {
  static const std::vector<Dims> shapes = {{4, 6}, {6, 4}, {4, 6}, {1, 6}, {6}, {2, 6, 6, 4}, {}};
  for (int i = 0; i < 3; ++i) {
    Dims dims = Pick(shapes);
    Placeholder(Chance(80) ? proto::DT_FLOAT : proto::DT_INT32, dims);
  }
  int steps = 8 + static_cast<int>(Below(28));
  for (int i = 0; i < steps; ++i) Step();
  for (Node node : graph().nodes()) {
    if (!node.uses().empty() || node.op() == "Const" || node.op() == "NoOp") continue;
    result_.fetches.push_back(node.name().str());
    result_.magnitudes.push_back(scales_[node.id()]);
  }
  if (result_.fetches.empty()) {
    result_.fetches.push_back(graph().node(values_[0].port.node).name().str());
    result_.magnitudes.push_back(values_[0].scale);
  }
  return std::move(result_);
}

void RandomGraphMaker::Step() {
  using Maker = RandomGraphMaker;
  using Method = void (Maker::*)();
  static const std::vector<std::pair<int, Method>> menu = {{18, &Maker::Binary},
                                                           {14, &Maker::Unary},
                                                           {6, &Maker::Trivial},
                                                           {6, &Maker::Transpose},
                                                           {6, &Maker::Reshape},
                                                           {5, &Maker::Reduce},
                                                           {5, &Maker::MatMul},
                                                           {4, &Maker::Concat},
                                                           {4, &Maker::Split},
                                                           {4, &Maker::SliceOf},
                                                           {3, &Maker::Pack},
                                                           {3, &Maker::Tile},
                                                           {3, &Maker::Pad},
                                                           {4, &Maker::AddN},
                                                           {4, &Maker::Positive},
                                                           {5, &Maker::Convolve},
                                                           {3, &Maker::BiasAdd},
                                                           {3, &Maker::Select},
                                                           {3, &Maker::CompareNot},
                                                           {3, &Maker::ShapeOps},
                                                           {3, &Maker::Fill},
                                                           {3, &Maker::Expand},
                                                           {3, &Maker::Cast},
                                                           {3, &Maker::Chain},
                                                           {2, &Maker::Reverse},
                                                           {2, &Maker::SquaredDiff},
                                                           {2, &Maker::SharedFactor},
                                                           {3, &Maker::Activation},
                                                           {5, &Maker::LayerActivation},
                                                           {4, &Maker::Residual},
                                                           {3, &Maker::Gelu},
                                                           {3, &Maker::LayerNorm},
                                                           {3, &Maker::SqueezeBias},
                                                           {3, &Maker::Attention},
                                                           {3, &Maker::PaddedConv3D},
                                                           {3, &Maker::NormRelu},
                                                           {2, &Maker::HashBucket}};
  int total = 0;
  for (const auto& [weight, method] : menu) total += weight;
  int at = static_cast<int>(Below(total));
  for (const auto& [weight, method] : menu) {
    if ((at -= weight) < 0) return (this->*method)();
  }
}

NodeId RandomGraphMaker::Add(llvm::StringRef op, llvm::ArrayRef<Port> inputs) {
  std::string scope = Pick<std::string>({"", "", "a/", "a/b/", "c/"});
  NodeId id = graph().AddNode(graph().UniqueName(scope + op.str()), op);
  for (Port port : inputs) graph().AddInput(id, port);
  // A control edge from an earlier node.
  if (!values_.empty() && Chance(5)) graph().AddControl(id, Pick(values_).port.node);
  return id;
}

NodeId RandomGraphMaker::Typed(llvm::StringRef op, llvm::ArrayRef<Port> inputs, DataType type,
                               llvm::StringRef key) {
  NodeId id = Add(op, inputs);
  graph().SetAttr(id, key, attr::Type(type));
  return id;
}

RandomGraphMaker::Value RandomGraphMaker::Placeholder(DataType type, const Dims& dims) {
  NodeId id = Add("Placeholder", {});
  graph().SetAttr(id, "dtype", attr::Type(type));
  graph().SetAttr(id, "shape", attr::ShapeOf(Shape(dims)));
  return Keep(id, 0, type, dims, type == proto::DT_FLOAT ? 2 : 3, {}, true);
}

Port RandomGraphMaker::Constant(const Literal& literal) {
  NodeId id = graph().AddNode(graph().UniqueName("const"), "Const");
  graph().SetAttr(id, "dtype", attr::Type(literal.dtype()));
  graph().SetAttr(id, "value", attr::Tensor(literal.ToTensorProto()));
  return {id, 0};
}

RandomGraphMaker::Value RandomGraphMaker::ConstantOf(DataType type, const Dims& dims,
                                                     double least) {
  std::string bytes;
  int kind = static_cast<int>(Below(5));
  if (least > 0 && kind == 0) kind = 1;
  double largest = 0;
  for (int64_t i = 0; i < *NumElements(dims); ++i) {
    double value = kind == 0 ? 0 : kind == 1 ? 1 : static_cast<double>(Below(127) + 1) / 64;
    if (type == proto::DT_INT32 && kind > 1) value = static_cast<double>(Below(3) + 1);
    if (kind > 1 && least < 0 && Chance(50)) value = -value;
    if (least > 0) value = std::max(value, least);
    largest = std::max(largest, std::fabs(value));
    bytes += Literal::Scalar(type, value).bytes();
  }
  Value value{Constant(Literal::Make(type, dims, bytes)), type, dims, largest, largest, true};
  return value;
}

const RandomGraphMaker::Value& RandomGraphMaker::Keep(NodeId id, int output, DataType type,
                                                      Dims dims, double magnitude,
                                                      llvm::ArrayRef<Value> from, bool exact) {
  Value value{{id, output}, type, std::move(dims), magnitude, magnitude, exact};
  for (const Value& source : from) value.scale = std::max(value.scale, source.scale);
  scales_[id] = std::max(scales_[id], value.scale);
  values_.push_back(std::move(value));
  return values_.back();
}

bool RandomGraphMaker::Find(Value* found, llvm::function_ref<bool(const Value&)> fits) {
  std::vector<size_t> all;
  for (size_t i = 0; i < values_.size(); ++i) {
    if (fits(values_[i])) all.push_back(i);
  }
  if (all.empty()) return false;
  // Prefers late values: rules look for chains.
  size_t pick =
      Chance(60) ? all.size() - 1 - Below(std::min<size_t>(3, all.size())) : Below(all.size());
  *found = values_[all[pick]];
  return true;
}

bool RandomGraphMaker::FindFloat(Value* found, int rank, double largest) {
  return Find(found, [&](const Value& v) {
    return v.type == proto::DT_FLOAT && v.magnitude <= largest &&
           (rank < 0 || static_cast<int>(v.dims.size()) == rank);
  });
}

bool RandomGraphMaker::FindNumber(Value* found) {
  return Find(found, [&](const Value& v) {
    return v.type == proto::DT_FLOAT || (v.type == proto::DT_INT32 && v.magnitude <= 100);
  });
}

bool RandomGraphMaker::Broadcast(const Dims& a, const Dims& b, Dims* out) {
  size_t rank = std::max(a.size(), b.size());
  out->assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    (*out)[rank - 1 - i] = x == 1 ? y : x;
  }
  return true;
}

RandomGraph MakeRandomGraph(uint64_t seed) { return RandomGraphMaker(seed).Make(); }

}  // namespace grapnel
