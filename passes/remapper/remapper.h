// What the rules of the remapper share: the conditions that all fusions have, and the making of a
// fused node.
#ifndef GRAPNEL_PASSES_REMAPPER_REMAPPER_H_
#define GRAPNEL_PASSES_REMAPPER_REMAPPER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/ir/shape_inference.h"
#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"

namespace grapnel {

// Attributes of a node to be made, each a serialized AttrValue.
using RemapAttrs = std::vector<std::pair<std::string, std::string>>;

// One run over one body.
class Remapper {
 public:
  explicit Remapper(Editor& edit) : edit(edit), graph(edit.graph()), kinds(edit.module()) {}

  Editor& edit;
  Graph& graph;
  OpKinds kinds;
  // Set once a candidate needs shapes: from then on nodes carry those of their inputs as
  // `_input_shapes`, which TensorFlow's oneDNN layout pass reads. TensorFlow infers shapes once a
  // run; whether it trusts what placeholders say is up to the rule that asks first.
  bool shapes_wanted = false;
  void WantShapes(bool trust_feeds);
  const Shape& ShapeOf(Port port);
  bool stopped = false;  // --limit is used up

  // Waits for something, or something waits for it.
  static bool HasControls(const Node& node);
  // Whether a rewrite at `root` may take `inner` out: no control edges, nobody else reads it, not
  // preserved. Refuses.
  bool CanTake(const char* rule, const Node& root, const Node& inner);
  // Whether `root` has no control edges. Refuses.
  bool HasNoControls(const char* rule, const Node& root);

  // Starts a rewrite; false: leave everything as it is.
  bool Begin(const char* rule, const Node& root);
  // The same where the fused op has no gradient: refuses in a body through which one is taken. The
  // rules that TensorFlow guards so.
  bool BeginWithoutGradient(const char* rule, const Node& root);
  // `node` becomes another op in place: its name and readers stay, nothing else. Attributes that
  // are not given get the op's defaults.
  void Become(const Node& node, llvm::StringRef op, llvm::StringRef device,
              llvm::ArrayRef<Port> inputs, const RemapAttrs& attrs);
  // Gives the node the defaults of those attributes of its op that it does not have.
  void AddDefaults(const Node& node);
  // Removes nodes that nobody reads any more, readers first, and ends the rewrite.
  void EndRemoving(llvm::ArrayRef<Node> taken);
  // `_input_shapes` as it should be on the node; empty when it should have none.
  std::string InputShapes(const Node& node);

 private:
  std::unique_ptr<ShapeMap> trusting_;  // when feeds are trusted; no fusion changes a shape
};

// Copies an attribute, or the op's default of it.
void CopyAttr(RemapAttrs* to, const Node& from, const char* key);

// The one value of a constant of one element, of a float dtype; through a Cast.
std::optional<float> ScalarOf(Remapper& remap, Port port);

bool IsAdd(const Node& node);             // Add, AddV2
bool IsFusedBatchNorm(const Node& node);  // any version
bool IsActivation(const Node& node);      // that a contraction may swallow: Relu, Relu6, Elu,
                                          // LeakyRelu, Tanh, Sigmoid

// A convolution or MatMul, and the node that adds a bias to it.
struct BiasedContraction {
  Node contraction, bias_add;
  int bias_port;
  Port bias() const { return bias_add.input(bias_port); }
};
bool IsContraction(const Node& node);
// `node` as the bias of a contraction: BiasAdd, or an Add that does the same. Refuses under `rule`.
std::optional<BiasedContraction> MatchBias(Remapper& remap, const char* rule, const Node& node);
// Whether oneDNN has a fused kernel: device, dtype and layout of the contraction. Refuses.
bool IsFusable(Remapper& remap, const char* rule, const Node& root, const Node& contraction);
// Op and attributes of the fused form of the contraction.
llvm::StringRef FusedOpOf(const Node& contraction);
RemapAttrs FusedAttrsOf(Remapper& remap, const Node& contraction,
                        llvm::ArrayRef<llvm::StringRef> fused_ops, int num_args, float epsilon = 0,
                        const Node& activation = Node());

// The rules. Each returns true when it rewrote, or when --limit stopped it.
bool FuseBias(Remapper& remap, const Node& root);
bool FuseBiasActivation(Remapper& remap, const Node& root);
bool FuseBiasAdd(Remapper& remap, const Node& root);
bool FuseBiasAddActivation(Remapper& remap, const Node& root);
bool FuseSqueezeBias(Remapper& remap, const Node& root);
bool FuseConvBatchNorm(Remapper& remap, const Node& root);
bool FuseConvBatchNormActivation(Remapper& remap, const Node& root);
bool FuseConvSwish(Remapper& remap, const Node& root);
bool FuseFusedConvActivation(Remapper& remap, const Node& root);
bool FuseBatchNormRelu(Remapper& remap, const Node& root);
bool ExpandBatchNorm(Remapper& remap, const Node& root);
bool FuseLeakyRelu(Remapper& remap, const Node& root);
bool FuseSwish(Remapper& remap, const Node& root);
bool FuseMish(Remapper& remap, const Node& root);
bool FuseGelu(Remapper& remap, const Node& root);
bool FuseHashBucket(Remapper& remap, const Node& root);
bool FusePadConv3D(Remapper& remap, const Node& root);
bool FuseBatchMatMul(Remapper& remap, const Node& root);

}  // namespace grapnel

#endif  // GRAPNEL_PASSES_REMAPPER_REMAPPER_H_
