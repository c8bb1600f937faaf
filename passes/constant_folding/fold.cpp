// Computes nodes whose inputs are all constant.
//
//   Before:  a:Const, b:Const -> Add -> y
//   After:   Add:Const -> y                                      the node keeps its name
//
//   Before:  c:Const -> Unique -> :0 y, :1 z
//   After:   "ConstantFolding/Unique-folded-0":Const -> y        and "-1" -> z
//
// What the inputs waited for, the result waits for.
// Refuses: state and effects, placeholders and what is fed, nodes that must stay with more than one
// output; frames of loops; strings, quantized ops, readers and savers; results over 100 KiB that
// are larger than what they come from; ops and dtypes without a CPU kernel; and whatever the kernel
// refuses.
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "fold";

bool IsQuantizationEmulation(llvm::StringRef op) {
  return op.consume_front("QuantizeAndDequantize") || op.consume_front("FakeQuantWithMinMax");
}

// What TensorFlow leaves alone by name, whatever its inputs.
bool IsFoldableOp(Folding& fold, const Node& node) {
  if (!fold.kinds.Is(node, kPureOp) ||
      fold.kinds.Is(node, kConstOp | kFrameOp | kVariableOp | kRetvalOp))
    return false;
  if (!fold.kinds.Is(node, kHasOutputsOp)) return false;
  llvm::StringRef op = node.op();
  if (op == "LoopCond" || op == "FakeParam" || op == "AccumulateNV2" || op == "_Arg") return false;
  if (op.contains("Save") || op.contains("Restore") || op.contains("Reader") ||
      op.contains("Quantized"))
    return false;
  if (llvm::StringRef(op).consume_front("Sparse")) return false;
  if (!fold.fold_quantization && IsQuantizationEmulation(op)) return false;
  if (!fold.materialize_fills && (op == "Fill" || op == "ZerosLike" || op == "OnesLike"))
    return false;
  const OpInfo* info = FindOp(op);
  return llvm::none_of(info->outputs,
                       [](const OpArg& arg) { return arg.type == proto::DT_VARIANT; });
}

int64_t InputBytes(Folding& fold, const Node& node) {
  int64_t bytes = 0;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (const Literal* value = fold.ConstantOf(node.input(i))) bytes += value->byte_size();
  }
  return bytes;
}

bool IsTooLarge(Folding& fold, const Node& node) {
  int64_t input_bytes = InputBytes(fold, node);
  for (int port = 0, end = NumOutputs(node); port < end; ++port) {
    std::optional<int64_t> elements = fold.edit.ShapeOf({node.id(), port}).NumElements();
    if (!elements) continue;
    int64_t bytes =
        *elements * static_cast<int64_t>(DataTypeSize(fold.edit.TypeOf({node.id(), port})));
    if (bytes <= input_bytes || bytes <= kMaxConstantBytes) continue;
    fold.edit.Refuse(kRule, node, "output {0} of '{1}' would be {2} bytes, its inputs are {3}",
                     port, node.name(), bytes, input_bytes);
    fold.too_large.insert(node.id());
    return true;
  }
  return false;
}

// Bytes of the elements up to where the rest repeats the last: what Grappler writes, and what it
// weighs.
int64_t WrittenBytes(const Literal& value) {
  llvm::StringRef bytes = value.bytes();
  size_t size = DataTypeSize(value.dtype());
  if (value.num_elements() <= 4) return bytes.size();
  while (bytes.size() > size && bytes.take_back(size) == bytes.drop_back(size).take_back(size))
    bytes = bytes.drop_back(size);
  return bytes.size();
}

// The same where only the value shows it.
bool AreTooLarge(Folding& fold, const Node& node, llvm::ArrayRef<Literal> values) {
  int64_t input_bytes = InputBytes(fold, node);
  for (const Literal& value : values) {
    int64_t bytes = static_cast<int64_t>(value.byte_size());
    if (bytes >= kMaxConstantBytes && bytes > input_bytes) bytes = WrittenBytes(value);
    if (bytes < kMaxConstantBytes || bytes <= input_bytes) continue;
    fold.edit.Refuse(kRule, node, "the value of '{0}' has {1} bytes, its inputs {2}", node.name(),
                     bytes, input_bytes);
    fold.too_large.insert(node.id());
    return true;
  }
  return false;
}

// Values that an op hands on, perhaps under other dimensions: nothing is computed, and a splat
// stays one element.
bool HandsOn(llvm::StringRef op) {
  return op == "Identity" || op == "Snapshot" || op == "StopGradient" || op == "PreventGradient" ||
         op == "Reshape" || op == "Squeeze" || op == "ExpandDims";
}

Expected<std::vector<Literal>> Evaluate(Folding& fold, const Node& node) {
  llvm::SmallVector<Literal, 4> inputs;
  for (int i = 0; i < node.num_inputs(); ++i) {
    const Literal* value = fold.ConstantOf(node.input(i));
    if (!value) return MakeError("the value of '{0}' cannot be read", node.input_node(i).name());
    inputs.push_back(*value);
  }
  if (!inputs.empty() && HandsOn(node.op())) {
    const Shape& shape = fold.edit.ShapeOf({node.id(), 0});
    if (shape.NumElements() == inputs[0].num_elements())
      return std::vector<Literal>{inputs[0].Reshaped(shape.dims())};
  }
  if (!fold.edit.evaluator()) return MakeError("nothing here can compute");
  return fold.edit.evaluator()->Evaluate(node, inputs);
}

// The nodes that the result must wait for: those that the node and its constants wait for.
llvm::SmallVector<Node, 4> Controls(const Node& node) {
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

// Each port that is read becomes a node of its own. Who waits for the node waits for the last of
// them.
bool FoldIntoNodes(Folding& fold, const Node& node, llvm::ArrayRef<Literal> values) {
  auto name_of = [&](size_t port) {
    return Folding::NameFor(node, "-folded-" + llvm::Twine(port));
  };
  for (size_t port = 0; port < values.size(); ++port) {
    if (fold.Exists(name_of(port))) return false;
  }
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  llvm::SmallVector<Node, 4> controls = Controls(node);
  for (size_t port = 0; port < values.size(); ++port) {
    bool is_read = !node.UsesOf(port).empty();
    bool is_anchor = port + 1 == values.size() && fold.NumControlUses(node) > 0;
    if (!is_read && !is_anchor) continue;
    Node made = fold.edit.AddConstant(name_of(port), values[port], node.device(), controls);
    fold.Redirect({node.id(), static_cast<int32_t>(port)}, made);
    if (is_anchor) fold.edit.RedirectNode(node, {made.id(), 0});
  }
  return true;
}

}  // namespace

bool IsFoldable(Folding& fold, const Node& node) {
  if (node.num_inputs() == 0 && node.num_controls() == 0) return false;
  bool is_merge = fold.kinds.Is(node, kMergeOp), merge_has_constant = false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!fold.IsConst(node.input(i))) {
      if (!is_merge) return false;
      continue;
    }
    Node input = node.input_node(i);
    if (input.GetType("dtype") == proto::DT_STRING) return false;
    merge_has_constant |= input.num_controls() == 0;
  }
  if (is_merge && !merge_has_constant) return false;
  if (!IsFoldableOp(fold, node) || fold.too_large.contains(node.id())) return false;
  bool whole = fold.edit.IsFetched(node) && NumOutputs(node) == 1 && !fold.edit.IsFed(node);
  if (fold.edit.IsPreserved(node) && !whole) {
    fold.edit.Refuse(kRule, node, "'{0}' is constant, but must stay as it is", node.name());
    return false;
  }
  if (node.uses().empty() && !whole) return false;
  if (fold.HasTpuAttribute(node)) return false;
  return is_merge || !IsTooLarge(fold, node);
}

bool FoldNode(Folding& fold, const Node& node) {
  if (fold.kinds.Is(node, kMergeOp)) return FoldMerge(fold, node);
  if (fold.kinds.Is(node, kSwitchOp)) return FoldSwitch(fold, node);
  if (NumOutputs(node) > 1 &&
      fold.Exists(Folding::NameFor(node, "-folded-" + llvm::Twine(NumOutputs(node) - 1))))
    return false;
  Expected<std::vector<Literal>> values = Evaluate(fold, node);
  if (!values) {
    std::string why = TextOf(values.takeError());
    fold.edit.Refuse(kRule, node, "'{0}' cannot be computed: {1}", node.name(), why);
    return false;
  }
  if (values->empty() || AreTooLarge(fold, node, *values)) return false;
  if (values->size() > 1) return FoldIntoNodes(fold, node, *values);
  Rewriting rewriting(fold, kRule, node);
  if (!rewriting) return false;
  fold.edit.TurnIntoConstant(node, values->front(), Controls(node));
  return true;
}

}  // namespace grapnel::constant_folding
