// Conv2D takes an inference batch normalisation, and the activation after it.
//
//   Before:  x, w -> Conv2D -> FusedBatchNormV3(scale, offset, mean, variance) -> Relu -> y
//   After:   x, w, scale, offset, mean, variance -> _FusedConv2D {fused_ops=[FusedBatchNorm, Relu],
//   num_args=4} -> y
//
// Refuses: training mode; bfloat16 statistics; a reader of any output but the first; a Conv2D that
// is fetched, read twice or not on a CPU; Sigmoid.
#include "passes/remapper/remapper.h"

namespace grapnel {
namespace {

// The Conv2D before the batch normalisation `norm`.
Node MatchConvBatchNorm(Remapper& remap, const char* rule, const Node& norm) {
  if (!IsFusedBatchNorm(norm) || norm.num_inputs() < 5) return Node();
  Node conv = norm.input_node(0);
  if (conv.op() != "Conv2D") return Node();
  if (norm.GetBool("is_training", true)) {
    remap.edit.Refuse(rule, norm, "'{0}' is in training mode", norm.name());
    return Node();
  }
  DataType type = norm.GetType("T");
  bool has_float_statistics = norm.op() == "FusedBatchNorm" || norm.GetType("U") == proto::DT_FLOAT;
  if (!has_float_statistics || type == proto::DT_BFLOAT16 || type != conv.GetType("T")) {
    remap.edit.Refuse(rule, norm, "'{0}' is of {1}, which has no fused kernel", norm.name(),
                      DataTypeName(type));
    return Node();
  }
  for (const Use& use : norm.uses()) {
    Port read = remap.graph.node(use.node).input(use.slot);
    if (read.index == 0) continue;
    remap.edit.Refuse(rule, norm, "'{0}' reads '{1}:{2}'", remap.graph.node(use.node).name(),
                      norm.name(), read.index);
    return Node();
  }
  if (!remap.HasNoControls(rule, norm) || !remap.CanTake(rule, norm, conv) ||
      !IsFusable(remap, rule, norm, conv))
    return Node();
  return conv;
}

void Fuse(Remapper& remap, const Node& root, const Node& norm, const Node& conv,
          llvm::ArrayRef<llvm::StringRef> fused_ops) {
  Port inputs[] = {conv.input(0), conv.input(1), norm.input(1),
                   norm.input(2), norm.input(3), norm.input(4)};
  RemapAttrs attrs = FusedAttrsOf(remap, conv, fused_ops, 4, norm.GetFloat("epsilon"), root);
  remap.Become(root, "_FusedConv2D", conv.device(), inputs, attrs);
}

}  // namespace

bool FuseConvBatchNorm(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_conv_batch_norm";
  Node conv = MatchConvBatchNorm(remap, kRule, root);
  if (!conv || !remap.BeginWithoutGradient(kRule, root)) return remap.stopped;
  Fuse(remap, root, root, conv, {"FusedBatchNorm"});
  remap.EndRemoving({conv});
  return true;
}

bool FuseConvBatchNormActivation(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_conv_batch_norm_activation";
  if (root.op() == "Sigmoid" || root.num_inputs() < 1) return false;
  Node norm = root.input_node(0);
  Node conv = MatchConvBatchNorm(remap, kRule, norm);
  if (!conv || !remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, norm)) return false;
  if (root.GetType("T") != norm.GetType("T")) return false;
  if (!remap.BeginWithoutGradient(kRule, root)) return remap.stopped;
  std::string activation = root.op().str();
  Fuse(remap, root, norm, conv, {"FusedBatchNorm", activation});
  remap.EndRemoving({norm, conv});
  return true;
}

}  // namespace grapnel
