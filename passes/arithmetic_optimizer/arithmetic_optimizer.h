// What the rules of the arithmetic optimizer share: the queue, facts about nodes, names, and the
// edits that several make.
#ifndef GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_
#define GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/pass/rule.h"
#include "llvm/ADT/BitVector.h"

namespace grapnel::arithmetic {

// One run over one body.
class Arithmetic : public RuleContext {
 public:
  static constexpr char kOptimizer[] = "arithmetic_optimizer";
  explicit Arithmetic(Editor& editor);
  ~Arithmetic() { edit.FollowShapes(); }

  const bool aggressive;  // arithmetic_optimization: AGGRESSIVE; then feeds have the shapes that
                          // their placeholders promise

  // What rules remember of nodes that they have dealt with.
  llvm::DenseSet<NodeId> hoisted_factors, hoisted_chains, composed;

  // --- The queue: the latest first, each node once.
  void Enqueue(llvm::ArrayRef<Node> nodes);
  Node Pop();  // false: it is empty

  // --- Facts.
  bool IsAggregate(const Node& node) const;  // AddN and its like, and sums of two numbers
  // TensorFlow's groups of ops that hand their input on: in its order and shape, or only in value.
  bool KeepsShape(const Node& node) const;
  bool KeepsValue(const Node& node) const;
  bool IsUnaryElementwise(const Node& node) const;
  int NumValueReaders(const Node& node) const;  // nodes that read its value, not merely its shape
  // Whether all elements of the constant are 1, of one of the dtypes that TensorFlow looks at.
  bool IsOnes(Port port) const;
  // Whether one input alone reads `inner`, and it need not stay; a refusal if not.
  bool IsOwn(const Node& inner);
  // The last node of the chain from `node` along first inputs, as long as `follow` holds of the
  // next.
  Node TailOfChain(const Node& node, llvm::function_ref<bool(const Node&)> follow) const;
  // The same through nodes that `keeps` holds of, have one reader and may go.
  Node TailOfOwnChain(const Node& node, llvm::function_ref<bool(const Node&)> keeps) const;

  // --- Shapes: as they were before this pass. Nothing is known of what the pass made, or was told
  // to forget.
  Shape ShapeOf(Port port) override;
  // Shape of what `node` reads, if the node was there before.
  Shape ShapeOfInput(const Node& node, int i);
  void ForgetShape(const Node& node) { forgotten_.insert(node.id()); }
  // Whether input `other` of an elementwise op leaves the shape of input `kept` as it is; a refusal
  // if not.
  bool LeavesShape(const Node& node, int kept, int other);

  // --- Names.
  // "a/b" of stage S -> "a/ArithmeticOptimizer/S_b"; with a part P: "a/ArithmeticOptimizer/S_P_b".
  // A stage is what TensorFlow calls a rule.
  static std::string NameFor(const Node& node, llvm::StringRef stage, llvm::StringRef part = "");
  // The same, with "_unique<n>" when it is taken.
  std::string UniqueNameFor(const Node& node, llvm::StringRef stage,
                            llvm::StringRef part = "") const;

  // --- Readers that TensorFlow loses track of: it changes what they read without noting it, and
  // later replacements of that node pass them by.
  void MarkStaleReader(const Node& reader, Port of) { lost_.insert({reader.id(), of.node}); }
  // This rewrite changes the value of the node that is replaced: all its readers must go along,
  // lost ones too (there TensorFlow computes something else).
  void ChangesValue() { changed_value_ = true; }
  // `of` computes something else from here on: says of its lost readers that TensorFlow lets them
  // read that.
  void ReportStaleReaders(const Node& of);

  // --- Edits.
  // A node like `node`, with all that it reads and waits for.
  Node Copy(llvm::StringRef name, const Node& node);
  // A constant vector of int32, on `device`.
  Node MakeVector(llvm::StringRef name, llvm::ArrayRef<int64_t> values, llvm::StringRef device,
                  llvm::ArrayRef<Node> controls = {});
  // A Tile where `like` is, of its dtype.
  Node MakeTile(llvm::StringRef name, const Node& like, Port input, const Node& multiples);
  // `target` waits for what `sources` wait for, unless it reads it.
  void ForwardControls(const Node& target, llvm::ArrayRef<Node> sources);
  // Data input `i` becomes a control input.
  void TurnIntoControl(const Node& node, int i);
  // Reads of `from`, and control edges from its node, go to `to`, but for those of `to` itself.
  void UpdateReaders(Port from, Port to);

  // --- For the schedule.
  // Reads of any output of `node` are of `by` instead, and control edges come from its node; but
  // for those of readers that TensorFlow has lost.
  void Replace(const Node& node, Port by);
  // A rule has been applied.
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
bool IsAnyDiv(const Node& node);    // any division but DivNoNan
bool IsCastLike(const Node& node);  // reads one dtype and gives another, element by element
// Relu or Relu6 after a BiasAdd or batch norm, which the remapper makes one op of.
bool IsFusableRelu(const Node& node, const Node& input);

// Symbolic shapes, as TensorFlow compares them.
bool IsDefined(const Shape& shape);  // rank and every dimension, be it as a symbol
bool SameShape(const Shape& a, const Shape& b);
std::optional<Shape> Broadcast(const Shape& a, const Shape& b);
// Whether `a` is sure to have fewer elements than `b`.
bool IsSmaller(const Shape& a, const Shape& b);

}  // namespace grapnel::arithmetic

#endif  // GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_
