// Shape functions of ops with handles: variables, lists and arrays of tensors, queues, iterators,
// tables, summaries. Infers the shapes of the handles and of their contents.
#include <algorithm>

#include "lib/shape/functions.h"

namespace grapnel {
namespace {

// --- Variables.

void VarHandleShape(ShapeContext& c) {
  c.Out(0, Shape::Scalar());
  if (std::optional<Shape> shape = c.ShapeAttr("shape")) c.OutContent(0, std::move(*shape));
}

void VarHandlesShape(ShapeContext& c) {
  std::optional<AttrView> attr = c.Attr("shapes");
  auto shapes = attr ? attr->AsShapes() : std::nullopt;
  for (int i = 0; i < c.num_outputs(); ++i) {
    c.Out(i, Shape::Scalar());
    if (shapes && i < static_cast<int>(shapes->size())) c.OutContent(i, (*shapes)[i]);
  }
}

// The shape of an argument node in a graph that TensorFlow's runtime dumped; if the argument is a
// handle, also the shape of its variable.
void ArgShape(ShapeContext& c) {
  DefaultShape(c);
  std::optional<AttrView> attr = c.Attr("_handle_shapes");
  auto shapes = attr ? attr->AsShapes() : std::nullopt;
  if (shapes && shapes->size() == 1 && c.num_outputs() == 1) c.OutContent(0, (*shapes)[0]);
}

void ReadVariableShape(ShapeContext& c) {
  for (int i = 0; i < c.num_outputs(); ++i) {
    if (const Shape* content = c.facts(i).content()) c.Out(i, *content);
  }
}

void VariableShapeShape(ShapeContext& c) {
  const Shape* content = c.facts(0).content();
  c.Out(0, VectorOf(content && content->known_rank() ? content->rank() : kUnknownDim));
  if (!content || !content->known_rank()) return;
  Elements elements;
  for (int64_t dim : content->dims()) elements.push_back(ElementOfDim(dim));
  c.OutElements(0, std::move(elements));
}

// In version 1 of this op, a scalar shape may also mean an unknown shape.
void OldVariableShape(ShapeContext& c) {
  std::optional<Shape> shape = c.ShapeAttr("shape");
  if (shape && shape->known_rank() && shape->rank() > 0) c.Out(0, std::move(*shape));
}

void AttrShape(ShapeContext& c) {
  if (std::optional<Shape> shape = c.ShapeAttr("shape")) c.Out(0, std::move(*shape));
}

void AssignShape(ShapeContext& c) {
  c.Out(0, c.Bool("validate_shape", true) ? c.Equal(c.in(0), c.in(1)) : c.in(1));
}

void AssignMathShape(ShapeContext& c) { c.OutEqual(0, c.Equal(c.in(0), c.in(1))); }

void AssignVariableShape(ShapeContext& c) {
  const Shape* content = c.facts(0).content();
  if (content && !MergeShapes(*content, c.in(1))) {
    c.Fail("{0} needs a value of shape {1}, got {2}", c.op(), content->ToString(),
           c.in(1).ToString());
  }
}

// --- TensorList: a scalar, whose contents have the shape of the list's elements.

void OutList(ShapeContext& c, const Shape& element) {
  c.Out(0, Shape::Scalar());
  c.OutContent(0, element);
}

Shape ArrayElement(ShapeContext& c) {
  const Shape* content = c.facts(0).content();
  return content ? *content : Shape::Unknown();
}

Shape ListElement(ShapeContext& c) { return c.sees_inside ? ArrayElement(c) : Shape::Unknown(); }

// Returns the shape of the tensors that were written to the list, if they are known.
Shape WrittenElement(ShapeContext& c) {
  const PortFacts& list = c.facts(0);
  Shape element = ListElement(c);
  if (!c.sees_inside || !list.extra || !list.extra->written) return element;
  return MergeShapes(element, *list.extra->written).value_or(element);
}

// Returns the shape of an element, from the list and the shape tensor in input `shape_at`.
Shape ListElementWith(ShapeContext& c, int shape_at) {
  Shape element = WrittenElement(c), asked = c.ShapeFrom(shape_at, /*or_scalar=*/true);
  return MergeShapes(element, asked).value_or(asked);
}

void ListOfAskedShape(ShapeContext& c) { OutList(c, c.ShapeFrom(0, /*or_scalar=*/true)); }

void ListReserveShape(ShapeContext& c) {
  ListOfAskedShape(c);
  if (c.believes_notes && c.HasOutput(0)) c.outputs[0].extra->knows_writes = true;
}

void EmptyListShape(ShapeContext& c) {
  ListOfAskedShape(c);
  if (c.believes_notes && c.HasOutput(0)) c.outputs[0].extra->holds_nothing = true;
}

void SameListShape(ShapeContext& c) { OutList(c, ListElement(c)); }

void ListSetItemShape(ShapeContext& c) {
  SameListShape(c);
  const PortFacts& list = c.facts(0);
  if (!list.extra || !list.extra->knows_writes || !c.HasOutput(0)) return;
  const std::optional<Shape>& before = list.extra->written;
  c.outputs[0].extra->knows_writes = true;
  c.outputs[0].extra->written = before ? JoinShapes(*before, c.in(2)) : c.in(2);
}

void ListFromTensorShape(ShapeContext& c) { OutList(c, SubShape(c.in(0), 1)); }
void ListScatterShape(ShapeContext& c) { OutList(c, c.ShapeFrom(2, /*or_scalar=*/true)); }
void ListSplitShape(ShapeContext& c) { OutList(c, c.ShapeFrom(1, /*or_scalar=*/true)); }

void ListPushBackShape(ShapeContext& c) {
  Shape element = ListElement(c);
  OutList(c, MergeShapes(element, c.in(1)) ? element : Shape::Unknown());
  if (c.HasOutput(0)) c.outputs[0].AddContentElements(c.facts(0), c.elements(1));
}

void ListPopBackShape(ShapeContext& c) {
  OutList(c, ListElement(c));
  if (!c.sees_inside) return;  // TensorFlow ignores the requested shape
  c.Out(1, ListElementWith(c, 1));
  const PortFacts& list = c.facts(0);
  if (!list.extra || !list.extra->content_elements || !c.HasOutput(1)) return;
  const Elements& elements = *list.extra->content_elements;
  c.outputs[0].extra->content_elements = elements;
  if (c.outputs[1].shape.NumElements() == static_cast<int64_t>(elements.size()))
    c.OutElements(1, elements);
}

void ListGetItemShape(ShapeContext& c) { c.Out(0, ListElementWith(c, 2)); }

void ListStackShape(ShapeContext& c) {
  int64_t count = c.Int("num_elements", -1);
  c.Out(0, ConcatShapes(VectorOf(count < 0 ? kUnknownDim : count), ListElementWith(c, 1)));
}

void ListGatherShape(ShapeContext& c) {
  c.Out(0, ConcatShapes(VectorOf(c.WithRank(1, 1).dim(0)), ListElementWith(c, 2)));
}

// The elements may have different sizes in their first dimension, so the output's first size is
// unknown.
void ListConcatShape(ShapeContext& c) {
  Shape element = c.num_inputs() > 1 ? ListElementWith(c, 1) : ListElement(c);
  if (element.known_rank() && element.rank() > 0)
    c.Out(0, ConcatShapes(VectorOf(kUnknownDim), SubShape(element, 1)));
  c.Out(1, VectorOf(kUnknownDim));
}

void ListElementShapeShape(ShapeContext& c) {
  Shape element = ListElement(c);
  if (!element.known_rank()) return;
  c.Out(0, VectorOf(element.rank()));
  Elements elements;
  for (int64_t dim : element.dims())
    elements.push_back(dim == kUnknownDim ? -1 : ElementOfDim(dim));
  c.OutElements(0, std::move(elements));
}

// --- TensorArray: a handle, which is a vector of two elements, and a flow scalar that orders the
// writes.

void ArrayShape(ShapeContext& c) {
  c.Out(0, VectorOf(2));
  c.Out(1, Shape::Scalar());
  if (std::optional<Shape> element = c.ShapeAttr("element_shape"))
    c.OutContent(0, std::move(*element));
}

void ArrayGradShape(ShapeContext& c) {
  c.Out(0, VectorOf(2));
  c.Out(1, Shape::Scalar());
  if (const Shape* content = c.facts(0).content()) c.OutContent(0, *content);
}

void ArrayReadShape(ShapeContext& c) { c.Out(0, ArrayElement(c)); }

void ArrayGatherShape(ShapeContext& c) {
  Shape element = c.ShapeAttr("element_shape").value_or(Shape::Unknown());
  element = MergeShapes(element, ArrayElement(c)).value_or(element);
  c.Out(0, ConcatShapes(VectorOf(c.WithRank(1, 1).dim(0)), element));
}

void ArrayConcatShape(ShapeContext& c) {
  Shape rest = c.ShapeAttr("element_shape_except0").value_or(Shape::Unknown());
  c.Out(0, ConcatShapes(VectorOf(kUnknownDim), rest));
  c.Out(1, VectorOf(kUnknownDim));
}

// --- Ops whose outputs have the shapes listed in an attribute.

void ListedShapes(ShapeContext& c) {
  for (const char* key : {"output_shapes", "shapes"}) {
    std::optional<AttrView> attr = c.Attr(key);
    auto shapes = attr ? attr->AsShapes() : std::nullopt;
    if (!shapes || shapes->size() != c.outputs.size()) continue;
    for (int i = 0; i < c.num_outputs(); ++i) c.Out(i, (*shapes)[i]);
  }
}

// --- Tables. The contents of a handle have the shape of a value, if keys are scalars. Grappler
// knows the contents of few tables, so those of other tables are tracked only with believes_notes
// (for users, not for rewrites).

void OutTable(ShapeContext& c, Shape value) {
  c.Out(0, Shape::Scalar());
  if (c.believes_notes) c.OutContent(0, std::move(value));
}

void TableShape(ShapeContext& c) { OutTable(c, Shape::Scalar()); }

void TableOfTensorsShape(ShapeContext& c) {
  OutTable(c, c.ShapeAttr("value_shape").value_or(Shape::Unknown()));
}

void DenseTableShape(ShapeContext& c) {
  c.Out(0, Shape::Scalar());
  if (c.in(0).known_rank() && c.in(0).rank() == 0) TableOfTensorsShape(c);
}

void TableFindShape(ShapeContext& c) {
  if (const Shape* value = c.facts(0).content()) return c.Out(0, ConcatShapes(c.in(1), *value));
  DefaultShape(c);
}

// A TF1 handle is a vector of two strings: container and name.
void Vector2Shape(ShapeContext& c) { c.Out(0, VectorOf(2)); }

void BarrierTakeManyShape(ShapeContext& c) { c.Out(0, VectorOf(kUnknownDim)); }

constexpr ShapeRule kRules[] = {
    {"_Arg", ArgShape},
    {"VarHandleOp", VarHandleShape},
    {"_VarHandlesOp", VarHandlesShape},
    {"_XlaAotOnlyVarHandleOp", VarHandleShape},
    {"ReadVariableOp", ReadVariableShape},
    {"_ReadVariablesOp", ReadVariableShape},
    {"VariableShape", VariableShapeShape},
    {"VarIsInitializedOp", ScalarOutputs},
    {"IsVariableInitialized", ScalarOutputs},
    {"Variable", OldVariableShape},
    {"VariableV2", AttrShape},
    {"TemporaryVariable", AttrShape},
    {"DestroyTemporaryVariable", SameAsInput},
    {"Assign", AssignShape},
    {"AssignAdd", AssignMathShape},
    {"AssignSub", AssignMathShape},
    {"AssignVariableOp", AssignVariableShape},
    {"AssignAddVariableOp", AssignVariableShape},
    {"AssignSubVariableOp", AssignVariableShape},
    {"CountUpTo", ScalarOutputs},
    {"ResourceCountUpTo", ScalarOutputs},
    {"ApplyAdaMax", SameAsInput},
    {"ApplyAdadelta", SameAsInput},
    {"ApplyAdagrad", SameAsInput},
    {"ApplyAdagradDA", SameAsInput},
    {"ApplyAdagradV2", SameAsInput},
    {"ApplyAdam", SameAsInput},
    {"ApplyAddSign", SameAsInput},
    {"ApplyCenteredRMSProp", SameAsInput},
    {"ApplyFtrl", SameAsInput},
    {"ApplyFtrlV2", SameAsInput},
    {"ApplyGradientDescent", SameAsInput},
    {"ApplyMomentum", SameAsInput},
    {"ApplyPowerSign", SameAsInput},
    {"ApplyProximalAdagrad", SameAsInput},
    {"ApplyProximalGradientDescent", SameAsInput},
    {"ApplyRMSProp", SameAsInput},
    {"SparseApplyAdadelta", SameAsInput},
    {"SparseApplyAdagrad", SameAsInput},
    {"SparseApplyAdagradV2", SameAsInput},
    {"SparseApplyFtrl", SameAsInput},
    {"SparseApplyFtrlV2", SameAsInput},
    {"SparseApplyMomentum", SameAsInput},
    {"SparseApplyRMSProp", SameAsInput},
    {"SparseApplyCenteredRMSProp", SameAsInput},
    {"EmptyTensorList", EmptyListShape},
    {"TensorListReserve", ListReserveShape},
    {"TensorListResize", SameListShape},
    {"TensorListSetItem", ListSetItemShape},
    {"TensorListConcatLists", SameListShape},
    {"TensorListScatterIntoExistingList", SameListShape},
    {"TensorListFromTensor", ListFromTensorShape},
    {"TensorListScatter", ListScatterShape},
    {"TensorListScatterV2", ListScatterShape},
    {"TensorListSplit", ListSplitShape},
    {"TensorListPushBack", ListPushBackShape},
    {"TensorListPopBack", ListPopBackShape},
    {"TensorListGetItem", ListGetItemShape},
    {"TensorListStack", ListStackShape},
    {"TensorListGather", ListGatherShape},
    {"TensorListConcat", ListConcatShape},
    {"TensorListConcatV2", ListConcatShape},
    {"TensorListElementShape", ListElementShapeShape},
    {"TensorListLength", ScalarOutputs},
    {"EmptyTensorMap", ScalarOutputs},
    {"TensorMapInsert", ScalarOutputs},
    {"TensorMapErase", ScalarOutputs},
    {"TensorMapHasKey", ScalarOutputs},
    {"TensorMapSize", ScalarOutputs},
    {"TensorArray", ArrayShape},
    {"TensorArrayV2", ArrayShape},
    {"TensorArrayV3", ArrayShape},
    {"TensorArrayGrad", ArrayGradShape},
    {"TensorArrayGradV2", ArrayGradShape},
    {"TensorArrayGradV3", ArrayGradShape},
    {"TensorArrayGradWithShape", ArrayGradShape},
    {"TensorArrayReadV2", ArrayReadShape},
    {"TensorArrayReadV3", ArrayReadShape},
    {"TensorArrayGatherV2", ArrayGatherShape},
    {"TensorArrayGatherV3", ArrayGatherShape},
    {"TensorArrayConcatV2", ArrayConcatShape},
    {"TensorArrayConcatV3", ArrayConcatShape},
    {"TensorArrayScatterV2", ScalarOutputs},
    {"TensorArrayScatterV3", ScalarOutputs},
    {"TensorArraySizeV2", ScalarOutputs},
    {"TensorArraySizeV3", ScalarOutputs},
    {"TensorArraySplitV2", ScalarOutputs},
    {"TensorArraySplitV3", ScalarOutputs},
    {"TensorArrayWriteV2", ScalarOutputs},
    {"TensorArrayWriteV3", ScalarOutputs},
    {"IteratorGetNext", ListedShapes},
    {"IteratorGetNextSync", ListedShapes},
    {"OptionalGetValue", ListedShapes},
    {"DatasetToSingleElement", ListedShapes},
    {"ReduceDataset", ListedShapes},
    {"MapDefun", ListedShapes},
    {"MultiDeviceIteratorGetNextFromShard", ListedShapes},
    {"InfeedDequeueTuple", ListedShapes},
    {"RestoreV2", ListedShapes},
    {"OptionalHasValue", ScalarOutputs},
    {"OptionalNone", ScalarOutputs},
    {"IteratorGetNextAsOptional", ScalarOutputs},
    {"IteratorToStringHandle", ScalarOutputs},
    {"AnonymousSeedGenerator", ScalarOutputs},
    {"ConditionalAccumulator", Vector2Shape},
    {"SparseConditionalAccumulator", Vector2Shape},
    {"ResourceConditionalAccumulator", Vector2Shape},
    {"AccumulatorNumAccumulated", ScalarOutputs},
    {"ResourceAccumulatorNumAccumulated", ScalarOutputs},
    {"StageSize", ScalarOutputs},
    {"MapSize", ScalarOutputs},
    {"MapIncompleteSize", ScalarOutputs},
    {"OrderedMapSize", ScalarOutputs},
    {"OrderedMapIncompleteSize", ScalarOutputs},
    {"OptionalFromValue", ScalarOutputs},
    {"AnonymousIteratorV2", ScalarOutputs},
    {"AnonymousIteratorV3", ScalarOutputs},
    {"QueueSize", ScalarOutputs},
    {"QueueSizeV2", ScalarOutputs},
    {"QueueIsClosed", ScalarOutputs},
    {"QueueIsClosedV2", ScalarOutputs},
    {"FIFOQueue", Vector2Shape},
    {"PaddingFIFOQueue", Vector2Shape},
    {"PriorityQueue", Vector2Shape},
    {"RandomShuffleQueue", Vector2Shape},
    {"Barrier", Vector2Shape},
    {"BarrierReadySize", ScalarOutputs},
    {"BarrierIncompleteSize", ScalarOutputs},
    {"BarrierTakeMany", BarrierTakeManyShape},
    {"HashTable", Vector2Shape},
    {"MutableHashTable", Vector2Shape},
    {"HashTableV2", TableShape},
    {"AnonymousHashTable", TableShape},
    {"MutableHashTableV2", TableShape},
    {"AnonymousMutableHashTable", TableShape},
    {"MutableHashTableOfTensorsV2", TableOfTensorsShape},
    {"AnonymousMutableHashTableOfTensors", TableOfTensorsShape},
    {"MutableDenseHashTableV2", DenseTableShape},
    {"AnonymousMutableDenseHashTable", DenseTableShape},
    {"LookupTableFindV2", TableFindShape},
    {"LookupTableSize", ScalarOutputs},
    {"LookupTableSizeV2", ScalarOutputs},
    {"StackV2", Vector2Shape},
    {"GetSessionHandle", ScalarOutputs},
    {"GetSessionHandleV2", ScalarOutputs},
    {"ReaderRead", ScalarOutputs},
    {"ReaderReadV2", ScalarOutputs},
    {"ReaderNumRecordsProducedV2", ScalarOutputs},
    {"Timestamp", ScalarOutputs},
    {"AudioSummary", ScalarOutputs},
    {"AudioSummaryV2", ScalarOutputs},
    {"HistogramSummary", ScalarOutputs},
    {"ImageSummary", ScalarOutputs},
    {"MergeSummary", ScalarOutputs},
    {"ScalarSummary", ScalarOutputs},
    {"TensorSummary", ScalarOutputs},
    {"TensorSummaryV2", ScalarOutputs},
    {"DatasetCardinality", ScalarOutputs},
    {"ToBool", ScalarOutputs},
};

}  // namespace

llvm::ArrayRef<ShapeRule> StateShapeRules() { return kRules; }

}  // namespace grapnel
