// Multiplies the weights of a convolution instead of its result, when both are constant.
//
//   Before:  Conv2D(x, w:Const), s:Const -> Mul -> y
//   After:   w, s -> "<Conv2D>/merged_input":Mul, which folds
//            x, merged_input -> Mul:Conv2D -> y
//
// The Mul's node becomes the convolution, so that its readers keep the name. If x is constant and w
// is not, the same works for a scale of one number.
//
// Refuses: a convolution that others read or wait for, or that must stay; s that is neither one
// number nor one for each output channel of an NHWC (NDHWC) convolution; s whose node this pass
// made, or whose shape was not fully known when the pass began, until the next run
// (docs/reference/found-in-tensorflow.md); another device; depthwise convolutions, as TensorFlow
// does.
#include "llvm/ADT/STLExtras.h"
#include "passes/constant_folding/folding.h"

namespace grapnel::constant_folding {
namespace {

// Mul(conv(x, w), scale): the inputs of the Mul may be in either order, the scale is constant, and
// exactly one of x and w is.
struct Match {
  Node conv, scale;
  int scale_input;     // of the Mul
  int constant_input;  // of the convolution: 1 for w
};

std::optional<Match> Find(Folding& rule, const Node& mul) {
  if (mul.num_inputs() != 2) return std::nullopt;
  Match match;
  match.scale_input = rule.IsConst(mul.input(0)) ? 0 : 1;
  if (!rule.IsConst(mul.input(match.scale_input))) return std::nullopt;
  match.scale = mul.input_node(match.scale_input);
  match.conv = mul.input_node(1 - match.scale_input);
  llvm::StringRef op = match.conv.op();
  if ((op != "Conv2D" && op != "Conv3D") || match.conv.num_inputs() != 2) return std::nullopt;
  match.constant_input = rule.IsConst(match.conv.input(0)) ? 0 : 1;
  bool one_constant = rule.IsConst(match.conv.input(match.constant_input)) &&
                      !rule.IsConst(match.conv.input(1 - match.constant_input));
  return one_constant ? std::optional<Match>(match) : std::nullopt;
}

bool FitsWeights(Folding& rule, const Match& match, const Shape& scale) {
  std::string data_format = match.conv.GetString("data_format");
  if (scale.rank() <= static_cast<int>(data_format.size()) && scale.NumElements() == 1) return true;
  // A factor per output channel fits the last dimension of w, and no dimension of x.
  if (match.constant_input == 0 || (data_format != "NHWC" && data_format != "NDHWC")) return false;
  // If this rule made the convolution from a Mul, input 1 of the node was not the weights when the
  // pass began. TensorFlow checks the shape of the input that the node had then, so both shapes
  // must fit.
  if (!Folding::BroadcastsInto(scale, rule.ShapeOf(match.conv.input(1))) ||
      !Folding::BroadcastsInto(scale, rule.InputShape(match.conv, 1)))
    return false;
  for (int i = 0; i + 1 < scale.rank(); ++i) {
    if (scale.dim(i) > 1) return false;
  }
  return true;
}

// False if any node other than the scale waits for the convolution: its name would be gone.
bool OnlyScaleWaits(Folding& rule, const Match& match) {
  for (const Use& use : match.conv.uses()) {
    bool is_data = static_cast<int>(use.slot) < rule.graph.node(use.node).num_inputs();
    if (!is_data && use.node != match.scale.id()) return false;
  }
  return true;
}

bool IsAllowed(Folding& rule, const Node& mul, const Match& match, const std::string& name) {
  const Node &conv = match.conv, &scale = match.scale;
  if (conv.device_id() != mul.device_id())
    return rule.Fails("'{0}' is on another device\nplace both on one device: {1}", conv.name(),
                      rule.ObstaclesAt({conv, mul}, Obstacles::kDevice));
  if (scale.device_id() != mul.device_id())
    return rule.Fails("'{0}' is on another device\nplace both on one device: {1}", scale.name(),
                      rule.ObstaclesAt({scale, mul}, Obstacles::kDevice));
  if (rule.IsPreserved(conv))
    return rule.Fails(
        "'{0}' is fetched, fed or kept\nuse another node for that, such as an Identity of it",
        conv.name());
  if (conv.NumDataUses() > 1)
    return rule.Fails("'{0}' has other readers\nleave it one reader: {1}", conv.name(),
                      rule.ObstaclesAt({conv}, Obstacles::kReaders));
  if (!OnlyScaleWaits(rule, match))
    return rule.Fails("other nodes wait for '{0}'\nremove these control edges: {1}", conv.name(),
                      rule.ObstaclesAt({conv}, Obstacles::kControls));
  // As in TensorFlow, the shape that the scale's node had when the pass began, even if it has
  // become a constant since.
  const Shape& shape = rule.edit.ShapeOf(mul.input(match.scale_input));
  if (!shape.known_rank())
    return rule.Fails(
        "when the pass began, '{0}' did not exist or had no known rank: TensorFlow infers its "
        "shape in the next pass\nrun the passes again: --until-fixed",
        scale.name());
  if (!shape.IsFullyKnown()) {
    return rule.Fails(
        "'{0}' had an unknown shape when the pass began; unlike TensorFlow, whose process "
        "crashes here\nuse a constant of a known shape",
        scale.name());
  }
  if (!Folding::BroadcastsInto(shape, rule.edit.ShapeOf({conv.id(), 0}))) {
    return rule.Fails(
        "multiplying by '{0}' may change the shape of '{1}'\n"
        "multiply by one number, or by one for each output channel",
        scale.name(), conv.name());
  }
  if (!FitsWeights(rule, match, shape)) {
    return rule.Fails(
        "'{0}' is neither one number nor, for constant weights in NHWC or NDHWC, one for each "
        "output channel\nmultiply by one number, or use the data format NHWC",
        scale.name());
  }
  return !rule.Exists(name) ||
         rule.Fails("'{0}' already has merged weights\nrename '{1}'", conv.name(), name);
}

void Rewrite(Folding& rule, const Node& mul, const Match& match, const std::string& name) {
  const Node &conv = match.conv, &scale = match.scale;
  Port constant = conv.input(match.constant_input);
  // If the scale waits for the convolution, it now waits for the convolution's constant input
  // instead, because it will come before the convolution.
  llvm::SmallVector<Node, 4> controls;
  for (int i = 0; i < scale.num_controls(); ++i) controls.push_back(scale.control(i));
  if (llvm::is_contained(controls, conv)) {
    rule.edit.RemoveControl(scale, conv);
    rule.edit.AddControl(scale, rule.graph.node(constant.node));
  }
  Port factors[2];
  factors[match.scale_input] = mul.input(match.scale_input);
  factors[1 - match.scale_input] = constant;
  Node merged = rule.Make(name, mul.op(), mul.device(), factors);
  rule.edit.CopyAttrs(merged, mul);
  rule.edit.CopyControls(merged, mul);
  llvm::SmallVector<Port, 4> inputs = conv.inputs();
  inputs[match.constant_input] = {merged.id(), 0};
  rule.edit.SetInputs(mul, inputs);
  rule.edit.SetOp(mul, conv.op());
  rule.edit.CopyAttrs(mul, conv);
  rule.edit.RemoveNode(conv);
}

Verdict PushMulIntoConv(Folding& rule, const Node& mul) {
  std::optional<Match> match = Find(rule, mul);
  if (!match) return rule.NotMine();
  std::string name = (match->conv.name() + "/merged_input").str();
  if (!IsAllowed(rule, mul, *match, name)) return rule.Refused();
  Rewrite(rule, mul, *match, name);
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "constant_folding",
              .phase = kSimplify,
              .after = "constant_push_down",
              .name = "mul_conv_push_down",
              .ops = {"Mul", "MulNoNan"},
              .help = "multiplies the weights of a convolution instead of its result",
              .refuses = "convolutions that others read or wait for, or that are fetched, fed or "
                         "kept; other devices; factors that are neither one number nor one for "
                         "each output channel of NHWC or NDHWC, or that this run of the pass made",
              .pattern = "(Conv2D|Conv3D(_, Const), Const)",
              .apply = PushMulIntoConv});

}  // namespace
}  // namespace grapnel::constant_folding
