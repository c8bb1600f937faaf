#include "lib/ir/device_name.h"
#include "lib/ir/op_table.h"
#include "llvm/ADT/StringSwitch.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// The rank that both operands of a contraction must have; 0 if the op requires none.
int OperandRank(llvm::StringRef op) {
  op.consume_front("_Fused");
  return llvm::StringSwitch<int>(op)
      .Cases("Conv2D", "DepthwiseConv2dNative", 4)
      .Case("Conv3D", 5)
      .Case("MatMul", 2)
      .Default(0);
}

}  // namespace

void Remapper::WantShapes(bool trust_feeds) {
  if (shapes_wanted) return;
  shapes_wanted = true;
  if (!trust_feeds) return;
  constexpr bool kTrustFeeds = true;
  trusting_ = std::make_unique<ShapeMap>(edit.InferGrapplerShapes(kTrustFeeds));
}

Shape Remapper::ShapeOf(Port port) {
  return trusting_ ? trusting_->OfPort(port) : edit.ShapeOf(port);
}

std::string Remapper::InputShapes(const Node& node) {
  if (!shapes_wanted || !edit.boundary().onednn || node.num_inputs() == 0) {
    auto attr = node.FindAttr("_input_shapes");
    return attr ? attr->bytes().str() : "";
  }
  std::vector<Shape> shapes;
  for (int i = 0; i < node.num_inputs(); ++i) {
    Shape shape = ShapeOf(node.input(i));
    // An input of unknown rank, such as a fed tensor, gets the rank that the op requires:
    // TensorFlow's oneDNN rewrite reads these shapes, and aborts the process if an operand of a
    // contraction has no rank.
    int rank = i < 2 ? OperandRank(node.op()) : 0;
    shapes.push_back(shape.known_rank() || rank == 0 ? shape : Shape::UnknownOfRank(rank));
  }
  return attr::Shapes(shapes);
}

std::optional<float> Remapper::ScalarOf(Port port) {
  Node node = graph.node(port.node);
  if (node.op() == "Cast" && node.num_inputs() == 1 && !edit.IsFed(node)) node = node.input_node(0);
  const Literal* literal = edit.ConstantOf(node);
  if (!literal || literal->num_elements() != 1 || !IsFloating(literal->dtype()))
    return std::nullopt;
  return static_cast<float>(literal->AsDouble(0));
}

bool Remapper::HasControls(const Node& node) const {
  return node.num_controls() > 0 || DrivesControls(node);
}

bool Remapper::HasNoControls(const Node& root) {
  if (!HasControls(root)) return true;
  RefuseAt(root, "'{0}' has control edges\nremove these edges: {1}", root.name(),
           ObstaclesAt({root}, Obstacles::kControls));
  return false;
}

bool Remapper::WaitsForNone(const Node& root) {
  if (root.num_controls() == 0) return true;
  RefuseAt(root, "'{0}' waits for other nodes\nremove these control edges: {1}", root.name(),
           ObstaclesAt({root}, Obstacles::kControls));
  return false;
}

bool Remapper::TakesAlone(const Node& root, llvm::ArrayRef<Node> nodes) {
  for (const Node& node : nodes) {
    if (node == root) {
      if (!WaitsForNone(root)) return false;
      continue;
    }
    if (!HasNoControls(node)) return false;
    bool is_open = IsPreserved(node) || llvm::any_of(node.uses(), [&](const Use& use) {
                     return !llvm::is_contained(nodes, graph.node(use.node));
                   });
    if (is_open)
      return Fails("'{0}' is fetched, fed or kept, or read from outside\nundo this: {1}",
                   node.name(), ObstaclesAt({node}, Obstacles::kStays | Obstacles::kReaders));
  }
  return true;
}

bool Remapper::CanTake(const Node& root, const Node& inner) {
  if (HasControls(inner)) {
    RefuseAt(root, "'{0}' has control edges\nremove these edges: {1}", inner.name(),
             ObstaclesAt({inner}, Obstacles::kControls));
  } else if (inner.uses().size() > 1) {
    RefuseAt(root, "'{0}' is read {1} times\nleave it one reader: {2}", inner.name(),
             inner.uses().size(), ObstaclesAt({inner}, Obstacles::kReaders));
  } else if (IsPreserved(inner)) {
    RefuseAt(root,
             "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity "
             "of it: {1}",
             inner.name(), ObstaclesAt({inner}, Obstacles::kStays));
  } else {
    return true;
  }
  return false;
}

bool Remapper::IsFloatOnCpu(const Node& root) {
  DataType type = root.GetType("T");
  if ((type == proto::DT_FLOAT || type == proto::DT_BFLOAT16) && IsOn(DeviceOf(root), "CPU"))
    return true;
  RefuseAt(
      root,
      "'{0}' has dtype {1} and is on {2}, float or bfloat16 on a CPU was expected (see --device)\n"
      "compute it in float or bfloat16, on a CPU",
      root.name(), DataTypeName(type), QuotedDevice(root.device()));
  return false;
}

bool Remapper::HasOneDnn(const Node& root) {
  if (edit.boundary().onednn) return true;
  RefuseAt(root,
           "TensorFlow fuses '{0}' only with oneDNN, which is off (--onednn on)\n"
           "run TensorFlow with oneDNN: TF_ENABLE_ONEDNN_OPTS=1",
           root.name());
  return false;
}

bool Remapper::NeedsNoGradient(const Node& root) {
  if (!edit.boundary().differentiable) return true;
  RefuseAt(root,
           "a gradient is taken through '{0}', and the fused op has none\n"
           "use a function through which no gradient is taken",
           root.name());
  return false;
}

bool Remapper::OnlyFirstIsUsed(const Node& norm) {
  for (const Use& use : norm.uses()) {
    Node reader = graph.node(use.node);
    Port read = reader.input(use.slot);
    if (read.index <= 0) continue;
    RefuseAt(norm,
             "'{0}' reads '{1}:{2}', and the rewrite would leave only output 0\n"
             "let '{0}' read something else",
             reader.name(), norm.name(), read.index);
    return false;
  }
  int fetched = edit.FurtherFetch(norm);
  if (fetched == 0) return true;
  RefuseAt(norm, "'{0}:{1}' is fetched; unlike TensorFlow, which loses it\ndo not fetch it",
           norm.name(), fetched);
  return false;
}

bool Remapper::MayLoseNan(const Node& activation) {
  if (activation.op() != "Relu" && activation.op() != "Relu6") return true;
  if (edit.boundary().keep_nan) {
    RefuseAt(activation,
             "a fused {0} turns NaN into 0, and NaNs must be kept (--keep-nan)\n"
             "leave out --keep-nan",
             activation.op());
    return false;
  }
  edit.Note("a NaN before '{0}' becomes 0: the fused {1} drops it, in TensorFlow too",
            activation.name(), activation.op());
  return true;
}

void Remapper::Become(const Node& node, llvm::StringRef op, llvm::StringRef device,
                      llvm::ArrayRef<Port> inputs, const RemapAttrs& attrs) {
  edit.SetOp(node, op);
  edit.SetDevice(node, device);
  edit.SetInputs(node, inputs);
  for (const auto& [key, value] : node.Attrs()) edit.RemoveAttr(node, key);
  for (const auto& [key, value] : attrs) edit.SetAttr(node, key, value);
  AddDefaults(node);
}

void Remapper::AddDefaults(const Node& node) {
  // In TensorFlow the defaults are added by the tfg_optimizer pass, which runs after the others,
  // unless it is disabled.
  if (edit.config().disable_tfg_optimizer()) return;
  const OpInfo* info = FindOp(node.op());
  if (!info) return;
  for (const OpAttr& attr : info->attrs) {
    if (attr.default_value && !node.FindAttr(attr.name))
      edit.SetAttr(node, attr.name, *attr.default_value);
  }
}

void Remapper::RemoveInOrder(std::vector<Node> nodes) {
  while (!nodes.empty()) {
    auto next = llvm::find_if(nodes, [](const Node& node) { return node.uses().empty(); });
    edit.RemoveNode(*next);
    nodes.erase(next);
  }
}

void Remapper::Remove(llvm::ArrayRef<Node> nodes) {
  for (const Node& node : nodes) edit.RemoveNode(node);
}

void CopyAttr(RemapAttrs* to, const Node& from, const char* key) {
  if (auto value = from.Attr(key)) to->emplace_back(key, value->bytes().str());
}

bool IsAddOrAddV2(const Node& node) { return node.op() == "Add" || node.op() == "AddV2"; }
bool IsFusedBatchNorm(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "FusedBatchNorm" || op == "FusedBatchNormV2" || op == "FusedBatchNormV3";
}
bool IsActivation(const Node& node) {
  llvm::StringRef op = node.op();
  return op == "Relu" || op == "Relu6" || op == "Elu" || op == "LeakyRelu" || op == "Tanh" ||
         op == "Sigmoid";
}

Node FindMadeFromOther(const Node& root, llvm::StringRef op,
                       llvm::function_ref<Port(const Node&)> source) {
  if (root.num_inputs() != 2) return Node();
  for (int i = 0; i < 2; ++i) {
    Node made = root.input_node(i);
    if (made.op() == op) return source(made) == root.input(1 - i) ? made : Node();
  }
  return Node();
}

}  // namespace grapnel::remapper
