// Shared by the rules of the remapper: conditions of all fusions, and the construction of fused
// nodes.
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

// Attributes of a new node, each a serialized AttrValue.
using RemapAttrs = std::vector<std::pair<std::string, std::string>>;

// One run of the optimizer over one body (the main graph or a function).
class Remapper : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "remapper";
  using RuleContext::RuleContext;

  // Set when a candidate needs shapes: from then on nodes get the shapes of their inputs as
  // `_input_shapes`, which TensorFlow's oneDNN layout pass reads. TensorFlow infers shapes once per
  // run; the first rule that needs them decides whether shapes of placeholders are trusted.
  bool shapes_wanted = false;
  void WantShapes(bool trust_feeds);
  Shape ShapeOf(Port port) override;
  // The `_input_shapes` that the node should have; empty if none.
  std::string InputShapes(const Node& node);
  // The value of a constant with one element of a float dtype, possibly behind a Cast.
  std::optional<float> ScalarOf(Port port);

  // True if the node has control inputs or other nodes wait for it.
  bool HasControls(const Node& node) const;

  // --- Conditions. Each one that is false records a refusal, at `root` unless noted. `root` is the
  // last node of a group: the node that the rule is applied to, or an earlier one if a group
  // extends a smaller group.
  bool HasNoControls(const Node& root);
  // True if `root` waits for no node; other nodes may wait for it, since the fused node still runs
  // before them. TensorFlow has this condition for groups that it finds by a pattern.
  bool WaitsForNone(const Node& root);
  // True if `inner` may be removed: no control edges, read at most once, not preserved.
  bool CanTake(const Node& root, const Node& inner);
  // True if these connected nodes may be removed: no control edges, not preserved, read only by one
  // another. If `root` is among them, nodes outside may read it, but it must wait for no node. The
  // refusal may be at the node that fails.
  bool TakesAlone(const Node& root, llvm::ArrayRef<Node> nodes);
  // True if only the first output of `norm` is read or fetched; the fused or expanded form has no
  // others. Records its refusal at `norm`.
  bool OnlyFirstIsUsed(const Node& norm);
  bool IsFloatOnCpu(const Node& root);
  // True if TensorFlow uses oneDNN, the only library with a kernel for the fused form of `root`.
  // Check it last, so that the refusal names what only oneDNN would fuse.
  bool HasOneDnn(const Node& root);
  // True if no gradient is taken through the body, so that the fused op need not have one. For the
  // rules to which TensorFlow adds this condition.
  bool NeedsNoGradient(const Node& root);
  // False, with a refusal, if the activation is a Relu or Relu6 and NaNs must be kept (--keep-nan):
  // fused by oneDNN, these ops turn NaN into 0, while TensorFlow's own ops keep NaN. If NaNs need
  // not be kept, adds a note about that to the rewrite. The refusal is at `activation`.
  bool MayLoseNan(const Node& activation);

  // --- Edits.
  //
  // Turns `node` into another op in place: only its name and readers stay. Attributes not in
  // `attrs` get the op's defaults.
  void Become(const Node& node, llvm::StringRef op, llvm::StringRef device,
              llvm::ArrayRef<Port> inputs, const RemapAttrs& attrs);
  // Adds the op's default for each attribute that the node lacks, unless disable_tfg_optimizer is
  // set.
  void AddDefaults(const Node& node);
  // Removes the nodes in this order, in which readers must come before the nodes that they read.
  void Remove(llvm::ArrayRef<Node> nodes);
  // Removes unread nodes, given in any order: each one once its readers are gone.
  void RemoveInOrder(std::vector<Node> nodes);

 private:
  std::unique_ptr<ShapeMap> trusting_;  // with trusted feeds; no fusion changes a shape
};

// Copies an attribute, or the op's default for it.
void CopyAttr(RemapAttrs* to, const Node& from, const char* key);

bool IsAddOrAddV2(const Node& node);
bool IsFusedBatchNorm(const Node& node);  // any version
// can be fused into a contraction: Relu, Relu6, Elu, LeakyRelu, Tanh, Sigmoid
bool IsActivation(const Node& node);

// Returns the input of the product or maximum `root` that has the op `op` and is computed from the
// other input, such as Sigmoid(x) in x * Sigmoid(x); no node if neither is. `source` returns the
// port that a node with this op is computed from. If both inputs have the op, only the first is
// checked, as in TensorFlow 2.21 (verified there with both orders).
Node FindMadeFromOther(const Node& root, llvm::StringRef op,
                       llvm::function_ref<Port(const Node&)> source);

// Patterns of rules (Rule::pattern) that several files have.
inline constexpr char kAfterContraction[] = "(Conv2D|DepthwiseConv2dNative|MatMul|Conv3D)";
inline constexpr char kAfterBias[] =
    "(BiasAdd|Add|AddV2(Conv2D|DepthwiseConv2dNative|MatMul|Conv3D))";

// A contraction (convolution or MatMul), and the node that adds a bias to its result.
struct BiasedContraction {
  Node contraction, bias_add;
  int bias_port;
  Port bias() const { return bias_add.input(bias_port); }
};
bool IsContraction(const Node& node);
// Matches `node` as the bias of a contraction: BiasAdd, or an equivalent Add. Records refusals at
// `node`.
std::optional<BiasedContraction> MatchBias(Remapper& rule, const Node& node);
// True if `node`, a BiasAdd or a batch normalization, takes the same dimension for the channels as
// the convolution before it, or that is a MatMul. Otherwise records a refusal at `node`: the fused op
// has the convolution's data format alone.
bool HasSameChannels(Remapper& rule, const Node& node, const Node& conv);
// True if TensorFlow has a fused kernel for the group that ends in `root`: checks device, dtype and
// layout of the contraction; on a GPU also the activation and the window. Otherwise records a
// refusal at `root`.
bool IsFusable(Remapper& rule, const Node& root, const Node& contraction);
// Op and attributes of the fused form of the contraction.
llvm::StringRef FusedOpOf(const Node& contraction);
RemapAttrs FusedAttrsOf(Remapper& rule, const Node& contraction,
                        llvm::ArrayRef<llvm::StringRef> fused_ops, int num_args, float epsilon = 0,
                        const Node& activation = Node());

}  // namespace grapnel::remapper

#endif  // GRAPNEL_PASSES_REMAPPER_REMAPPER_H_
