// Replaces groups of ops by one fused op that has a faster kernel, as TensorFlow with oneDNN does.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> Relu -> y
//   After:   x, w, b -> _FusedConv2D {fused_ops=[BiasAdd, Relu]} -> y
//
// The fused node usually has the name of the last node of the group. Nodes are visited from the
// results back, so that the longest group wins; the first matching rule is used. note_input_shapes
// runs last, on nodes that no rule fused.
//
// Refuses: contractions whose device, or assumed device (--device), is not a CPU or GPU; nodes
// inside a group that are fetched, are read from outside or have control edges; dtypes and layouts
// without a fused kernel; without oneDNN, most groups; where a gradient is taken through the body,
// groups whose fused op has none.
#include "passes/remapper/remapper.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel::remapper {
namespace {

bool AnyInput(const Node& node, llvm::function_ref<bool(const Node&)> is) {
  for (int i = 0; i < node.num_inputs(); ++i) {
    if (is(node.input_node(i))) return true;
  }
  return false;
}

bool IsAddToContraction(const Node& node) {
  if (!IsAddOrAddV2(node)) return false;
  return AnyInput(node, [](const Node& input) {
    bool is_bias = input.op() == "BiasAdd" || IsAddOrAddV2(input);
    return IsContraction(input) || (is_bias && AnyInput(input, IsContraction));
  });
}

// True if TensorFlow infers shapes when it reaches this node.
bool NeedsShapes(const Node& node) {
  llvm::StringRef op = node.op();
  if (op == "BiasAdd" || op == "Transpose" || IsAddToContraction(node)) return true;
  if (IsFusedBatchNorm(node))
    return node.GetType("T") == proto::DT_FLOAT && !node.GetBool("is_training", true);
  if (!IsActivation(node)) return false;
  Node input = node.input_node(0);
  if (IsAddToContraction(input)) return true;
  if (op != "Relu") return false;
  bool is_sum = IsAddOrAddV2(input);
  if (IsFusedBatchNorm(input) || (is_sum && AnyInput(input, IsFusedBatchNorm))) return true;
  bool after_conv = (input.op() == "BiasAdd" || is_sum) && input.num_inputs() > 0 &&
                    (input.input_node(0).op() == "Conv2D" || input.input_node(0).op() == "Conv3D");
  DataType type = node.GetType("T");
  return after_conv && (type == proto::DT_FLOAT || type == proto::DT_HALF);
}

// The ops for which NeedsShapes may be true.
llvm::DenseSet<StringId> AskingOps(StringTable& strings) {
  llvm::DenseSet<StringId> ops;
  for (const char* op :
       {"Add", "AddV2", "BiasAdd", "Elu", "FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3",
        "LeakyRelu", "Relu", "Relu6", "Sigmoid", "Tanh", "Transpose"}) {
    ops.insert(strings.Intern(op));
  }
  return ops;
}

class RemapperPass : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Remapper remapper(edit);
    bool trust_feeds = edit.config().remapping() == proto::RewriterConfig::AGGRESSIVE;
    RuleTable rules(edit, Remapper::kOptimizer);
    llvm::DenseSet<StringId> asking = AskingOps(edit.module().strings);
    std::vector<NodeId> order = edit.NodesInOrder();
    std::reverse(order.begin(), order.end());
    for (Node node : edit.graph().nodes(order)) {
      if (!edit.graph().IsAlive(node.id())) continue;
      if (!remapper.shapes_wanted && asking.contains(node.op_id()) && NeedsShapes(node))
        remapper.WantShapes(trust_feeds);
      ApplyRules(remapper, rules, node);
      if (remapper.stopped) break;
    }
    return Error::success();
  }
};

GRAPNEL_PASS(
    RemapperPass,
    (PassInfo{.name = Remapper::kOptimizer,
              .config_name = "remap",
              .order = 13,
              .default_on = true,
              .toggle = "remapping",
              .help = "replaces groups of ops by one fused op",
              .refuses = "contractions without a device, inner nodes that are fetched or read from "
                         "outside, control edges, dtypes and layouts without a fused kernel"}), );

}  // namespace
}  // namespace grapnel::remapper
