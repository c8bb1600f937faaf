// Shape functions: they map the shapes of an op's inputs to those of its outputs, one for each
// family of ops. Private to lib/shape; others use lib/shape/inference.h.
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

using Elements = llvm::SmallVector<int64_t, 4>;  // see ShapeMap::ElementsOf

// The facts about one output.
struct PortFacts {
  struct Extra {
    std::optional<Elements> elements;
    std::optional<Shape> content;  // see ShapeMap::OfContent
    // For a list of small integer tensors: the elements that are the same in all of them. Not set
    // for an empty list (holds_nothing), which agrees with every other.
    std::optional<Elements> content_elements;
    bool holds_nothing = false;
    bool operator==(const Extra& o) const {
      return elements == o.elements && content == o.content &&
             content_elements == o.content_elements && holds_nothing == o.holds_nothing;
    }
  };
  Shape shape;
  ShapeHandle handle = 0;                     // for a shape of unknown rank, if symbols are used
  std::unique_ptr<Extra> extra;               // most ports have none
  mutable DataType type = proto::DT_INVALID;  // DT_INVALID: not computed yet

  PortFacts Copy() const;
  const Elements* elements() const {
    return extra && extra->elements ? &*extra->elements : nullptr;
  }
  const Shape* content() const { return extra && extra->content ? &*extra->content : nullptr; }
  void SetElements(Elements elements);
  void SetContent(Shape content);
  // Sets the contents of `list` after a tensor with these elements (null: unknown) was added to it.
  void AddContentElements(const PortFacts& list, const Elements* elements);
  bool SameAs(const PortFacts& other) const;  // ignores dtypes
};

// Returns the facts about a tensor that is one of the two: elements that differ become unknown, as
// dimensions do (JoinShapes).
PortFacts JoinFacts(const PortFacts& a, const PortFacts& b);

// Merges the file's facts about a tensor into the inferred ones; if the two contradict, treats the
// file's as stale.
void BelieveNote(const PortFacts& note, PortFacts* facts);

// Infers through function bodies.
class FunctionShapes {
 public:
  virtual ~FunctionShapes() = default;
  // Returns facts of the results for these arguments; empty if there is no such function, it has
  // other arguments, or it is being inferred already.
  virtual std::vector<PortFacts> Infer(llvm::StringRef function,
                                       llvm::ArrayRef<const PortFacts*> args) = 0;
  // Reports that the current node calls a function with these arguments, in any iteration of a
  // loop.
  virtual void Called(llvm::StringRef function, llvm::ArrayRef<const PortFacts*> args) = 0;
};

// The shape inference of one node.
class ShapeContext {
 public:
  Node node;
  const OpInfo* info = nullptr;  // null: an undefined op
  llvm::SmallVector<const PortFacts*, 8>
      inputs;  // nullptr: a loop's back edge that has not been reached yet
  llvm::SmallVector<PortFacts, 2> outputs;
  FunctionShapes* functions = nullptr;
  const llvm::DenseSet<NodeId>* fed = nullptr;
  int graph_version = 0;            // VersionDef.producer
  std::string problem;              // not empty: incompatible shapes
  ShapeSymbols* symbols = nullptr;  // null: demands on the inputs are not tracked
  int64_t* next_symbol = nullptr;
  bool believes_notes = false;            // see SharedShapes
  bool sees_inside = true;                // see ShapeOptions
  std::vector<ShapeRequirement> demands;  // on the inputs

  // --- Inputs. A missing one is unknown.
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  int num_outputs() const { return static_cast<int>(outputs.size()); }
  const PortFacts& facts(int i) const;
  const Shape& in(int i) const { return facts(i).shape; }
  const Elements* elements(int i) const { return facts(i).elements(); }
  // The elements if all are known.
  const Elements* integers(int i) const;
  // The single element if it is known.
  std::optional<int64_t> integer(int i) const;
  // The size that the scalar at input i specifies; kUnknownDim if unknown or negative.
  int64_t SizeFrom(int i) const;
  // The shape that the vector at input i specifies; -1 is unknown. For some ops a scalar means any
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

  // --- Outputs. All start as unknown. A forwarded input shape keeps its identity. A broken node
  // may have fewer outputs than its op: values for the others are dropped.
  bool HasOutput(int i) const { return i >= 0 && i < num_outputs(); }
  void Out(int i, Shape&& shape) {
    if (HasOutput(i)) outputs[i].shape = std::move(shape);
  }
  void Out(int i, const Shape& shape) {
    if (!HasOutput(i)) return;
    outputs[i].shape = shape;
    outputs[i].handle = HandleOf(shape);
  }
  // Sets the shape that Equal found for all inputs; if its rank is unknown, it remains the shape
  // that they share.
  void OutEqual(int i, Shape shape);
  // Sets the sizes. With from_readers it drops symbols: TensorFlow goes through a plain list of
  // sizes here, so it does not know that two unknown ones are equal.
  void OutSizes(int i, Shape shape);
  // Gives an unknown dimension `dim` the symbol that it has in output 0: outputs of one shape have
  // the same unknown sizes.
  void NameDim(Shape& shape, int dim);
  void OutElements(int i, Elements elements);  // dropped if there are too many
  void OutContent(int i, Shape content);
  void OutFacts(int i, const PortFacts& facts);
  // int32, int64 or bool: elements of other dtypes are not tracked.
  static bool TracksElements(DataType type) {
    return type == proto::DT_INT32 || type == proto::DT_INT64 || type == proto::DT_BOOL;
  }

  // --- Requirements. A violation becomes the node's problem (the first one is kept), and inference
  // continues with a best guess.
  template <typename... Args>
  void Fail(const char* format, Args&&... args) {
    if (problem.empty()) problem = Sentence(format, std::forward<Args>(args)...);
  }
  llvm::StringRef op() const { return node.op(); }
  // The shape of input i, with unknown dimensions if its rank is unknown.
  Shape WithRank(int i, int rank);
  const Shape& WithRankAtLeast(int i, int rank);
  int64_t Equal(int64_t a, int64_t b, const char* what);
  Shape Equal(const Shape& a, const Shape& b);
  // `axis` counted from the front; nullopt (and a problem) if it is outside [-rank, rank).
  std::optional<int> Axis(int64_t axis, int rank);

 private:
  // The handle of the input that has this shape; 0 if no input has it, or its rank is known.
  ShapeHandle HandleOf(const Shape& shape) const;
  // The same for one side of Equal: if the shape belongs to no input, the handle is that of the
  // inputs before it that were found equal, or of the first one of unknown rank.
  ShapeHandle HandleOfSide(const Shape& shape) const;
  void Require(ShapeRequirement demand) {
    if (symbols) demands.push_back(std::move(demand));
  }
  void RequireEqual(const Shape& a, const Shape& b);

  ShapeHandle equal_so_far_ = 0;

 public:
  // Clears the demands before a node.
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

// nullptr if the op has no shape function.
ShapeFunction FindShapeFunction(llvm::StringRef op);

// One table for each family.
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
void DefaultShape(ShapeContext& c);  // an op without a function here

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_FUNCTIONS_H_
