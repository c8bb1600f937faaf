// What the stages of the arithmetic optimizer share: the queue, facts about nodes, names, and the
// edits that several make.
//
// To add a stage: one file here with its function, a line for it under "The stages" below, an entry
// in Stages() of arithmetic_optimizer.cpp at TensorFlow's place, and a line in the registration
// there.
#ifndef GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_
#define GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/pass/editor.h"
#include "lib/pass/op_kinds.h"

namespace grapnel::arithmetic {

// Boolean attributes that mark what a stage made or took in, so that it is not taken up again.
inline constexpr char kAddOpsRewriteTag[] = "_grappler_ArithmeticOptimizer_AddOpsRewriteStage";
inline constexpr char kMinimizeBroadcastsTag[] = "_grappler_ArithmeticOptimizer_MinimizeBroadcasts";

// One run over one body.
class Arithmetic {
 public:
  explicit Arithmetic(Editor& editor);
  Arithmetic(const Arithmetic&) = delete;
  Arithmetic& operator=(const Arithmetic&) = delete;

  Editor& edit;
  Graph& graph;
  OpKinds kinds;
  const bool aggressive;  // arithmetic_optimization: AGGRESSIVE; then feeds have the shapes that
                          // their placeholders promise
  bool stopped = false;   // --limit is used up

  // What stages remember of nodes that they have dealt with.
  llvm::DenseSet<NodeId> hoisted_factors, hoisted_chains, composed;

  // --- The queue: the latest first, each node once.
  void Enqueue(const Node& node);
  std::optional<NodeId> Pop();

  // --- One rewrite. A stage begins one before its first edit and leaves the end to the pass.
  // False:
  // --limit is used up, leave everything as it is.
  bool Begin(llvm::StringRef rule, const Node& node);
  void End();
  bool is_open() const { return open_; }

  // --- Facts.
  // The node that data input `i` comes from; false when there is no such input.
  Node Input(const Node& node, int i) const {
    return i < node.num_inputs() ? node.input_node(i) : Node();
  }
  bool Exists(llvm::StringRef name) const { return static_cast<bool>(graph.Find(name)); }
  bool IsAggregate(const Node& node) const;  // AddN and its like, and sums of two numbers
  // TensorFlow's groups of ops that hand their input on: in its order and shape, or only in value.
  bool KeepsShape(const Node& node) const;
  bool KeepsValue(const Node& node) const;
  bool IsUnaryElementwise(const Node& node) const;
  bool HasControls(const Node& node) const { return node.num_controls() > 0; }
  bool DrivesControls(const Node& node) const;
  int NumReaders(const Node& node) const;       // nodes that read it or wait for it
  int NumValueReaders(const Node& node) const;  // nodes that read its value, not merely its shape
  const Literal* ConstantOf(Port port) const { return edit.ConstantOf(port); }
  // The elements of a constant vector of int32 or int64.
  std::optional<std::vector<int64_t>> IntegersOf(Port port) const;
  // Whether all elements of the constant are 1, of one of the dtypes that TensorFlow looks at.
  bool IsOnes(Port port) const;
  // As it was before this pass: nothing is known of what the pass made, or was told to forget.
  const Shape& ShapeOf(Port port);
  // Shape of what `node` reads, if the node was there before.
  const Shape& ShapeOfInput(const Node& node, int i);
  void ForgetShape(const Node& node) { forgotten_.insert(node.id()); }
  // The last node of the chain from `node` along first inputs, as long as `follow` holds of the
  // next.
  Node TailOfChain(const Node& node, llvm::function_ref<bool(const Node&)> follow) const;
  // The same through nodes that `keeps` holds of, have one reader and may go.
  Node TailOfOwnChain(const Node& node, llvm::function_ref<bool(const Node&)> keeps) const;

  // "a/b" of stage S -> "a/ArithmeticOptimizer/S_b"; with a part P: "a/ArithmeticOptimizer/S_P_b".
  static std::string NameFor(const Node& node, llvm::StringRef stage, llvm::StringRef part = "");
  // The same, with "_unique<n>" when it is taken.
  std::string UniqueNameFor(const Node& node, llvm::StringRef stage,
                            llvm::StringRef part = "") const;

  // --- Readers that TensorFlow loses track of: it changes what they read without noting it, and
  // later replacements of that node pass them by.
  void LoseTrack(const Node& reader, Port of) { lost_.insert({reader.id(), of.node}); }
  // This rewrite changes the value of the node that is replaced: all its readers must go along,
  // lost ones too (there TensorFlow computes something else).
  void ChangesValue() { changed_value_ = true; }
  bool IsPassedBy(const Node& reader, const Node& replaced) const {
    return !changed_value_ && lost_.contains({reader.id(), replaced.id()});
  }

  // --- Edits.
  // A node like `node`, with all that it reads and waits for.
  Node Copy(llvm::StringRef name, const Node& node);
  // A node with these data inputs.
  Node Make(llvm::StringRef name, llvm::StringRef op, llvm::StringRef device,
            llvm::ArrayRef<Port> inputs);
  // The node to wait for in order to run whenever `port` has a value.
  Node Anchor(Port port);
  // `target` waits for what `sources` wait for, unless it reads it.
  void ForwardControls(const Node& target, llvm::ArrayRef<Node> sources);
  // Data input `i` becomes a control input.
  void TurnIntoControl(const Node& node, int i);
  // Reads of `from`, and control edges from its node, go to `to`, but for those of `to` itself.
  void UpdateReaders(Port from, Port to);
  void SetType(const Node& node, llvm::StringRef key, DataType type) {
    edit.SetAttr(node, key, attr::Type(type));
  }

 private:
  ShapeMap& shapes();

  std::vector<NodeId> queue_;
  llvm::DenseSet<NodeId> queued_, forgotten_;
  llvm::DenseSet<std::pair<NodeId, NodeId>> lost_;
  NodeId first_new_ = 0;
  std::unique_ptr<ShapeMap> shapes_;
  bool open_ = false, changed_value_ = false;
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

// Looks at one node. Nothing: the next stage looks at it too, even if this one changed it in place.
// A port: the node is done; when the port is of another node, that is read in its place from now
// on.
using Simplified = std::optional<Port>;
using StageFn = Simplified (*)(Arithmetic&, const Node&);
inline Simplified InPlace(const Node& node) { return Port{node.id(), 0}; }
inline Simplified By(const Node& node) { return Port{node.id(), 0}; }

// A tree of nodes of one device under `root`, each with the next above as its only reader, and what
// the tree reads.
struct Group {
  struct Input {
    Port port;
    Shape shape;
  };
  Node root;
  std::vector<Node> absorbed;
  std::vector<Input> inputs;
};
// Nothing when the shape of what it reads is not known. `absorbs` says which nodes belong to it.
std::optional<Group> FindGroup(Arithmetic& arithmetic, const Node& root,
                               llvm::function_ref<bool(const Node&)> absorbs);
// Whether the shapes of `node` and of all that it reads are known and go together.
bool HasBroadcastableInputs(Arithmetic& arithmetic, const Node& node);
void MarkGroup(Arithmetic& arithmetic, const Group& group, const char* tag);

// The stages.
Simplified RewriteAddOps(Arithmetic&, const Node&);
Simplified FoldConjugateIntoTranspose(Arithmetic&, const Node&);
Simplified FoldMultiplyIntoConv(Arithmetic&, const Node&);
Simplified FoldTransposeIntoMatMul(Arithmetic&, const Node&);
Simplified HoistCommonFactor(Arithmetic&, const Node&);
Simplified MinimizeBroadcasts(Arithmetic&, const Node&);
Simplified RemoveIdentityTranspose(Arithmetic&, const Node&);
Simplified RemoveInvolution(Arithmetic&, const Node&);
Simplified RemoveRedundantBitcast(Arithmetic&, const Node&);
Simplified RemoveRedundantCast(Arithmetic&, const Node&);
Simplified ReplacePackWithTileReshape(Arithmetic&, const Node&);
Simplified ReplaceMulWithTile(Arithmetic&, const Node&);
Simplified ReduceUpsamplingDims(Arithmetic&, const Node&);
Simplified RemoveRedundantReshape(Arithmetic&, const Node&);
Simplified RemoveNegation(Arithmetic&, const Node&);
Simplified ReplaceMulWithSquare(Arithmetic&, const Node&);
Simplified RemoveLogicalNot(Arithmetic&, const Node&);
Simplified ReorderCastLike(Arithmetic&, const Node&);
Simplified SimplifyAggregation(Arithmetic&, const Node&);
Simplified HoistUnaryChains(Arithmetic&, const Node&);
Simplified ConvertSqrtDiv(Arithmetic&, const Node&);
Simplified RemoveIdempotent(Arithmetic&, const Node&);
Simplified ConvertPow(Arithmetic&, const Node&);
Simplified ConvertLog1p(Arithmetic&, const Node&);
Simplified ConvertLogSoftmax(Arithmetic&, const Node&);
Simplified OptimizeMaxOrMinOfMonotonic(Arithmetic&, const Node&);
Simplified ConvertExpm1(Arithmetic&, const Node&);
Simplified ComposeUnaryOps(Arithmetic&, const Node&);
Simplified RemoveStackSlice(Arithmetic&, const Node&);
Simplified SimplifyEmbeddingLookup(Arithmetic&, const Node&);
Simplified RemoveCastIntoSegmentReduction(Arithmetic&, const Node&);
Simplified FuseSquaredDiff(Arithmetic&, const Node&);

}  // namespace grapnel::arithmetic

#endif  // GRAPNEL_PASSES_ARITHMETIC_OPTIMIZER_ARITHMETIC_OPTIMIZER_H_
