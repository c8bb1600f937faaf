// Fuses a Pad into the 3-D convolution after it.
//
//   Before:  x -> Pad([[0,0],[1,1],[1,1],[1,1],[0,0]]) -> Conv3D(w) -> y
//   After:   x -> _FusedConv3D(w) {padding_list=[0,0,1,1,1,1,1,1,0,0]} -> y
//
// Also _FusedConv3D, which an earlier round made.
//
// Refuses: paddings that are not constant, are negative, or pad batch or channels; a convolution
// that already has a padding_list; SAME with a window larger than one, where the list would replace
// the padding of SAME (TensorFlow 2.21 computes another shape there); a Pad that is fetched, is
// read twice or has control edges; nodes off the CPU; dtypes other than float and bfloat16.
#include "lib/ir/literal.h"
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// The padding list, before and after each dimension, if the convolution supports it; otherwise
// nullopt, with a refusal.
std::optional<std::vector<int64_t>> PaddingList(Remapper& rule, const Node& conv, const Node& pad) {
  auto refuse = [&](const auto&... arguments) {
    rule.Refuse(arguments...);
    return std::nullopt;
  };
  const Literal* paddings = rule.ConstantOf(pad.input(1));
  if (!paddings || paddings->num_elements() != 10)
    return refuse(
        "the paddings of '{0}' are not a constant for five dimensions\nuse constant paddings",
        pad.name());
  std::vector<int64_t> list = paddings->AsInts();
  size_t channels = conv.GetString("data_format", "NDHWC") == "NDHWC" ? 4 : 1;
  for (size_t at : {size_t{0}, channels}) {
    if (list[2 * at] != 0 || list[2 * at + 1] != 0)
      return refuse("'{0}' pads batch or channels\npad depth, height and width only", pad.name());
  }
  if (llvm::any_of(list, [](int64_t size) { return size < 0; }))
    return refuse("'{0}' has a padding below 0\nuse paddings of at least 0", pad.name());
  if (conv.GetString("padding") == "VALID") return list;
  Shape filter = rule.edit.ShapeOf(conv.input(1));
  for (int i = 0; i < 3; ++i) {
    if (!filter.known_rank() || filter.rank() != 5 || filter.dim(i) != 1)
      return refuse(
          "'{0}' also has SAME padding, with a filter of shape {1}\n"
          "use VALID padding, and pad by as much more",
          conv.name(), filter.ToString());
  }
  return list;
}

Verdict FusePadConv3D(Remapper& rule, const Node& root) {
  if (root.num_inputs() < 2) return rule.NotMine();
  Node pad = root.input_node(0);
  if (pad.op() != "Pad" || pad.num_inputs() != 2 || root.input(0).index != 0) return rule.NotMine();
  if (!rule.CanTake(root, pad) || !IsFusable(rule, root, root)) return rule.Refused();
  if (pad.GetType("T") != root.GetType("T"))
    return rule.NotMine("'{0}' and '{1}' have different dtypes\nuse one dtype", pad.name(),
                        root.name());
  if (!root.GetInts("padding_list").empty())
    return rule.Refuse("'{0}' already pads its input\npad once", root.name());
  std::optional<std::vector<int64_t>> list = PaddingList(rule, root, pad);
  if (!list || !rule.HasOneDnn(root)) return rule.Refused();
  // Changes the node in place, so that its control inputs and attributes stay.
  if (root.op() == "Conv3D") {
    rule.edit.SetOp(root, "_FusedConv3D");
    rule.edit.SetAttr(root, "num_args", attr::Int(0));
    rule.AddDefaults(root);
  }
  rule.edit.SetAttr(root, "padding_list", attr::Ints(*list));
  rule.edit.SetInput(root, 0, pad.input(0));
  rule.Remove({pad});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_bias_add",
              .name = "fuse_pad_conv3d",
              .ops = {"Conv3D", "_FusedConv3D"},
              .help = "fuses a Pad into the Conv3D or _FusedConv3D that reads it",
              .refuses = "paddings that are not constant, are negative, or pad batch or channels; "
                         "a convolution with a padding_list; SAME with a window above 1; a Pad "
                         "that is fetched, read twice or has control edges; nodes off the CPU",
              .pattern = "(Pad(_, Const))",
              .apply = FusePadConv3D});

}  // namespace
}  // namespace grapnel::remapper
