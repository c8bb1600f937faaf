// What the groups of rules of constant_folding share: facts about nodes, the rewrites that several
// make, and the rules themselves, which constant_folding.cpp puts in order.
#ifndef GRAPNEL_PASSES_CONSTANT_FOLDING_RULES_H_
#define GRAPNEL_PASSES_CONSTANT_FOLDING_RULES_H_

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel::constant_folding {

// A result of more bytes than this, and of more than what it is computed from, stays uncomputed
// (kMaxConstantSize of Grappler).
constexpr int64_t kMaxConstantBytes = 100 * 1024;

// One run of the pass over one body.
class Folding {
 public:
  explicit Folding(Editor& editor);
  Folding(const Folding&) = delete;
  Folding& operator=(const Folding&) = delete;

  Editor& edit;
  Graph& graph;
  OpKinds kinds;
  const bool has_fetches;
  const bool aggressive;  // constant_folding: AGGRESSIVE, which an optimizer asked for by name does
                          // not hear of
  const bool materialize_fills;
  const bool fold_quantization;
  bool mutates_tensors =
      false;  // some op writes into its input: what reads a tensor must then copy it, not alias it
  bool out_of_rewrites = false;  // --limit is used up
  llvm::DenseSet<NodeId>
      too_large;  // results over the limit: not to be tried again, nor simplified

  // Grappler infers shapes once, before the first round, and forgets those of a node that it puts
  // together anew: what asks for them leaves such a node alone until the next iteration.
  llvm::DenseSet<NodeId> shapes_lost;
  llvm::DenseSet<NodeId> shapes_late;  // of which the results' shapes became known on the way

  // --- Facts.
  bool IsConst(const Node& node) const {
    return node && node.op_id() == const_ && !edit.IsFed(node);
  }
  bool IsConst(Port port) const {
    return !port.IsControl() && port.node != kNoNode && IsConst(graph.node(port.node));
  }
  const Literal* ConstantOf(Port port) { return IsConst(port) ? edit.ConstantOf(port) : nullptr; }
  // Its elements, when it is a constant of integers; for shapes, axes and the like.
  std::optional<std::vector<int64_t>> IntegersOf(Port port);
  // A constant of zeros (ones), or ZerosLike, OnesLike, or a Fill with them.
  bool IsZeros(Port port) { return IsAll(port, 0); }
  bool IsOnes(Port port) { return IsAll(port, 1); }
  // Shape() for a constant is that of its value, which needs no shape inference.
  Shape ShapeOf(Port port);
  // Whether broadcasting `other` with `kept` gives the shape of `kept`, as far as can be known.
  static bool BroadcastsInto(const Shape& other, const Shape& kept);
  static bool SameShape(const Shape& a, const Shape& b);  // known to be, in every dimension
  DataType TypeOf(const Node& node);  // of the result: T, dtype, or what the op gives
  // Nodes of a TPU's replica carry attributes that must not be lost: they are left alone.
  bool HasTpuAttribute(const Node& node) const;
  int NumControlUses(const Node& node) const {
    return static_cast<int>(node.uses().size()) - node.NumDataUses();
  }
  // "ConstantFolding/<node><suffix>": how Grappler names what it makes.
  static std::string NameFor(const Node& node, const llvm::Twine& suffix);
  bool Exists(llvm::StringRef name) const { return static_cast<bool>(graph.Find(name)); }

  // --- Edits; only inside a Rewriting.
  // The node to wait for in order to run whenever `port` has a value. An output of a Switch may be
  // dead while the Switch has run, so it gets an Identity, "ConstantFoldingCtrl/<switch>_<port>".
  Node Anchor(Port port);
  // `node` becomes `op` with these data inputs; what else it read becomes control inputs, each
  // once.
  void Become(const Node& node, llvm::StringRef op, llvm::ArrayRef<Port> inputs);
  // Drops what describes the old op; attributes that begin with '_' stay.
  void DropAttrs(const Node& node);
  // op Identity (or Snapshot) of input `i`, which must be a data input.
  void BecomeIdentity(const Node& node, int i, llvm::StringRef op = "Identity");
  // BroadcastTo of input `i` to `shape`, which must be fully known.
  void BecomeBroadcast(const Node& node, int i, const Shape& shape);
  // The value, after everything that the node read or waited for.
  void BecomeConstant(const Node& node, const Literal& value);
  // Every data read of `from` reads `to`.
  void Redirect(Port from, const Node& to) { edit.RedirectPort(from, {to.id(), 0}); }

 private:
  bool IsAll(Port port, int value);

  const StringId const_;
  const bool has_tpu_ops_;
};

// One rewrite, from Begin to End; false when --limit is used up.
class Rewriting {
 public:
  Rewriting(Folding& fold, llvm::StringRef rule, const Node& node)
      : fold_(fold), open_(fold.edit.Begin(rule, node)) {
    if (!open_) fold_.out_of_rewrites = true;
  }
  Rewriting(const Rewriting&) = delete;
  Rewriting& operator=(const Rewriting&) = delete;
  ~Rewriting() {
    if (open_) fold_.edit.End();
  }
  explicit operator bool() const { return open_; }

 private:
  Folding& fold_;
  bool open_;
};

// Looks at one node of the ops that it is listed with; true when it rewrote something. The node may
// be gone then.
using RuleFn = bool (*)(Folding&, const Node&);

// materialize_shapes.cpp
bool MaterializeShape(Folding&, const Node&);            // Shape, Size, Rank
bool MaterializeShapeN(Folding&, const Node&);           // ShapeN
bool MaterializeTensorArraySize(Folding&, const Node&);  // TensorArraySizeV3
// broadcast_gradient_args.cpp
bool MaterializeBroadcastGradientArgs(Folding&, const Node&);
// reduction.cpp
bool MaterializeReductionIndices(Folding&, const Node&);
bool SimplifyReduction(Folding&, const Node&);
// materialize_values.cpp
bool MaterializeFill(Folding&, const Node&);  // Fill, ZerosLike, OnesLike
bool MaterializeShapeMath(
    Folding&, const Node&);  // Pack, ConcatV2, Slice, StridedSlice of integers; IdentityN of one
// identity_n.cpp
bool ForwardIdentityN(Folding&, const Node&);
// fold.cpp
bool IsFoldable(Folding&, const Node&);
bool FoldNode(Folding&, const Node&);
// fold_control_flow.cpp
bool FoldMerge(Folding&, const Node&);
bool FoldSwitch(Folding&, const Node&);
// no_op_shapes.cpp
bool RemoveSplit(Folding&, const Node&);
bool RemoveTranspose(Folding&, const Node&);
bool RemoveRandomShuffle(Folding&, const Node&);
bool RemoveReverse(Folding&, const Node&);
bool RemoveTile(Folding&, const Node&);
bool RemovePad(Folding&, const Node&);
bool RemoveSqueeze(Folding&, const Node&);
bool RemoveReshape(Folding&, const Node&);
bool SimplifyPack(Folding&, const Node&);
// no_op_slices.cpp
bool RemoveSlice(Folding&, const Node&);
bool RemoveStridedSlice(Folding&, const Node&);
// enter.cpp, switch.cpp
bool MoveConstantsPastEnter(Folding&, const Node&);
bool SimplifySwitch(Folding&, const Node&);
// neutral_elements.cpp, absorbing.cpp
bool SimplifyNeutralElements(Folding&, const Node&);
bool SimplifyAbsorbing(Folding&, const Node&);
// strength_reduction.cpp
bool ReduceDivision(Folding&, const Node&);
// constant_push_down.cpp
bool PushConstantsDown(Folding&, const Node&);
bool PushConstantsDownBiasAdd(Folding&, const Node&);
// mul_conv_push_down.cpp
bool PushMulIntoConv(Folding&, const Node&);
// partial_folding.cpp
bool FoldPartOfAddN(Folding&, const Node&);
bool FoldPartOfConcat(Folding&, const Node&);
// merge_concat.cpp
bool MergeConcats(Folding&, const Node&);
// case.cpp, select.cpp, variable_updates.cpp
bool SimplifyCase(Folding&, const Node&);
bool SimplifySelect(Folding&, const Node&);
bool RemoveVariableUpdate(Folding&, const Node&);

}  // namespace grapnel::constant_folding

#endif  // GRAPNEL_PASSES_CONSTANT_FOLDING_RULES_H_
