// The way from the shapes of an op's inputs to those of its outputs: one function for each family
// of ops. Private to lib/shape; others use lib/shape/inference.h.
#ifndef GRAPNEL_LIB_SHAPE_FUNCTIONS_H_
#define GRAPNEL_LIB_SHAPE_FUNCTIONS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/ir/node.h"
#include "lib/ir/op_table.h"
#include "lib/ir/shape.h"
#include "lib/shape/arithmetic.h"
#include "lib/shape/inference.h"
#include "lib/shape/symbols.h"
#include "lib/support/sentence.h"
#include "llvm/ADT/SmallVector.h"

namespace grapnel {

using Elements = llvm::SmallVector<int64_t, 4>;  // as ShapeMap::ElementsOf

// What is known of one output.
struct PortFacts {
  struct Extra {
    std::optional<Elements> elements;
    std::optional<Shape> content;  // as ShapeMap::OfContent
    // Of a list of small integer tensors: the elements on which all in it agree. Of one without
    // any, which agrees with every other, it is not said.
    std::optional<Elements> content_elements;
    bool holds_nothing = false;
    bool operator==(const Extra& o) const {
      return elements == o.elements && content == o.content &&
             content_elements == o.content_elements && holds_nothing == o.holds_nothing;
    }
  };
  Shape shape;
  ShapeHandle handle = 0;                     // of a shape of unknown rank, where symbols are used
  std::unique_ptr<Extra> extra;               // most ports have none
  mutable DataType type = proto::DT_INVALID;  // DT_INVALID: not asked for yet

  PortFacts Copy() const;
  const Elements* elements() const {
    return extra && extra->elements ? &*extra->elements : nullptr;
  }
  const Shape* content() const { return extra && extra->content ? &*extra->content : nullptr; }
  void SetElements(Elements elements);
  void SetContent(Shape content);
  // What a list holds after a tensor of these elements (null: unknown) was put into it as well.
  void AddContentElements(const PortFacts& list, const Elements* elements);
  bool SameAs(const PortFacts& other) const;  // dtypes aside
};

// What holds of a tensor that is one of the two: elements on which they do not agree become
// unknown, as dimensions do (JoinShapes).
PortFacts JoinFacts(const PortFacts& a, const PortFacts& b);

// What the file notes of a tensor is added to what is inferred of it; where the two contradict, the
// note is taken for stale.
void BelieveNote(const PortFacts& note, PortFacts* facts);

// Infers through function bodies.
class FunctionShapes {
 public:
  virtual ~FunctionShapes() = default;
  // Facts of the results for these arguments; empty when there is no such function, it has other
  // arguments, or it is being inferred already.
  virtual std::vector<PortFacts> Infer(llvm::StringRef function,
                                       llvm::ArrayRef<const PortFacts*> args) = 0;
  // The node at work gives its function these, in whatever iteration of a loop.
  virtual void Called(llvm::StringRef function, llvm::ArrayRef<const PortFacts*> args) = 0;
};

// One node at work.
class ShapeContext {
 public:
  Node node;
  const OpInfo* info = nullptr;  // null: an op that nobody defines
  llvm::SmallVector<const PortFacts*, 8>
      inputs;  // nullptr: a loop's back edge that has not been reached yet
  llvm::SmallVector<PortFacts, 2> outputs;
  FunctionShapes* functions = nullptr;
  const llvm::DenseSet<NodeId>* fed = nullptr;
  int graph_version = 0;            // VersionDef.producer
  std::string problem;              // not empty: shapes that cannot fit
  ShapeSymbols* symbols = nullptr;  // null: nobody asks what is demanded of the inputs
  int64_t* next_symbol = nullptr;
  bool believes_notes = false;       // as SharedShapes has it
  bool sees_inside = true;           // as ShapeOptions has it
  std::vector<ShapeRequirement> demands;  // of the inputs

  // --- Inputs. One that is not there is unknown.
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  int num_outputs() const { return static_cast<int>(outputs.size()); }
  const PortFacts& facts(int i) const;
  const Shape& in(int i) const { return facts(i).shape; }
  const Elements* elements(int i) const { return facts(i).elements(); }
  // All elements known.
  const Elements* integers(int i) const;
  // The one element, when it is known.
  std::optional<int64_t> integer(int i) const;
  // The dimension that the scalar at input i asks for; kUnknownDim when it is not known, or
  // negative.
  int64_t SizeFrom(int i) const;
  // The shape that the vector at input i asks for: -1 is unknown. For some ops a scalar means any
  // rank.
  Shape ShapeFrom(int i, bool or_scalar = false);

  // --- Attributes, with the op's defaults.
  std::optional<AttrView> Attr(llvm::StringRef key) const;
  int64_t Int(llvm::StringRef key, int64_t otherwise = 0) const;
  bool Bool(llvm::StringRef key, bool otherwise = false) const;
  llvm::StringRef String(llvm::StringRef key) const;
  DataType Type(llvm::StringRef key) const;
  std::vector<int64_t> Ints(llvm::StringRef key) const;
  std::optional<Shape> ShapeAttr(llvm::StringRef key) const;

  // --- Outputs. All start unknown. The shape of an input, handed on as it is, stays the same one.
  // A broken node may have fewer outputs than its op: the others are let go.
  bool HasOutput(int i) const { return i >= 0 && i < num_outputs(); }
  void Out(int i, Shape&& shape) {
    if (HasOutput(i)) outputs[i].shape = std::move(shape);
  }
  void Out(int i, const Shape& shape) {
    if (!HasOutput(i)) return;
    outputs[i].shape = shape;
    outputs[i].handle = HandleOf(shape);
  }
  // What Equal found all inputs to be: of unknown rank, it stays the shape that they share.
  void OutEqual(int i, Shape shape);
  // The same sizes, but where readers count no symbol of an input: TensorFlow goes through a plain
  // list of sizes here, so it does not know two unknown ones to be equal.
  void OutSizes(int i, Shape shape);
  // Gives dimension `dim` the symbol that it has in output 0, where it is not known: outputs of one
  // shape have the same unknown sizes.
  void NameDim(Shape& shape, int dim);
  void OutElements(int i, Elements elements);  // dropped when they are too many
  void OutContent(int i, Shape content);
  void OutFacts(int i, const PortFacts& facts);
  // int32, int64 or bool: elements are tracked of no other dtype.
  static bool TracksElements(DataType type) {
    return type == proto::DT_INT32 || type == proto::DT_INT64 || type == proto::DT_BOOL;
  }

  // --- What must hold. A breach is the node's problem (the first one is kept), and the result is
  // as good as it gets.
  template <typename... Args>
  void Fail(const char* format, Args&&... args) {
    if (problem.empty()) problem = Sentence(format, std::forward<Args>(args)...);
  }
  llvm::StringRef op() const { return node.op(); }
  // The shape of input i, with unknown dimensions when its rank is not known.
  Shape WithRank(int i, int rank);
  const Shape& WithRankAtLeast(int i, int rank);
  int64_t Equal(int64_t a, int64_t b, const char* what);
  Shape Equal(const Shape& a, const Shape& b);
  // `axis` counted from the front; nullopt (and a problem) when it is outside [-rank, rank).
  std::optional<int> Axis(int64_t axis, int rank);

 private:
  // Of the input whose shape this is; 0 when it is none's, or its rank is known.
  ShapeHandle HandleOf(const Shape& shape) const;
  // The same of one side of Equal: where that is no input's, it is what the inputs before it were
  // found equal to, or the first of unknown rank.
  ShapeHandle HandleOfSide(const Shape& shape) const;
  void Require(ShapeRequirement demand) {
    if (symbols) demands.push_back(std::move(demand));
  }
  void RequireEqual(const Shape& a, const Shape& b);

  ShapeHandle equal_so_far_ = 0;

 public:
  // Before a node: nothing is demanded yet.
  void ForgetDemands() {
    demands.clear();
    equal_so_far_ = 0;
  }
};

using ShapeFunction = void (*)(ShapeContext&);
struct ShapeRule {
  const char* op;
  ShapeFunction function;
};

// nullptr when there is none.
ShapeFunction FindShapeFunction(llvm::StringRef op);

// One table a family.
llvm::ArrayRef<ShapeRule> ArrayShapeRules();
llvm::ArrayRef<ShapeRule> CollectiveShapeRules();
llvm::ArrayRef<ShapeRule> ControlShapeRules();
llvm::ArrayRef<ShapeRule> ConvolutionShapeRules();
llvm::ArrayRef<ShapeRule> ElementwiseShapeRules();
llvm::ArrayRef<ShapeRule> ImageShapeRules();
llvm::ArrayRef<ShapeRule> IndexingShapeRules();
llvm::ArrayRef<ShapeRule> LinearAlgebraShapeRules();
llvm::ArrayRef<ShapeRule> MathShapeRules();
llvm::ArrayRef<ShapeRule> NeuralShapeRules();
llvm::ArrayRef<ShapeRule> RaggedShapeRules();
llvm::ArrayRef<ShapeRule> SliceShapeRules();
llvm::ArrayRef<ShapeRule> SparseCsrShapeRules();
llvm::ArrayRef<ShapeRule> SparseShapeRules();
llvm::ArrayRef<ShapeRule> StateShapeRules();

// Shared between families.
void ScalarOutputs(ShapeContext& c);  // every output is a scalar
void SameAsInput(ShapeContext& c);    // every output has the shape of input 0
void UnknownOutputs(ShapeContext& c);
void CallShape(ShapeContext& c);     // a node whose op is a function
void DefaultShape(ShapeContext& c);  // an op that has no function here

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_FUNCTIONS_H_
