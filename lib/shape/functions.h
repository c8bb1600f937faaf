// Shape functions, which map the shapes of an op's inputs to the shapes of its outputs. Each file
// has those of one family of ops. Private to lib/shape; other directories use
// lib/shape/inference.h.
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

// The inferred facts about one output of a node.
struct PortFacts {
  struct Extra {
    std::optional<Elements> elements;
    std::optional<Shape> content;  // see ShapeMap::OfContent
    // For a list of small integer tensors: the elements, as far as they are the same in all
    // tensors. Not set for an empty list (holds_nothing), which is compatible with every other
    // list.
    std::optional<Elements> content_elements;
    bool holds_nothing = false;
    // For a list all of whose writes are known: the shape that the written tensors have in common;
    // no shape if there are none. It says more than the shape that the list was made for, which
    // often leaves the batch size open.
    bool knows_writes = false;
    std::optional<Shape> written;
    bool operator==(const Extra& o) const {
      return elements == o.elements && content == o.content &&
             content_elements == o.content_elements && holds_nothing == o.holds_nothing &&
             knows_writes == o.knows_writes && written == o.written;
    }
  };
  Shape shape;
  ShapeHandle handle = 0;                     // for a shape of unknown rank, with symbols
  std::unique_ptr<Extra> extra;               // null for most outputs
  mutable DataType type = proto::DT_INVALID;  // DT_INVALID: not computed yet

  PortFacts Copy() const;
  const Elements* elements() const {
    return extra && extra->elements ? &*extra->elements : nullptr;
  }
  const Shape* content() const { return extra && extra->content ? &*extra->content : nullptr; }
  void SetElements(Elements elements);
  void SetContent(Shape content);
  // Sets the contents of this output to those of `list` after a tensor with these elements (null:
  // unknown) was added to it; leaves them as they are if these are not known.
  void AddContentElements(const PortFacts& list, const Elements* elements);
  bool SameAs(const PortFacts& other) const;  // ignores dtypes
};

// Returns the facts about a tensor that is either `a` or `b`: elements that differ become unknown,
// like dimensions in JoinShapes.
PortFacts JoinFacts(const PortFacts& a, const PortFacts& b);

// Merges the facts that the file states about a tensor into the inferred ones; if they contradict
// each other, ignores those of the file as stale.
void BelieveNote(const PortFacts& note, PortFacts* facts);

// Infers the results of calls through the bodies of functions.
class FunctionShapes {
 public:
  virtual ~FunctionShapes() = default;
  // Returns facts about the function's results for these arguments; empty if they cannot be
  // inferred, as for a missing function or one that is being inferred already.
  virtual std::vector<PortFacts> Infer(llvm::StringRef function,
                                       llvm::ArrayRef<const PortFacts*> args) = 0;
  // Reports that the current node calls a function with these arguments. For a loop, these are the
  // facts that hold in every iteration.
  virtual void Called(llvm::StringRef function, llvm::ArrayRef<const PortFacts*> args) = 0;
};

// The shape inference of one node: inputs, attributes and outputs.
class ShapeContext {
 public:
  Node node;
  const OpInfo* info = nullptr;  // null: the op is not defined
  // nullptr: the back edge of a loop, whose source has not been visited yet.
  llvm::SmallVector<const PortFacts*, 8> inputs;
  llvm::SmallVector<PortFacts, 2> outputs;
  FunctionShapes* functions = nullptr;
  const llvm::DenseSet<NodeId>* fed = nullptr;
  int graph_version = 0;            // VersionDef.producer
  std::string problem;              // not empty: the shapes are incompatible
  ShapeSymbols* symbols = nullptr;  // null: requirements of readers are not tracked
  int64_t* next_symbol = nullptr;
  bool believes_notes = false;            // see SharedShapes
  bool sees_inside = true;                // see ShapeOptions
  std::vector<ShapeRequirement> demands;  // requirements on the inputs

  // --- Inputs. Nothing is known about a missing input.
  int num_inputs() const { return static_cast<int>(inputs.size()); }
  int num_outputs() const { return static_cast<int>(outputs.size()); }
  const PortFacts& facts(int i) const;
  const Shape& in(int i) const { return facts(i).shape; }
  const Elements* elements(int i) const { return facts(i).elements(); }
  // The elements of input i if all of them are known.
  const Elements* integers(int i) const;
  // The only element of input i if it is known.
  std::optional<int64_t> integer(int i) const;
  // The size that the scalar in input i specifies; kUnknownDim if it is unknown or negative.
  int64_t SizeFrom(int i) const;
  // The shape that the vector in input i specifies; a negative element is an unknown size. With
  // `or_scalar`, a scalar specifies a shape of unknown rank.
  Shape ShapeFrom(int i, bool or_scalar = false);

  // --- Attributes; a missing attribute has the op's default.
  std::optional<AttrView> Attr(llvm::StringRef key) const;
  int64_t Int(llvm::StringRef key, int64_t otherwise = 0) const;
  bool Bool(llvm::StringRef key, bool otherwise = false) const;
  llvm::StringRef String(llvm::StringRef key) const;
  DataType Type(llvm::StringRef key) const;
  std::vector<int64_t> Ints(llvm::StringRef key) const;
  std::optional<Shape> ShapeAttr(llvm::StringRef key) const;

  // --- Outputs. Nothing is known about them at first. An output that is set to the Shape object of
  // an input of unknown rank also gets the handle that identifies this shape. A broken node may
  // have fewer outputs than its op: facts about the others are dropped.
  bool HasOutput(int i) const { return i >= 0 && i < num_outputs(); }
  void Out(int i, Shape&& shape) {
    if (HasOutput(i)) outputs[i].shape = std::move(shape);
  }
  void Out(int i, const Shape& shape) {
    if (!HasOutput(i)) return;
    outputs[i].shape = shape;
    outputs[i].handle = HandleOf(shape);
  }
  // Sets the shape that Equal returned for several inputs; if its rank is unknown, also the handle
  // that these inputs share.
  void OutEqual(int i, Shape shape);
  // Sets sizes that an input specifies. With from_readers, drops symbols: TensorFlow converts the
  // sizes to plain integers here, so it no longer knows that two unknown sizes are equal.
  void OutSizes(int i, Shape shape);
  // With from_readers, if dimension `dim` is unknown, gives it the symbol of that dimension in
  // output 0: for ops whose outputs have equal sizes there.
  void NameDim(Shape& shape, int dim);
  void OutElements(int i, Elements elements);  // dropped if too many or of no use
  void OutContent(int i, Shape content);
  void OutFacts(int i, const PortFacts& facts);
  // True for int32, int64 and bool: elements of other dtypes are not tracked.
  static bool TracksElements(DataType type) {
    return type == proto::DT_INT32 || type == proto::DT_INT64 || type == proto::DT_BOOL;
  }

  // --- Requirements. A violation becomes the problem of the node (the first violation is kept),
  // and the facts that the shape function sets for the outputs are dropped.
  template <typename... Args>
  void Fail(const char* format, Args&&... args) {
    if (problem.empty()) problem = Sentence(format, std::forward<Args>(args)...);
  }
  llvm::StringRef op() const { return node.op(); }
  // Requires that input i has this rank, and returns its shape; if its rank is unknown or another,
  // a shape of this rank with unknown dimensions.
  Shape WithRank(int i, int rank);
  const Shape& WithRankAtLeast(int i, int rank);
  int64_t Equal(int64_t a, int64_t b, const char* what);
  Shape Equal(const Shape& a, const Shape& b);
  // Returns `axis` counted from the front; nullopt, and a problem, if it is outside [-rank, rank).
  std::optional<int> Axis(int64_t axis, int rank);

 private:
  // Returns the handle of the input to which the object `shape` belongs; 0 if it belongs to no
  // input or its rank is known.
  ShapeHandle HandleOf(const Shape& shape) const;
  // Returns the handle of one argument of Equal; 0 if its rank is known. This is the handle of the
  // input to which the shape belongs; otherwise that of the inputs that Equal has compared so far;
  // otherwise that of the first input of unknown rank.
  ShapeHandle HandleOfSide(const Shape& shape) const;
  void Require(ShapeRequirement demand) {
    if (symbols) demands.push_back(std::move(demand));
  }
  void RequireEqual(const Shape& a, const Shape& b);

  ShapeHandle equal_so_far_ = 0;

 public:
  // Clears the requirements before the next node.
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

// Returns the shape function of an op; nullptr if it has none.
ShapeFunction FindShapeFunction(llvm::StringRef op);

// The tables of shape functions, one for each family of ops.
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

// Shape functions that several families share.
void ScalarOutputs(ShapeContext& c);  // every output is a scalar
void SameAsInput(ShapeContext& c);    // every output has the shape of input 0
void UnknownOutputs(ShapeContext& c);
void CallShape(ShapeContext& c);     // for a node whose op is a function
void DefaultShape(ShapeContext& c);  // for an op without a shape function

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_FUNCTIONS_H_
