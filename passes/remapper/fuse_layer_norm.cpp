// Fuses the layer normalization of Keras 2, which uses a batch normalization with a channel for
// each row, into one op.
//
//   Before:  r = Reshape(x, [1, rows, n, 1])
//            norm = FusedBatchNormV3(r, Fill(.., 1), Fill(.., 0), [], []) {is_training, NCHW}
//            Reshape(norm, Shape(x)) * gamma + beta -> y
//   After:   _MklLayerNorm(x, gamma, beta) -> y
//
// Refuses: values of rank other than 2 and 3, or of another shape than the result; fills that are
// not 1 and 0; rows that are known not to be x's last dimension (TensorFlow checks neither); nodes
// off the CPU; inner nodes that are fetched, read from outside or have control edges.
#include "lib/ir/device_name.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

struct LayerNorm {
  Node scaled, after, norm, before, ones, zeros;
  Port values, gamma, beta;
  std::vector<Node> nodes(const Node& root) const {
    return {root, scaled, after, norm, before, ones, zeros};
  }
};

bool IsOp(const Node& node, llvm::StringRef op) { return node && node.op() == op; }

// Matches by ops alone: sums and products have their inputs in either order.
std::optional<LayerNorm> Match(const Node& root) {
  LayerNorm match;
  for (int i = 0; i < 2; ++i) {
    match.scaled = root.input_node(i);
    match.beta = root.input(1 - i);
    if (!IsOp(match.scaled, "Mul")) continue;
    for (int k = 0; k < 2; ++k) {
      match.after = match.scaled.input_node(k);
      match.gamma = match.scaled.input(1 - k);
      if (!IsOp(match.after, "Reshape")) continue;
      match.norm = match.after.input_node(0);
      if (!IsOp(match.norm, "FusedBatchNormV3") || match.after.input(0).index != 0) continue;
      match.before = match.norm.input_node(0);
      match.ones = match.norm.input_node(1);
      match.zeros = match.norm.input_node(2);
      if (!IsOp(match.before, "Reshape") || !IsOp(match.ones, "Fill") || !IsOp(match.zeros, "Fill"))
        continue;
      match.values = match.before.input(0);
      return match;
    }
  }
  return std::nullopt;
}

bool IsEmpty(Remapper& rule, const Node& node) {
  const Literal* literal = rule.edit.ConstantOf(node);
  return literal && literal->num_elements() == 0;
}

// True if the batch normalization computes the statistics of each row.
bool IsOfRows(Remapper& rule, const Node& root, const LayerNorm& match) {
  const Node& norm = match.norm;
  if (!norm.GetBool("is_training", true) || !IsEmpty(rule, norm.input_node(3)) ||
      !IsEmpty(rule, norm.input_node(4)))
    return rule.Fails(
        "'{0}' does not compute its own statistics\n"
        "normalize as Keras 2 does: in training mode, without a mean and a variance",
        norm.name());
  if (rule.ScalarOf(match.ones.input(1)) != 1.0f || rule.ScalarOf(match.zeros.input(1)) != 0.0f)
    return rule.Fails(
        "'{0}' is not known to have the scale 1 and the offset 0\nfill them with 1 and 0",
        norm.name());
  rule.WantShapes(/*trust_feeds=*/true);
  Shape values = rule.ShapeOf(match.values), result = rule.ShapeOf({root.id(), 0});
  bool is_same =
      values.known_rank() && values == result && !llvm::is_contained(values.dims(), kUnknownDim);
  if (!is_same || values.rank() < 2 || values.rank() > 3) {
    return rule.Fails(
        "'{0}' has the shape {1} and the result {2}: equal known shapes of rank 2 or 3 were "
        "expected\nmake the shapes of the inputs known, such as with --batch or --shape",
        rule.graph.node(match.values.node).name(), values.ToString(), result.ToString());
  }
  Shape rows = rule.ShapeOf({match.before.id(), 0});
  int64_t last = values.dim(values.rank() - 1);
  auto may_be = [&](int i, int64_t size) { return !rows.IsKnown(i) || rows.dim(i) == size; };
  bool is_of_rows = norm.GetString("data_format", "NHWC") == "NCHW" && rows.known_rank() &&
                    rows.rank() == 4 && may_be(0, 1) && may_be(2, last) && may_be(3, 1);
  if (is_of_rows) return true;
  return rule.Fails(
      "'{0}' normalizes the shape {1} in {2}; [1,rows,n,1] in NCHW, one channel for each row, was "
      "expected\nreshape to [1,rows,n,1], and normalize in the data format NCHW",
      norm.name(), rows.ToString(), norm.GetString("data_format", "NHWC"));
}

Verdict FuseLayerNorm(Remapper& rule, const Node& root) {
  std::optional<LayerNorm> match = Match(root);
  if (!match) return rule.NotMine();
  std::vector<Node> nodes = match->nodes(root);
  for (Port input : {match->values, match->gamma, match->beta}) {
    // An input of the new op may be one of the matched nodes, which are removed: for example, if y
    // adds the product to itself, beta is that product.
    if (llvm::is_contained(nodes, rule.graph.node(input.node))) return rule.NotMine();
  }
  if (!IsOn(rule.DeviceOf(match->norm), "CPU"))
    return rule.Refuse("'{0}' is on {1}, a CPU was expected (see --device)\nplace it on a CPU",
                       match->norm.name(), QuotedDevice(match->norm.device()));
  if (!rule.TakesAlone(root, nodes) || !IsOfRows(rule, root, *match) || !rule.HasOneDnn(root))
    return rule.Refused();
  RemapAttrs attrs;
  CopyAttr(&attrs, root, "T");
  CopyAttr(&attrs, match->norm, "epsilon");
  rule.Become(root, "_MklLayerNorm", root.device(), {match->values, match->gamma, match->beta},
              attrs);
  llvm::erase(nodes, root);
  rule.RemoveInOrder(std::move(nodes));
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "expand_batch_norm",
              .name = "fuse_layer_norm",
              .ops = {"AddV2"},
              .help = "the layer normalization of Keras 2 becomes _MklLayerNorm",
              .refuses = "values of rank other than 2 and 3 or of another shape than the result, "
                         "fills that are not 1 and 0, inner nodes that are fetched, read from "
                         "outside or have control edges, nodes off the CPU",
              .pattern = "(Mul(Reshape(FusedBatchNormV3(Reshape, Fill, Fill))))",
              .apply = FuseLayerNorm});

}  // namespace
}  // namespace grapnel::remapper
