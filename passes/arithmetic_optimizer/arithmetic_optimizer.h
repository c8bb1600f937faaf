// Shared by the rules of the arithmetic optimizer: the queue, facts about nodes, names, and common
// edits.
#ifndef GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_
#define GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/pass/rule.h"
#include "llvm/ADT/BitVector.h"

namespace grapnel::arithmetic {

// One run of the optimizer over one body (the main graph or a function).
class Arithmetic : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "arithmetic_optimizer";
  explicit Arithmetic(Editor& editor);
  ~Arithmetic() { edit.FollowShapes(); }

  // whether arithmetic_optimization is AGGRESSIVE; feeds are then assumed to have the shapes of
  // their placeholders
  const bool aggressive;

  // Nodes that a rule has already processed: hoist_common_factor, hoist_unary_chains,
  // compose_unary_ops.
  llvm::DenseSet<NodeId> hoisted_factors, hoisted_chains, composed;

  // --- The queue of nodes to visit: last in, first out; each node is in it at most once.
  void Enqueue(llvm::ArrayRef<Node> nodes);
  Node Pop();  // no node: the queue is empty

  // --- Facts.
  // AddN, AccumulateNV2, AddV2, RiscAdd, and Add of numbers
  bool IsAggregate(const Node& node) const;
  // True if the output has the elements of the input: for KeepsShape in the same order and shape,
  // for KeepsValue possibly in another one. The groups of ops are TensorFlow's.
  bool KeepsShape(const Node& node) const;
  bool KeepsValue(const Node& node) const;
  bool IsUnaryElementwise(const Node& node) const;
  int NumValueReaders(const Node& node) const;  // distinct readers, other than Shape nodes
  // True if all elements of the constant are 1, in one of the dtypes that TensorFlow supports here.
  bool IsOnes(Port port) const;
  // True if `inner` is read by a single input and need not stay; otherwise records a refusal.
  bool IsOwn(const Node& inner);
  // The last node of the chain that starts at `node` and follows first inputs while `follow` is
  // true for the next node.
  Node TailOfChain(const Node& node, llvm::function_ref<bool(const Node&)> follow) const;
  // As TailOfChain, through nodes for which `keeps` is true, that have one reader and may be
  // removed; a node that may not is a reason that the rule does not match.
  Node TailOfOwnChain(const Node& node, llvm::function_ref<bool(const Node&)> keeps);

  // --- Shapes, as they were before this pass. Nodes that the pass made, or whose shape it
  // discarded, have no shape.
  Shape ShapeOf(Port port) override;
  // The shape of the node's input; unknown if the pass made the node or discarded its shape.
  Shape ShapeOfInput(const Node& node, int i);
  void ForgetShape(const Node& node) { forgotten_.insert(node.id()); }
  // True if broadcasting input `other` of an elementwise op cannot change the shape of input
  // `kept`; otherwise records a refusal.
  bool LeavesShape(const Node& node, int kept, int other);

  // --- Names.
  //
  // "a/b" in stage S -> "a/ArithmeticOptimizer/S_b"; with a part P: "a/ArithmeticOptimizer/S_P_b".
  // A stage is TensorFlow's word for a rule.
  static std::string NameFor(const Node& node, llvm::StringRef stage, llvm::StringRef part = "");
  // As NameFor, with "_unique<n>" added if a node has that name.
  std::string UniqueNameFor(const Node& node, llvm::StringRef stage,
                            llvm::StringRef part = "") const;

  // --- Stale readers: nodes whose inputs TensorFlow changes without recording the new edge. When
  // it later replaces the node that a stale reader now reads, it skips that reader.
  void MarkStaleReader(const Node& reader, Port of) { lost_.insert({reader.id(), of.node}); }
  // Call this in a rewrite that changes the value of the replaced node: all readers of that node
  // must then read the replacement, stale readers too (for which TensorFlow computes a wrong
  // value).
  void ChangesValue() { changed_value_ = true; }
  // Call this when the value of `of` changes: records for each stale reader of it, as a
  // refusal, that TensorFlow lets it read the wrong value.
  void ReportStaleReaders(const Node& of);

  // --- Edits.
  //
  // Adds a copy of `node` with the same data and control inputs.
  Node Copy(llvm::StringRef name, const Node& node);
  // Adds a constant vector of int32 on `device`.
  Node MakeVector(llvm::StringRef name, llvm::ArrayRef<int64_t> values, llvm::StringRef device,
                  llvm::ArrayRef<Node> controls = {});
  // Adds a Tile on the device of `like`, with its dtype.
  Node MakeTile(llvm::StringRef name, const Node& like, Port input, const Node& multiples);
  // Makes `target` wait for all nodes that `sources` wait for, except for nodes that `target`
  // reads.
  void ForwardControls(const Node& target, llvm::ArrayRef<Node> sources);
  // Turns data input `i` into a control input.
  void TurnIntoControl(const Node& node, int i);
  // Redirects to `to` all reads of `from` and all control edges from its node, except those that go
  // to the node of `to`. Enqueues the redirected nodes.
  void UpdateReaders(Port from, Port to);

  // --- For the schedule.
  //
  // Redirects reads of any output of `node` to `by`, and control edges to the node of `by`, except
  // those of stale readers unless ChangesValue() was called. Enqueues the readers and the node of
  // `by`.
  void Replace(const Node& node, Port by);
  // Call this after each rule: it ends what ChangesValue() began.
  void EndRewrite() { changed_value_ = false; }

 private:
  bool IsShapeKnown(NodeId id) const { return id < first_new_ && !forgotten_.contains(id); }
  void DropRepeatedControls(const Node& node);

  std::vector<NodeId> queue_;
  llvm::BitVector queued_;  // by node
  llvm::DenseSet<NodeId> forgotten_;
  llvm::DenseSet<std::pair<NodeId, NodeId>> lost_;
  const NodeId first_new_;
  bool changed_value_ = false;
};

bool IsAdd(const Node& node);       // Add and AddV2 of numbers
bool IsAnyDiv(const Node& node);    // Div, RealDiv, FloorDiv, TruncateDiv, Xdivy
bool IsCastLike(const Node& node);  // what TensorFlow treats as a cast: Cast, IsNan, Bucketize, ...
// Relu or Relu6 after a BiasAdd or batch norm, which the remapper fuses into one op.
bool IsFusableRelu(const Node& node, const Node& input);

// --- Comparisons of symbolic shapes, as in TensorFlow.
bool IsDefined(const Shape& shape);  // the rank and every dimension are known, at least as a symbol
bool SameShape(const Shape& a, const Shape& b);
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);
// True if `a` is known to have fewer elements than `b`. A dimension that is unknown only in `b`
// counts as more than 1; dimensions of size 0 are ignored.
bool IsSmaller(const Shape& a, const Shape& b);

}  // namespace grapnel::arithmetic

#endif  // GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_
