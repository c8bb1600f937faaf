// What the rules of the remapper share: the conditions that all fusions have, and the making of a
// fused node.
#ifndef GRAPNEL_PASSES_REMAPPER_REMAPPER_H_
#define GRAPNEL_PASSES_REMAPPER_REMAPPER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/pass/rule.h"
#include "lib/shape/inference.h"

namespace grapnel::remapper {

// Attributes of a node to be made, each a serialized AttrValue.
using RemapAttrs = std::vector<std::pair<std::string, std::string>>;

// One run over one body.
class Remapper : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "remapper";
  using RuleContext::RuleContext;

  // Set once a candidate needs shapes: from then on nodes carry those of their inputs as
  // `_input_shapes`, which TensorFlow's oneDNN layout pass reads. TensorFlow infers shapes once a
  // run; whether it trusts what placeholders say is up to the rule that asks first.
  bool shapes_wanted = false;
  void WantShapes(bool trust_feeds);
  Shape ShapeOf(Port port) override;
  // `_input_shapes` as it should be on the node; empty when it should have none.
  std::string InputShapes(const Node& node);
  // The one value of a constant of one element, of a float dtype; through a Cast.
  std::optional<float> ScalarOf(Port port);

  // Waits for something, or something waits for it.
  bool HasControls(const Node& node) const;

  // --- Conditions. Each refuses at `root`, the last node of a group: the node that the rule is
  // shown, or one before it where a group grows from a smaller one.
  bool HasNoControls(const Node& root);
  // The same, but other nodes may wait for `root`: what it becomes is still done when it was. So
  // TensorFlow has it of groups that it finds by a pattern.
  bool WaitsForNone(const Node& root);
  // Whether `inner` may be taken out: no control edges, nobody else reads it, not preserved.
  bool CanTake(const Node& root, const Node& inner);
  // The same of a group of nodes, `root` may be one, that read each other: nothing else reads them.
  bool TakesAlone(const Node& root, llvm::ArrayRef<Node> nodes);
  // Whether nobody reads or fetches another output of `norm` than the first, the only one that is
  // left when it is fused or expanded. Refuses at `norm`.
  bool OnlyFirstIsUsed(const Node& norm);
  bool IsFloatOnCpu(const Node& root);
  // Whether TensorFlow uses oneDNN, the only library with a kernel for what `root` would become.
  // The last condition of a rule, so that the refusal names what only oneDNN would fuse.
  bool HasOneDnn(const Node& root);
  // Whether an op without a gradient may come in for it. Of the rules that TensorFlow guards so.
  bool NeedsNoGradient(const Node& root);
  // Whether the activation may be computed by the op before it: oneDNN's Relu and Relu6 make 0 of a
  // NaN, TensorFlow's own ops of that name keep it. Notes it where it may.
  bool MayLoseNan(const Node& activation);

  // --- Edits.
  // `node` becomes another op in place: its name and readers stay, nothing else. Attributes that
  // are not given get the op's defaults.
  void Become(const Node& node, llvm::StringRef op, llvm::StringRef device,
              llvm::ArrayRef<Port> inputs, const RemapAttrs& attrs);
  // Gives the node the defaults of those attributes of its op that it does not have.
  void AddDefaults(const Node& node);
  // Nodes that nobody reads any more, readers first.
  void Remove(llvm::ArrayRef<Node> nodes);
  // The same in any order, each once its readers are gone.
  void RemoveInOrder(std::vector<Node> nodes);

 private:
  std::unique_ptr<ShapeMap> trusting_;  // when feeds are trusted; no fusion changes a shape
};

// Copies an attribute, or the op's default of it.
void CopyAttr(RemapAttrs* to, const Node& from, const char* key);

bool IsAddOrAddV2(const Node& node);
bool IsFusedBatchNorm(const Node& node);  // any version
bool IsActivation(const Node& node);      // that a contraction may swallow: Relu, Relu6, Elu,
                                          // LeakyRelu, Tanh, Sigmoid

// The input of the product or maximum `root` that is of the op `op` and made from the other input;
// false when neither is. `source` says what such a node is made from. Where both inputs are of the
// op only the first is looked at, as in TensorFlow 2.21 (seen there with each order of both).
Node FindMadeFromOther(const Node& root, llvm::StringRef op,
                       llvm::function_ref<Port(const Node&)> source);

// A convolution or MatMul, and the node that adds a bias to it.
struct BiasedContraction {
  Node contraction, bias_add;
  int bias_port;
  Port bias() const { return bias_add.input(bias_port); }
};
bool IsContraction(const Node& node);
// `node` as the bias of a contraction: BiasAdd, or an Add that does the same. Refuses at `node`.
std::optional<BiasedContraction> MatchBias(Remapper& rule, const Node& node);
// Whether TensorFlow has a fused kernel for the group that ends in `root`: device, dtype and layout
// of the contraction; on a GPU the activation and the window too. Refuses at `root`.
bool IsFusable(Remapper& rule, const Node& root, const Node& contraction);
// Op and attributes of the fused form of the contraction.
llvm::StringRef FusedOpOf(const Node& contraction);
RemapAttrs FusedAttrsOf(Remapper& rule, const Node& contraction,
                        llvm::ArrayRef<llvm::StringRef> fused_ops, int num_args, float epsilon = 0,
                        const Node& activation = Node());

}  // namespace grapnel::remapper

#endif  // GRAPNEL_PASSES_REMAPPER_REMAPPER_H_
