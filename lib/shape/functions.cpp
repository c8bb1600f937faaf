#include "lib/shape/functions.h"

#include <algorithm>
#include <cassert>

#include "lib/ir/node_types.h"
#include "llvm/ADT/StringMap.h"

namespace grapnel {
namespace {

const PortFacts& UnknownFacts() {
  static const PortFacts facts;
  return facts;
}

// Returns the elements of a tensor that has the elements `a` or `b`: known where they are equal;
// nullopt if their numbers differ or no element is known then.
std::optional<Elements> JoinElements(const Elements& a, const Elements& b) {
  if (a.size() != b.size()) return std::nullopt;
  Elements joined = a;
  bool any = a.empty();
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) joined[i] = kUnknownElement;
    any |= joined[i] != kUnknownElement;
  }
  return any ? std::optional<Elements>(std::move(joined)) : std::nullopt;
}

llvm::StringMap<ShapeFunction> AllRules() {
  llvm::StringMap<ShapeFunction> all;
  for (auto rules :
       {ArrayShapeRules, CollectiveShapeRules, ControlShapeRules, ConvolutionShapeRules,
        ElementwiseShapeRules, ImageShapeRules, IndexingShapeRules, LinearAlgebraShapeRules,
        MathShapeRules, NeuralShapeRules, RaggedShapeRules, SliceShapeRules, SparseCsrShapeRules,
        SparseShapeRules, StateShapeRules}) {
    for (const ShapeRule& rule : rules()) {
      bool added = all.try_emplace(rule.op, rule.function).second;
      assert(added && "two shape functions for one op");
      (void)added;
    }
  }
  return all;
}

}  // namespace

ShapeFunction FindShapeFunction(llvm::StringRef op) {
  static const llvm::StringMap<ShapeFunction> rules = AllRules();
  return rules.lookup(op);
}

PortFacts PortFacts::Copy() const {
  PortFacts copy;
  copy.shape = shape;
  copy.handle = handle;
  if (extra) copy.extra = std::make_unique<Extra>(*extra);
  return copy;
}

void PortFacts::SetElements(Elements elements) {
  if (!extra) extra = std::make_unique<Extra>();
  extra->elements = std::move(elements);
}

void PortFacts::SetContent(Shape content) {
  if (!extra) extra = std::make_unique<Extra>();
  extra->content = std::move(content);
}

void PortFacts::AddContentElements(const PortFacts& list, const Elements* elements) {
  if (!list.extra || !elements) return;
  if (!list.extra->holds_nothing && !list.extra->content_elements) return;
  std::optional<Elements> both = list.extra->holds_nothing
                                     ? *elements
                                     : JoinElements(*list.extra->content_elements, *elements);
  if (!both) return;
  if (!extra) extra = std::make_unique<Extra>();
  extra->content_elements = std::move(both);
}

bool PortFacts::SameAs(const PortFacts& other) const {
  if (shape != other.shape || handle != other.handle || !extra != !other.extra) return false;
  return !extra || *extra == *other.extra;
}

namespace {

void JoinContentElements(const PortFacts& a, const PortFacts& b, PortFacts* joined) {
  if (!a.extra || !b.extra || !joined->extra) return;
  if (a.extra->holds_nothing || b.extra->holds_nothing) {
    const PortFacts::Extra& other = a.extra->holds_nothing ? *b.extra : *a.extra;
    joined->extra->holds_nothing = other.holds_nothing;
    joined->extra->content_elements = other.content_elements;
  } else if (b.extra->content_elements) {
    joined->AddContentElements(a, &*b.extra->content_elements);
  }
}

void JoinWrites(const PortFacts& a, const PortFacts& b, PortFacts* joined) {
  if (!a.extra || !b.extra || !joined->extra) return;
  if (!a.extra->knows_writes || !b.extra->knows_writes) return;
  const std::optional<Shape>&x = a.extra->written, &y = b.extra->written;
  joined->extra->knows_writes = true;
  joined->extra->written = x && y ? JoinShapes(*x, *y) : x ? x : y;
}

}  // namespace

PortFacts JoinFacts(const PortFacts& a, const PortFacts& b) {
  PortFacts joined;
  joined.shape = JoinShapes(a.shape, b.shape);
  if (!joined.shape.known_rank() && a.handle == b.handle) joined.handle = a.handle;
  if (a.content() && b.content()) joined.SetContent(JoinShapes(*a.content(), *b.content()));
  JoinContentElements(a, b, &joined);
  JoinWrites(a, b, &joined);
  const Elements *x = a.elements(), *y = b.elements();
  if (!x || !y || a.shape != b.shape) return joined;
  if (std::optional<Elements> elements = JoinElements(*x, *y))
    joined.SetElements(std::move(*elements));
  return joined;
}

void BelieveNote(const PortFacts& note, PortFacts* facts) {
  if (std::optional<Shape> shape = MergeShapes(facts->shape, note.shape)) {
    // Takes only the shape: the file states no elements, and a tensor whose elements are tracked
    // has a known shape already.
    facts->shape = std::move(*shape);
  }
  if (!note.content()) return;
  Shape content = facts->content() ? *facts->content() : Shape::Unknown();
  if (std::optional<Shape> both = MergeShapes(content, *note.content()))
    facts->SetContent(std::move(*both));
}

const PortFacts& ShapeContext::facts(int i) const {
  return i >= 0 && i < num_inputs() && inputs[i] ? *inputs[i] : UnknownFacts();
}

const Elements* ShapeContext::integers(int i) const {
  const Elements* found = elements(i);
  return found && std::all_of(found->begin(), found->end(), IsKnownElement) ? found : nullptr;
}

std::optional<int64_t> ShapeContext::integer(int i) const {
  const Elements* found = elements(i);
  if (!found || found->size() != 1 || !IsKnownElement((*found)[0])) return std::nullopt;
  return (*found)[0];
}

int64_t ShapeContext::SizeFrom(int i) const {
  const Elements* found = elements(i);
  return found && found->size() == 1 ? DimOfElement((*found)[0]) : kUnknownDim;
}

Shape ShapeContext::ShapeFrom(int i, bool or_scalar) {
  const Shape& tensor = in(i);
  if (!tensor.known_rank() || (or_scalar && tensor.rank() == 0)) return Shape::Unknown();
  if (tensor.rank() != 1) {
    Fail("input {0} of {1} specifies a shape and must be a vector, got shape {2}", i, op(),
         tensor.ToString());
    return Shape::Unknown();
  }
  if (const Elements* dims = elements(i)) {
    Shape shape = Shape::Scalar();
    for (int64_t dim : *dims) shape.Append(DimOfElement(dim));
    return shape;
  }
  constexpr int64_t kMaxRank = 254;  // TensorFlow's limit
  if (!tensor.IsKnown(0) || tensor.dim(0) > kMaxRank) return Shape::Unknown();
  return Shape::UnknownOfRank(static_cast<int>(tensor.dim(0)));
}

std::optional<AttrView> ShapeContext::Attr(llvm::StringRef key) const {
  if (std::optional<AttrView> found = node.FindAttr(key)) return found;
  const OpAttr* attr = info ? info->FindAttr(key) : nullptr;
  if (attr && attr->default_value) return AttrView(*attr->default_value);
  return std::nullopt;
}

int64_t ShapeContext::Int(llvm::StringRef key, int64_t otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsInt().value_or(otherwise) : otherwise;
}

bool ShapeContext::Bool(llvm::StringRef key, bool otherwise) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsBool().value_or(otherwise) : otherwise;
}

llvm::StringRef ShapeContext::String(llvm::StringRef key) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsString().value_or(llvm::StringRef()) : llvm::StringRef();
}

DataType ShapeContext::Type(llvm::StringRef key) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsType().value_or(proto::DT_INVALID) : proto::DT_INVALID;
}

std::vector<int64_t> ShapeContext::Ints(llvm::StringRef key) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsInts().value_or(std::vector<int64_t>()) : std::vector<int64_t>();
}

std::optional<Shape> ShapeContext::ShapeAttr(llvm::StringRef key) const {
  std::optional<AttrView> attr = Attr(key);
  return attr ? attr->AsShape() : std::nullopt;
}

void ShapeContext::OutElements(int i, Elements elements) {
  if (!HasOutput(i) || static_cast<int64_t>(elements.size()) > ShapeMap::kMaxElements) return;
  bool any =
      std::any_of(elements.begin(), elements.end(), [](int64_t e) { return e != kUnknownElement; });
  // Does not store elements that are all unknown, which say nothing. Grappler (!sees_inside) does
  // store them: it distinguishes a vector of unknown sizes from one whose elements it does not
  // track.
  if (any || elements.empty() || !sees_inside) outputs[i].SetElements(std::move(elements));
}

void ShapeContext::OutContent(int i, Shape content) {
  if (HasOutput(i)) outputs[i].SetContent(std::move(content));
}

void ShapeContext::OutFacts(int i, const PortFacts& facts) {
  if (HasOutput(i)) outputs[i] = facts.Copy();
}

Shape ShapeContext::WithRank(int i, int rank) {
  const Shape& shape = in(i);
  if (!shape.known_rank()) {
    Shape of_rank = Shape::UnknownOfRank(rank);
    if (!symbols || facts(i).handle == 0) return of_rank;
    for (int dim = 0; dim < rank; ++dim)
      of_rank.set_dim(dim, symbols->DimAt({node.id(), node.op_id(), -1 - i}, dim, next_symbol));
    Require({.x = facts(i).handle, .shape = of_rank});
    return of_rank;
  }
  if (shape.rank() == rank) return shape;
  Fail("input {0} of {1} must have rank {2}, got {3}", i, op(), rank, shape.ToString());
  return Shape::UnknownOfRank(rank);
}

const Shape& ShapeContext::WithRankAtLeast(int i, int rank) {
  const Shape& shape = in(i);
  if (!shape.known_rank() || shape.rank() >= rank) return shape;
  Fail("input {0} of {1} must have at least rank {2}, got {3}", i, op(), rank, shape.ToString());
  return UnknownFacts().shape;
}

int64_t ShapeContext::Equal(int64_t a, int64_t b, const char* what) {
  std::optional<int64_t> dim = MergeDims(a, b);
  if (!dim) Fail("{0} needs {1} to be equal, got {2} and {3}", op(), what, a, b);
  Require({.a = a, .b = b});
  return dim.value_or(kUnknownDim);
}

Shape ShapeContext::Equal(const Shape& a, const Shape& b) {
  std::optional<Shape> shape = MergeShapes(a, b);
  if (!shape) Fail("{0} needs equal shapes, got {1} and {2}", op(), a.ToString(), b.ToString());
  if (symbols && shape) RequireEqual(a, b);
  return shape.value_or(Shape::Unknown());
}

ShapeHandle ShapeContext::HandleOf(const Shape& shape) const {
  for (int i = 0; i < num_inputs(); ++i) {
    if (inputs[i] && &inputs[i]->shape == &shape) return inputs[i]->handle;
  }
  return 0;
}

ShapeHandle ShapeContext::HandleOfSide(const Shape& shape) const {
  if (shape.known_rank()) return 0;
  if (ShapeHandle handle = HandleOf(shape)) return handle;
  if (equal_so_far_ != 0) return equal_so_far_;
  for (const PortFacts* input : inputs) {
    if (input && input->handle != 0) return input->handle;
  }
  return 0;
}

void ShapeContext::OutEqual(int i, Shape shape) {
  if (!HasOutput(i)) return;
  outputs[i].handle = HandleOfSide(shape);
  outputs[i].shape = std::move(shape);
}

void ShapeContext::OutSizes(int i, Shape shape) {
  for (int dim = 0; symbols && shape.known_rank() && dim < shape.rank(); ++dim) {
    if (!shape.IsKnown(dim)) shape.set_dim(dim, kUnknownDim);
  }
  Out(i, std::move(shape));
}

void ShapeContext::NameDim(Shape& shape, int dim) {
  if (symbols && shape.dim(dim) == kUnknownDim)
    shape.set_dim(dim, symbols->DimAt({node.id(), node.op_id(), 0}, dim, next_symbol));
}

void ShapeContext::RequireEqual(const Shape& a, const Shape& b) {
  ShapeHandle x = HandleOfSide(a), y = HandleOfSide(b);
  if (a.known_rank() && b.known_rank()) {
    for (int i = 0; i < a.rank(); ++i) Require({.a = a.dim(i), .b = b.dim(i)});
  } else if (x != 0 && y != 0) {
    Require({.x = x, .y = y});
    equal_so_far_ = x;
  } else if (x != 0 && b.known_rank()) {
    Require({.x = x, .shape = b});
  } else if (y != 0 && a.known_rank()) {
    Require({.x = y, .shape = a});
  }
}

std::optional<int> ShapeContext::Axis(int64_t axis, int rank) {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  Fail("axis {0} of {1} is outside of [{2}, {3})", axis, op(), -rank, rank);
  return std::nullopt;
}

void ScalarOutputs(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, Shape::Scalar());
}

void SameAsInput(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, c.in(0));
}

void UnknownOutputs(ShapeContext&) {}

// For an op without a shape function: uses the shapes in the node's attributes (`_output_shapes`,
// `output_shapes`, `shape`). A single output that is a dataset, or a handle made without inputs, is
// a scalar.
void DefaultShape(ShapeContext& c) {
  if (c.info && c.info->outputs.size() == 1 && c.num_outputs() == 1) {
    DataType type = c.info->outputs[0].type;
    bool dataset = type == proto::DT_VARIANT && c.op().contains("Dataset");
    if (dataset || (type == proto::DT_RESOURCE && c.info->inputs.empty()))
      return c.Out(0, Shape::Scalar());
  }
  for (const char* key : {"_output_shapes", "output_shapes"}) {
    std::optional<AttrView> attr = c.Attr(key);
    auto shapes = attr ? attr->AsShapes() : std::nullopt;
    if (!shapes || shapes->size() != static_cast<size_t>(c.num_outputs())) continue;
    for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, (*shapes)[i]);
    return;
  }
  if (std::optional<Shape> shape = c.ShapeAttr("shape"); shape && c.num_outputs() == 1)
    c.Out(0, *shape);
}

}  // namespace grapnel
