// The facts and edits that rules of constant_folding share: see rules.h.
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

using proto::RewriterConfig;

bool WritesIntoInputs(const Node& node) {
  const OpInfo* info = FindOp(node.op());
  if (!info) return false;
  if (llvm::any_of(info->inputs, [](const OpArg& arg) { return arg.is_ref; })) return true;
  if (llvm::StringRef(info->name).contains_insensitive("inplace")) return true;
  return (info->FindAttr("in_place") && node.GetBool("in_place")) ||
         (info->FindAttr("inplace") && node.GetBool("inplace"));
}

}  // namespace

Folding::Folding(Editor& editor)
    : edit(editor),
      graph(editor.graph()),
      kinds(graph.module()),
      has_fetches(editor.boundary().has_fetches()),
      aggressive(editor.config().constant_folding() == RewriterConfig::AGGRESSIVE &&
                 editor.config().optimizers().empty()),
      materialize_fills(!editor.config().experimental_disable_compressed_tensor_optimization()),
      fold_quantization(!editor.config().experimental_disable_folding_quantization_emulation()),
      const_(graph.module().strings.Intern("Const")),
      has_tpu_ops_(graph.module().strings.Find("TPUReplicateMetadata") != kNoString) {
  for (Node node : graph.nodes()) {
    if (!kinds.Is(node, kPureOp) && WritesIntoInputs(node)) {
      mutates_tensors = true;
      break;
    }
  }
}

std::optional<std::vector<int64_t>> Folding::IntegersOf(Port port) {
  const Literal* value = ConstantOf(port);
  if (!value || (value->dtype() != proto::DT_INT32 && value->dtype() != proto::DT_INT64))
    return std::nullopt;
  return value->AsInts();
}

bool Folding::IsAll(Port port, int value) {
  if (port.node == kNoNode) return false;
  Node node = graph.node(port.node);
  if (IsConst(node)) {
    const Literal* constant = edit.ConstantOf(node);
    return constant && constant->AllEqualTo(value);
  }
  if (edit.IsFed(node)) return false;
  llvm::StringRef op = node.op();
  if (op == "ZerosLike") return value == 0;
  if (op == "OnesLike") return value == 1;
  return op == "Fill" && node.num_inputs() == 2 && IsConst(node.input(1)) &&
         IsAll(node.input(1), value);
}

Shape Folding::ShapeOf(Port port) {
  if (shapes_late.contains(port.node)) return Shape::Unknown();
  if (const Literal* value = ConstantOf(port)) return Shape(value->dims());
  return edit.ShapeOf(port);
}

bool Folding::BroadcastsInto(const Shape& other, const Shape& kept) {
  if (!other.known_rank() || !kept.known_rank() || other.rank() > kept.rank()) return false;
  int shift = kept.rank() - other.rank();
  for (int i = 0; i < other.rank(); ++i) {
    int64_t dim = other.dim(i);
    if (dim != 1 && (dim == kUnknownDim || dim != kept.dim(i + shift))) return false;
  }
  return true;
}

bool Folding::SameShape(const Shape& a, const Shape& b) {
  return a.known_rank() && a == b && !llvm::is_contained(a.dims(), kUnknownDim);
}

DataType Folding::TypeOf(const Node& node) {
  DataType type = node.GetType("T");
  if (type == proto::DT_INVALID) type = node.GetType("dtype");
  if (type == proto::DT_INVALID) type = edit.TypeOf({node.id(), 0});
  return BaseType(type);
}

bool Folding::HasTpuAttribute(const Node& node) const {
  if (!has_tpu_ops_) return false;
  return llvm::any_of(node.Attrs(), [](const auto& attr) { return attr.first.contains("_tpu_"); });
}

std::string Folding::NameFor(const Node& node, const llvm::Twine& suffix) {
  return ("ConstantFolding/" + node.name() + suffix).str();
}

Node Folding::Anchor(Port port) {
  Node node = graph.node(port.node);
  if (port.IsControl() || !kinds.Is(node, kSwitchOp)) return node;
  std::string name = ("ConstantFoldingCtrl/" + node.name() + "_" + llvm::Twine(port.index)).str();
  if (Node there = graph.Find(name)) return there;
  Node anchor = edit.AddNode(name, "Identity", node.device());
  edit.SetAttr(anchor, "T", attr::Type(BaseType(node.GetType("T"))));
  edit.AddInput(anchor, port);
  return anchor;
}

void Folding::Become(const Node& node, llvm::StringRef op, llvm::ArrayRef<Port> inputs) {
  llvm::SmallVector<Port, 4> all(inputs.begin(), inputs.end());
  auto wait_for = [&](Node anchor) {
    Port control = {anchor.id(), kControlPort};
    bool is_read = llvm::any_of(all, [&](Port port) { return port.node == anchor.id(); });
    if (anchor != node && !is_read) all.push_back(control);
  };
  llvm::SmallVector<Port, 4> old = node.inputs();
  for (Port port : old) {
    if (!llvm::is_contained(inputs, port)) wait_for(Anchor(port));
  }
  edit.SetInputs(node, all);
  if (node.op() != op) edit.SetOp(node, op);
}

void Folding::DropAttrs(const Node& node) {
  llvm::SmallVector<std::string, 4> keys;
  for (const auto& [key, value] : node.Attrs()) {
    if (key.empty() || key[0] != '_') keys.push_back(key.str());
  }
  for (const std::string& key : keys) edit.RemoveAttr(node, key);
}

void Folding::BecomeIdentity(const Node& node, int i, llvm::StringRef op) {
  DataType type = TypeOf(node);
  Port port = node.input(i);
  Become(node, op, {port});
  DropAttrs(node);
  edit.SetAttr(node, "T", attr::Type(type));
}

void Folding::BecomeBroadcast(const Node& node, int i, const Shape& shape) {
  DataType type = TypeOf(node);
  Port port = node.input(i);
  llvm::SmallVector<Node, 2> others;
  for (int k = 0; k < node.num_inputs(); ++k) {
    if (k != i) others.push_back(Anchor(node.input(k)));
  }
  Node dims = edit.AddConstant(NameFor(node, "-broadcastto_shape-" + llvm::Twine(i)),
                               Literal::Integers(proto::DT_INT32, {shape.rank()}, shape.dims()),
                               node.device(), others);
  Become(node, "BroadcastTo", {port, {dims.id(), 0}});
  DropAttrs(node);
  edit.SetAttr(node, "T", attr::Type(type));
  edit.SetAttr(node, "Tidx", attr::Type(proto::DT_INT32));
}

void Folding::BecomeConstant(const Node& node, const Literal& value) {
  llvm::SmallVector<Node, 4> after;
  for (Port port : node.inputs()) after.push_back(Anchor(port));
  edit.TurnIntoConstant(node, value, after);
}

}  // namespace grapnel::constant_folding
