#include "passes/layout/conversion.h"

#include <deque>

#include "lib/ir/device_name.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel::layout {
namespace {

std::vector<int> Permutation(llvm::StringRef from, llvm::StringRef to) {
  std::vector<int> perm;
  for (char dim : to) perm.push_back(static_cast<int>(from.find(dim)));
  return perm;
}

Formats MakeFormats(const std::string& from, const std::string& to) {
  return {from, to, Permutation(from, to), Permutation(to, from)};
}

// NHWC -> NDHWC, NCHW -> NCDHW.
std::string WithDepth(std::string format) { return format.insert(format.find('H'), "D"); }

ShapeMap MakeShapes(Editor& edit, bool trust_feeds) {
  return edit.InferGrapplerShapes(trust_feeds);
}

}  // namespace

Conversion::Conversion(Editor& editor, llvm::StringRef device, const std::string& from,
                       const std::string& to, bool trust_feeds)
    : RuleContext(editor),
      first_added(editor.graph().end_id()),
      device_(device),
      of_rank_4_(MakeFormats(from, to)),
      of_rank_5_(MakeFormats(WithDepth(from), WithDepth(to))),
      shapes_(MakeShapes(editor, trust_feeds)),
      depth_(first_added) {
  for (NodeId id : TopologicalOrder(graph)) {
    Node node = graph.node(id);
    int slots = node.num_inputs() + node.num_controls();
    for (int i = 0; i < slots; ++i) {
      Node input = graph.node(node.input(i).node);
      if (!input) continue;
      bool enters = input.op() == "Enter" || input.op() == "RefEnter";
      bool leaves = input.op() == "Exit" || input.op() == "RefExit";
      depth_[id] = std::max(depth_[id], depth_[input.id()] + enters - leaves);
    }
  }
}

bool Conversion::IsInLoop(const Node& node) const {
  return !IsAdded(node) && depth_[node.id()] > 0;
}

Shape Conversion::ShapeOf(Port port) {
  // Skips nodes that the pass added: they change only the layout.
  while (port.node >= first_added && graph.node(port.node).num_inputs() > 0)
    port = graph.node(port.node).input(0);
  return port.node < first_added ? shapes_.OfPort(port) : Shape::Unknown();
}

int Conversion::RankOf(Port port) {
  Shape shape = ShapeOf(port);
  return shape.known_rank() ? shape.rank() : kUnknown;
}

bool Conversion::HasDimsIfConstant(const Node& node, int input,
                                   llvm::ArrayRef<int64_t> dims) const {
  if (input >= node.num_inputs()) return false;
  Node source = node.input_node(input);
  if (source.op() != "Const") return true;
  const Literal* value = edit.ConstantOf(source);
  return value && value->dims() == dims;
}

std::vector<int64_t> Conversion::PermOf(const Node& node) const {
  if (node.op() != "Transpose" || node.num_inputs() != 2) return {};
  const Literal* perm = ConstantOf(node.input(1));
  return perm && perm->dtype() == proto::DT_INT32 ? perm->AsInts() : std::vector<int64_t>();
}

bool Conversion::IsOnDevice(const Node& node) const {
  return DevicePartMentions(node.device(), device_);
}

bool Conversion::MayChange(const char* rule, const Node& node) {
  if (!IsOnDevice(node)) {
    edit.Refuse(rule, node, "'{0}' is on {1}, a {2} was expected\nplace it there", node.name(),
                QuotedDevice(node.device()), llvm::StringRef(device_).upper());
    return false;
  }
  if (IsPreserved(node)) {
    edit.Refuse(
        rule, node,
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        node.name());
    return false;
  }
  return !node.uses().empty();
}

bool Conversion::IsConversionBack(const Node& node, const Formats& formats) const {
  if (!IsAdded(node)) return false;
  if (node.op() == "Transpose") return llvm::equal(PermOf(node), formats.back);
  return node.GetString("src_format") == formats.to && node.GetString("dst_format") == formats.from;
}

bool Conversion::IsAfterConversion(const Node& node, const Formats& formats) const {
  std::deque<Node> open = {node};
  llvm::DenseSet<NodeId> seen;
  while (!open.empty()) {
    Node current = open.front();
    open.pop_front();
    for (int i : DataInputs(current)) {
      Node input = current.input_node(i);
      if (!input || !seen.insert(input.id()).second) continue;
      if (IsConversionBack(input, formats)) return true;
      if (IsAgnostic(FamilyOf(input))) open.push_back(input);
    }
  }
  return false;
}

Node Conversion::AddConversion(const Node& node, const std::string& prefix, Kind kind, Port source,
                               bool forward, const Formats& formats) {
  const std::string& from = forward ? formats.from : formats.to;
  const std::string& to = forward ? formats.to : formats.from;
  std::string suffix = from + "To" + to + "-LayoutOptimizer";
  DataType type = BaseType(edit.TypeOf(source));
  Node source_node = graph.node(source.node);
  if (kind == kTranspose) {
    const std::vector<int>& perm = forward ? formats.perm : formats.back;
    // In a loop, the constant waits for the source, so that it runs in the loop's frame.
    llvm::SmallVector<Node, 1> controls;
    if (IsInLoop(node)) controls.push_back(source_node);
    Node constant = edit.AddConstant(
        prefix + "PermConst" + suffix,
        Literal::Vector32(std::vector<int32_t>(perm.begin(), perm.end())), node.device(), controls);
    Node transpose = Make(prefix + "Transpose" + suffix, "Transpose", node.device(),
                          {source, {constant.id(), 0}});
    SetType(transpose, "T", type);
    SetType(transpose, "Tperm", proto::DT_INT32);
    return transpose;
  }
  const char* op = kind == kVecPermute ? "DataFormatVecPermute" : "DataFormatDimMap";
  Node added = Make(prefix + op + suffix, op, node.device(), source);
  SetType(added, "T", type);
  edit.SetAttr(added, "src_format", attr::String(from));
  edit.SetAttr(added, "dst_format", attr::String(to));
  // Shapes and axes of ops on a GPU are in host memory.
  if (DeviceTypeOf(source_node.device()) == "GPU" && type == proto::DT_INT32)
    edit.SetAttr(added, "_kernel", attr::String("host"));
  return added;
}

void Conversion::ConvertInputs(const Node& node, const Inputs& inputs, const Formats& formats) {
  for (auto [i, kind] : inputs) {
    std::string prefix = llvm::formatv("{0}-{1}-", node.name(), i).str();
    Node added = AddConversion(node, prefix, kind, node.input(i), /*forward=*/true, formats);
    edit.SetInput(node, i, {added.id(), 0});
  }
}

void Conversion::ConvertOutputs(const Node& node, llvm::ArrayRef<int> outputs, Kind kind,
                                const Formats& formats) {
  edit.RemoveAttr(node, "_output_shapes");
  for (int output : outputs) {
    llvm::SmallVector<Use, 4> uses = node.UsesOf(output);
    llvm::sort(uses, [&](const Use& a, const Use& b) {
      return std::pair(graph.node(a.node).name(), a.slot) <
             std::pair(graph.node(b.node).name(), b.slot);
    });
    int number = 0;
    for (const Use& use : uses) {
      std::string prefix = llvm::formatv("{0}-{1}-{2}-", node.name(), output, number++).str();
      Node added =
          AddConversion(node, prefix, kind, {node.id(), output}, /*forward=*/false, formats);
      edit.SetInput(graph.node(use.node), use.slot, {added.id(), 0});
    }
  }
}

void Conversion::UpdateFormat(const Node& node, const Formats& formats) {
  edit.SetAttr(node, "data_format", attr::String(formats.to));
  for (const char* key : {"strides", "ksize", "dilations"}) {
    std::vector<int64_t> old = node.GetInts(key), permuted;
    if (old.size() != formats.perm.size()) continue;
    for (int i : formats.perm) permuted.push_back(old[i]);
    edit.SetAttr(node, key, attr::Ints(permuted));
  }
  std::vector<int64_t> paddings = node.GetInts("explicit_paddings"), permuted;
  if (paddings.size() != 2 * formats.perm.size()) return;
  for (int i : formats.perm) {
    permuted.push_back(paddings[2 * i]);
    permuted.push_back(paddings[2 * i + 1]);
  }
  edit.SetAttr(node, "explicit_paddings", attr::Ints(permuted));
}

bool AreInverse(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  if (a.empty() || a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (b[i] < 0 || b[i] >= static_cast<int64_t>(a.size())) return false;
    if (a[b[i]] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

}  // namespace grapnel::layout
