// Results of shape inference on hand-made graphs. Agreement with TensorFlow is measured on whole
// graphs.
#include "lib/shape/inference.h"

#include "gtest/gtest.h"
#include "lib/ir/literal.h"
#include "lib/ir/module.h"

namespace grapnel {
namespace {

using Inputs = std::vector<Port>;

// Builds a main graph a node at a time.
class ShapeInferenceTest : public ::testing::Test {
 protected:
  ShapeInferenceTest() {
    module_.versions = std::string("\x08\xda\x0e", 3); /* VersionDef: producer 1882 */
  }

  Port Add(Graph& graph, llvm::StringRef op, const Inputs& inputs = {}) {
    // UniqueName would search all names of a long chain.
    NodeId id = graph.AddNode((op + "_" + llvm::Twine(count_++)).str(), op);
    for (Port input : inputs) graph.AddInput(id, input);
    return {id, 0};
  }
  Port Add(llvm::StringRef op, const Inputs& inputs = {}) { return Add(module_.main, op, inputs); }
  Port With(Port port, llvm::StringRef key, const std::string& value) {
    module_.main.SetAttr(port.node, key, value);
    return port;
  }
  Port Typed(llvm::StringRef op, const Inputs& inputs, DataType type = proto::DT_FLOAT) {
    return With(Add(op, inputs), "T", attr::Type(type));
  }
  Port Placeholder(const Shape& shape, DataType type = proto::DT_FLOAT) {
    return With(With(Add("Placeholder"), "dtype", attr::Type(type)), "shape", attr::ShapeOf(shape));
  }
  Port Placeholder(std::initializer_list<int64_t> dims) { return Placeholder(Shape(Dims(dims))); }
  Port Const(const Literal& value) {
    return With(With(Add("Const"), "dtype", attr::Type(value.dtype())), "value",
                attr::Tensor(value.ToTensorProto()));
  }
  Port Vector(llvm::ArrayRef<int32_t> values) { return Const(Literal::Vector32(values)); }
  Port Scalar(int32_t value) { return Const(Literal::Integers(proto::DT_INT32, {}, {value})); }
  Port ShapeOp(Port of) {
    return With(Typed("Shape", {of}), "out_type", attr::Type(proto::DT_INT32));
  }
  Port Slice(Port of, int begin, int end, bool shrink) {
    Port slice =
        Typed("StridedSlice", {of, Vector({begin}), Vector({end}), Vector({1})}, proto::DT_INT32);
    return With(With(slice, "Index", attr::Type(proto::DT_INT32)), "shrink_axis_mask",
                attr::Int(shrink));
  }
  Port Pack(const Inputs& inputs) {
    return With(Typed("Pack", inputs, proto::DT_INT32), "N",
                attr::Int(static_cast<int64_t>(inputs.size())));
  }
  Port Concat(Inputs inputs, int axis, DataType type = proto::DT_FLOAT) {
    int64_t count = static_cast<int64_t>(inputs.size());
    inputs.push_back(Scalar(axis));
    return With(Typed("ConcatV2", inputs, type), "N", attr::Int(count));
  }

  ShapeMap Infer(const ShapeOptions& options = {}) { return InferShapes(module_.main, options); }
  std::string ShapeText(Port port) { return Infer().OfPort(port).ToString(); }
  std::string ProblemText() {
    ShapeMap shapes = Infer();
    return shapes.problems().empty() ? "" : shapes.problems()[0].text;
  }

  Module module_;
  int count_ = 0;
};

TEST_F(ShapeInferenceTest, SymbolsGoThroughElementwiseOps) {
  Port x = Placeholder({-1, 3}), bias = Placeholder({3});
  EXPECT_EQ(ShapeText(x), "[s1,3]");
  EXPECT_EQ(ShapeText(Typed("Relu", {Typed("AddV2", {x, bias})})), "[s1,3]");
}

TEST_F(ShapeInferenceTest, BroadcastingOfSymbols) {
  Port a = Placeholder({-1}), b = Placeholder({-1}), one = Placeholder({1}),
       five = Placeholder({5});
  EXPECT_EQ(ShapeText(Typed("Mul", {a, a})), "[s1]");
  EXPECT_EQ(ShapeText(Typed("Mul", {a, one})), "[s1]");
  EXPECT_EQ(ShapeText(Typed("Mul", {a, five})), "[5]");
  EXPECT_EQ(ShapeText(Typed("Mul", {a, b})), "[?]");
}

TEST_F(ShapeInferenceTest, PlaceholdersThatAreNotTrustedAreUnknown) {
  Port x = Placeholder({2, 3}), y = Typed("Relu", {x});
  ShapeOptions options;
  options.trust_feeds = false;
  EXPECT_EQ(Infer(options).OfPort(y).ToString(), "?");
}

// Shapes with Grappler's options: untrusted feeds, and demands from readers.
class ShapesFromReadersTest : public ShapeInferenceTest {
 protected:
  ShapesFromReadersTest() {
    options_.trust_feeds = false;
    options_.from_readers = true;
  }
  std::string Text(Port port) { return Infer(options_).OfPort(port).ToString(); }
  Port Unknown() { return Placeholder(Shape::Unknown()); }
  Port Zeros(std::initializer_list<int64_t> dims) {
    std::string bytes(Shape(Dims(dims)).NumElements().value() * sizeof(float), 0);
    return Const(Literal::Make(proto::DT_FLOAT, Dims(dims), bytes));
  }

  ShapeOptions options_;
};

TEST_F(ShapesFromReadersTest, AProductDemandsItsInnerSize) {
  Port x = Unknown(), transposed = Unknown();
  Typed("MatMul", {x, Zeros({8, 3})});
  With(Typed("MatMul", {transposed, Zeros({5, 3})}), "transpose_a", attr::Bool(true));
  EXPECT_EQ(Text(x), "[s1,8]");
  EXPECT_EQ(Text(transposed), "[5,s4]");
}

TEST_F(ShapesFromReadersTest, TileDemandsARankForEachMultiple) {
  Port x = Unknown(), reversed = Typed("ReverseV2", {x, Vector({})});
  Typed("Tile", {reversed, Vector({1, 2, 1})});
  EXPECT_EQ(Text(x), "[s1,s2,s3]");
}

// Two readers require different things of a shape of unknown rank.
TEST_F(ShapesFromReadersTest, TheReaderThatComesFirstCounts) {
  Port x = Unknown(), tile = Typed("Tile", {x, Vector({1, 2})});
  Port product = Typed("MatMul", {x, Zeros({8, 3})});
  EXPECT_EQ(Text(x), "[s1,s2]");
  std::vector<uint32_t> ranks(product.node + 1);
  ranks[tile.node] = 1;
  options_.ranks = ranks;
  EXPECT_EQ(Infer(options_).OfPort(x).dim(1), 8);
}

TEST_F(ShapesFromReadersTest, ElementsGoThroughJoinsAndNotThroughArithmetic) {
  Port joined = Concat({Vector({2}), Vector({3})}, 0, proto::DT_INT32);
  Port product = Typed("Mul", {Vector({2, 3}), Vector({1, 1})}, proto::DT_INT32);
  Port a = Typed("Reshape", {Unknown(), joined}), b = Typed("Reshape", {Unknown(), product});
  EXPECT_EQ(Text(b), "[2,3]");
  options_.sees_inside = false;
  EXPECT_EQ(Text(a), "[2,3]");
  EXPECT_EQ(Infer(options_).OfPort(b).rank(), 2);
  EXPECT_NE(Text(b), "[2,3]");
}

TEST_F(ShapesFromReadersTest, WhatIsAddedUpIsOneShape) {
  Port x = Unknown(), y = Unknown(), sum = With(Typed("AddN", {x, y}), "N", attr::Int(2));
  Typed("MatMul", {sum, Zeros({8, 3})});
  EXPECT_EQ(Text(y), "[s1,8]");
}

TEST_F(ShapesFromReadersTest, PartsOfASplitHaveOneUnknownSize) {
  Port x = Typed("Transpose", {Unknown(), Vector({1, 0})});
  Port split = With(Typed("Split", {Scalar(1), x}), "num_split", attr::Int(2));
  ShapeMap shapes = Infer(options_);
  EXPECT_EQ(shapes.OfPort(split).ToString(), "[s2,s3]");
  EXPECT_EQ(shapes.OfPort({split.node, 1}).ToString(), "[s2,s3]");
}

TEST_F(ShapesFromReadersTest, ASliceForgetsWhichSizesAreTheSame) {
  Port x = Typed("Transpose", {Unknown(), Vector({1, 0})});
  Port slice = With(Typed("StridedSlice", {x, Vector({0}), Vector({0}), Vector({1})}), "end_mask",
                    attr::Int(1));
  ShapeMap shapes = Infer(options_);
  EXPECT_EQ(shapes.OfPort(slice).rank(), 2);
  EXPECT_NE(shapes.OfPort(slice), shapes.OfPort(x));
}

TEST_F(ShapesFromReadersTest, AReductionOfUnknownAxesHasNoRank) {
  Port x = Zeros({2, 3}), axes = Placeholder(Shape(Dims{1}), proto::DT_INT32);
  EXPECT_EQ(Text(Typed("Sum", {x, axes})), "?");
}

TEST_F(ShapeInferenceTest, WhatIsFedHasNoKnownElements) {
  Port size = Vector({2, 3}),
       zeros = Typed("Fill", {size, Const(Literal::Scalar(proto::DT_FLOAT, 0))});
  llvm::DenseSet<NodeId> fed = {size.node};
  ShapeOptions options;
  options.fed = &fed;
  EXPECT_EQ(Infer().OfPort(zeros).ToString(), "[2,3]");
  ShapeMap shapes = Infer(options);
  EXPECT_EQ(shapes.OfPort(zeros).ToString(), "[?,?]");
  EXPECT_FALSE(shapes.ElementsOf(size));
}

TEST_F(ShapeInferenceTest, ReshapeThroughAShapeTensor) {
  Port x = Placeholder({-1, 4, 6});
  Port flat = Typed("Reshape", {x, Pack({Slice(ShapeOp(x), 0, 1, true), Scalar(-1)})});
  EXPECT_EQ(ShapeText(flat), "[s1,24]");
  Port back = Typed("Reshape", {flat, Vector({-1, 4, 6})});
  EXPECT_EQ(ShapeText(back), "[s1,4,6]");
}

TEST_F(ShapeInferenceTest, ReshapeFindsTheMissingDimension) {
  EXPECT_EQ(ShapeText(Typed("Reshape", {Placeholder({6, 4}), Vector({3, -1})})), "[3,8]");
  EXPECT_EQ(ShapeText(Typed("Reshape", {Placeholder({6, -1}), Vector({3, -1})})), "[3,?]");
}

TEST_F(ShapeInferenceTest, NegativeElementsAreNotUnknownOnes) {
  Port minus = Vector({-1, 7});
  ShapeMap shapes = Infer();
  ASSERT_TRUE(shapes.IntegersOf(minus));
  EXPECT_EQ((*shapes.IntegersOf(minus))[0], -1);
  Port x = Placeholder({-1, 2}), shape = ShapeOp(x);
  shapes = Infer();
  ASSERT_TRUE(shapes.ElementsOf(shape));
  EXPECT_FALSE(shapes.IntegersOf(shape));
  EXPECT_EQ(DimOfElement((*shapes.ElementsOf(shape))[0]), shapes.OfPort(x).dim(0));
}

TEST_F(ShapeInferenceTest, ProductOfShapeTensor) {
  Port x = Placeholder({-1, 4, 6});
  Port product = Typed("Prod", {Slice(ShapeOp(x), 1, 3, false), Vector({0})}, proto::DT_INT32);
  EXPECT_EQ((*Infer().IntegersOf(product))[0], 24);
}

TEST_F(ShapeInferenceTest, Int32WrapsAroundAndIsNotFollowed) {
  Port product = Typed("Mul", {Scalar(1 << 20), Scalar(1 << 20)}, proto::DT_INT32);
  EXPECT_FALSE(Infer().ElementsOf(product));
}

TEST_F(ShapeInferenceTest, ConvolutionKeepsTheBatchSymbol) {
  Port conv = Typed("Conv2D", {Placeholder({-1, 224, 224, 3}), Placeholder({7, 7, 3, 64})});
  With(With(conv, "strides", attr::Ints({1, 2, 2, 1})), "padding", attr::String("SAME"));
  EXPECT_EQ(ShapeText(conv), "[s1,112,112,64]");
  With(conv, "padding", attr::String("VALID"));
  EXPECT_EQ(ShapeText(conv), "[s1,109,109,64]");
}

TEST_F(ShapeInferenceTest, StridedSliceByPythonsRules) {
  Port x = Placeholder({5, 6, 7});
  Port slice = Typed("StridedSlice", {x, Vector({-1, 0, 1}), Vector({0, 0, 6}), Vector({1, 1, 2})});
  With(With(slice, "shrink_axis_mask", attr::Int(1)), "end_mask", attr::Int(2));
  EXPECT_EQ(ShapeText(slice), "[6,3]");
}

TEST_F(ShapeInferenceTest, MisfitIsAProblemOfTheNode) {
  Port product = Typed("MatMul", {Placeholder({2, 3}), Placeholder({4, 5})});
  EXPECT_EQ(ProblemText(), "MatMul needs matching inner sizes, got [2,3] and [4,5]");
  ShapeMap shapes = Infer();
  EXPECT_EQ(shapes.problems()[0].where, module_.main.node(product.node).name());
  EXPECT_EQ(shapes.OfPort(product).ToString(), "?");
}

TEST_F(ShapeInferenceTest, DifferentSymbolsMayBeEqual) {
  Typed("MatMul", {Placeholder({2, -1}), Placeholder({-1, 5})});
  EXPECT_EQ(ProblemText(), "");
}

TEST_F(ShapeInferenceTest, MergeKeepsWhatBothSidesSay) {
  Port x = Placeholder({2, 3}), y = Placeholder({4, 3});
  Port merge = With(Typed("Merge", {x, y}), "N", attr::Int(2));
  EXPECT_EQ(ShapeText(merge), "[?,3]");
  EXPECT_EQ(ShapeText({merge.node, 1}), "[]");
}

TEST_F(ShapeInferenceTest, LoopIsWidenedUntilItRests) {
  Port start = Placeholder({1, 3}), enter = Typed("Enter", {start});
  Port merge = With(Typed("Merge", {enter, enter}), "N", attr::Int(2));
  Port predicate = Const(Literal::Scalar(proto::DT_BOOL, 1));
  Port body = {Typed("Switch", {merge, predicate}).node, 1};
  Port twice = Concat({body, body}, 0);
  Port next = Typed("NextIteration", {twice});
  module_.main.SetInput(merge.node, 1, next);
  Port exit = Typed("Exit", {{body.node, 0}});
  EXPECT_EQ(ShapeText(exit), "[?,3]");
  EXPECT_EQ(ShapeText(twice), "[?,3]");
}

TEST_F(ShapeInferenceTest, CycleWithoutLoopIsLeftUnknown) {
  Port x = Placeholder({2}), a = Typed("Relu", {x}), b = Typed("Relu", {a});
  module_.main.SetInput(a.node, 0, b);
  EXPECT_EQ(ShapeText(b), "?");
  EXPECT_EQ(ShapeText(x), "[2]");
}

TEST_F(ShapeInferenceTest, LongChainNeedsNoStack) {
  Port port = Placeholder({2, -1});
  for (int i = 0; i < 100000; ++i) port = Typed("Relu", {port});
  EXPECT_EQ(ShapeText(port), "[2,s1]");
}

TEST_F(ShapeInferenceTest, VariableKnowsItsShape) {
  Port handle = With(With(Add("VarHandleOp"), "dtype", attr::Type(proto::DT_FLOAT)), "shape",
                     attr::ShapeOf(Shape(Dims{3, 4})));
  Port read = With(Add("ReadVariableOp", {handle}), "dtype", attr::Type(proto::DT_FLOAT));
  EXPECT_EQ(ShapeText(handle), "[]");
  EXPECT_EQ(ShapeText(read), "[3,4]");
}

TEST_F(ShapeInferenceTest, OpThatNobodyKnowsHasItsAttributesShapes) {
  Port x = Placeholder({2}),
       custom = With(Add("MyCustomOp", {x}), "_output_shapes", attr::Shapes({Shape(Dims{7})}));
  Typed("Relu", {custom});
  EXPECT_EQ(ShapeText(custom), "[7]");
  ShapeMap shapes = Infer();
  EXPECT_EQ(shapes.TypeOf(custom), proto::DT_INVALID);
  EXPECT_EQ(shapes.TypeOf(x), proto::DT_FLOAT);
}

// twice(x) = Concat(x, x) along the first dimension; calls itself when `recursive`.
class FunctionShapesTest : public ShapeInferenceTest {
 protected:
  Function* AddTwice(bool recursive) {
    Function* twice = module_.AddFunction("twice");
    OpArg x, y;
    x.name = "x", y.name = "y";
    x.type = y.type = proto::DT_FLOAT;
    twice->info.name = "twice";
    twice->info.inputs = {x};
    twice->info.outputs = {y};
    Graph& body = twice->body;
    Port arg = Add(body, "_Arg"), axis = Add(body, "Const");
    body.SetAttr(arg.node, "T", attr::Type(proto::DT_FLOAT));
    body.SetAttr(arg.node, "index", attr::Int(0));
    body.SetAttr(axis.node, "value",
                 attr::Tensor(Literal::Integers(proto::DT_INT32, {}, {0}).ToTensorProto()));
    Port value = recursive ? Add(body, "twice", {arg}) : Add(body, "ConcatV2", {arg, arg, axis});
    body.SetAttr(value.node, "N", attr::Int(2));
    body.SetAttr(value.node, "T", attr::Type(proto::DT_FLOAT));
    Port result = Add(body, "_Retval", {value});
    twice->args = {arg.node};
    twice->results = {{"y", result.node}};
    return twice;
  }
  Port Call(Port x) {
    Port call = With(Add("PartitionedCall", {x}), "f", attr::Func("twice"));
    return With(With(call, "Tin", attr::Types({proto::DT_FLOAT})), "Tout",
                attr::Types({proto::DT_FLOAT}));
  }
};

TEST_F(FunctionShapesTest, CallsAreInferredThroughTheBody) {
  AddTwice(false);
  Port x = Placeholder({2, -1});
  EXPECT_EQ(ShapeText(Call(Call(x))), "[8,s1]");
  EXPECT_EQ(ShapeText(Add("twice", {x})), "[4,s1]");
}

TEST_F(FunctionShapesTest, RecursionEnds) {
  AddTwice(true);
  EXPECT_EQ(ShapeText(Call(Placeholder({2, 3}))), "?");
}

// Cached results of a body's inference are dropped when the body changes.
TEST_F(FunctionShapesTest, UpdateSeesAnotherBody) {
  Function* twice = AddTwice(false);
  Port x = Placeholder({2, -1}), first = Call(x);
  ShapeMap shapes = Infer();
  EXPECT_EQ(shapes.OfPort(first).ToString(), "[4,s1]");
  Port second = Call(x);
  shapes.Update(second.node);
  EXPECT_EQ(shapes.OfPort(second).ToString(), "[4,s1]");
  twice->body.SetInput(twice->results[0].node, 0, {twice->args[0], 0});
  shapes.Update(first.node);
  Port third = Call(x);
  shapes.Update(third.node);
  EXPECT_EQ(shapes.OfPort(first).ToString(), "[2,s1]");
  EXPECT_EQ(shapes.OfPort(third).ToString(), "[2,s1]");
}

// The results of a recorded call, of other calls, and of calls recorded for other bodies.
TEST_F(FunctionShapesTest, CallsThatWereTold) {
  Function* twice = AddTwice(false);
  Port five = Placeholder({5}), seven = Placeholder({7});
  ShapeMap shapes = Infer();
  shapes.AddCall(*twice, InferShapes(twice->body, {.beside = &shapes}, {Shape(Dims{5})}));
  shapes.AddCall(*twice, InferShapes(twice->body));  // the shape of its argument is unknown
  Port first = Call(five), second = Call(seven);
  shapes.Update(second.node);
  shapes.Update(first.node);
  EXPECT_EQ(shapes.OfPort(first).ToString(), "[10]");
  EXPECT_EQ(shapes.OfPort(second).ToString(), "[14]");
  twice->body.SetInput(twice->results[0].node, 0, {twice->args[0], 0});
  shapes.Update(first.node);
  EXPECT_EQ(shapes.OfPort(first).ToString(), "[5]");
}

TEST_F(FunctionShapesTest, WhileIsWidened) {
  AddTwice(false);
  Port loop = With(Add("While", {Placeholder({1, 3})}), "body", attr::Func("twice"));
  With(loop, "T", attr::Types({proto::DT_FLOAT}));
  EXPECT_EQ(ShapeText(loop), "[?,3]");
}

TEST_F(FunctionShapesTest, BodyByItself) {
  Function* twice = AddTwice(false);
  Port result = twice->body.node(twice->results[0].node).input(0);
  EXPECT_EQ(InferShapes(twice->body, {}, {Shape(Dims{5})}).OfPort(result).ToString(), "[10]");
  EXPECT_EQ(InferShapes(twice->body).OfPort(result).ToString(), "?");
}

TEST_F(ShapeInferenceTest, UpdateFollowsAChange) {
  Port x = Placeholder({-1, 3}), y = Placeholder({5, 3}), relu = Typed("Relu", {x}),
       sum = Typed("Relu", {relu});
  ShapeMap shapes = Infer();
  EXPECT_EQ(shapes.OfPort(sum).ToString(), "[s1,3]");
  module_.main.SetInput(relu.node, 0, y);
  shapes.Update(relu.node);
  EXPECT_EQ(shapes.OfPort(sum).ToString(), "[5,3]");
}

TEST_F(ShapeInferenceTest, UpdateOfANewNodeFindsItsNewInputs) {
  Port x = Placeholder({-1, 3});
  ShapeMap shapes = Infer();
  Port first = Typed("Relu", {x}), second = Typed("Relu", {first});
  shapes.Update(second.node);
  EXPECT_EQ(shapes.OfPort(second).ToString(), "[s1,3]");
  shapes.Update(x.node);
  EXPECT_EQ(shapes.OfPort(x).ToString(), "[s1,3]");
}

TEST_F(ShapeInferenceTest, UpdateSettlesProblems) {
  Port a = Placeholder({2, 3}), b = Placeholder({4, 5}), c = Placeholder({3, 5}),
       product = Typed("MatMul", {a, b});
  ShapeMap shapes = Infer();
  EXPECT_EQ(shapes.problems().size(), 1u);
  module_.main.SetInput(product.node, 1, c);
  shapes.Update(product.node);
  EXPECT_TRUE(shapes.problems().empty());
  EXPECT_EQ(shapes.OfPort(product).ToString(), "[2,5]");
}

TEST_F(ShapeInferenceTest, ABrokenNodeMayLackOutputsOfItsOp) {
  // Without its attributes the outputs cannot be counted, and the one before the last must not be
  // written.
  Port values = Placeholder({5}), out = Add("RaggedGather", {values, values});
  EXPECT_EQ(ShapeText(out), "?");
}

TEST_F(ShapeInferenceTest, RemovedNodeIsForgotten) {
  Port x = Placeholder({2}), y = Typed("Relu", {x});
  ShapeMap shapes = Infer();
  module_.main.RemoveNode(y.node);
  shapes.Update(y.node);
  EXPECT_EQ(shapes.OfPort(y).ToString(), "?");
}

}  // namespace
}  // namespace grapnel
