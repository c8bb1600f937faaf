// Attributes that follow from inputs, constants that follow dtypes, and errors that name the user's
// line.
#include "lib/proto/graph.pb.h"
#include "lib/proto/graph_debug_info.pb.h"
#include "lib/proto/versions.pb.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

// "file.cpp:12: " of this file.
std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

TEST(Attributes, FollowFromInputs) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_HALF, {2, kUnknownDim}, "x");
  Value i = t.Placeholder(proto::DT_INT64, {2}, "i");
  t.Op("ConcatV2", {Values{x, x, x}, 1});
  t.Op("Sum", {x, i});
  t.Op("IdentityN", {Values{x, i}});
  t.Op("Fill", {i, x});
  t.Op("MatMul", {x, x}, {{"transpose_b", true}});
  t.Op("LeakyRelu", {x}, {{"alpha", 1}});
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  const Graph& graph = module->main;
  EXPECT_EQ(AttrText(graph, "ConcatV2", "N"), "3");
  EXPECT_EQ(AttrText(graph, "ConcatV2", "T"), "half");
  EXPECT_EQ(AttrText(graph, "ConcatV2", "Tidx"), "int32");
  EXPECT_EQ(AttrText(graph, "Sum", "Tidx"), "int64");
  EXPECT_EQ(AttrText(graph, "Sum", "keep_dims"), "false");
  EXPECT_EQ(AttrText(graph, "IdentityN", "T"), "[half,int64]");
  EXPECT_EQ(AttrText(graph, "Fill", "index_type"), "int64");
  EXPECT_EQ(AttrText(graph, "MatMul", "transpose_a"), "false");
  EXPECT_EQ(AttrText(graph, "MatMul", "transpose_b"), "true");
  EXPECT_EQ(graph.Find("LeakyRelu").GetFloat("alpha"), 1.0f);
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(Attributes, OutputsHaveDtypesAndShapes) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2, 3}, "x");
  Operation top = t.Op("TopKV2", {x, 2});
  EXPECT_EQ(top.num_outputs(), 2);
  EXPECT_EQ(top.output(1).dtype(), proto::DT_INT32);
  EXPECT_EQ(top.output(1).name(), "TopKV2:1");
  EXPECT_FALSE(top.output(2).ok());
  EXPECT_EQ((x > 1.0f).dtype(), proto::DT_BOOL);
  EXPECT_EQ(MatMul(x, x, false, true).shape(), Shape(Dims{2, 2}));
  EXPECT_EQ(Size(x).shape(), Shape::Scalar());
  EXPECT_EQ(Size(x).name(), "Size_1:0");
  Traced(t.Finish());
}

TEST(Constants, FollowTheValueBesideThem) {
  Tracer t;
  Value h = t.Placeholder(proto::DT_HALF, {}, "h");
  Value i = t.Placeholder(proto::DT_INT64, {}, "i");
  h + 1;
  i* int64_t{9007199254740993};  // more digits than a double has
  1.5 - h;
  t.Constant(std::vector<float>{1, 2});
  t.Constant(7, proto::DT_UINT8);
  t.Constant("text");
  t.Constant(2.5);
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  auto text = [&](llvm::StringRef name) {
    auto literal = Literal::FromConst(module->main.Find(name));
    return literal ? (DataTypeName(literal->dtype()) + " " + literal->ToString()).str()
                   : llvm::toString(literal.takeError());
  };
  EXPECT_EQ(AttrText(module->main, "add/y", "dtype"), "half");
  EXPECT_EQ(text("mul/y"), "int64 9007199254740993");
  EXPECT_EQ(AttrText(module->main, "sub/x", "dtype"), "half");
  EXPECT_EQ(text("Const"), "float [1,2]");
  EXPECT_EQ(text("Const_1"), "uint8 7");
  EXPECT_EQ(AttrText(module->main, "Const_2", "dtype"), "string");
  EXPECT_EQ(AttrText(module->main, "Const_3", "dtype"), "double");
}

// One error per mistake, each with the line of this file; nothing for values computed from a
// mistake.
TEST(Errors, NameOpDtypesAndLine) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  Value i = t.Placeholder(proto::DT_INT32, {2}, "i");
  int line = __LINE__;
  Value bad = x + i;
  Value worse = Relu(bad) * 2.0f;
  i + 1.5f;
  t.Op("MatMull", {x, x});
  t.Op("Relu", {x, x});
  t.Op("Relu", {x}, {{"slope", 1}});
  t.Op("Sum", {x, 0}, {{"keep_dims", "yes"}});
  Sqrt(i);
  t.Op("AddN", {x});
  t.Op("Cast", {x});
  t.Op("Conv2D", {x, x}, {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "NONE"}});
  t.Constant(300, proto::DT_INT8);
  t.Print("{} {}", {x});
  EXPECT_FALSE(worse.ok());
  EXPECT_EQ(
      ErrorsOf(t.Finish({worse})),
      At(line + 1) + "op 'AddV2': input 'y' is int32, float was expected as input 'x' is\n" +
          At(line + 3) + "op 'AddV2': input 'y' is the float 1.5, int32 was expected\n" +
          At(line + 4) + "op 'MatMull': TensorFlow 2.21 has no such op; did you mean 'MatMul'?\n" +
          At(line + 5) + "op 'Relu': takes 1 inputs, 2 were given\n" + At(line + 6) +
          "op 'Relu': has no attribute 'slope'\n" + At(line + 7) +
          "op 'Sum': attribute 'keep_dims' is \"yes\", a value of type bool was expected\n" +
          At(line + 8) +
          "op 'Sqrt': does not support int32 for attribute T, only bfloat16, half, float, double, "
          "complex64, complex128\n" +
          At(line + 9) + "op 'AddN': input 'inputs' takes a list of values\n" + At(line + 10) +
          "op 'Cast': attribute 'DstT' (type) is required\n" + At(line + 11) +
          "op 'Conv2D': attribute 'padding' is \"NONE\", one of \"SAME\", \"VALID\", \"EXPLICIT\" "
          "was expected\n" +
          At(line + 12) + "the int32 300 is not a valid int8 constant\n" + At(line + 13) +
          "print: \"{} {}\" has 2 places for 1 values");
}

TEST(Errors, ShapesThatCannotFit) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2, 3}, "x");
  int line = __LINE__ + 1;
  Value y = MatMul(x, x);
  std::string errors = ErrorsOf(t.Finish({y}));
  EXPECT_EQ(errors.find(At(line) + "node 'MatMul': "), 0u) << errors;
}

TEST(Errors, NameTheFunction) {
  std::string errors =
      ErrorsOf(Trace("mean", {{"x", proto::DT_FLOAT, {}}}, [](Tracer&, Value) { return Value(); }));
  EXPECT_EQ(errors, "mean: result 0 is a Value that was never made");
}

// TensorFlow's own format: the files once, and a line for each node.
TEST(DebugInfo, KeepsTheLineOfEachNode) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {}, "x");
  int line = __LINE__ + 1;
  Value y = x + 1.0f;
  auto module = Traced(t.Finish({y}));
  ASSERT_TRUE(module);
  proto::GraphDef graph;
  ASSERT_TRUE(graph.ParseFromString(module->other_fields));
  const proto::GraphDebugInfo& info = graph.debug_info();
  ASSERT_EQ(info.files_size(), 1);
  EXPECT_EQ(info.files(0), __FILE__);
  // Nodes that a loop adds have the line of the loop.
  auto loop = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    return t.While([](Value v) { return v < 1.0f; }, [](Value v) { return v + 1.0f; }, {x});
  }));
  proto::GraphDef with_loop;
  ASSERT_TRUE(loop && with_loop.ParseFromString(loop->other_fields));
  EXPECT_EQ(with_loop.debug_info().files_size(), 1);
  for (const char* node : {"add", "add/y", "Identity"}) {
    ASSERT_TRUE(info.name_to_trace_id().count(node)) << node;
    const auto& trace = info.traces_by_id().at(info.name_to_trace_id().at(node));
    ASSERT_EQ(trace.frame_id_size(), 1) << node;
    EXPECT_EQ(info.frames_by_id().at(trace.frame_id(0)).line(), line) << node;
  }
  proto::VersionDef versions;
  ASSERT_TRUE(versions.ParseFromString(module->versions));
  EXPECT_EQ(versions.producer(), 2474);
}

}  // namespace
}  // namespace grapnel
