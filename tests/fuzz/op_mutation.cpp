#include "tests/fuzz/op_mutation.h"

#include <algorithm>
#include <cstring>

#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

constexpr int64_t kMostElements = 4096;
constexpr int64_t kIntegers[] = {0,         1,         -1,        2,         -2,        3,
                                 4,         5,         7,         100,       127,       128,
                                 255,       256,       -128,      1000003,   INT32_MAX, INT32_MIN,
                                 1ll << 31, 1ll << 40, 1ll << 62, INT64_MAX, INT64_MIN};
constexpr double kNumbers[] = {0,    -0.0,  1,    -1,  0.5,  2,   3,   -2,  1e-40,
                               1e38, -1e38, 1e10, 3e9, -3e9, 127, 255, 256, 1e308};
constexpr const char* kStrings[] = {
    "",     "a",     "-1",      "7",  "nan",      "1e400", "SAME",    "VALID",
    "NHWC", "NCHW",  "(a",      "[",  "\xff\xfe", "a,b",   "float32", "99999999999999999999",
    "\n",   "UTF-8", "i,j->ij", "..."};
constexpr DataType kTypes[] = {
    proto::DT_FLOAT,    proto::DT_DOUBLE, proto::DT_HALF,      proto::DT_BFLOAT16,
    proto::DT_INT8,     proto::DT_INT16,  proto::DT_INT32,     proto::DT_INT64,
    proto::DT_UINT8,    proto::DT_UINT16, proto::DT_UINT32,    proto::DT_UINT64,
    proto::DT_BOOL,     proto::DT_STRING, proto::DT_COMPLEX64, proto::DT_COMPLEX128,
    proto::DT_QINT8,    proto::DT_QUINT8, proto::DT_QINT32,    proto::DT_VARIANT,
    proto::DT_RESOURCE, proto::DT_INVALID};

bool HasValues(DataType type) { return type == proto::DT_STRING || DataTypeSize(type) > 0; }

std::string SpecialElement(Random& random, DataType type) {
  if (IsInteger(type) || IsQuantized(type) || type == proto::DT_BOOL) {
    int64_t value = type == proto::DT_BOOL ? random.Below(2) : random.Of(kIntegers);
    return std::string(reinterpret_cast<const char*>(&value), DataTypeSize(type));
  }
  double value = random.OneIn(8)   ? std::numeric_limits<double>::quiet_NaN()
                 : random.OneIn(8) ? std::numeric_limits<double>::infinity()
                                   : random.Of(kNumbers);
  return Literal::Scalar(type, value).bytes().str();
}

Dims RandomDims(Random& random) {
  constexpr int64_t kSizes[] = {0, 1, 1, 2, 2, 3, 4, 7};
  Dims dims(random.Below(6), 1);
  for (int64_t& dim : dims) dim = random.Of(kSizes);
  return dims;
}

Dims OtherDims(Random& random, llvm::ArrayRef<int64_t> old) {
  Dims dims(old.begin(), old.end());
  switch (random.Below(7)) {
    case 0:
      return RandomDims(random);
    case 1:
      dims.insert(dims.begin() + random.Below(dims.size() + 1), 1);
      return dims;
    case 2:
      if (!dims.empty()) dims.erase(dims.begin() + random.Below(dims.size()));
      return dims;
    case 3:
      return {};
    case 4:
      return {random.Below(3)};
    case 5:
      if (!dims.empty()) dims[random.Below(dims.size())] = random.Below(4);
      return dims;
    default:
      if (!dims.empty()) {
        int64_t& dim = dims[random.Below(dims.size())];
        dim = std::max<int64_t>(0, dim + (random.OneIn(2) ? 1 : -1));
      }
      return dims;
  }
}

// Returns the elements of `old`, repeated or cut to the number of elements in the dims.
Literal WithDims(Random& random, const Literal& old, const Dims& dims) {
  int64_t count = NumElements(dims).value_or(INT64_MAX);
  if (count > kMostElements) return old;
  if (old.dtype() == proto::DT_STRING) {
    std::vector<std::string> strings;
    for (int64_t i = 0; i < count; ++i) {
      int64_t have = static_cast<int64_t>(old.strings().size());
      strings.push_back(have && old.num_elements() ? old.strings()[i % have] : random.Of(kStrings));
    }
    return Literal::MakeStrings(dims, std::move(strings));
  }
  size_t size = DataTypeSize(old.dtype());
  std::string bytes;
  int64_t have = old.num_elements() ? static_cast<int64_t>(old.bytes().size() / size) : 0;
  for (int64_t i = 0; i < count; ++i)
    bytes += have ? old.bytes().substr((i % have) * size, size).str()
                  : SpecialElement(random, old.dtype());
  return Literal::Make(old.dtype(), dims, bytes);
}

Literal WithOtherElements(Random& random, const Literal& old) {
  Literal full = WithDims(random, old, Dims(old.dims().begin(), old.dims().end()));
  int64_t count = full.num_elements();
  if (count == 0 || (count > kMostElements && old.is_splat())) return full;
  int64_t changes = random.OneIn(5) ? count : 1 + random.Below(std::min<int64_t>(count, 3));
  bool all = changes == count;
  if (full.dtype() == proto::DT_STRING) {
    std::vector<std::string> strings = full.strings();
    for (int64_t i = 0; i < changes; ++i)
      strings[all ? i : random.Below(strings.size())] = random.Of(kStrings);
    return Literal::MakeStrings(full.dims(), std::move(strings));
  }
  std::string bytes = full.bytes().str();
  size_t size = DataTypeSize(full.dtype());
  int64_t elements = static_cast<int64_t>(bytes.size() / size);
  std::string same = SpecialElement(random, full.dtype());
  for (int64_t i = 0; i < std::min(changes, elements); ++i)
    bytes.replace((all ? i : random.Below(elements)) * size, size,
                  all ? same : SpecialElement(random, full.dtype()));
  return Literal::Make(full.dtype(), full.dims(), bytes);
}

Literal MutateValue(Random& random, const Literal& old) {
  if (!HasValues(old.dtype())) return old;
  return random.OneIn(2) ? WithDims(random, old, OtherDims(random, old.dims()))
                         : WithOtherElements(random, old);
}

// Converts the value to another dtype: to the nearest numbers, or else to values that the dtype
// has.
Literal CastTo(Random& random, const Literal& old, DataType type) {
  int64_t count = old.num_elements();
  if (count > kMostElements) return old;
  if (type == proto::DT_STRING)
    return Literal::MakeStrings(old.dims(), std::vector<std::string>(count, random.Of(kStrings)));
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    bool is_number = old.dtype() != proto::DT_STRING && !IsQuantized(type);
    bytes += is_number ? Literal::Scalar(type, old.AsDouble(old.is_splat() ? 0 : i)).bytes().str()
                       : SpecialElement(random, type);
  }
  return Literal::Make(type, old.dims(), bytes);
}

void SetConstant(Graph& graph, const Node& node, const Literal& value) {
  graph.SetAttr(node.id(), "value", attr::Tensor(value.ToTensorProto()));
  graph.SetAttr(node.id(), "dtype", attr::Type(value.dtype()));
}

class Mutator {
 public:
  Mutator(Random& random, Module& module, std::vector<MutatedFeed>& feeds)
      : random_(random), graph_(module.main), module_(module), feeds_(feeds) {}

  std::string Once() {
    std::vector<Node> constants, others;
    for (Node node : graph_.nodes()) {
      bool is_const = node.op() == "Const";
      if (is_const) constants.push_back(node);
      if (!is_const && node.op() != "Placeholder" && node.op() != "NoOp") others.push_back(node);
    }
    int64_t values = static_cast<int64_t>(constants.size() + feeds_.size());
    if (values > 0 && random_.Below(3) != 0) {
      int64_t which = random_.Below(values);
      if (which < static_cast<int64_t>(feeds_.size())) return ChangeFeed(feeds_[which]);
      return ChangeConstant(constants[which - feeds_.size()]);
    }
    if (others.empty()) return "";
    return ChangeAttr(random_.Of(others));
  }

 private:
  std::string ChangeFeed(MutatedFeed& feed) {
    feed.value = MutateValue(random_, feed.value);
    auto port = FindTensor(graph_, feed.tensor);
    if (!port) {
      llvm::consumeError(port.takeError());
      return "";
    }
    // A Placeholder with a shape would reject the value that its reader is to receive.
    if (graph_.node(port->node).FindAttr("shape"))
      graph_.SetAttr(port->node, "shape", attr::ShapeOf(Shape::Unknown()));
    return "feed '" + feed.tensor + "' = " + Text(feed.value);
  }

  std::string ChangeConstant(const Node& node) {
    auto old = Literal::FromConst(node);
    if (!old) {
      llvm::consumeError(old.takeError());
      return "";
    }
    Literal value = MutateValue(random_, *old);
    SetConstant(graph_, node, value);
    return "constant '" + node.name().str() + "' = " + Text(value);
  }

  std::string ChangeAttr(const Node& node) {
    const OpInfo* info = DefinitionOf(node);
    if (!info || info->attrs.empty()) return "";
    const OpAttr& attr = random_.Of(info->attrs);
    // Files and shared resources keep their names.
    if (llvm::StringRef(attr.name).contains("name") || attr.name == "container") return "";
    std::string value = NewValue(node, attr);
    if (value.empty()) return "";
    graph_.SetAttr(node.id(), attr.name, value);
    if (attr.type == "type") Propagate(node, *info, attr.name);
    return "node '" + node.name().str() + "': attribute '" + attr.name +
           "' = " + AttrView(value).ToString();
  }

  std::string NewValue(const Node& node, const OpAttr& attr) {
    llvm::StringRef type = attr.type;
    if (type == "int") return attr::Int(random_.Of(kIntegers));
    if (type == "bool") return attr::Bool(!node.GetBool(attr.name));
    if (type == "float") return attr::Float(static_cast<float>(random_.Of(kNumbers)));
    if (type == "string") {
      bool is_listed = !attr.allowed_strings.empty() && !random_.OneIn(8);
      return attr::String(is_listed ? random_.Of(attr.allowed_strings) : random_.Of(kStrings));
    }
    if (type == "type") return attr::Type(NewType(attr));
    if (type == "shape")
      return attr::ShapeOf(random_.OneIn(4) ? Shape::Unknown() : Shape(RandomDims(random_)));
    if (type == "list(int)") {
      std::vector<int64_t> list = node.GetInts(attr.name);
      if (list.empty() || random_.OneIn(4)) list.push_back(random_.Of(kIntegers));
      if (random_.OneIn(6)) list.pop_back();
      if (!list.empty()) list[random_.Below(list.size())] = random_.Of(kIntegers);
      return attr::Ints(list);
    }
    if (type == "list(type)") {
      auto old = node.Attr(attr.name);
      std::vector<DataType> list =
          old ? old->AsTypes().value_or(std::vector<DataType>()) : std::vector<DataType>();
      if (list.empty() || random_.OneIn(4)) list.push_back(NewType(attr));
      if (random_.OneIn(6)) list.pop_back();
      if (!list.empty()) list[random_.Below(list.size())] = NewType(attr);
      return attr::Types(list);
    }
    if (type == "list(shape)") {
      auto old = node.Attr(attr.name);
      std::vector<Shape> list =
          old ? old->AsShapes().value_or(std::vector<Shape>()) : std::vector<Shape>();
      if (list.empty()) return "";
      list[random_.Below(list.size())] = Shape(RandomDims(random_));
      return attr::Shapes(list);
    }
    if (type == "func" && !module_.functions.empty())
      return attr::Func(random_.Of(module_.functions)->name());
    return "";
  }

  DataType NewType(const OpAttr& attr) {
    if (!attr.allowed_types.empty() && !random_.OneIn(8)) return random_.Of(attr.allowed_types);
    return random_.Of(kTypes);
  }

  // Converts the constants and feeds whose dtype the attribute determines, so that the op is
  // reached.
  void Propagate(const Node& node, const OpInfo& info, llvm::StringRef name) {
    DataType type = node.GetType(name);
    if (!HasValues(type)) return;
    for (int i = 0; i < node.num_inputs(); ++i) {
      llvm::StringRef argument = ArgumentOfInput(node, info, i);
      auto is = [&](const OpArg& arg) { return argument == arg.name && name == arg.type_attr; };
      if (llvm::none_of(info.inputs, is) || node.input(i).node == kNoNode) continue;
      Node source = node.input_node(i);
      if (source.op() == "Const") {
        if (auto old = Literal::FromConst(source))
          SetConstant(graph_, source, CastTo(random_, *old, type));
        else
          llvm::consumeError(old.takeError());
      }
      for (MutatedFeed& feed : feeds_) {
        if (source.op() != "Placeholder" || feed.tensor != (source.name() + ":0").str()) continue;
        feed.value = CastTo(random_, feed.value, type);
        graph_.SetAttr(source.id(), "dtype", attr::Type(type));
      }
    }
  }

  static std::string Text(const Literal& value) {
    return (DataTypeName(value.dtype()) + DimsText(value.dims()) + " " + value.ToString()).str();
  }

  Random& random_;
  Graph& graph_;
  Module& module_;
  std::vector<MutatedFeed>& feeds_;
};

}  // namespace

std::string Mutate(Random& random, Module& module, std::vector<MutatedFeed>& feeds) {
  std::string what;
  for (int64_t times = 1 + random.Below(3); times > 0; --times) {
    std::string one = Mutator(random, module, feeds).Once();
    if (!one.empty()) what += (what.empty() ? "" : "; ") + one;
  }
  return what;
}

}  // namespace grapnel
