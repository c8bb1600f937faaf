// A contraction takes its bias, the residual that is added, and the activation after that.
//
//   Before:  x, w -> Conv2D -> BiasAdd(b) -> AddV2(r) -> Relu -> y
//   After:   x, w, b, r -> _FusedConv2D {fused_ops=[BiasAdd, Add, Relu], num_args=2} -> y
//
// Refuses: sums that broadcast; AddN of more than two; depthwise convolutions; Tanh and Sigmoid;
// nodes off the CPU.
#include "lib/ir/device_name.h"
#include "passes/remapper/remapper.h"

namespace grapnel {
namespace {

struct Residual {
  BiasedContraction base;
  int port;  // of the Add: where the contraction comes in
};

bool IsSumOfEqualShapes(Remapper& remap, const Node& add) {
  Shape a = remap.ShapeOf(add.input(0)), b = remap.ShapeOf(add.input(1));
  if (!a.known_rank() || a != b) return false;
  for (int64_t dim : a.dims()) {
    if (dim == kUnknownDim) return false;
  }
  return true;
}

std::optional<Residual> MatchResidual(Remapper& remap, const char* rule, const Node& add) {
  if ((!IsAdd(add) && add.op() != "AddN") || add.num_inputs() != 2) return std::nullopt;
  // Looks before it asks: a refusal is for what has the form of the pattern.
  auto has_form = [](const Node& node) {
    if (node.num_inputs() < 2) return false;
    return (node.op() == "BiasAdd" && IsContraction(node.input_node(0))) ||
           (IsAdd(node) &&
            (IsContraction(node.input_node(0)) || IsContraction(node.input_node(1))));
  };
  if (!has_form(add.input_node(0)) && !has_form(add.input_node(1))) return std::nullopt;
  if (!remap.HasNoControls(rule, add)) return std::nullopt;
  if (IsAdd(add) && !IsSumOfEqualShapes(remap, add)) {
    remap.edit.Refuse(rule, add, "'{0}' adds the shapes {1} and {2}, equal ones were expected",
                      add.name(), remap.ShapeOf(add.input(0)).ToString(),
                      remap.ShapeOf(add.input(1)).ToString());
    return std::nullopt;
  }
  DataType type = add.GetType("T");
  if (!IsOn(add.device(), "CPU") || (type != proto::DT_FLOAT && type != proto::DT_BFLOAT16)) {
    remap.edit.Refuse(rule, add,
                      "'{0}' is of {1} on '{2}', float or bfloat16 on a CPU was expected",
                      add.name(), DataTypeName(type), add.device());
    return std::nullopt;
  }
  for (int port = 0; port < 2; ++port) {
    Node bias_add = add.input_node(port);
    if (!has_form(bias_add)) continue;
    auto base = MatchBias(remap, rule, bias_add);
    if (!base || bias_add.GetType("T") != type || !remap.CanTake(rule, add, bias_add)) continue;
    if (base->contraction.op() == "DepthwiseConv2dNative") continue;
    if (IsFusable(remap, rule, add, base->contraction)) return Residual{*base, port};
  }
  return std::nullopt;
}

// With LeakyRelu its slope goes along. (TensorFlow 2.21 forgets it and computes with 0.2.)
void Fuse(Remapper& remap, const Node& root, const Node& add, const Residual& match,
          llvm::ArrayRef<llvm::StringRef> fused_ops) {
  const Node& contraction = match.base.contraction;
  Port inputs[] = {contraction.input(0), contraction.input(1), match.base.bias(),
                   add.input(1 - match.port)};
  remap.Become(root, FusedOpOf(contraction), contraction.device(), inputs,
               FusedAttrsOf(remap, contraction, fused_ops, 2, 0, root));
}

}  // namespace

bool FuseBiasAdd(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_bias_add";
  auto match = MatchResidual(remap, kRule, root);
  if (!match || !remap.Begin(kRule, root)) return remap.stopped;
  Fuse(remap, root, root, *match, {"BiasAdd", "Add"});
  remap.EndRemoving({match->base.bias_add, match->base.contraction});
  return true;
}

bool FuseBiasAddActivation(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_bias_add_activation";
  if (root.op() == "Tanh" || root.op() == "Sigmoid" || root.num_inputs() < 1) return false;
  Node add = root.input_node(0);
  auto match = MatchResidual(remap, kRule, add);
  if (!match || !remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, add)) return false;
  if (match->base.contraction.op() == "MatMul") {
    remap.edit.Refuse(kRule, root, "{0} after a residual sum is not fused with the MatMul '{1}'",
                      root.op(), match->base.contraction.name());
    return false;
  }
  if (!IsOn(root.device(), "CPU") || root.GetType("T") != add.GetType("T")) {
    remap.edit.Refuse(kRule, root, "'{0}' is on '{1}', a CPU was expected", root.name(),
                      root.device());
    return false;
  }
  if (!remap.Begin(kRule, root)) return true;
  std::string activation = root.op().str();
  Fuse(remap, root, add, *match, {"BiasAdd", "Add", activation});
  remap.EndRemoving({add, match->base.bias_add, match->base.contraction});
  return true;
}

}  // namespace grapnel
