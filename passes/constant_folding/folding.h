// What the rules of constant_folding share: their places, the context in which they look at a body,
// and the edits that several make.
#ifndef GRAPNEL_PASSES_CONSTANT_FOLDING_FOLDING_H_
#define GRAPNEL_PASSES_CONSTANT_FOLDING_FOLDING_H_

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "lib/pass/rule.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel::constant_folding {

// A rule's place is its phase and its turn there: Grappler's order, because the first that fires
// decides the names that are left.
constexpr int kShapes = 100;      // writes known shapes as constants
constexpr int kValues = 200;      // writes values that need no computing
constexpr int kFold = 300;        // computes what IsFoldable, and is shown nothing else
constexpr int kDropUnread = 350;  // removes what IsUnread, and is shown nothing else
constexpr int kSimplify = 400;    // simplifies the rest, node by node

// A result of more bytes than this, and of more than what it is computed from, stays uncomputed
// (kMaxConstantSize of Grappler).
constexpr int64_t kMaxConstantBytes = 100 * 1024;

// One run of the pass over one body.
class Folding : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "constant_folding";

  explicit Folding(Editor& editor);

  const bool has_fetches;
  const bool aggressive;  // constant_folding: AGGRESSIVE, which an optimizer asked for by name does
                          // not hear of
  const bool materialize_fills;
  const bool fold_quantization;
  bool mutates_tensors =
      false;  // some op writes into its input: what reads a tensor must then copy it, not alias it
  llvm::DenseMap<StringId, bool> foldable_ops;  // of those that IsFoldable has met
  llvm::DenseSet<NodeId>
      too_large;  // results over the limit: not to be tried again, nor simplified

  // Merges that had readers when the pass began, now or in an earlier iteration. Grappler keeps
  // them when they have none left: it remembers that they may fold, makes constants for them that
  // nothing reads, and drops those after it has counted them as readers.
  llvm::DenseSet<NodeId> merges_once_read;

  // --- Constants: of Const nodes that are not fed. Grappler does not fold what a HostConst gives.
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
  // A constant of zeros (ones), or ZerosLike, OnesLike, or a Fill with them.
  bool IsZeros(Port port) const { return IsAll(port, 0); }
  bool IsOnes(Port port) const { return IsAll(port, 1); }

  // --- Other facts.
  // That of a constant is the shape of its value, which needs no shape inference.
  Shape ShapeOf(Port port) override;
  // Grappler infers shapes once, before the first round. What it knows of an input is what the node
  // read there then, whatever it reads since; nothing of a node that was made since, or that it put
  // together anew: what asks for that leaves such a node alone until the next iteration. Of the
  // first two inputs alone.
  bool KnowsInputs(const Node& node) const {
    return node.id() < first_inputs_.size() && first_inputs_[node.id()][0].node != kNoNode;
  }
  Shape InputShape(const Node& node, int i) {
    return KnowsInputs(node) ? edit.ShapeOf(first_inputs_[node.id()][i]) : Shape::Unknown();
  }
  void ForgetInputs(const Node& node) {
    if (KnowsInputs(node)) first_inputs_[node.id()][0].node = kNoNode;
  }
  // Whether broadcasting `other` with `kept` is sure to give the shape of `kept`;
  // `as_far_as_known`: whether it may.
  static bool BroadcastsInto(const Shape& other, const Shape& kept, bool as_far_as_known = false);
  static bool SameShape(const Shape& a, const Shape& b);  // known to be, in every dimension
  DataType TypeOf(const Node& node) const;  // of the result: T, dtype, or what the op gives
  // Nodes of a TPU's replica carry attributes that must not be lost: they are left alone.
  bool HasTpuAttribute(const Node& node) const;
  int64_t InputBytes(const Node& node) const;  // of those that are constant
  // "ConstantFolding/<node><suffix>": how Grappler names what it makes.
  static std::string NameFor(const Node& node, const llvm::Twine& suffix);
  // The nodes that the value of `node` must wait for once its inputs, all constant, are gone: those
  // that they and it wait for.
  static llvm::SmallVector<Node, 4> ControlsBehind(const Node& node);

  // --- What a node becomes under its own name; for the answer of a rule. What it read and reads no
  // more it waits for, once each.
  // `op` of these data inputs.
  Verdict Become(const Node& node, llvm::StringRef op, llvm::ArrayRef<Port> inputs);
  Verdict BecomeNoOp(const Node& node);
  // Identity (or Snapshot) of data input `i`.
  Verdict BecomeIdentity(const Node& node, int i, llvm::StringRef op = "Identity");
  // BroadcastTo of data input `i` to `shape`, which must be fully known.
  Verdict BecomeBroadcast(const Node& node, int i, const Shape& shape);
  Verdict BecomeConstant(const Node& node, const Literal& value);
  // A node of which constants have taken the place goes at once, so that what it alone read is
  // unread in the same round; unless it must stay or is still read.
  void RemoveIfUnread(const Node& node);
  // The constant of that shape, which must be fully known, with `one` for each element.
  Verdict BecomeSplat(const Node& node, const Shape& shape, const Literal& one);

 private:
  bool IsAll(Port port, int value) const;
  // Drops what describes the old op; attributes that begin with '_' stay.
  void DropAttrs(const Node& node);

  const StringId const_, zeros_like_, ones_like_, fill_;
  const bool has_tpu_ops_;
  std::vector<std::array<Port, 2>> first_inputs_;  // by id; no node where there are not two
};

// What the rules of kFold (foldable.cpp) and of kDropUnread (drop_unread.cpp) are shown.
bool IsFoldable(Folding& fold, const Node& node);
bool IsUnread(Folding& fold, const Node& node);

}  // namespace grapnel::constant_folding

#endif  // GRAPNEL_PASSES_CONSTANT_FOLDING_FOLDING_H_
