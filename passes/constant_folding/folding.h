// Shared by the rules of constant_folding: their phases, their context, and common edits.
#ifndef GRAPNEL_PASSES_CONSTANT_FOLDING_FOLDING_H_
#define GRAPNEL_PASSES_CONSTANT_FOLDING_FOLDING_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lib/pass/rule.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel::constant_folding {

// The phases of a round, and the order of their rules, are Grappler's: the first rule that fires
// decides the resulting names.
constexpr int kShapes = 0;      // writes known shapes as constants
constexpr int kValues = 1;      // writes values that need no computation
constexpr int kFold = 2;        // computes nodes that are IsFoldable, and sees no others
constexpr int kDropUnread = 3;  // removes nodes that are IsUnread, and sees no others
constexpr int kSimplify = 4;    // simplifies the rest, node by node

// A result with more bytes than this, and with more than its inputs, is not computed
// (kMaxConstantSize of Grappler).
constexpr int64_t kMaxConstantBytes = 100 * 1024;

// One run of the pass over one body (the main graph or a function).
class Folding : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "constant_folding";

  explicit Folding(Editor& editor);

  const bool has_fetches;
  // whether constant_folding is AGGRESSIVE; false if `optimizers` names the pass
  const bool aggressive;
  const bool materialize_fills;
  const bool fold_quantization;
  bool mutates_tensors =
      false;  // some op writes to its input: a reader of a tensor must then copy it, not alias it
  llvm::DenseMap<StringId, bool> foldable_ops;  // by op: whether nodes of it may fold
  llvm::DenseSet<NodeId> too_large;  // results over the limit: do not retry or simplify them

  // Merges that have had a reader, in this iteration or an earlier one. If such a Merge has no
  // reader left but may fold, Grappler does not drop it: Grappler makes constants for its outputs,
  // counts these as its readers, and only then drops the constants.
  llvm::DenseSet<NodeId> merges_once_read;

  // --- Constants: Const nodes that are not fed. Grappler does not fold a HostConst.
  bool IsConst(const Node& node) const {
    return node && node.op_id() == const_ && !edit.IsFed(node);
  }
  bool IsConst(Port port) const {
    return !port.IsControl() && port.node != kNoNode && IsConst(graph.node(port.node));
  }
  const Literal* ConstantOf(Port port) const {
    return IsConst(port) ? edit.ConstantOf(port) : nullptr;
  }
  std::optional<std::vector<int64_t>> IntegersOf(Port port) const {
    return IsConst(port) ? RuleContext::IntegersOf(port) : std::nullopt;
  }
  std::optional<std::vector<int64_t>> ConstantInts(const Node& node, int i) const {
    return i < node.num_inputs() ? IntegersOf(node.input(i)) : std::nullopt;
  }
  // True for a constant of zeros (ones), a ZerosLike (OnesLike), or a Fill with zeros (ones).
  bool IsZeros(Port port) const { return IsAll(port, 0); }
  bool IsOnes(Port port) const { return IsAll(port, 1); }

  // --- Other facts.
  //
  // The shape of a constant is that of its value, which needs no shape inference.
  Shape ShapeOf(Port port) override;
  // Grappler infers shapes once, before the first round. For an input of a node it then uses the
  // shape of the tensor that the node read at that time, even if the node reads another one since.
  // It has no shapes for a node that was made or rebuilt since; rules that need shapes skip such a
  // node until the next iteration. Covers only the first two inputs, of nodes that have at least
  // two.
  bool KnowsInputs(const Node& node) const {
    return node.id() < first_inputs_.size() && first_inputs_[node.id()][0].node != kNoNode;
  }
  Shape InputShape(const Node& node, int i) {
    return KnowsInputs(node) ? edit.ShapeOf(first_inputs_[node.id()][i]) : Shape::Unknown();
  }
  void ForgetInputs(const Node& node) {
    if (KnowsInputs(node)) first_inputs_[node.id()][0].node = kNoNode;
  }
  // True if broadcasting `other` with `kept` certainly gives the shape of `kept`; with
  // `as_far_as_known`, also if unknown dimensions leave that open.
  static bool BroadcastsInto(const Shape& other, const Shape& kept, bool as_far_as_known = false);
  static bool SameShape(const Shape& a, const Shape& b);  // known, at least as symbols, and equal
  DataType TypeOf(const Node& node) const;  // of the result: T, dtype, or the op's output dtype
  // Nodes of a TPU replica have attributes that must not be lost: they are left alone.
  bool HasTpuAttribute(const Node& node) const;
  int64_t InputBytes(const Node& node) const;  // of its constant inputs
  // "ConstantFolding/<node><suffix>", Grappler's name for a node that it makes.
  static std::string NameFor(const Node& node, const llvm::Twine& suffix);
  // The nodes that the value of `node` must wait for when its inputs, all constant, are gone: the
  // control inputs of the node and of its inputs.
  static llvm::SmallVector<Node, 4> ControlsBehind(const Node& node);

  // --- The following turn a node into another op under its own name and return the rule's verdict.
  // Removed data inputs become control inputs, once each.
  //
  // The node becomes `op` with these data inputs.
  Verdict Become(const Node& node, llvm::StringRef op, llvm::ArrayRef<Port> inputs);
  Verdict BecomeNoOp(const Node& node);
  // The node becomes an Identity (or a Snapshot) of data input `i`.
  Verdict BecomeIdentity(const Node& node, int i, llvm::StringRef op = "Identity");
  // The node becomes a BroadcastTo of data input `i` to `shape`, which must be fully known.
  Verdict BecomeBroadcast(const Node& node, int i, const Shape& shape);
  Verdict BecomeConstant(const Node& node, const Literal& value);
  // Removes a node as soon as constants have replaced it, unless it must stay, is still used, or
  // nothing is fetched. Inputs that no other node reads thus become unread in the same round.
  void RemoveIfUnread(const Node& node);
  // The node becomes a constant of `shape`, which must be fully known, with `one` for each element.
  Verdict BecomeSplat(const Node& node, const Shape& shape, const Literal& one);

 private:
  bool IsAll(Port port, int value) const;
  // Drops attributes that describe the old op; those that begin with '_' stay.
  void DropAttrs(const Node& node);

  const StringId const_, zeros_like_, ones_like_, fill_;
  const bool has_tpu_ops_;
  std::vector<std::array<Port, 2>> first_inputs_;  // by node id; kNoNode without two inputs
};

// These functions select the nodes for the rules of kFold (foldable.cpp) and of kDropUnread
// (drop_unread.cpp).
bool IsFoldable(Folding& fold, const Node& node);
bool IsUnread(Folding& fold, const Node& node);

}  // namespace grapnel::constant_folding

#endif  // GRAPNEL_PASSES_CONSTANT_FOLDING_FOLDING_H_
