// Fuses a convolution with the bias that is added after a Squeeze.
//
//   Before:  x, w -> Conv2D cv -> Squeeze -> BiasAdd(b) ba -> y
//   After:   x, w, b -> _FusedConv2D cv -> Squeeze ba -> y
//
// Refuses: a Squeeze of the last dimension or of the channels; inner nodes that are fetched or read
// from outside; control edges; convolutions for which IsFusable (remapper.h) is false.
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel::remapper {
namespace {

// True if the Squeeze names dimension `dim` of its input, which has `rank` dimensions.
bool Squeezes(const Node& squeeze, int dim, int rank) {
  return llvm::any_of(squeeze.GetInts("squeeze_dims"),
                      [&](int64_t named) { return (named < 0 ? named + rank : named) == dim; });
}

// True if the Squeeze names no dimension, so that it squeezes every one of size 1, and the
// convolution makes one channel.
bool SqueezesTheOnlyChannel(Remapper& rule, const Node& squeeze, const Node& conv) {
  if (!squeeze.GetInts("squeeze_dims").empty()) return false;
  Shape window = rule.ShapeOf(conv.input(1));
  return window.known_rank() && window.rank() > 0 && window.dim(window.rank() - 1) == 1;
}

Verdict FuseSqueezeBias(Remapper& rule, const Node& root) {
  if (root.num_inputs() < 2) return rule.NotMine();
  Node squeeze = root.input_node(0);
  if (squeeze.op() != "Squeeze" || squeeze.num_inputs() < 1) return rule.NotMine();
  Node conv = squeeze.input_node(0);
  if (conv.op() != "Conv2D" && conv.op() != "Conv3D") return rule.NotMine();
  if (!rule.HasNoControls(root) || !rule.CanTake(root, squeeze) || !rule.CanTake(root, conv))
    return rule.Refused();
  if (root.GetType("T") != squeeze.GetType("T") || root.GetType("T") != conv.GetType("T"))
    return rule.NotMine("'{0}', '{1}' and '{2}' have different dtypes\nuse one dtype", conv.name(),
                        squeeze.name(), root.name());
  int rank = conv.op() == "Conv2D" ? 4 : 5;
  if (Squeezes(squeeze, rank - 1, rank))
    return rule.Refuse(
        "'{0}' squeezes the last dimension of '{1}', which TensorFlow takes for the channels\n"
        "squeeze other dimensions",
        squeeze.name(), conv.name());
  bool is_channels_first = llvm::StringRef(conv.GetString("data_format")).starts_with("NC");
  if (SqueezesTheOnlyChannel(rule, squeeze, conv) ||
      (is_channels_first && Squeezes(squeeze, 1, rank)))
    return rule.Refuse("'{0}' squeezes the channels of '{1}'\nsqueeze other dimensions",
                       squeeze.name(), conv.name());
  if (!HasSameChannels(rule, root, conv) || !IsFusable(rule, root, conv) ||
      !rule.NeedsNoGradient(root))
    return rule.Refused();
  Port inputs[] = {conv.input(0), conv.input(1), root.input(1)};
  RemapAttrs squeeze_attrs;
  for (const auto& [key, value] : squeeze.Attrs())
    squeeze_attrs.emplace_back(key.str(), value.bytes().str());
  rule.Become(root, "Squeeze", squeeze.device(), Port{conv.id(), 0}, squeeze_attrs);
  rule.Become(conv, FusedOpOf(conv), conv.device(), inputs,
              FusedAttrsOf(rule, conv, {"BiasAdd"}, 1));
  rule.Remove({squeeze});
  return rule.Done();
}

GRAPNEL_RULE({.optimizer = "remapper",
              .after = "fuse_bias_activation",
              .name = "fuse_squeeze_bias",
              .ops = {"BiasAdd"},
              .help = "fuses a convolution with the bias that is added after a Squeeze",
              .refuses = "a Squeeze of the last dimension or of the channels, inner nodes that "
                         "are fetched or read from outside, control edges, what fuse_bias does "
                         "not fuse",
              .pattern = "(Squeeze(Conv2D|Conv3D))",
              .apply = FuseSqueezeBias});

}  // namespace
}  // namespace grapnel::remapper
