#include "lib/render/labels.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <tuple>

#include "lib/io/saved_variables.h"
#include "lib/ir/function_ends.h"
#include "lib/ir/literal.h"
#include "lib/ir/node_types.h"
#include "lib/ir/types.h"
#include "lib/render/selection.h"
#include "lib/support/text.h"
#include "llvm/ADT/StringExtras.h"

namespace grapnel {
namespace {

constexpr int kMaxNotes = 4;
constexpr size_t kMaxText = 400;
constexpr size_t kKindsShown = 3;
constexpr int64_t kMaxElementsShown = 6;

// The ops of each category, and parts of the names of heavy ops. Others that GroupOf does not
// recognize by their names are kMath if TensorFlow has them and they are stateless, else kOther.
constexpr llvm::StringLiteral kInputOps[] = {"Placeholder", "PlaceholderV2",
                                             "PlaceholderWithDefault", "_Arg", "_DeviceArg"};
constexpr llvm::StringLiteral kStateOps[] = {
    "Const",       "HostConst",      "Variable",         "VariableV2",
    "VarHandleOp", "ReadVariableOp", "_ReadVariablesOp", "VarIsInitializedOp",
    "RestoreV2",   "SaveV2",         "ImmutableConst"};
constexpr llvm::StringLiteral kHeavyWords[] = {"MatMul",          "Conv2D",   "Conv3D", "Einsum",
                                               "DepthwiseConv2d", "CudnnRNN", "LSTM",   "GRU"};
constexpr llvm::StringLiteral kMoveOps[] = {"Reshape",
                                            "Transpose",
                                            "ConjugateTranspose",
                                            "Concat",
                                            "ConcatV2",
                                            "Split",
                                            "SplitV",
                                            "Slice",
                                            "StridedSlice",
                                            "Pack",
                                            "Unpack",
                                            "Pad",
                                            "PadV2",
                                            "MirrorPad",
                                            "Tile",
                                            "Gather",
                                            "GatherV2",
                                            "GatherNd",
                                            "ResourceGather",
                                            "ScatterNd",
                                            "ExpandDims",
                                            "Squeeze",
                                            "Shape",
                                            "ShapeN",
                                            "Size",
                                            "Rank",
                                            "Range",
                                            "Fill",
                                            "Identity",
                                            "IdentityN",
                                            "Cast",
                                            "BroadcastTo",
                                            "BroadcastGradientArgs",
                                            "ReverseV2",
                                            "ReverseSequence",
                                            "ZerosLike",
                                            "OnesLike",
                                            "OneHot",
                                            "StopGradient",
                                            "PreventGradient",
                                            "Snapshot",
                                            "_Retval",
                                            "_DeviceRetval",
                                            "SpaceToDepth",
                                            "DepthToSpace",
                                            "SpaceToBatchND",
                                            "BatchToSpaceND",
                                            "InvertPermutation",
                                            "DynamicStitch",
                                            "DynamicPartition",
                                            "SelectV2",
                                            "Select",
                                            "Where"};
constexpr llvm::StringLiteral kControlOps[] = {"While",
                                               "StatelessWhile",
                                               "If",
                                               "StatelessIf",
                                               "Case",
                                               "StatelessCase",
                                               "PartitionedCall",
                                               "StatefulPartitionedCall",
                                               "RemoteCall",
                                               "SymbolicGradient",
                                               "For",
                                               "Switch",
                                               "_SwitchN",
                                               "Merge",
                                               "Enter",
                                               "RefEnter",
                                               "Exit",
                                               "RefExit",
                                               "NextIteration",
                                               "RefNextIteration",
                                               "LoopCond",
                                               "RefSwitch",
                                               "RefMerge",
                                               "NoOp",
                                               "Assert",
                                               "Print",
                                               "PrintV2",
                                               "ControlTrigger"};

template <size_t N>
bool Has(const llvm::StringLiteral (&names)[N], llvm::StringRef op) {
  return std::find(std::begin(names), std::end(names), op) != std::end(names);
}

// The constant or variable that a folded node is or reads.
Node ConstantBehind(Node node) {
  while ((node.op() == "Identity" || node.op() == "ReadVariableOp") && node.num_inputs() == 1 &&
         node.input_node(0))
    node = node.input_node(0);
  return node;
}

// Writes floats with six digits: 0.001, not 0.00100000005.
std::string FloatsText(const Literal& literal) {
  std::string text = "[";
  for (int64_t i = 0; i < literal.num_elements(); ++i) {
    char number[32];
    std::snprintf(number, sizeof number, "%s%.6g", i > 0 ? "," : "", literal.AsDouble(i));
    text += number;
  }
  return text + "]";
}

std::string ValueText(const Node& constant, Port port, const ShapeMap* shapes) {
  auto literal = Literal::FromConst(constant);
  if (!literal) {
    llvm::consumeError(literal.takeError());
    return shapes ? TensorText(shapes->TypeOf(port), shapes->OfPort(port)) : "?";
  }
  int64_t count = literal->num_elements();
  if (count == 0 || count > kMaxElementsShown)
    return TensorText(literal->dtype(), Shape(literal->dims()));
  std::string text = IsFloating(literal->dtype()) ? FloatsText(*literal) : literal->ToString();
  if (count == 1 && text.size() > 2 && text.front() == '[' && literal->dims().empty())
    text = text.substr(1, text.size() - 2);
  if (text.size() > 32) return TensorText(literal->dtype(), Shape(literal->dims()));
  return Printable(text);
}

// Describes a variable: "conv/kernel float[3,3,3,8]"; for an argument, the variable or constant
// that is passed for it, if known.
std::string VariableText(Node node, const SignatureBody* entry, const BoxLayers* layers) {
  if (Node given = entry ? entry->GivenByMain(node) : Node()) node = given;
  if (IsConstant(node)) return ValueText(node, {node.id(), 0}, nullptr);
  if (!IsVariable(node)) return PrintableStart(node.name());
  std::optional<AttrView> shape = node.Attr("shape");
  std::string name = layers ? layers->VariableOf(node) : "";
  return PrintableStart(name.empty() ? NameOfVariable(node) : name) + " " +
         TensorText(node.GetType("dtype"), shape ? shape->AsShape().value_or(Shape()) : Shape());
}

}  // namespace

std::string InputName(const OpInfo* info, const Node& node, int slot) {
  if (!info || info->inputs.empty()) return "input " + std::to_string(slot);
  int at = 0;
  for (const OpArg& arg : info->inputs) {
    int size = 1;
    if (!arg.number_attr.empty()) size = static_cast<int>(node.GetInt(arg.number_attr, 1));
    if (!arg.type_list_attr.empty())
      size = node.num_inputs() - static_cast<int>(info->inputs.size()) + 1;
    if (slot < at + size) return size == 1 ? arg.name : arg.name + " " + std::to_string(slot - at);
    at += size;
  }
  return "input " + std::to_string(slot);
}

std::string PrintableStart(llvm::StringRef text) {
  if (text.size() <= kMaxText) return Printable(text);
  return Printable(text.take_front(kMaxText)) + " \xe2\x80\xa6";
}

std::string TensorText(DataType dtype, const Shape& shape) {
  std::string text = dtype == proto::DT_INVALID ? "" : DataTypeName(BaseType(dtype)).str();
  if (!shape.known_rank()) return text;
  text += "[";
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) text += ",";
    text += shape.IsKnown(i) ? std::to_string(shape.dim(i)) : "?";
  }
  return text + "]";
}

std::vector<std::string> ConstantNotes(const Node& node, const std::vector<NodeUse>& uses,
                                       const ShapeMap* shapes, const SignatureBody* entry,
                                       const BoxLayers* layers, std::vector<NodeId>* noted) {
  std::vector<std::string> notes;
  const OpInfo* info = DefinitionOf(node);
  int more = 0;
  for (int slot = 0; slot < node.num_inputs(); ++slot) {
    Port port = node.input(slot);
    if (port.node == kNoNode || uses[port.node] != NodeUse::kFolded) continue;
    Node constant = ConstantBehind(node.input_node(slot));
    if (uses[constant.id()] != NodeUse::kFolded) continue;  // the Identity before a result
    if (notes.size() == kMaxNotes) {
      ++more;
      continue;
    }
    if (noted) noted->push_back(constant.id());
    notes.push_back(InputName(info, node, slot) + " = " +
                    (IsConstant(constant) ? ValueText(constant, port, shapes)
                                          : VariableText(constant, entry, layers)));
  }
  if (more > 0) notes.back() = "and " + Plural(more + 1, "more constant or variable");
  return notes;
}

std::string PrefixOfEnds(const Graph& graph) {
  const Function* function = FunctionOf(graph);
  std::string prefix = function ? function->name().lower() : "";
  bool has_ends = false;
  for (Node node : graph.nodes()) {
    if (!IsArgument(node) && !IsResult(node)) continue;
    has_ends = true;
    size_t size = std::min(prefix.size(), node.name().size()), same = 0;
    while (same < size && prefix[same] == llvm::toLower(node.name()[same])) ++same;
    prefix.resize(same);
  }
  prefix.resize(prefix.rfind('_') + 1);
  return has_ends ? prefix : "";
}

llvm::StringRef NameOfEnd(llvm::StringRef name, llvm::StringRef prefix) {
  while (!prefix.empty() && name.size() > prefix.size() && name.consume_front_insensitive(prefix)) {
  }
  return name;
}

std::string KindsText(const Graph& graph, const std::map<StringId, size_t>& kinds) {
  std::vector<std::tuple<bool, size_t, llvm::StringRef>> order;
  for (auto [op, count] : kinds) {
    llvm::StringRef name = graph.module().strings.Get(op);
    order.push_back({GroupOf(name) != OpGroup::kHeavy, ~count, name});
  }
  std::sort(order.begin(), order.end());
  std::string text;
  for (size_t i = 0; i < order.size() && i < kKindsShown; ++i) {
    text += (i ? ", " : "") + std::to_string(~std::get<1>(order[i])) + " " +
            Printable(std::get<2>(order[i]));
  }
  return order.size() > kKindsShown ? text + ", \xe2\x80\xa6" : text;
}

OpGroup GroupOf(llvm::StringRef op) {
  if (Has(kInputOps, op)) return OpGroup::kInput;
  if (Has(kStateOps, op) || op.contains("Assign") || op.contains("ResourceApply"))
    return OpGroup::kState;
  if (Has(kMoveOps, op)) return OpGroup::kMove;
  if (Has(kControlOps, op)) return OpGroup::kControl;
  for (llvm::StringRef word : kHeavyWords) {
    if (op.contains(word)) return OpGroup::kHeavy;
  }
  const OpInfo* info = FindOp(op);
  return info && !info->is_stateful ? OpGroup::kMath : OpGroup::kOther;
}

OpGroup MainGroup(const Graph& graph, const std::map<StringId, size_t>& kinds) {
  constexpr OpGroup kOrder[] = {OpGroup::kHeavy, OpGroup::kControl, OpGroup::kOther, OpGroup::kMath,
                                OpGroup::kMove,  OpGroup::kState,   OpGroup::kInput};
  for (OpGroup group : kOrder) {
    for (const auto& [op, count] : kinds)
      if (GroupOf(graph.module().strings.Get(op)) == group) return group;
  }
  return OpGroup::kOther;
}

llvm::StringRef OpGroupName(OpGroup group) {
  static constexpr std::array<llvm::StringLiteral, 7> kNames = {
      "other",      "input",      "constant, variable", "matmul, convolution",
      "other math", "moves data", "control, calls"};
  return kNames[static_cast<size_t>(group)];
}

llvm::StringRef OpGroupFill(OpGroup group) {
  static constexpr std::array<llvm::StringLiteral, 7> kFills = {
      "#ffffff", "#b5e3d0", "#f5eda0", "#f5bd84", "#bcdff5", "#dddddd", "#ebc6dc"};
  return kFills[static_cast<size_t>(group)];
}

llvm::StringRef PaletteFill(size_t i) {
  static constexpr std::array<llvm::StringLiteral, 8> kFills = {
      "#bcdff5", "#f5bd84", "#b5e3d0", "#ebc6dc", "#f5eda0", "#c9cdf0", "#dddddd", "#e6c9a8"};
  return kFills[i % kFills.size()];
}

}  // namespace grapnel
