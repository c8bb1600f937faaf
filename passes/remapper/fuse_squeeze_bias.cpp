// A convolution takes the bias that is added after a Squeeze.
//
//   Before:  x, w -> Conv2D cv -> Squeeze -> BiasAdd(b) ba -> y     After:  x, w, b -> _FusedConv2D
//   cv -> Squeeze ba -> y
//
// Refuses: a Squeeze that takes the channels away; inner nodes that are fetched or read from
// outside.
#include "llvm/ADT/STLExtras.h"
#include "passes/remapper/remapper.h"

namespace grapnel {

bool FuseSqueezeBias(Remapper& remap, const Node& root) {
  constexpr const char* kRule = "fuse_squeeze_bias";
  if (root.num_inputs() < 2) return false;
  Node squeeze = root.input_node(0);
  if (squeeze.op() != "Squeeze" || squeeze.num_inputs() < 1) return false;
  Node conv = squeeze.input_node(0);
  if (conv.op() != "Conv2D" && conv.op() != "Conv3D") return false;
  if (!remap.HasNoControls(kRule, root) || !remap.CanTake(kRule, root, squeeze) ||
      !remap.CanTake(kRule, root, conv))
    return false;
  if (root.GetType("T") != squeeze.GetType("T") || root.GetType("T") != conv.GetType("T"))
    return false;
  if (llvm::is_contained(squeeze.GetInts("squeeze_dims"), conv.op() == "Conv2D" ? 3 : 4)) {
    remap.edit.Refuse(kRule, root, "'{0}' takes the channels away", squeeze.name());
    return false;
  }
  if (!IsFusable(remap, kRule, root, conv) || !remap.BeginWithoutGradient(kRule, root))
    return remap.stopped;
  Port inputs[] = {conv.input(0), conv.input(1), root.input(1)};
  RemapAttrs squeeze_attrs;
  for (const auto& [key, value] : squeeze.Attrs())
    squeeze_attrs.emplace_back(key.str(), value.bytes().str());
  remap.Become(root, "Squeeze", squeeze.device(), Port{conv.id(), 0}, squeeze_attrs);
  remap.Become(conv, FusedOpOf(conv), conv.device(), inputs,
               FusedAttrsOf(remap, conv, {"BiasAdd"}, 1));
  remap.EndRemoving({squeeze});
  return true;
}

}  // namespace grapnel
