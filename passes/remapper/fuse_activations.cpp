// Activations that a program spells out become one op.
//
//   Maximum(x, alpha * x) -> LeakyRelu(x)     x * Sigmoid(x) -> _MklSwish(x)     x *
//   Tanh(Softplus(x)) -> _MklFusedMish(x)
//
// and after a fused convolution, LeakyRelu and Mish go into it.
//
// Refuses: an alpha that is not one constant from 0 to 1 (TensorFlow takes larger ones too, which
// changes the result); inner nodes that are fetched, read from outside or have control edges; Swish
// and Mish off the CPU.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel {
namespace {

bool IsFloatOnCpu(Remapper& remap, const char* rule, const Node& root) {
  DataType type = root.GetType("T");
  bool is_right =
      (type == proto::DT_FLOAT || type == proto::DT_BFLOAT16) && IsOn(root.device(), "CPU");
  if (!is_right) {
    remap.edit.Refuse(rule, root,
                      "'{0}' is of {1} on '{2}', float or bfloat16 on a CPU was expected",
                      root.name(), DataTypeName(type), root.device());
  }
  return is_right;
}

// The inputs of the product or maximum `root`, that of op `op` first; false when neither is, or the
// other one is not what `source` says that this one is made from.
bool MatchWithOwnSource(const Node& root, llvm::StringRef op,
                        llvm::function_ref<Port(const Node&)> source, Node* inner) {
  if (root.num_inputs() != 2) return false;
  for (int i = 0; i < 2; ++i) {
    *inner = root.input_node(i);
    if (inner->op() == op && source(*inner) == root.input(1 - i)) return true;
  }
  return false;
}

}  // namespace

bool FuseLeakyRelu(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_leaky_relu";
  Node mul;
  std::optional<float> alpha;
  auto source = [&](const Node& product) -> Port {
    for (int i = 0; i < 2 && product.num_inputs() == 2; ++i) {
      alpha = ScalarOf(remap, product.input(i));
      if (alpha) return product.input(1 - i);
    }
    return {};
  };
  if (!MatchWithOwnSource(root, "Mul", source, &mul)) return false;
  if (!(*alpha >= 0 && *alpha <= 1)) {
    remap.edit.Refuse(kRule, root, "the slope {0} of '{1}' is not from 0 to 1", *alpha, mul.name());
    return false;
  }
  if (!IsFloating(root.GetType("T")) || !remap.HasNoControls(kRule, root) ||
      !remap.CanTake(kRule, root, mul))
    return false;
  if (!remap.Begin(kRule, root)) return true;
  Port input = source(mul);
  RemapAttrs attrs = {{"alpha", attr::Float(*alpha)}};
  CopyAttr(&attrs, root, "T");
  remap.Become(root, "LeakyRelu", root.device(), {input}, attrs);
  remap.EndRemoving({mul});
  return true;
}

bool FuseSwish(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_swish";
  Node sigmoid;
  if (!MatchWithOwnSource(
          root, "Sigmoid", [](const Node& node) { return node.input(0); }, &sigmoid))
    return false;
  if (!IsFloatOnCpu(remap, kRule, root) || !remap.HasNoControls(kRule, root) ||
      !remap.CanTake(kRule, root, sigmoid))
    return false;
  if (!remap.Begin(kRule, root)) return true;
  RemapAttrs attrs;
  CopyAttr(&attrs, root, "T");
  remap.Become(root, "_MklSwish", root.device(), {sigmoid.input(0)}, attrs);
  remap.EndRemoving({sigmoid});
  return true;
}

bool FuseMish(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_mish";
  Node tanh;
  auto source = [](const Node& node) {
    Node softplus = node.input_node(0);
    return softplus.op() == "Softplus" ? softplus.input(0) : Port();
  };
  if (!MatchWithOwnSource(root, "Tanh", source, &tanh)) return false;
  Node softplus = tanh.input_node(0);
  if (!IsFloatOnCpu(remap, kRule, root) || !remap.HasNoControls(kRule, root)) return false;
  if (!remap.CanTake(kRule, root, tanh) || !remap.CanTake(kRule, root, softplus)) return false;
  if (!remap.Begin(kRule, root)) return true;
  RemapAttrs attrs;
  CopyAttr(&attrs, root, "T");
  remap.Become(root, "_MklFusedMish", root.device(), {softplus.input(0)}, attrs);
  remap.EndRemoving({tanh, softplus});
  return true;
}

bool FuseFusedConvActivation(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_fused_conv_activation";
  Node conv = root.num_inputs() > 0 ? root.input_node(0) : Node();
  if (!conv || (conv.op() != "_FusedConv2D" && conv.op() != "_FusedConv3D")) return false;
  auto ops_attr = conv.FindAttr("fused_ops");
  auto ops = ops_attr ? ops_attr->AsStrings() : std::nullopt;
  if (!ops) return false;
  for (llvm::StringRef op : *ops) {
    if (op == "BiasAdd" || op == "Add" || op == "FusedBatchNorm") continue;
    remap.edit.Refuse(kRule, root, "'{0}' has the activation {1}", conv.name(), op);
    return false;
  }
  if (!remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, conv)) return false;
  if (!remap.Begin(kRule, root)) return true;
  RemapAttrs attrs;
  for (const auto& [key, value] : conv.Attrs()) {
    if (key != "fused_ops" && (key != "leakyrelu_alpha" || root.op() != "LeakyRelu"))
      attrs.emplace_back(key.str(), value.bytes().str());
  }
  ops->push_back(root.op() == "LeakyRelu" ? "LeakyRelu" : "Mish");
  attrs.emplace_back("fused_ops", attr::Strings(*ops));
  if (root.op() == "LeakyRelu") {
    if (auto alpha = root.Attr("alpha"))
      attrs.emplace_back("leakyrelu_alpha", alpha->bytes().str());
  }
  remap.Become(root, conv.op(), conv.device(), conv.inputs(), attrs);
  remap.EndRemoving({conv});
  return true;
}

}  // namespace grapnel
