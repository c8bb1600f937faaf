// One step a group of ops, and no step longer than a screen: the menu is read and extended as a
// whole, so it is one file.
#include "tests/passes/random_graph.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "lib/ir/attr.h"
#include "lib/ir/literal.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace grapnel {
namespace {

struct Value {
  Port port;
  DataType type;
  Dims dims;
  double magnitude = 0;  // largest absolute value
  double scale = 0;      // the same over all that it is computed from
  bool exact = false;    // small multiples of 1/64: no op has rounded yet
};

class Maker {
 public:
  explicit Maker(uint64_t seed) : random_(seed) { result_.module = std::make_unique<Module>(); }

  RandomGraph Make() {
    for (int i = 0; i < 3; ++i) AddPlaceholder();
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

 private:
  static constexpr double kLargest = 1e3;

  Graph& graph() { return result_.module->main; }
  uint64_t Below(uint64_t n) { return random_() % n; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }
  template <typename T>
  const T& Pick(const std::vector<T>& from) {
    return from[Below(from.size())];
  }

  NodeId Add(llvm::StringRef op, llvm::ArrayRef<Port> inputs) {
    std::string scope = Pick<std::string>({"", "", "a/", "a/b/", "c/"});
    NodeId id = graph().AddNode(graph().UniqueName(scope + op.str()), op);
    for (Port port : inputs) graph().AddInput(id, port);
    // A control edge from something that came before.
    if (!values_.empty() && Chance(5)) graph().AddControl(id, Pick(values_).port.node);
    return id;
  }

  const Value& Keep(NodeId id, int output, DataType type, Dims dims, double magnitude,
                    llvm::ArrayRef<Value> from, bool exact = false) {
    Value value{{id, output}, type, std::move(dims), magnitude, magnitude, exact};
    for (const Value& source : from) value.scale = std::max(value.scale, source.scale);
    scales_[id] = std::max(scales_[id], value.scale);
    values_.push_back(std::move(value));
    return values_.back();
  }

  void AddPlaceholder() {
    static const std::vector<Dims> shapes = {{4, 6}, {6, 4}, {4, 6}, {1, 6}, {6}, {2, 6, 6, 4}, {}};
    Dims dims = Pick(shapes);
    DataType type = Chance(80) ? proto::DT_FLOAT : proto::DT_INT32;
    NodeId id = Add("Placeholder", {});
    graph().SetAttr(id, "dtype", attr::Type(type));
    graph().SetAttr(id, "shape", attr::ShapeOf(Shape(dims)));
    Keep(id, 0, type, dims, type == proto::DT_FLOAT ? 2 : 3, {}, true);
  }

  Port Constant(const Literal& literal) {
    NodeId id = graph().AddNode(graph().UniqueName("const"), "Const");
    graph().SetAttr(id, "dtype", attr::Type(literal.dtype()));
    graph().SetAttr(id, "value", attr::Tensor(literal.ToTensorProto()));
    return {id, 0};
  }
  Port Ints(llvm::ArrayRef<int64_t> values) {
    return Constant(
        Literal::Integers(proto::DT_INT32, {static_cast<int64_t>(values.size())}, values));
  }
  Port Int(int64_t value) { return Constant(Literal::Scalar(proto::DT_INT32, value)); }

  // A constant of that type and shape: often zeros or ones, which rules look for.
  Value ConstantOf(DataType type, const Dims& dims, double least = -2) {
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

  bool Find(Value* found, llvm::function_ref<bool(const Value&)> fits) {
    std::vector<size_t> all;
    for (size_t i = 0; i < values_.size(); ++i) {
      if (fits(values_[i])) all.push_back(i);
    }
    if (all.empty()) return false;
    // Late values more often: chains are what rules look for.
    size_t pick =
        Chance(60) ? all.size() - 1 - Below(std::min<size_t>(3, all.size())) : Below(all.size());
    *found = values_[all[pick]];
    return true;
  }
  bool FindFloat(Value* found, int rank = -1, double largest = kLargest) {
    return Find(found, [&](const Value& v) {
      return v.type == proto::DT_FLOAT && v.magnitude <= largest &&
             (rank < 0 || static_cast<int>(v.dims.size()) == rank);
    });
  }
  bool FindNumber(Value* found) {
    return Find(found, [&](const Value& v) {
      return v.type == proto::DT_FLOAT || (v.type == proto::DT_INT32 && v.magnitude <= 100);
    });
  }

  NodeId Typed(llvm::StringRef op, llvm::ArrayRef<Port> inputs, DataType type,
               llvm::StringRef key = "T") {
    NodeId id = Add(op, inputs);
    graph().SetAttr(id, key, attr::Type(type));
    return id;
  }

  void Step() {
    using Method = void (Maker::*)();
    static const std::vector<std::pair<int, Method>> menu = {
        {18, &Maker::Binary},    {14, &Maker::Unary},      {6, &Maker::Trivial},
        {6, &Maker::Transpose},  {6, &Maker::Reshape},     {5, &Maker::Reduce},
        {5, &Maker::MatMul},     {4, &Maker::Concat},      {4, &Maker::Split},
        {4, &Maker::SliceOf},    {3, &Maker::Pack},        {3, &Maker::Tile},
        {3, &Maker::Pad},        {4, &Maker::AddN},        {4, &Maker::Positive},
        {5, &Maker::Convolve},   {3, &Maker::BiasAdd},     {3, &Maker::Select},
        {3, &Maker::CompareNot}, {3, &Maker::ShapeOps},    {3, &Maker::Fill},
        {3, &Maker::Expand},     {3, &Maker::Cast},        {3, &Maker::Chain},
        {2, &Maker::Reverse},    {2, &Maker::SquaredDiff}, {2, &Maker::SharedFactor}};
    int total = 0;
    for (const auto& [weight, method] : menu) total += weight;
    int at = static_cast<int>(Below(total));
    for (const auto& [weight, method] : menu) {
      if ((at -= weight) < 0) return (this->*method)();
    }
  }

  static bool Broadcast(const Dims& a, const Dims& b, Dims* out) {
    size_t rank = std::max(a.size(), b.size());
    out->assign(rank, 1);
    for (size_t i = 0; i < rank; ++i) {
      int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1,
              y = i < b.size() ? b[b.size() - 1 - i] : 1;
      if (x != y && x != 1 && y != 1) return false;
      (*out)[rank - 1 - i] = x == 1 ? y : x;
    }
    return true;
  }

  // `a` with another value or a constant of a shape that fits.
  bool Partner(const Value& a, Value* b, double least = -2) {
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

  void Binary() {
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

  void Unary() {
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

  // Functions that want a positive argument: |x| + 1/2 first.
  void Positive() {
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

  void Trivial() {
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

  void Transpose() {
    Value a;
    if (!Find(&a, [](const Value& v) { return v.dims.size() >= 2 && v.type != proto::DT_BOOL; }))
      return;
    std::vector<int64_t> perm(a.dims.size());
    for (size_t i = 0; i < perm.size(); ++i) perm[i] = i;
    if (Chance(85)) {
      for (size_t i = perm.size() - 1; i > 0; --i) std::swap(perm[i], perm[Below(i + 1)]);
    }
    Dims dims;
    for (int64_t i : perm) dims.push_back(a.dims[i]);
    NodeId id = Typed("Transpose", {a.port, Ints(perm)}, a.type);
    graph().SetAttr(id, "Tperm", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
    if (Chance(50)) {  // and back
      std::vector<int64_t> inverse(perm.size());
      for (size_t i = 0; i < perm.size(); ++i) inverse[perm[i]] = i;
      NodeId back = Typed("Transpose", {{id, 0}, Ints(inverse)}, a.type);
      graph().SetAttr(back, "Tperm", attr::Type(proto::DT_INT32));
      Keep(back, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
    }
  }

  void Reshape() {
    Value a;
    if (!FindNumber(&a)) return;
    int64_t count = *NumElements(a.dims);
    std::vector<Dims> shapes = {{count}, {1, count}, a.dims};
    if (count % 6 == 0) shapes.push_back({count / 6, 6});
    if (count % 4 == 0) shapes.push_back({count / 4, 2, 2});
    Dims dims = Pick(shapes);
    std::vector<int64_t> written(dims.begin(), dims.end());
    if (!written.empty() && Chance(30)) written[Below(written.size())] = -1;
    NodeId id = Typed("Reshape", {a.port, Ints(written)}, a.type);
    graph().SetAttr(id, "Tshape", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
  }

  void Reduce() {
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

  void MatMul() {
    Value a;
    if (!FindFloat(&a, 2)) return;
    bool ta = Chance(30), tb = Chance(30);
    int64_t m = a.dims[ta ? 1 : 0], k = a.dims[ta ? 0 : 1], n = Pick<int64_t>({4, 6, 3});
    Value b;
    if (!Chance(40) || !Find(&b, [&](const Value& v) {
          return v.type == proto::DT_FLOAT && v.dims.size() == 2 && v.dims[tb ? 1 : 0] == k &&
                 v.magnitude <= kLargest;
        }))
      b = ConstantOf(proto::DT_FLOAT, tb ? Dims{n, k} : Dims{k, n});
    n = b.dims[tb ? 0 : 1];
    double magnitude = a.magnitude * b.magnitude * k;
    if (magnitude > kLargest) return;
    NodeId id = Typed("MatMul", {a.port, b.port}, proto::DT_FLOAT);
    graph().SetAttr(id, "transpose_a", attr::Bool(ta));
    graph().SetAttr(id, "transpose_b", attr::Bool(tb));
    Keep(id, 0, proto::DT_FLOAT, {m, n}, magnitude, {a, b});
    if (Chance(60)) Bias(values_.back());
  }

  void Bias(Value a) {
    Value bias = ConstantOf(proto::DT_FLOAT, {a.dims.back()});
    bool add = Chance(25);
    NodeId id = Typed(add ? "AddV2" : "BiasAdd", {a.port, bias.port}, proto::DT_FLOAT);
    Value sum = Keep(id, 0, proto::DT_FLOAT, a.dims, a.magnitude + bias.magnitude, {a, bias});
    if (Chance(70)) {
      std::string op = Pick<std::string>({"Relu", "Relu6", "Elu", "LeakyRelu", "Tanh", "Sigmoid"});
      Keep(Typed(op, {sum.port}, proto::DT_FLOAT), 0, proto::DT_FLOAT, a.dims, sum.magnitude + 1,
           {sum});
    }
  }
  void BiasAdd() {
    Value a;
    if (Find(&a, [](const Value& v) {
          return v.type == proto::DT_FLOAT && v.dims.size() >= 2 && v.magnitude < kLargest / 2;
        }))
      Bias(a);
  }

  void Convolve() {
    Value a;
    if (!FindFloat(&a, 4) || a.dims[1] < 3 || a.dims[2] < 3) return;
    int64_t out = 3, size = Pick<int64_t>({1, 3});
    Value filter = ConstantOf(proto::DT_FLOAT, {size, size, a.dims[3], out});
    double magnitude = a.magnitude * filter.magnitude * size * size * a.dims[3];
    if (magnitude > kLargest) return;
    NodeId id = Typed("Conv2D", {a.port, filter.port}, proto::DT_FLOAT);
    graph().SetAttr(id, "strides", attr::Ints({1, 1, 1, 1}));
    graph().SetAttr(id, "padding", attr::String("SAME"));
    Value conv = Keep(id, 0, proto::DT_FLOAT, {a.dims[0], a.dims[1], a.dims[2], out}, magnitude,
                      {a, filter});
    if (Chance(40)) return Bias(conv);
    if (Chance(60)) BatchNorm(conv);
  }

  void BatchNorm(Value a) {
    Dims channels = {a.dims.back()};
    Value scale = ConstantOf(proto::DT_FLOAT, channels),
          offset = ConstantOf(proto::DT_FLOAT, channels),
          mean = ConstantOf(proto::DT_FLOAT, channels),
          variance = ConstantOf(proto::DT_FLOAT, channels, 0.5);
    double magnitude = (a.magnitude + 2) * 3 + 2;
    if (magnitude > kLargest) return;
    NodeId id = Typed("FusedBatchNormV3",
                      {a.port, scale.port, offset.port, mean.port, variance.port}, proto::DT_FLOAT);
    graph().SetAttr(id, "U", attr::Type(proto::DT_FLOAT));
    graph().SetAttr(id, "is_training", attr::Bool(false));
    Value norm = Keep(id, 0, proto::DT_FLOAT, a.dims, magnitude, {a});
    if (Chance(60))
      Keep(Typed("Relu", {norm.port}, proto::DT_FLOAT), 0, proto::DT_FLOAT, a.dims, magnitude,
           {norm});
  }

  void Concat() {
    Value a, b;
    if (!Find(&a, [](const Value& v) { return v.type == proto::DT_FLOAT && !v.dims.empty(); }))
      return;
    if (!Find(&b, [&](const Value& v) { return v.type == a.type && v.dims == a.dims; })) return;
    int64_t axis = Below(a.dims.size());
    Dims dims = a.dims;
    dims[axis] *= 2;
    if (*NumElements(dims) > 5000) return;
    NodeId id = Typed("ConcatV2", {a.port, b.port, Int(axis)}, a.type);
    graph().SetAttr(id, "N", attr::Int(2));
    graph().SetAttr(id, "Tidx", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, dims, std::max(a.magnitude, b.magnitude), {a, b});
  }

  void Split() {
    Value a;
    if (!Find(&a, [](const Value& v) { return v.type == proto::DT_FLOAT && !v.dims.empty(); }))
      return;
    int64_t axis = Below(a.dims.size()), parts = a.dims[axis] % 2 == 0 && Chance(80) ? 2 : 1;
    Dims dims = a.dims;
    dims[axis] /= parts;
    NodeId id = Typed("Split", {Int(axis), a.port}, a.type);
    graph().SetAttr(id, "num_split", attr::Int(parts));
    for (int i = 0; i < parts; ++i) Keep(id, i, a.type, dims, a.magnitude, {a}, a.exact);
  }

  void SliceOf() {
    Value a;
    if (!FindNumber(&a) || a.dims.empty()) return;
    std::vector<int64_t> begin(a.dims.size(), 0), size(a.dims.begin(), a.dims.end());
    size_t axis = Below(a.dims.size());
    if (a.dims[axis] > 1 && Chance(70)) {
      begin[axis] = Below(2);
      size[axis] = a.dims[axis] - 1;
    }
    bool strided = Chance(50);
    Dims dims(size.begin(), size.end());
    NodeId id;
    if (strided) {
      std::vector<int64_t> end(begin);
      for (size_t i = 0; i < end.size(); ++i) end[i] += size[i];
      id = Typed("StridedSlice",
                 {a.port, Ints(begin), Ints(end), Ints(std::vector<int64_t>(end.size(), 1))},
                 a.type);
    } else {
      id = Typed("Slice", {a.port, Ints(begin), Ints(size)}, a.type);
    }
    graph().SetAttr(id, "Index", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
  }

  void Pack() {
    Value a, b;
    if (!FindNumber(&a) || *NumElements(a.dims) > 2000) return;
    if (Chance(40) ||
        !Find(&b, [&](const Value& v) { return v.type == a.type && v.dims == a.dims; }))
      b = a;
    NodeId id = Typed("Pack", {a.port, b.port}, a.type);
    graph().SetAttr(id, "N", attr::Int(2));
    graph().SetAttr(id, "axis", attr::Int(0));
    Dims dims = {2};
    dims.append(a.dims.begin(), a.dims.end());
    Value packed = Keep(id, 0, a.type, dims, std::max(a.magnitude, b.magnitude), {a, b});
    if (Chance(40)) {  // and one of them again
      int64_t at = Below(2);
      NodeId slice =
          Typed("StridedSlice", {packed.port, Ints({at}), Ints({at + 1}), Ints({1})}, a.type);
      graph().SetAttr(slice, "Index", attr::Type(proto::DT_INT32));
      graph().SetAttr(slice, "shrink_axis_mask", attr::Int(1));
      Keep(slice, 0, a.type, a.dims, packed.magnitude, {packed});
    }
  }

  void Tile() {
    Value a;
    if (!FindNumber(&a) || a.dims.empty() || *NumElements(a.dims) > 1000) return;
    std::vector<int64_t> multiples(a.dims.size(), 1);
    if (Chance(70)) multiples[Below(multiples.size())] = 2;
    Dims dims = a.dims;
    for (size_t i = 0; i < dims.size(); ++i) dims[i] *= multiples[i];
    NodeId id = Typed("Tile", {a.port, Ints(multiples)}, a.type);
    graph().SetAttr(id, "Tmultiples", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
  }

  void Pad() {
    Value a;
    if (!FindNumber(&a) || a.dims.empty() || *NumElements(a.dims) > 1000) return;
    std::vector<int64_t> paddings(a.dims.size() * 2, 0);
    if (Chance(60)) paddings[Below(paddings.size())] = 1;
    Dims dims = a.dims;
    for (size_t i = 0; i < dims.size(); ++i) dims[i] += paddings[2 * i] + paddings[2 * i + 1];
    Port port = Constant(
        Literal::Integers(proto::DT_INT32, {static_cast<int64_t>(dims.size()), 2}, paddings));
    NodeId id = Typed("Pad", {a.port, port}, a.type);
    graph().SetAttr(id, "Tpaddings", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
  }

  void AddN() {
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

  void CompareNot() {
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

  void Select() {
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

  void ShapeOps() {
    Value a;
    if (!FindNumber(&a)) return;
    std::string op = Pick<std::string>({"Shape", "Size", "Rank"});
    NodeId id = Typed(op, {a.port}, a.type);
    if (op != "Rank") graph().SetAttr(id, "out_type", attr::Type(proto::DT_INT32));
    Dims dims;
    if (op == "Shape") dims = {static_cast<int64_t>(a.dims.size())};
    Value shape = Keep(id, 0, proto::DT_INT32, dims, 5000, {}, true);
    if (op == "Shape" && !a.dims.empty() && Chance(50)) {
      NodeId same = Typed("Reshape", {a.port, shape.port}, a.type);
      graph().SetAttr(same, "Tshape", attr::Type(proto::DT_INT32));
      Keep(same, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
    }
  }

  void Fill() {
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

  void Expand() {
    Value a;
    if (!FindNumber(&a) || a.dims.size() > 3) return;
    int64_t axis = Below(a.dims.size() + 1);
    Dims dims = a.dims;
    dims.insert(dims.begin() + axis, 1);
    NodeId id = Typed("ExpandDims", {a.port, Int(axis)}, a.type);
    graph().SetAttr(id, "Tdim", attr::Type(proto::DT_INT32));
    Value expanded = Keep(id, 0, a.type, dims, a.magnitude, {a}, a.exact);
    if (!Chance(50)) return;
    NodeId squeeze = Typed("Squeeze", {expanded.port}, a.type);
    graph().SetAttr(squeeze, "squeeze_dims", attr::Ints({axis}));
    Keep(squeeze, 0, a.type, a.dims, a.magnitude, {expanded}, a.exact);
  }

  void Cast() {
    Value a;
    if (!Find(&a, [](const Value& v) {
          return v.type == proto::DT_INT32 || v.type == proto::DT_BOOL;
        })) {
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

  // Constants on both sides of an op that associates.
  void Chain() {
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

  void Reverse() {
    Value a;
    if (!FindFloat(&a) || a.dims.empty()) return;
    NodeId id =
        Typed("ReverseV2", {a.port, Ints({static_cast<int64_t>(Below(a.dims.size()))})}, a.type);
    graph().SetAttr(id, "Tidx", attr::Type(proto::DT_INT32));
    Keep(id, 0, a.type, a.dims, a.magnitude, {a}, a.exact);
  }

  void SquaredDiff() {
    Value a, b;
    if (!FindFloat(&a, -1, 10)) return;
    if (!Find(&b, [&](const Value& v) {
          return v.type == a.type && v.dims == a.dims && v.magnitude <= 10;
        }))
      return;
    Port difference{Typed("Sub", {a.port, b.port}, a.type), 0};
    Keep(Typed("Square", {difference}, a.type), 0, a.type, a.dims, 400, {a, b});
  }

  void SharedFactor() {
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

  std::mt19937_64 random_;
  RandomGraph result_;
  std::vector<Value> values_;
  std::map<NodeId, double> scales_;
};

}  // namespace

RandomGraph MakeRandomGraph(uint64_t seed) { return Maker(seed).Make(); }

}  // namespace grapnel
