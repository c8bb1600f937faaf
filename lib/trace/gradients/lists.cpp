// Lists of tensors (TensorList*), which loops collect values in, and TensorArrays of version 3.
#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {
namespace {

using G = GradientContext;

DataType ElementType(G& g) { return g.node().GetType("element_dtype"); }

Value ElementShapeOf(G& g, const Value& list) {
  return g.Op("TensorListElementShape", {list}, {{"shape_type", proto::DT_INT32}});
}
// The shape of a row of x.
Value RowShape(G& g, const Value& x) {
  return g.Op("Slice", {g.ShapeOf(x), std::vector<int>{1}, std::vector<int>{-1}});
}

GRAPNEL_GRADIENT("TensorListPushBack", [](G& g) -> InputGradients {
  Operation popped =
      g.Op("TensorListPopBack", {g.dy(), g.ShapeOf(g.x(1))}, {{"element_dtype", ElementType(g)}});
  return {popped.output(0), popped.output(1)};
});
GRAPNEL_GRADIENT("TensorListPopBack", [](G& g) -> InputGradients {
  return {g.Op("TensorListPushBack", {g.dy(0), g.dy(1)})};
});
GRAPNEL_GRADIENT("TensorListStack", [](G& g) -> InputGradients {
  Shape shape = g.dy().shape();
  std::vector<int> element;
  bool known = shape.known_rank() && shape.rank() > 0;
  for (int i = 1; known && i < shape.rank(); ++i)
    element.push_back(shape.IsKnown(i) ? static_cast<int>(shape.dim(i)) : -1);
  Operand element_shape = known ? Operand(element) : Operand(-1);
  return {g.Op("TensorListFromTensor", {g.dy(), element_shape})};
});
GRAPNEL_GRADIENT("TensorListFromTensor", [](G& g) -> InputGradients {
  Shape shape = g.x(0).shape();
  int64_t count = shape.known_rank() && shape.rank() > 0 && shape.IsKnown(0) ? shape.dim(0) : -1;
  return {g.Op("TensorListStack", {g.dy(), RowShape(g, g.x(0))},
               {{"element_dtype", g.x(0).dtype()}, {"num_elements", count}})};
});
GRAPNEL_GRADIENT("TensorListGetItem", [](G& g) -> InputGradients {
  Value length = g.Op("TensorListLength", {g.x(0)});
  Value shape = ElementShapeOf(g, g.x(0));
  Value empty = g.Op("TensorListReserve", {shape, length}, {{"element_dtype", g.dy().dtype()}});
  return {g.Op("TensorListSetItem", {empty, g.x(1), g.dy()})};
});
GRAPNEL_GRADIENT("TensorListSetItem", [](G& g) -> InputGradients {
  Value zeros = g.ZerosLike(g.x(2));
  Value of_list = g.Op("TensorListSetItem", {g.dy(), g.x(1), zeros});
  Value of_item = g.Op("TensorListGetItem", {g.dy(), g.x(1), g.ShapeOf(g.x(2))},
                       {{"element_dtype", g.x(2).dtype()}});
  if (g.node().GetBool("resize_if_index_out_of_bounds")) {
    Value length = g.Op("TensorListLength", {g.x(0)});
    of_list = g.Op("TensorListResize", {of_list, length});
  }
  return {of_list, Gradient(), of_item};
});
GRAPNEL_GRADIENT("TensorListResize", [](G& g) -> InputGradients {
  Value length = g.Op("TensorListLength", {g.x(0)});
  return {g.Op("TensorListResize", {g.dy(), length})};
});
GRAPNEL_GRADIENT("TensorListGather", [](G& g) -> InputGradients {
  Value shape = ElementShapeOf(g, g.x(0));
  Value length = g.Op("TensorListLength", {g.x(0)});
  Value empty = g.Op("TensorListReserve", {shape, length}, {{"element_dtype", g.dy().dtype()}});
  return {g.Op("TensorListScatterIntoExistingList", {empty, g.dy(), g.x(1)})};
});
InputGradients ScatterOf(G& g) {
  return {g.Op("TensorListGather", {g.dy(), g.x(1), RowShape(g, g.x(0))},
               {{"element_dtype", g.x(0).dtype()}})};
}
GRAPNEL_GRADIENT("TensorListScatter", ScatterOf);
GRAPNEL_GRADIENT("TensorListScatterV2", ScatterOf);
GRAPNEL_GRADIENT("TensorListScatterIntoExistingList", [](G& g) -> InputGradients {
  Value tensor = g.x(1), indices = g.x(2);
  Value of_tensor = g.Op("TensorListGather", {g.dy(), indices, RowShape(g, tensor)},
                         {{"element_dtype", tensor.dtype()}});
  Value zeros = g.ZerosLike(tensor);
  Value of_list = g.Op("TensorListScatterIntoExistingList", {g.dy(), zeros, indices});
  return {of_list, of_tensor};
});
InputGradients ListConcatOf(G& g) {
  Value shape = ElementShapeOf(g, g.x(0));
  return {g.Op("TensorListSplit", {g.dy(0), shape, g.y(1)})};
}
GRAPNEL_GRADIENT("TensorListConcat", ListConcatOf);
GRAPNEL_GRADIENT("TensorListConcatV2", ListConcatOf);
GRAPNEL_GRADIENT("TensorListSplit", [](G& g) -> InputGradients {
  Value shape = g.Concat({std::vector<int>{-1}, RowShape(g, g.x(0))}, 0);
  return {g.Op("TensorListConcatV2", {g.dy(), shape, g.x(2)}, {{"element_dtype", g.x(0).dtype()}})};
});

GRAPNEL_NO_GRADIENT("TensorListConcatLists");
GRAPNEL_NO_GRADIENT("TensorListElementShape");
GRAPNEL_NO_GRADIENT("TensorListLength");
GRAPNEL_NO_GRADIENT("TensorListPushBackBatch");

// --- TensorArrays: the gradients of an array are an array of its own, found by its handle and the
// name of the flow that asks.

// What TensorFlow names the gradient's array after: the outermost scope of the gradient.
std::string SourceOf(const Value& dy) {
  // Of an eager program the recording tells one gradient's arrays from another's.
  if (dy.home().object()) return "gradients";
  llvm::StringRef name = NodeOf(dy).name();
  llvm::StringRef first = name.split('/').first;
  return first.take_front(9) == "gradients" ? first.str() : "gradients";
}
struct ArrayGradient {
  Value handle, flow;
};
ArrayGradient GradientArray(G& g, const Value& handle, const Value& flow, const Value& dy) {
  std::string source = SourceOf(dy);
  Operation made = g.Op("TensorArrayGradV3", {handle, flow}, {{"source", llvm::StringRef(source)}});
  return {made.output(0), made.output(1)};
}
GRAPNEL_GRADIENT("TensorArrayReadV3", [](G& g) -> InputGradients {
  ArrayGradient array = GradientArray(g, g.x(0), g.x(2), g.dy());
  return {Gradient(), Gradient(),
          g.Op("TensorArrayWriteV3", {array.handle, g.x(1), g.dy(), array.flow})};
});
GRAPNEL_GRADIENT("TensorArrayWriteV3", [](G& g) -> InputGradients {
  ArrayGradient array = GradientArray(g, g.x(0), g.dy(), g.dy());
  Value read =
      g.Op("TensorArrayReadV3", {array.handle, g.x(1), array.flow}, {{"dtype", g.x(2).dtype()}});
  return {Gradient(), Gradient(), read, g.dy()};
});
GRAPNEL_GRADIENT("TensorArrayGatherV3", [](G& g) -> InputGradients {
  ArrayGradient array = GradientArray(g, g.x(0), g.x(2), g.dy());
  return {Gradient(), Gradient(),
          g.Op("TensorArrayScatterV3", {array.handle, g.x(1), g.dy(), array.flow})};
});
GRAPNEL_GRADIENT("TensorArrayScatterV3", [](G& g) -> InputGradients {
  ArrayGradient array = GradientArray(g, g.x(0), g.dy(), g.dy());
  Value rows =
      g.Op("TensorArrayGatherV3", {array.handle, g.x(1), array.flow}, {{"dtype", g.x(2).dtype()}});
  return {Gradient(), Gradient(), rows, g.dy()};
});
GRAPNEL_GRADIENT("TensorArrayConcatV3", [](G& g) -> InputGradients {
  ArrayGradient array = GradientArray(g, g.x(0), g.x(1), g.dy(0));
  return {Gradient(), g.Op("TensorArraySplitV3", {array.handle, g.dy(0), g.y(1), array.flow})};
});
GRAPNEL_GRADIENT("TensorArraySplitV3", [](G& g) -> InputGradients {
  ArrayGradient array = GradientArray(g, g.x(0), g.dy(), g.dy());
  Value joined =
      g.Op("TensorArrayConcatV3", {array.handle, array.flow}, {{"dtype", g.x(1).dtype()}});
  return {Gradient(), joined, Gradient(), g.dy()};
});
GRAPNEL_NO_GRADIENT("TensorArrayV3");
GRAPNEL_NO_GRADIENT("TensorArrayGradV3");
GRAPNEL_NO_GRADIENT("TensorArrayGradWithShape");
GRAPNEL_NO_GRADIENT("TensorArraySizeV3");
GRAPNEL_NO_GRADIENT("TensorArrayCloseV3");

// --- Optionals.

GRAPNEL_GRADIENT("OptionalFromValue", [](G& g) {
  std::vector<DataType> types;
  std::vector<Shape> shapes;
  for (int i = 0; i < g.num_inputs(); ++i) {
    types.push_back(g.x(i).dtype());
    shapes.push_back(g.x(i).shape());
  }
  Operation values =
      g.Op("OptionalGetValue", {g.dy()}, {{"output_types", types}, {"output_shapes", shapes}});
  InputGradients gradients;
  for (int i = 0; i < g.num_inputs(); ++i) gradients.push_back(values.output(i));
  return gradients;
});
GRAPNEL_GRADIENT("OptionalGetValue", [](G& g) -> InputGradients {
  Values dys;
  for (int i = 0; i < g.num_outputs(); ++i) dys.push_back(g.dy(i));
  return {g.Op("OptionalFromValue", {dys})};
});

}  // namespace
}  // namespace grapnel
