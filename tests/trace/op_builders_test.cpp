// Typed builders: all of them compile, and make the same nodes as Tracer::Op.
#include "lib/trace/op_builders.h"

#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

std::string TextOfModule(Tracer& t) {
  auto module = Traced(t.Finish());
  std::string text;
  llvm::raw_string_ostream os(text);
  TextOptions options;
  options.exact = true;
  if (module) {
    module->other_fields.clear();  // the lines differ
    WriteGraphAsText(*module, options, os);
  }
  return os.str();
}

TEST(OpBuilders, MakeWhatOpMakes) {
  Tracer built, named;
  {
    Value x = built.Placeholder(proto::DT_FLOAT, {1, 8, 8, 3}, "x");
    Value filter = built.Placeholder(proto::DT_FLOAT, {3, 3, 3, 4}, "filter");
    ops::Conv2DOptions options;
    options.dilations = {1, 2, 2, 1};
    options.name = "conv";
    Value y = ops::Conv2D(built, x, filter, {1, 1, 1, 1}, "SAME", options);
    auto [values, indices] = ops::TopKV2(built, y, 2);
    Values parts = ops::Split(built, 3, y, 2);
    ops::ConcatV2(built, parts, 0);
    ops::Cast(built, indices, proto::DT_INT64);
    ops::NoOp(built);
    ops::Placeholder(built, proto::DT_BOOL);
  }
  {
    Value x = named.Placeholder(proto::DT_FLOAT, {1, 8, 8, 3}, "x");
    Value filter = named.Placeholder(proto::DT_FLOAT, {3, 3, 3, 4}, "filter");
    std::vector<int64_t> ones = {1, 1, 1, 1}, dilations = {1, 2, 2, 1};
    Value y = named.Op("Conv2D", {x, filter},
                       {{"strides", ones}, {"padding", "SAME"}, {"dilations", dilations}}, "conv");
    Operation top = named.Op("TopKV2", {y, 2});
    Operation parts = named.Op("Split", {3, y}, {{"num_split", 2}});
    named.Op("ConcatV2", {Values{parts.output(0), parts.output(1)}, 0});
    named.Op("Cast", {top.output(1)}, {{"DstT", proto::DT_INT64}});
    named.Op("NoOp", {});
    named.Op("Placeholder", {}, {{"dtype", proto::DT_BOOL}});
  }
  EXPECT_EQ(TextOfModule(built), TextOfModule(named));
}

TEST(OpBuilders, TakeListsOfEveryKind) {
  Tracer t;
  ops::AttrBoolList(t, {true, false, true});
  ops::AttrEnumList(t, {"apples", "oranges"});
  ops::AttrListMin(t, {2, 3});
  ops::AttrShapeList(t, {Shape(llvm::ArrayRef<int64_t>{2, 3}), Shape(llvm::ArrayRef<int64_t>{})});
  ops::AttrListDefault(t);
  ops::Const(t, Literal::MakeStrings({2}, {"a", "b"}), proto::DT_STRING);
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  const Graph& graph = module->main;
  EXPECT_EQ(AttrText(graph, "AttrBoolList", "a"), "[true,false,true]");
  EXPECT_EQ(AttrText(graph, "AttrEnumList", "a"), "[\"apples\",\"oranges\"]");
  EXPECT_EQ(AttrText(graph, "AttrListMin", "a"), "[2,3]");
  EXPECT_EQ(AttrText(graph, "AttrShapeList", "a"), "[[2,3],[]]");
  EXPECT_EQ(AttrText(graph, "AttrListDefault", "a"), "[5,15]");
  EXPECT_EQ(AttrText(graph, "Const", "dtype"), "string");
}

TEST(OpBuilders, GiveOutputsByArgument) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {4}, "x");
  ops::UniqueOutputs unique = ops::Unique(t, x);
  EXPECT_EQ(unique.y.name(), "Unique:0");
  EXPECT_EQ(unique.idx.name(), "Unique:1");
  EXPECT_EQ(unique.idx.dtype(), proto::DT_INT32);
  Values both = ops::IdentityN(t, Values{x, unique.idx});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_EQ(both[1].dtype(), proto::DT_INT32);
  Traced(t.Finish());
}

TEST(OpBuilders, SayTheUsersLine) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {4}, "x");
  Value s = t.Placeholder(proto::DT_STRING, {4}, "s");
  Value sum = ops::AddV2(t, x, s);
  int line = __LINE__ - 1;
  EXPECT_FALSE(sum.ok());
  EXPECT_FALSE(ops::Neg(t, sum).ok());
  std::string errors = ErrorsOf(t.Finish());
  EXPECT_EQ(errors.rfind(llvm::formatv("{0}:{1}: op 'AddV2'", __FILE__, line).str(), 0), 0u)
      << errors;
  EXPECT_EQ(errors.find('\n'), std::string::npos) << errors;
}

}  // namespace
}  // namespace grapnel
