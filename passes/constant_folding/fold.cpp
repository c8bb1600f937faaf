// Computes nodes whose inputs are all constant.
//
//   Before:  a:Const, b:Const -> Add -> y
//   After:   Add:Const -> y                                      the node keeps its name
//
//   Before:  c:Const -> Unique -> :0 y, :1 z
//   After:   "ConstantFolding/Unique-folded-0":Const -> y        and "-1" -> z
//
// The result inherits the control inputs of the node and of its inputs.
//
// Refuses: nodes for which IsFoldable (foldable.cpp) is false; values of 100 KiB or more that are
// larger than their inputs (foldable.cpp tests for more than 100 KiB, as Grappler does in the two
// places); ops and dtypes without a CPU kernel; and any node whose kernel fails.
#include "lib/ir/node_types.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The size in bytes; for more than four elements without those at the end that only repeat the last
// one: Grappler does not write these, and does not count them against the limit.
int64_t WrittenBytes(const Literal& value) {
  llvm::StringRef bytes = value.bytes();
  size_t size = DataTypeSize(value.dtype());
  if (value.num_elements() <= 4) return bytes.size();
  while (bytes.size() > size && bytes.take_back(size) == bytes.drop_back(size).take_back(size))
    bytes = bytes.drop_back(size);
  return bytes.size();
}

bool AreSmallEnough(Folding& rule, const Node& node, llvm::ArrayRef<Literal> values) {
  int64_t input_bytes = rule.InputBytes(node);
  for (const Literal& value : values) {
    int64_t bytes = static_cast<int64_t>(value.byte_size());
    if (bytes >= kMaxConstantBytes && bytes > input_bytes) bytes = WrittenBytes(value);
    if (bytes < kMaxConstantBytes || bytes <= input_bytes) continue;
    rule.too_large.insert(node.id());
    return rule.Fails(
        "to write the value of '{0}' takes {1} bytes, 100 KiB or more and more than its inputs "
        "({2})\nmake its result smaller",
        node.name(), bytes, input_bytes);
  }
  return true;
}

// True for ops that return their first input, possibly with another shape. They need no
// computation, and a constant stored as one repeated element stays so.
bool HandsOn(llvm::StringRef op) {
  return op == "Identity" || op == "Snapshot" || op == "StopGradient" || op == "PreventGradient" ||
         op == "Reshape" || op == "Squeeze" || op == "ExpandDims";
}

Expected<std::vector<Literal>> Evaluate(Folding& rule, const Node& node) {
  llvm::SmallVector<Literal, 4> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Literal* value = rule.ConstantOf(node.input(i));
    if (!value) return MakeError("the value of '{0}' cannot be read", node.input_node(i).name());
    inputs.push_back(*value);
  }
  if (!inputs.empty() && HandsOn(node.op())) {
    const Shape& shape = rule.edit.ShapeOf({node.id(), 0});
    if (shape.NumElements() == inputs[0].num_elements())
      return std::vector<Literal>{inputs[0].Reshaped(shape.dims())};
  }
  if (!rule.edit.evaluator()) return MakeError("this run has no kernels to compute with");
  return rule.edit.evaluator()->Evaluate(node, inputs);
}

// Makes a constant for each output that is read. Nodes that waited for the folded node wait for the
// constant of its last output.
Verdict FoldIntoNodes(Folding& rule, const Node& node, llvm::ArrayRef<Literal> values) {
  auto name_of = [&](size_t port) {
    return Folding::NameFor(node, "-folded-" + llvm::Twine(port));
  };
  for (size_t port = 0; port < values.size(); ++port) {
    if (rule.Exists(name_of(port))) return rule.NotMine();
  }
  llvm::SmallVector<Node, 4> controls = Folding::ControlsBehind(node);
  for (size_t port = 0; port < values.size(); ++port) {
    bool is_read = !node.UsesOf(port).empty();
    bool is_anchor = port + 1 == values.size() && rule.DrivesControls(node);
    if (!is_read && !is_anchor) continue;
    Node made = rule.edit.AddConstant(name_of(port), values[port], node.device(), controls);
    rule.edit.RedirectPort({node.id(), static_cast<int32_t>(port)}, {made.id(), 0});
    if (is_anchor) rule.edit.RedirectNode(node, {made.id(), 0});
  }
  rule.RemoveIfUnread(node);
  return rule.Done();
}

// Other rules that write constants keep the attributes that begin with '_'; this one does not, as
// in Grappler. Equal constants are merged only if their attributes are equal too.
void DropAnnotations(Folding& rule, const Node& node) {
  llvm::SmallVector<std::string, 4> keys;
  for (const auto& [key, value] : node.Attrs()) {
    if (!key.empty() && key[0] == '_') keys.push_back(key.str());
  }
  for (const std::string& key : keys) rule.edit.RemoveAttr(node, key);
}

Verdict Fold(Folding& rule, const Node& node) {
  // Leaves these to fold_merge and fold_switch, which know which outputs are dead.
  if (rule.kinds.Is(node, kMergeOp | kSwitchOp)) return rule.NotMine();
  if (NumOutputs(node) > 1 &&
      rule.Exists(Folding::NameFor(node, "-folded-" + llvm::Twine(NumOutputs(node) - 1))))
    return rule.NotMine();
  Expected<std::vector<Literal>> values = Evaluate(rule, node);
  if (!values) {
    // One line: a second one would be taken for what to do about it.
    std::string why = llvm::StringRef(TextOf(values.takeError())).split('\n').first.str();
    return rule.Refuse("'{0}' cannot be computed: {1}", node.name(), why);
  }
  if (values->empty()) return rule.NotMine();
  if (!AreSmallEnough(rule, node, *values)) return rule.Refused();
  if (values->size() > 1) return FoldIntoNodes(rule, node, *values);
  rule.edit.TurnIntoConstant(node, values->front(), Folding::ControlsBehind(node));
  DropAnnotations(rule, node);
  return rule.Done();
}

GRAPNEL_RULE(
    {.optimizer = "constant_folding",
     .phase = kFold,
     .after = "fold_switch",
     .name = "fold",
     .ops = {},  // any op
     .help = "computes nodes whose inputs are all constant",
     .refuses = "state and effects; calls of functions; nodes that are fed or kept, or fetched "
                "with several outputs; strings, variants, quantized and sparse ops; results of 100 "
                "KiB or more that are larger than their inputs; ops without a CPU kernel",
     .apply = Fold});

}  // namespace
}  // namespace grapnel::constant_folding
