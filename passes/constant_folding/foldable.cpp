// Decides which nodes fold: those whose inputs are all constant, and Merges that a constant reaches
// first.
//
// Excluded: state and effects, calls of functions, placeholders and fed nodes, nodes that must stay
// unless they are only fetched and have one output; unread nodes; Enter, Exit and NextIteration;
// strings, variants, quantized and sparse ops, AccumulateNV2, readers and savers; results over 100
// KiB that are larger than their inputs.
#include "lib/ir/node_types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// The rule that refusals name, although these functions are called before it runs, and also by
// materialize_value.
constexpr char kRule[] = "fold";

bool IsQuantizationEmulation(llvm::StringRef op) {
  return op.consume_front("QuantizeAndDequantize") || op.consume_front("FakeQuantWithMinMax");
}

// False for ops that TensorFlow, with the settings of this run, does not fold whatever they read.
bool IsFoldableByName(Folding& fold, const Node& node) {
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

bool IsFoldableOp(Folding& fold, const Node& node) {
  auto [known, added] = fold.foldable_ops.try_emplace(node.op_id());
  if (added) known->second = IsFoldableByName(fold, node);
  if (!known->second) return false;
  // Nodes that call functions do not fold: TensorFlow evaluates nodes without a function library,
  // and a body may never end.
  bool calls = false;
  node.ForEachAttr(
      [&](llvm::StringRef, AttrView value) { calls = calls || !value.FuncNames().empty(); });
  return !calls;
}

bool IsTooLarge(Folding& fold, const Node& node) {
  int64_t input_bytes = fold.InputBytes(node);
  for (int port = 0, end = NumOutputs(node); port < end; ++port) {
    std::optional<int64_t> elements = fold.edit.ShapeOf({node.id(), port}).NumElements();
    if (!elements) continue;
    int64_t bytes = 0,
            size = static_cast<int64_t>(DataTypeSize(fold.edit.TypeOf({node.id(), port})));
    if (llvm::MulOverflow(*elements, size, bytes)) bytes = INT64_MAX;
    if (bytes <= input_bytes || bytes <= kMaxConstantBytes) continue;
    fold.edit.Refuse(kRule, node,
                     "output {0} of '{1}' would have {2} bytes, more than 100 KiB and more than "
                     "its inputs ({3})\nmake its result smaller",
                     port, node.name(), bytes, input_bytes);
    fold.too_large.insert(node.id());
    return true;
  }
  return false;
}

// If only input `i` of the node is not constant, and is a variable, says that of the node.
void ReportVariable(Folding& fold, const Node& node, int i) {
  if (!fold.edit.wants_mismatches() || !fold.kinds.Is(node.input_node(i), kVariableOp)) return;
  for (int k = 0; k < node.num_inputs(); ++k) {
    if (k != i && !fold.IsConst(node.input(k))) return;
  }
  fold.edit.Mismatch(kRule, node,
                     "'{0}' ({1}) is not a constant\nmake the variable a constant: --freeze",
                     node.input_node(i).name(), node.input_node(i).op());
}

}  // namespace

bool IsFoldable(Folding& fold, const Node& node) {
  if (node.num_inputs() == 0 && node.num_controls() == 0) return false;
  bool is_merge = fold.kinds.Is(node, kMergeOp), merge_has_constant = false;
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (!fold.IsConst(node.input(i))) {
      if (!is_merge) {
        ReportVariable(fold, node, i);
        return false;
      }
      continue;
    }
    Node input = node.input_node(i);
    if (input.GetType("dtype") == proto::DT_STRING) return false;
    merge_has_constant |= input.num_controls() == 0;
  }
  if (is_merge && !merge_has_constant) return false;
  if (!IsFoldableOp(fold, node) || fold.too_large.contains(node.id())) return false;
  bool whole = fold.edit.IsFetched(node) && NumOutputs(node) == 1 && !fold.edit.IsFed(node);
  if (fold.IsPreserved(node) && !whole) {
    fold.edit.Refuse(
        kRule, node,
        "'{0}' could be computed, but is fed or kept, or is fetched and has several outputs\n"
        "undo this: {1}",
        node.name(), fold.ObstaclesAt({node}, Obstacles::kStays));
    return false;
  }
  if (node.uses().empty() && !whole) return false;
  if (fold.HasTpuAttribute(node)) return false;
  return is_merge || !IsTooLarge(fold, node);
}

}  // namespace grapnel::constant_folding
