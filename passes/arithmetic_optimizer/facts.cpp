// The queue, facts and edits shared by the rules: see arithmetic_optimizer.h.
#include "lib/ir/op_table.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/arithmetic_optimizer/arithmetic_optimizer.h"

namespace grapnel::arithmetic {

Arithmetic::Arithmetic(Editor& editor)
    : RuleContext(editor),
      aggressive(editor.config().arithmetic_optimization() == proto::RewriterConfig::AGGRESSIVE),
      first_new_(graph.end_id()) {
  editor.TrustFeeds(aggressive);
  editor.FixShapes();
}

void Arithmetic::Enqueue(llvm::ArrayRef<Node> nodes) {
  if (queued_.size() < graph.end_id()) queued_.resize(graph.end_id());
  for (const Node& node : nodes) {
    if (queued_.test(node.id())) continue;
    queued_.set(node.id());
    queue_.push_back(node.id());
  }
}

Node Arithmetic::Pop() {
  if (queue_.empty()) return Node();
  NodeId id = queue_.back();
  queue_.pop_back();
  queued_.reset(id);
  return graph.node(id);
}

bool Arithmetic::IsAggregate(const Node& node) const {
  if (node.op() == "Add") return node.GetType("T") != proto::DT_STRING;
  const OpInfo* info = FindOp(node.op());
  return info && info->is_aggregate;
}

bool Arithmetic::KeepsShape(const Node& node) const {
  if (node.num_inputs() == 1 && IsAggregate(node)) return true;
  return llvm::StringSwitch<bool>(node.op())
      .Cases("CheckNumerics", "DebugGradientIdentity", "DeepCopy", "Enter", "Exit", true)
      .Cases("PreventGradient", "Print", "Snapshot", "StopGradient", true)
      .Cases("Identity", "RefIdentity", true)
      .Default(false);
}

bool Arithmetic::KeepsValue(const Node& node) const {
  return llvm::StringSwitch<bool>(node.op())
             .Cases("ExpandDims", "Reshape", "Squeeze", true)
             .Cases("InvertPermutation", "Reverse", "ReverseV2", "Roll", "Transpose", true)
             .Cases("DepthToSpace", "SpaceToDepth", "BatchToSpace", "BatchToSpaceND", true)
             .Cases("SpaceToBatch", "SpaceToBatchND", true)
             .Default(false) ||
         KeepsShape(node);
}

bool Arithmetic::IsUnaryElementwise(const Node& node) const {
  static const llvm::DenseSet<llvm::StringRef> ops = {
      "Abs",      "Acos",     "Acosh", "Asin",    "Asinh",      "Atan",  "Atanh", "Ceil",
      "Conj",     "Cos",      "Cosh",  "Digamma", "ComplexAbs", "Elu",   "Erf",   "Erfc",
      "Exp",      "Expm1",    "Floor", "Inv",     "Invert",     "Isinf", "Isnan", "Isfinite",
      "Lgamma",   "Log",      "Log1p", "Neg",     "LogicalNot", "Relu",  "Relu6", "Rint",
      "Round",    "Selu",     "Rsqrt", "Sigmoid", "Reciprocal", "Sign",  "Sin",   "SinH",
      "Softplus", "Softsign", "Sqrt",  "Square",  "Tan",        "Tanh"};
  return ops.contains(node.op()) || KeepsShape(node);
}

int Arithmetic::NumValueReaders(const Node& node) const {
  llvm::SmallDenseSet<NodeId, 8> readers;
  for (const Use& use : node.uses()) {
    Node reader = graph.node(use.node);
    if (reader.op() != "Shape" && !reader.input(use.slot).IsControl()) readers.insert(use.node);
  }
  return static_cast<int>(readers.size());
}

bool Arithmetic::IsOnes(Port port) const {
  const Literal* value = ConstantOf(port);
  if (!value) return false;
  switch (value->dtype()) {
    case proto::DT_BFLOAT16:
    case proto::DT_HALF:
    case proto::DT_FLOAT:
    case proto::DT_DOUBLE:
      return value->AllEqualTo(1);
    default:
      return false;
  }
}

bool Arithmetic::IsOwn(const Node& inner) {
  return (!IsPreserved(inner) && inner.NumDataUses() == 1) ||
         Fails("'{0}' is fetched, fed, kept or read elsewhere\nundo this: {1}", inner.name(),
               ObstaclesAt({inner}, Obstacles::kStays | Obstacles::kReaders));
}

Node Arithmetic::TailOfChain(const Node& node, llvm::function_ref<bool(const Node&)> follow) const {
  Node tail = node;
  // A chain cannot be longer than the graph, but in a broken loop it could be endless.
  for (size_t steps = graph.num_nodes(); steps > 0 && tail.num_inputs() > 0; --steps) {
    Node next = tail.input_node(0);
    if (!next || next == node || !follow(next)) break;
    tail = next;
  }
  return tail;
}

Node Arithmetic::TailOfOwnChain(const Node& node, llvm::function_ref<bool(const Node&)> keeps) {
  return TailOfChain(node, [&](const Node& next) {
    if (!keeps(next)) return false;
    if (!IsPreserved(next) && next.NumDataUses() == 1) return true;
    NotMine("'{0}' is between, and is fetched, fed, kept or read elsewhere\nundo this: {1}",
            next.name(), ObstaclesAt({next}, Obstacles::kStays | Obstacles::kReaders));
    return false;
  });
}

Shape Arithmetic::ShapeOf(Port port) {
  return IsShapeKnown(port.node) ? edit.ShapeOf(port) : Shape::Unknown();
}

Shape Arithmetic::ShapeOfInput(const Node& node, int i) {
  return IsShapeKnown(node.id()) ? edit.ShapeOf(node.input(i)) : Shape::Unknown();
}

bool Arithmetic::LeavesShape(const Node& node, int kept, int other) {
  Shape shape = ShapeOfInput(node, kept);
  std::optional<Shape> result = Broadcast(shape, ShapeOfInput(node, other));
  return (result && SameShape(shape, *result)) ||
         Fails(
             "the shape of '{0}' or '{1}' is not known, or '{1}' broadcasts '{0}' to another "
             "shape\n"
             "use a scalar constant",
             node.input_node(kept).name(), node.input_node(other).name());
}

std::string Arithmetic::NameFor(const Node& node, llvm::StringRef stage, llvm::StringRef part) {
  auto [scope, leaf] = node.name().rsplit('/');
  if (leaf.empty()) std::swap(scope, leaf);
  std::string name = scope.empty() ? "" : scope.str() + "/";
  name += ("ArithmeticOptimizer/" + stage + "_").str();
  if (!part.empty()) name += (part + "_").str();
  return name + leaf.str();
}

std::string Arithmetic::UniqueNameFor(const Node& node, llvm::StringRef stage,
                                      llvm::StringRef part) const {
  std::string base = NameFor(node, stage, part), name = base;
  for (int i = 0; Exists(name); ++i) name = base + "_unique" + std::to_string(i);
  return name;
}

Node Arithmetic::Copy(llvm::StringRef name, const Node& node) {
  Node copy = edit.AddNode(name, node.op(), node.device());
  edit.CopyAttrs(copy, node);
  edit.SetInputs(copy, node.inputs());
  return copy;
}

Node Arithmetic::MakeVector(llvm::StringRef name, llvm::ArrayRef<int64_t> values,
                            llvm::StringRef device, llvm::ArrayRef<Node> controls) {
  auto size = static_cast<int64_t>(values.size());
  return edit.AddConstant(name, Literal::Integers(proto::DT_INT32, {size}, values), device,
                          controls);
}

Node Arithmetic::MakeTile(llvm::StringRef name, const Node& like, Port input,
                          const Node& multiples) {
  Node tile = Make(name, "Tile", like.device(), {input, {multiples.id(), 0}});
  SetType(tile, "T", like.GetType("T"));
  SetType(tile, "Tmultiples", proto::DT_INT32);
  return tile;
}

void Arithmetic::DropRepeatedControls(const Node& node) {
  for (int i = node.num_controls() - 1; i >= 0; --i) {
    Node control = node.control(i);
    for (int k = 0; k < node.num_inputs(); ++k) {
      if (node.input(k).node != control.id()) continue;
      edit.RemoveControl(node, control);
      break;
    }
  }
}

void Arithmetic::ForwardControls(const Node& target, llvm::ArrayRef<Node> sources) {
  for (const Node& source : sources) {
    for (int i = source.num_controls() - 1; i >= 0; --i) edit.AddControl(target, source.control(i));
  }
  DropRepeatedControls(target);
}

void Arithmetic::TurnIntoControl(const Node& node, int i) {
  Node from = node.input_node(i);
  edit.RemoveInput(node, i);
  edit.AddControl(node, from);
}

void Arithmetic::UpdateReaders(Port from, Port to) {
  Node node = graph.node(from.node), by = graph.node(to.node);
  llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
  std::vector<Node> readers, waiting;
  for (const Use& use : uses) {
    Node reader = graph.node(use.node);
    if (reader == by) continue;
    Port port = reader.input(use.slot);
    if (port.IsControl()) {
      waiting.push_back(reader);
    } else if (port == from) {
      edit.SetInput(reader, static_cast<int>(use.slot), to);
      readers.push_back(reader);
    }
  }
  for (const Node& reader : waiting) {
    edit.RemoveControl(reader, node);
    edit.AddControl(reader, by);
    readers.push_back(reader);
  }
  llvm::sort(readers, [](const Node& a, const Node& b) { return a.name() < b.name(); });
  for (const Node& reader : readers) {
    DropRepeatedControls(reader);
    Enqueue(reader);
  }
}

void Arithmetic::ReportStaleReaders(const Node& of) {
  for (const Use& use : of.uses()) {
    Node reader = graph.node(use.node);
    bool is_lost = lost_.contains({reader.id(), of.id()}) && !reader.input(use.slot).IsControl();
    if (!is_lost) continue;
    RefuseAt(reader,
             "the value of '{0}' changes, so '{1}' stops reading it; unlike "
             "TensorFlow, where '{1}' then computes a wrong value\nlet it read another node",
             of.name(), reader.name());
  }
}

void Arithmetic::Replace(const Node& node, Port by) {
  if (changed_value_) ReportStaleReaders(node);
  Enqueue(graph.node(by.node));
  llvm::SmallVector<Use, 8> uses(node.uses().begin(), node.uses().end());
  std::vector<Node> readers, waiting;
  for (const Use& use : uses) {
    Node reader = graph.node(use.node);
    if (!changed_value_ && lost_.contains({reader.id(), node.id()})) continue;
    readers.push_back(reader);
    if (reader.input(use.slot).IsControl()) {
      waiting.push_back(reader);
    } else {
      edit.SetInput(reader, static_cast<int>(use.slot), by);
    }
  }
  for (const Node& reader : waiting) {
    edit.RemoveControl(reader, node);
    edit.AddControl(reader, graph.node(by.node));
  }
  edit.Used(node);
  llvm::sort(readers, [](const Node& a, const Node& b) { return a.name() < b.name(); });
  Enqueue(readers);
}

bool IsAdd(const Node& node) {
  return node.op() == "AddV2" || (node.op() == "Add" && node.GetType("T") != proto::DT_STRING);
}

bool IsAnyDiv(const Node& node) {
  return llvm::StringSwitch<bool>(node.op())
      .Cases("Div", "RealDiv", "FloorDiv", "TruncateDiv", "Xdivy", true)
      .Default(false);
}

bool IsCastLike(const Node& node) {
  return llvm::StringSwitch<bool>(node.op())
      .Cases("Angle", "Bucketize", "Cast", "CompareAndBitpack", "Dequantize", true)
      .Cases("HistogramFixedWidth", "Imag", "IsFinite", "IsInf", "IsNan", true)
      .Cases("Quantize", "QuantizeDownAndShrinkRange", "QuantizeV2", true)
      .Cases("QuantizedInstanceNorm", "QuantizedRelu", "QuantizedRelu6", "QuantizedReluX", true)
      .Cases("Real", "Requantize", true)
      .Default(false);
}

bool IsFusableRelu(const Node& node, const Node& input) {
  if (node.op() != "Relu" && node.op() != "Relu6") return false;
  return llvm::StringSwitch<bool>(input.op())
      .Cases("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3", true)
      .Cases("BiasAdd", "BiasAddV1", true)
      .Default(false);
}

bool IsDefined(const Shape& shape) {
  return shape.known_rank() && !llvm::is_contained(shape.dims(), kUnknownDim);
}

bool SameShape(const Shape& a, const Shape& b) { return IsDefined(a) && a == b; }

std::optional<Shape> Broadcast(const Shape& a, const Shape& b) {
  if (!IsDefined(a) || !IsDefined(b)) return std::nullopt;
  int rank = std::max(a.rank(), b.rank());
  Shape result = Shape::UnknownOfRank(rank);
  for (int i = 0; i < rank; ++i) {
    int at_a = i - (rank - a.rank()), at_b = i - (rank - b.rank());
    int64_t of_a = at_a < 0 ? 1 : a.dim(at_a), of_b = at_b < 0 ? 1 : b.dim(at_b);
    if (of_a != of_b && of_a != 1 && of_b != 1) return std::nullopt;
    result.set_dim(i, of_a == 1 ? of_b : of_a);
  }
  return result;
}

bool IsSmaller(const Shape& a, const Shape& b) {
  if (!a.known_rank() || !b.known_rank()) return false;
  // A symbol for an unknown dimension cancels if it is in both shapes.
  double size_a = 1, size_b = 1;
  llvm::SmallVector<int64_t, 4> symbols_of_a;
  for (int64_t dim : a.dims()) {
    if (dim > 0) size_a *= static_cast<double>(dim);
    if (dim < 0) symbols_of_a.push_back(dim);
  }
  bool b_has_more = false;
  for (int64_t dim : b.dims()) {
    if (dim > 0) size_b *= static_cast<double>(dim);
    if (dim >= 0) continue;
    auto same = dim == kUnknownDim ? symbols_of_a.end() : llvm::find(symbols_of_a, dim);
    if (same == symbols_of_a.end()) {
      b_has_more = true;
    } else {
      symbols_of_a.erase(same);
    }
  }
  if (!symbols_of_a.empty()) return false;
  return b_has_more ? size_a <= size_b : size_a < size_b;
}

}  // namespace grapnel::arithmetic
