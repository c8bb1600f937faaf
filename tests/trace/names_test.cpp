// Names, scopes and order, as in tf.Graph and tf.function. Expected values are from TensorFlow
// 2.21.
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using Texts = std::vector<std::string>;

// The names that TensorFlow gives to the nodes of this function.
TEST(Names, ScopesAndOperatorsAsTensorFlow) {
  auto module = Traced(Trace("s", {{"x", proto::DT_FLOAT, {kUnknownDim}}}, [](Tracer& t, Value x) {
    Value a, b, e;
    {
      auto scope = t.Scope("mean");
      a = ReduceSum(1.0f / x);
    }
    {
      auto scope = t.Scope("mean");
      b = ReduceSum(x, 0, /*keep_dims=*/true);
    }
    {
      auto after = t.ControlDependencies({a});
      e = (x + 1.0f) * 2.0f;
      t.Constant(3.0f);
    }
    Value k = Size(x);
    ReduceMax(a);
    Rank(x);
    ShapeOf(x);
    Concat({x, x}, 0);
    Stack({a, a});
    -x;
    Maximum(x, 0.0f);
    Cast(k, proto::DT_INT32);
    Pow(x, 2.0f);
    Value small = !(x > 1.0f);
    small&(x <= 2.0f);
    Cast(x, proto::DT_DOUBLE);
    return k / 2;
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(Lines(module->main), (Texts{
                                     "x = Placeholder()",
                                     "mean/truediv/x = Const()",
                                     "mean/truediv = RealDiv(mean/truediv/x, x)",
                                     "mean/Const = Const()",
                                     "mean/Sum = Sum(mean/truediv, mean/Const)",
                                     "mean_1/Sum/reduction_indices = Const()",
                                     "mean_1/Sum = Sum(x, mean_1/Sum/reduction_indices)",
                                     "add/y = Const(^mean/Sum)",
                                     "add = AddV2(x, add/y)",
                                     "mul/y = Const(^mean/Sum)",
                                     "mul = Mul(add, mul/y)",
                                     "Const = Const(^mean/Sum)",
                                     "Size = Size(x)",
                                     "Rank = Const()",
                                     "range/start = Const()",
                                     "range/delta = Const()",
                                     "range = Range(range/start, Rank, range/delta)",
                                     "Max = Max(mean/Sum, range)",
                                     "Rank_1 = Const()",
                                     "Shape = Shape(x)",
                                     "concat/axis = Const()",
                                     "concat = ConcatV2(x, x, concat/axis)",
                                     "stack = Pack(mean/Sum, mean/Sum)",
                                     "Neg = Neg(x)",
                                     "Maximum/y = Const()",
                                     "Maximum = Maximum(x, Maximum/y)",
                                     "pow/y = Const()",
                                     "pow = Pow(x, pow/y)",
                                     "Greater/y = Const()",
                                     "Greater = Greater(x, Greater/y)",
                                     "LogicalNot = LogicalNot(Greater)",
                                     "LessEqual/y = Const()",
                                     "LessEqual = LessEqual(x, LessEqual/y)",
                                     "and = LogicalAnd(LogicalNot, LessEqual)",
                                     "Cast = Cast(x)",
                                     "truediv/y = Const()",
                                     "truediv/Cast = Cast(Size)",
                                     "truediv/Cast_1 = Cast(truediv/y)",
                                     "truediv = RealDiv(truediv/Cast, truediv/Cast_1)",
                                     "Identity = Identity(truediv)",
                                 }));
}

// tf.Graph.unique_name ignores case, and a suffix may be taken too.
TEST(Names, UniqueAsTensorFlow) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {}, "x");
  for (const char* name : {"x_1", "x", "X", "x", "a/b", "a", "a/B"})
    t.Op("Identity", {x}, {}, name);
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(Names(module->main), (Texts{"x", "x_1", "x_2", "X_3", "x_4", "a/b", "a", "a/B_1"}));
}

TEST(Names, ScopesNestAndAreEnteredAgain) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {}, "x");
  {
    auto outer = t.Scope("outer");
    auto inner = t.Scope("inner");
    Relu(x);
  }
  {
    auto outer = t.Scope("outer/");
    Relu(x);
  }
  Relu(x);
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(Names(module->main), (Texts{"x", "outer/inner/Relu", "outer/Relu", "Relu"}));
}

TEST(Names, BadOnesAreErrors) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {}, "x y");
  t.Op("Identity", {t.Constant(1)}, {}, "_hidden");
  auto scope = t.Scope("a:b");
  Relu(x);
  std::string errors = ErrorsOf(t.Finish());
  EXPECT_NE(errors.find("'x y' is not a node name"), std::string::npos) << errors;
  EXPECT_NE(errors.find("op 'Identity': '_hidden' is not a node name"), std::string::npos)
      << errors;
  EXPECT_NE(errors.find("'a:b' is not a scope name"), std::string::npos) << errors;
}

// A node that reads a waiting node gets no control edge of its own; inputs are not repeated as
// controls.
TEST(Order, ControlDependenciesAreNotRepeated) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {}, "x");
  Value first = Relu(x);
  {
    auto after = t.ControlDependencies({first});
    Value second = Tanh(x);
    Exp(second);
    Log(first);
    auto also = t.ControlDependencies({second});
    Sqrt(x);
  }
  Abs(x);
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(
      Lines(module->main),
      (Texts{"x = Placeholder()", "Relu = Relu(x)", "Tanh = Tanh(x, ^Relu)", "Exp = Exp(Tanh)",
             "Log = Log(Relu)", "Sqrt = Sqrt(x, ^Relu, ^Tanh)", "Abs = Abs(x)"}));
}

// Prints run in the order of the program and before every result, through one NoOp.
TEST(Order, EffectsAreOrderedAndKeptAlive) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {2}}}, [](Tracer& t, Value x) {
    t.Print("first {}", {x});
    t.Print("second");
    return Values{x, Relu(x)};
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(Lines(module->main),
            (Texts{"x = Placeholder()", "StringFormat = StringFormat(x)",
                   "PrintV2 = PrintV2(StringFormat)", "StringFormat_1 = StringFormat()",
                   "PrintV2_1 = PrintV2(StringFormat_1, ^PrintV2)", "Relu = Relu(x)",
                   "Identity = Identity(x, ^NoOp)", "Identity_1 = Identity(Relu, ^NoOp)",
                   "NoOp = NoOp(^PrintV2, ^PrintV2_1)"}));
}

// Reads of a variable between two writes are unordered, but after the first and before the second
// write.
TEST(Order, ResourcesAreReadAndWrittenInOrder) {
  auto module = Traced(Trace("f", {{"v", proto::DT_RESOURCE, {}}, {"x", proto::DT_FLOAT, {}}},
                             [](Tracer& t, Value v, Value x) {
                               auto read = [&] {
                                 return t.Op("ReadVariableOp", {v}, {{"dtype", proto::DT_FLOAT}});
                               };
                               Value before = read();
                               t.Op("AssignVariableOp", {v, x});
                               Value after = read();
                               return before + after;
                             }));
  ASSERT_TRUE(module);
  const Graph& graph = module->main;
  EXPECT_EQ(LineOf(graph, "AssignVariableOp"),
            "AssignVariableOp = AssignVariableOp(v, x, ^ReadVariableOp)");
  EXPECT_EQ(LineOf(graph, "ReadVariableOp_1"),
            "ReadVariableOp_1 = ReadVariableOp(v, ^AssignVariableOp)");
  EXPECT_EQ(LineOf(graph, "NoOp"),
            "NoOp = NoOp(^AssignVariableOp, ^ReadVariableOp, ^ReadVariableOp_1)");
}

}  // namespace
}  // namespace grapnel
