// Steps with elementwise ops.
#include <algorithm>
#include <cmath>

#include "tests/passes/random_graph_maker.h"

namespace grapnel {

bool RandomGraphMaker::Partner(const Value& a, Value* b, double least) {
  Dims out;
  if (least < 0 && Chance(55) && Find(b, [&](const Value& v) {
        return v.type == a.type && v.magnitude <= kLargest && Broadcast(a.dims, v.dims, &out);
      }))
    return true;
  Dims dims = a.dims;
  int kind = static_cast<int>(Below(4));
  if (kind == 0) dims.clear();
  if (kind == 1 && !dims.empty()) dims = {dims.back()};
  *b = ConstantOf(a.type, dims, least);
  return true;
}

void RandomGraphMaker::Binary() {
  Value a, b;
  if (!FindNumber(&a)) return;
  std::string op = Pick<std::string>({"AddV2", "AddV2", "Add", "Sub", "Sub", "Mul", "Mul",
                                      "RealDiv", "Maximum", "Minimum", "MulNoNan"});
  bool divide = op == "RealDiv";
  if (a.type == proto::DT_INT32 && (divide || op == "MulNoNan")) return;
  if (!Partner(a, &b, divide ? 0.5 : -2)) return;
  if (!divide && Chance(30)) std::swap(a, b);
  double magnitude = op == "Mul" || op == "MulNoNan"      ? a.magnitude * b.magnitude
                     : divide                             ? a.magnitude * 2
                     : op == "Maximum" || op == "Minimum" ? std::max(a.magnitude, b.magnitude)
                                                          : a.magnitude + b.magnitude;
  if (magnitude > kLargest) return;
  Dims out;
  if (!Broadcast(a.dims, b.dims, &out) || *NumElements(out) > 5000) return;
  Keep(Typed(op, {a.port, b.port}, a.type), 0, a.type, out, magnitude, {a, b});
}

void RandomGraphMaker::Unary() {
  Value a;
  if (!FindFloat(&a)) return;
  std::string op =
      Pick<std::string>({"Neg", "Neg", "Relu", "Relu", "Relu6", "Elu", "Tanh", "Sigmoid", "Abs",
                         "Square", "Exp", "Softplus", "LeakyRelu", "Sin", "Erf"});
  double magnitude = a.magnitude;
  if (op == "Square") magnitude *= magnitude;
  if (op == "Exp") magnitude = a.magnitude > 5 ? 1e9 : std::exp(a.magnitude);
  if (op == "Softplus") magnitude += 1;
  if (op == "Tanh" || op == "Sigmoid" || op == "Sin" || op == "Erf") magnitude = 1;
  if (magnitude > kLargest) return;
  Keep(Typed(op, {a.port}, a.type), 0, a.type, a.dims, std::max(magnitude, 1.0), {a});
}

// Functions of a positive argument: |x| + 1/2 first.
void RandomGraphMaker::Positive() {
  Value a;
  if (!FindFloat(&a)) return;
  Port abs{Typed("Abs", {a.port}, a.type), 0};
  Port half = Constant(Literal::Scalar(proto::DT_FLOAT, 0.5));
  Port sum{Typed("AddV2", {abs, half}, a.type), 0};
  std::string op =
      Pick<std::string>({"Sqrt", "Rsqrt", "Log", "Reciprocal", "Inv", "Pow", "RealDiv", "Log1p"});
  if (op == "Inv") op = "Reciprocal";
  std::vector<Port> inputs = {sum};
  double magnitude = a.magnitude + 3;
  if (op == "Pow") {
    double power = Pick<double>({2, 1, 0.5, 0, -0.5, -1, 3, 4});
    Dims dims = Chance(50) ? Dims() : a.dims;
    std::string bytes;
    for (int64_t i = 0; i < *NumElements(dims); ++i)
      bytes += Literal::Scalar(proto::DT_FLOAT, power).bytes();
    inputs.push_back(Constant(Literal::Make(proto::DT_FLOAT, dims, bytes)));
    magnitude = std::pow(magnitude, 4);
  }
  if (op == "RealDiv") {
    Port root{Typed("Sqrt", {sum}, a.type), 0};
    inputs = {a.port, root};
    magnitude = a.magnitude * 2;
  }
  if (magnitude > kLargest) return;
  Keep(Typed(op, inputs, a.type), 0, a.type, a.dims, magnitude, {a});
}

void RandomGraphMaker::Trivial() {
  Value a;
  if (!FindNumber(&a)) return;
  std::string op =
      Pick<std::string>({"Identity", "Identity", "StopGradient", "Snapshot", "IdentityN"});
  if (op == "IdentityN") {
    Value b;
    if (!FindNumber(&b)) return;
    NodeId id = Add(op, {a.port, b.port});
    graph().SetAttr(id, "T", attr::Types({a.type, b.type}));
    Keep(id, 0, a.type, a.dims, a.magnitude, {a, b}, a.exact);
    Keep(id, 1, b.type, b.dims, b.magnitude, {a, b}, b.exact);
    return;
  }
  Keep(Typed(op, {a.port}, a.type), 0, a.type, a.dims, a.magnitude, {a}, a.exact);
}

void RandomGraphMaker::AddN() {
  Value a;
  if (!FindNumber(&a)) return;
  std::vector<Value> terms = {a};
  std::vector<Port> ports = {a.port};
  double magnitude = a.magnitude;
  for (int i = static_cast<int>(Below(4)); i > 0; --i) {
    Value b;
    if (Chance(30)) {
      b = ConstantOf(a.type, a.dims);
    } else if (Chance(30) ||
               !Find(&b, [&](const Value& v) { return v.type == a.type && v.dims == a.dims; })) {
      b = a;
    }
    terms.push_back(b);
    ports.push_back(b.port);
    magnitude += b.magnitude;
  }
  if (magnitude > kLargest) return;
  NodeId id = Typed("AddN", ports, a.type);
  graph().SetAttr(id, "N", attr::Int(ports.size()));
  Keep(id, 0, a.type, a.dims, magnitude, terms);
}

void RandomGraphMaker::CompareNot() {
  Value a, b;
  if (!Find(&a, [](const Value& v) { return v.exact && v.type != proto::DT_BOOL; })) return;
  if (!Find(&b, [&](const Value& v) { return v.exact && v.type == a.type && v.dims == a.dims; }))
    return;
  std::string op =
      Pick<std::string>({"Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual"});
  NodeId id = Typed(op, {a.port, b.port}, a.type);
  Value result = Keep(id, 0, proto::DT_BOOL, a.dims, 1, {a, b}, true);
  if (Chance(60))
    Keep(Add("LogicalNot", {result.port}), 0, proto::DT_BOOL, a.dims, 1, {result}, true);
}

void RandomGraphMaker::Select() {
  Value condition, a, b;
  if (!FindNumber(&a)) return;
  if (!Find(&b, [&](const Value& v) { return v.type == a.type && v.dims == a.dims; })) return;
  if (Chance(40) || !Find(&condition, [&](const Value& v) {
        return v.type == proto::DT_BOOL && v.dims == a.dims;
      }))
    condition = ConstantOf(proto::DT_BOOL, a.dims);
  Keep(Typed("SelectV2", {condition.port, a.port, b.port}, a.type), 0, a.type, a.dims,
       std::max(a.magnitude, b.magnitude), {a, b});
}

void RandomGraphMaker::Fill() {
  Value a;
  if (!FindNumber(&a)) return;
  if (Chance(50)) {
    std::string op = Pick<std::string>({"ZerosLike", "OnesLike"});
    Keep(Typed(op, {a.port}, a.type), 0, a.type, a.dims, 1, {}, true);
    return;
  }
  NodeId id = Typed("Fill",
                    {Ints(std::vector<int64_t>(a.dims.begin(), a.dims.end())),
                     Constant(Literal::Scalar(a.type, Pick<double>({0, 1, 2})))},
                    a.type);
  graph().SetAttr(id, "index_type", attr::Type(proto::DT_INT32));
  Keep(id, 0, a.type, a.dims, 2, {}, true);
}

void RandomGraphMaker::Cast() {
  Value a;
  if (!Find(&a,
            [](const Value& v) { return v.type == proto::DT_INT32 || v.type == proto::DT_BOOL; })) {
    if (!FindFloat(&a)) return;
    NodeId same = Typed("Cast", {a.port}, a.type, "SrcT");
    graph().SetAttr(same, "DstT", attr::Type(a.type));
    Keep(same, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
    return;
  }
  if (a.magnitude > kLargest) return;
  NodeId id = Typed("Cast", {a.port}, a.type, "SrcT");
  graph().SetAttr(id, "DstT", attr::Type(proto::DT_FLOAT));
  Keep(id, 0, proto::DT_FLOAT, a.dims, a.magnitude, {a});
}

// Constants on both sides of an associative op.
void RandomGraphMaker::Chain() {
  Value a;
  if (!FindFloat(&a, -1, 100)) return;
  std::string op = Pick<std::string>({"AddV2", "Mul", "Sub"});
  Value b = ConstantOf(a.type, Dims()), c = ConstantOf(a.type, Dims());
  Port inner{Typed(op, {a.port, b.port}, a.type), 0};
  std::vector<Port> outer = {inner, c.port};
  if (Chance(40)) std::swap(outer[0], outer[1]);
  double magnitude = op == "Mul" ? a.magnitude * 4 : a.magnitude + 4;
  Keep(Typed(op, outer, a.type), 0, a.type, a.dims, magnitude, {a});
}

void RandomGraphMaker::SquaredDiff() {
  Value a, b;
  if (!FindFloat(&a, -1, 10)) return;
  if (!Find(&b, [&](const Value& v) {
        return v.type == a.type && v.dims == a.dims && v.magnitude <= 10;
      }))
    return;
  Port difference{Typed("Sub", {a.port, b.port}, a.type), 0};
  Keep(Typed("Square", {difference}, a.type), 0, a.type, a.dims, 400, {a, b});
}

void RandomGraphMaker::SharedFactor() {
  Value a, b, c;
  if (!FindFloat(&a, -1, 10)) return;
  auto like = [&](const Value& v) {
    return v.type == a.type && v.dims == a.dims && v.magnitude <= 10;
  };
  if (!Find(&b, like) || !Find(&c, like)) return;
  Port left{Typed("Mul", {a.port, b.port}, a.type), 0},
      right{Typed("Mul", {a.port, c.port}, a.type), 0};
  Keep(Typed(Pick<std::string>({"AddV2", "AddV2", "Sub"}), {left, right}, a.type), 0, a.type,
       a.dims, 200, {a, b, c});
}

}  // namespace grapnel
