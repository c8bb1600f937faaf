#include "passes/constant_folding/folding.h"

#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"

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
    : RuleContext(editor),
      has_fetches(editor.boundary().has_fetches()),
      aggressive(editor.config().constant_folding() == RewriterConfig::AGGRESSIVE &&
                 editor.config().optimizers().empty()),
      materialize_fills(!editor.config().experimental_disable_compressed_tensor_optimization()),
      fold_quantization(!editor.config().experimental_disable_folding_quantization_emulation()),
      const_(graph.module().strings.Intern("Const")),
      zeros_like_(graph.module().strings.Intern("ZerosLike")),
      ones_like_(graph.module().strings.Intern("OnesLike")),
      fill_(graph.module().strings.Intern("Fill")),
      has_tpu_ops_(graph.module().strings.Find("TPUReplicateMetadata") != kNoString) {
  constexpr Port kNone = {kNoNode, 0};
  first_inputs_.resize(graph.end_id(), {kNone, kNone});
  for (Node node : graph.nodes()) {
    if (node.num_inputs() > 1) first_inputs_[node.id()] = {node.input(0), node.input(1)};
    mutates_tensors = mutates_tensors || (!kinds.Is(node, kPureOp) && WritesIntoInputs(node));
    // After the first iteration, every Merge that is still in the graph once had readers: the first
    // iteration removed the others.
    bool was_read = !node.uses().empty() || editor.iteration() > 0;
    if (kinds.Is(node, kMergeOp) && was_read) merges_once_read.insert(node.id());
  }
}

bool Folding::IsAll(Port port, int value) const {
  if (port.node == kNoNode) return false;
  Node node = graph.node(port.node);
  if (IsConst(node)) {
    const Literal* constant = edit.ConstantOf(node);
    return constant && constant->AllEqualTo(value);
  }
  StringId op = node.op_id();
  if (op != zeros_like_ && op != ones_like_ && op != fill_) return false;
  if (edit.IsFed(node)) return false;
  if (op != fill_) return value == (op == zeros_like_ ? 0 : 1);
  return node.num_inputs() == 2 && IsConst(node.input(1)) && IsAll(node.input(1), value);
}

Shape Folding::ShapeOf(Port port) {
  if (const Literal* value = ConstantOf(port)) return Shape(value->dims());
  return edit.ShapeOf(port);
}

bool Folding::BroadcastsInto(const Shape& other, const Shape& kept, bool as_far_as_known) {
  if (as_far_as_known && !other.known_rank()) return true;
  if (!other.known_rank() || !kept.known_rank() || other.rank() > kept.rank()) return false;
  int shift = kept.rank() - other.rank();
  for (int i = 0; i < other.rank(); ++i) {
    int64_t dim = other.dim(i);
    if (as_far_as_known && dim < 0) continue;
    if (dim != 1 && (dim == kUnknownDim || dim != kept.dim(i + shift))) return false;
  }
  return true;
}

bool Folding::SameShape(const Shape& a, const Shape& b) {
  return a.known_rank() && a == b && !llvm::is_contained(a.dims(), kUnknownDim);
}

DataType Folding::TypeOf(const Node& node) const {
  DataType type = node.GetType("T");
  if (type == proto::DT_INVALID) type = node.GetType("dtype");
  if (type == proto::DT_INVALID) type = edit.TypeOf({node.id(), 0});
  return BaseType(type);
}

bool Folding::HasTpuAttribute(const Node& node) const {
  if (!has_tpu_ops_) return false;
  return llvm::any_of(node.Attrs(), [](const auto& attr) { return attr.first.contains("_tpu_"); });
}

int64_t Folding::InputBytes(const Node& node) const {
  int64_t bytes = 0;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (const Literal* value = ConstantOf(node.input(i))) bytes += value->byte_size();
  }
  return bytes;
}

std::string Folding::NameFor(const Node& node, const llvm::Twine& suffix) {
  return ("ConstantFolding/" + node.name() + suffix).str();
}

llvm::SmallVector<Node, 4> Folding::ControlsBehind(const Node& node) {
  llvm::SmallVector<Node, 4> controls;
  auto add = [&](const Node& from) {
    for (int i = 0; i < from.num_controls(); ++i) {
      if (!llvm::is_contained(controls, from.control(i))) controls.push_back(from.control(i));
    }
  };
  for (int i = 0; i < node.num_inputs(); ++i) add(node.input_node(i));
  add(node);
  return controls;
}

Verdict Folding::Become(const Node& node, llvm::StringRef op, llvm::ArrayRef<Port> inputs) {
  llvm::SmallVector<Port, 4> all(inputs.begin(), inputs.end());
  auto wait_for = [&](Node anchor) {
    Port control = {anchor.id(), kControlPort};
    bool is_read = llvm::any_of(all, [&](Port port) { return port.node == anchor.id(); });
    if (anchor != node && !is_read) all.push_back(control);
  };
  llvm::SmallVector<Port, 4> old = node.inputs();
  for (Port port : old) {
    if (!llvm::is_contained(inputs, port)) wait_for(Anchor(port, /*find=*/false));
  }
  edit.SetInputs(node, all);
  if (node.op() != op) edit.SetOp(node, op);
  return Done();
}

void Folding::DropAttrs(const Node& node) {
  llvm::SmallVector<std::string, 4> keys;
  for (const auto& [key, value] : node.Attrs()) {
    if (key.empty() || key[0] != '_') keys.push_back(key.str());
  }
  for (const std::string& key : keys) edit.RemoveAttr(node, key);
}

Verdict Folding::BecomeNoOp(const Node& node) {
  Become(node, "NoOp", {});
  DropAttrs(node);
  return Done();
}

Verdict Folding::BecomeIdentity(const Node& node, int i, llvm::StringRef op) {
  DataType type = TypeOf(node);
  Port port = node.input(i);
  Become(node, op, {port});
  DropAttrs(node);
  SetType(node, "T", type);
  return Done();
}

Verdict Folding::BecomeBroadcast(const Node& node, int i, const Shape& shape) {
  DataType type = TypeOf(node);
  Port port = node.input(i);
  llvm::SmallVector<Node, 2> others;
  for (int k = 0; k < node.num_inputs(); ++k) {
    if (k != i) others.push_back(Anchor(node.input(k), /*find=*/false));
  }
  Node dims = edit.AddConstant(NameFor(node, "-broadcastto_shape-" + llvm::Twine(i)),
                               Literal::Integers(proto::DT_INT32, {shape.rank()}, shape.dims()),
                               node.device(), others);
  Become(node, "BroadcastTo", {port, {dims.id(), 0}});
  DropAttrs(node);
  SetType(node, "T", type);
  SetType(node, "Tidx", proto::DT_INT32);
  return Done();
}

Verdict Folding::BecomeConstant(const Node& node, const Literal& value) {
  llvm::SmallVector<Node, 4> after;
  for (Port port : node.inputs()) after.push_back(Anchor(port, /*find=*/false));
  edit.TurnIntoConstant(node, value, after);
  return Done();
}

void Folding::RemoveIfUnread(const Node& node) {
  if (has_fetches && node.uses().empty() && !IsPreserved(node)) edit.RemoveNode(node);
}

Verdict Folding::BecomeSplat(const Node& node, const Shape& shape, const Literal& one) {
  llvm::StringRef bytes = shape.NumElements() == 0 ? llvm::StringRef() : one.bytes();
  return BecomeConstant(node, Literal::Make(one.dtype(), shape.dims(), bytes));
}

}  // namespace grapnel::constant_folding
