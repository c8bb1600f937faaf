// Multiplies the weights of a convolution instead of its result, when both are constant.
//
//   Before:  x, w:Const -> Conv2D -> \                       After:  w, s -> "<Conv2D>/merged_input":Mul, which folds
//                          s:Const -> Mul -> y                       x, merged_input -> Mul:Conv2D -> y
//
// The Mul's node becomes the convolution, so that its name stays for its readers. The same where x is constant and w is
// not.
// Refuses: a convolution that others read or wait for, or that must stay; s that is not one number or one for each output
// channel of an NHWC (NDHWC) convolution; another device; depthwise convolutions, as TensorFlow does.
#include "passes/constant_folding/rules.h"

namespace grapnel::constant_folding {
namespace {

constexpr char kRule[] = "mul_conv_push_down";

bool FitsFilter(const std::string& data_format, const Shape& filter, const Shape& scale) {
  if (scale.rank() <= static_cast<int>(data_format.size()) && scale.NumElements() == 1) return true;
  if (data_format != "NHWC" && data_format != "NDHWC") return false;
  if (!Folding::BroadcastsInto(scale, filter)) return false;
  for (int i = 0; i + 1 < scale.rank(); ++i) {
    if (scale.dim(i) > 1) return false;
  }
  return true;
}

// The scale may wait for the convolution; what it scales now comes before, so it waits for the weights instead.
// False when anything else waits for the convolution: it would miss its node.
bool OnlyScaleWaits(Folding& fold, const Node& conv, const Node& scale) {
  for (const Use& use : conv.uses()) {
    bool is_data = static_cast<int>(use.slot) < fold.graph.node(use.node).num_inputs();
    if (!is_data && use.node != scale.id()) return false;
  }
  return true;
}

}  // namespace

bool PushMulIntoConv(Folding& fold, const Node& mul) {
  if (mul.num_inputs() != 2) return false;
  int scale_input = fold.IsConst(mul.input(0)) ? 0 : 1;
  if (!fold.IsConst(mul.input(scale_input))) return false;
  Node scale = mul.input_node(scale_input), conv = mul.input_node(1 - scale_input);
  if ((conv.op() != "Conv2D" && conv.op() != "Conv3D") || conv.num_inputs() != 2) return false;
  int constant_input = fold.IsConst(conv.input(0)) ? 0 : 1;
  if (!fold.IsConst(conv.input(constant_input)) || fold.IsConst(conv.input(1 - constant_input))) return false;
  auto refuse = [&](const char* format, const Node& named) {
    fold.edit.Refuse(kRule, mul, format, named.name());
    return false;
  };
  if (conv.device_id() != mul.device_id() || scale.device_id() != mul.device_id()) return refuse("'{0}' is on another device", conv);
  if (fold.edit.IsPreserved(conv)) return refuse("'{0}' must stay as it is", conv);
  if (conv.NumDataUses() > 1) return refuse("'{0}' has other readers", conv);
  if (!OnlyScaleWaits(fold, conv, scale)) return refuse("other nodes wait for '{0}'", conv);
  Shape scale_shape = fold.ShapeOf(mul.input(scale_input));
  if (!Folding::BroadcastsInto(scale_shape, fold.edit.ShapeOf({conv.id(), 0}))) {
    return refuse("'{0}' may change the shape of the result", scale);
  }
  if (!FitsFilter(conv.GetString("data_format"), fold.ShapeOf(conv.input(1)), scale_shape)) {
    return refuse("'{0}' is neither one number nor one for each output channel", scale);
  }
  std::string name = (conv.name() + "/merged_input").str();
  if (fold.Exists(name)) return refuse("'{0}' has merged weights already", conv);

  Rewriting rewriting(fold, kRule, mul);
  if (!rewriting) return false;
  Port weights = conv.input(constant_input);
  for (int i = 0; i < scale.num_controls(); ++i) {
    if (scale.control(i) != conv) continue;
    fold.edit.RemoveControl(scale, conv);
    fold.edit.AddControl(scale, fold.graph.node(weights.node));
    break;
  }
  Node merged = fold.edit.AddNode(name, mul.op(), mul.device());
  fold.edit.CopyAttrs(merged, mul);
  Port factors[2];
  factors[scale_input] = mul.input(scale_input);
  factors[1 - scale_input] = weights;
  fold.edit.SetInputs(merged, factors);
  fold.edit.CopyControls(merged, mul);
  llvm::SmallVector<Port, 4> inputs = conv.inputs();
  inputs[constant_input] = {merged.id(), 0};
  fold.edit.SetInputs(mul, inputs);
  fold.edit.SetOp(mul, conv.op());
  fold.edit.CopyAttrs(mul, conv);
  fold.edit.RemoveNode(conv);
  return true;
}

}  // namespace grapnel::constant_folding
