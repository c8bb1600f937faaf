// Lists of tensors (TensorList*), in which loops collect values; TensorArrays; Optionals.
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

// --- TensorArrays. The gradients of an array are a second array, which TensorArrayGrad finds by
// the array's handle and the attribute `source`. The ops of versions 1 and 2 differ from those of
// version 3 only in their handles. TensorFlow's rules for them make ops of version 3, which reject
// these handles; grapnel makes ops of the version of the forward op.

class ArrayGradient {
 public:
  // If the op writes to the array, the gradient waits until the op has returned its flow.
  ArrayGradient(G& g, const char* op) : g_(g) {
    version_ = g.node().op().drop_front(llvm::StringRef(op).size()).str();
    bool is_flow = g.num_outputs() == 1 && g.y().dtype() == proto::DT_FLOAT && IsWriter();
    Value flow = is_flow ? Barrier() : g.x(g.num_inputs() - 1);
    forward_flow_ = flow;
    auto beside = g.ColocatedWith(g.x(0));
    std::string source = Source();
    Operation made = g.Op(Named("Grad"), {g.x(0), flow}, {{"source", llvm::StringRef(source)}});
    handle_ = made.output(0);
    auto after = g.After({handle_});
    flow_ = Identity(flow, "gradient_flow");
  }

  // Returns the name of an op: "TensorArray", the action `what`, and the version of the forward op.
  std::string Named(const char* what) const {
    return ("TensorArray" + llvm::Twine(what) + version_).str();
  }
  Operation Op(const char* what, std::vector<Operand> between,
               llvm::ArrayRef<OpAttribute> attributes = {}) {
    between.insert(between.begin(), handle_);
    between.emplace_back(flow_);
    return g_.Op(Named(what), between, attributes);
  }
  const Value& flow() const { return forward_flow_; }

 private:
  bool IsWriter() const {
    llvm::StringRef op = g_.node().op();
    return op.contains("Write") || op.contains("Scatter") || op.contains("Split");
  }
  Value Barrier() {
    Value written = Identity(g_.y(), "flow_out");
    auto after = g_.After({written});
    return Identity(g_.dy(), "write_barrier");
  }
  std::string Source() const {
    // An eager program needs no number: each gradient has a recording of its own.
    int before = g_.dy().home().object() ? 0 : g_.state().gradient_calls - 1;
    return before <= 0 ? "gradients" : "gradients_" + std::to_string(before);
  }

  G& g_;
  std::string version_;  // "V3", "V2", or ""
  Value handle_, flow_, forward_flow_;
};

InputGradients ArrayReadOf(G& g) {
  ArrayGradient array(g, "TensorArrayRead");
  return {Gradient(), Gradient(), array.Op("Write", {g.x(1), g.dy()})};
}
InputGradients ArrayWriteOf(G& g) {
  ArrayGradient array(g, "TensorArrayWrite");
  Value element = array.Op("Read", {g.x(1)}, {{"dtype", g.x(2).dtype()}});
  return {Gradient(), Gradient(), element, array.flow()};
}
InputGradients ArrayGatherOf(G& g) {
  ArrayGradient array(g, "TensorArrayGather");
  return {Gradient(), Gradient(), array.Op("Scatter", {g.x(1), g.dy()})};
}
InputGradients ArrayScatterOf(G& g) {
  ArrayGradient array(g, "TensorArrayScatter");
  Value rows = array.Op("Gather", {g.x(1)}, {{"dtype", g.x(2).dtype()}});
  return {Gradient(), Gradient(), rows, array.flow()};
}
InputGradients ArrayConcatOf(G& g) {
  ArrayGradient array(g, "TensorArrayConcat");
  return {Gradient(), array.Op("Split", {g.dy(0), g.y(1)})};
}
InputGradients ArraySplitOf(G& g) {
  ArrayGradient array(g, "TensorArraySplit");
  Value joined = array.Op("Concat", {}, {{"dtype", g.x(1).dtype()}});
  return {Gradient(), joined, Gradient(), array.flow()};
}
#define GRAPNEL_ARRAY_GRADIENT(op, rule) \
  GRAPNEL_GRADIENT(op, rule);            \
  GRAPNEL_GRADIENT(op "V2", rule);       \
  GRAPNEL_GRADIENT(op "V3", rule)
GRAPNEL_ARRAY_GRADIENT("TensorArrayRead", ArrayReadOf);
GRAPNEL_ARRAY_GRADIENT("TensorArrayWrite", ArrayWriteOf);
GRAPNEL_ARRAY_GRADIENT("TensorArrayGather", ArrayGatherOf);
GRAPNEL_ARRAY_GRADIENT("TensorArrayScatter", ArrayScatterOf);
GRAPNEL_ARRAY_GRADIENT("TensorArrayConcat", ArrayConcatOf);
GRAPNEL_ARRAY_GRADIENT("TensorArraySplit", ArraySplitOf);
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
