// tf.debugging: assertions decided while tracing, assertions in the graph, and their order.
#include "lib/trace/check_ops.h"

#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using Texts = std::vector<std::string>;

std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

TEST(Checks, AreKeptAndOrdered) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {2}}, {"i", proto::DT_INT32, {}}},
                             [](Tracer&, Value x, Value i) {
                               Assert(i > 0, {"i is", i});  // on the host: no If around it
                               Assert(ReduceAll(x > 0.0f), {x});
                               CheckNumerics(x, "x");
                               return x;
                             }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "Assert/Assert"),
            "Assert/Assert = Assert(Greater, "
            "Assert/Assert/data_0, i)");
  EXPECT_EQ(LineOf(module->main, "Assert_1/AssertGuard"),
            "Assert_1/AssertGuard = If(All, All, x, ^Assert/Assert)");
  EXPECT_EQ(LineOf(module->main, "NoOp"),
            "NoOp = NoOp(^Assert/Assert, ^Assert_1/AssertGuard, ^CheckNumerics)");
}

TEST(Checks, CanBeWaitedFor) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {2}}}, [](Tracer& t, Value x) {
    Operation check = AssertLess(x, 3.0f);
    auto after = t.ControlDependencies({check});
    return Relu(x);
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "Relu"),
            "Relu = Relu(x, ^assert_less/Assert/AssertGuard/Identity)");
}

// Inside a loop and a branch, too.
TEST(Checks, StandInBodies) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    auto body = [&](Value v) {
      AssertPositive(v);
      auto checked = [&] { return CheckNumerics(v * 2.0f, "v"); };
      return t.If(v < 9.0f, checked, [&] { return v + 1.0f; });
    };
    return t.While([](Value v) { return v < 20.0f; }, body, {x});
  }));
  ASSERT_TRUE(module);
  EXPECT_TRUE(VerifyModule(*module).empty());
  EXPECT_EQ(module->main.Find("while").op(), "While");  // not StatelessWhile
}

TEST(Checks, StaticOnesAreErrorsAtTheirLine) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2, 3}, "x");
  Value i = t.Constant({1, 2, 3});
  int line = __LINE__;
  AssertRank(x, 3);
  AssertRankAtLeast(x, 4, {.message = "a batch"});
  AssertType(x, proto::DT_INT32);
  AssertInteger(x);
  AssertScalar(x);
  AssertEqual(i, 2);
  AssertLess(x, 1);  // decided by the graph
  AssertGreater(i, 2.5f);
  EXPECT_EQ(
      ErrorsOf(t.Finish()),
      At(line + 1) + "assert_rank: 'x:0' has shape [2,3], rank 3 was expected\n" + At(line + 2) +
          "assert_rank_at_least: 'x:0' has shape [2,3], rank at least 4 was expected: a batch\n" +
          At(line + 3) + "assert_type: 'x:0' is float, int32 was expected\n" + At(line + 4) +
          "assert_integer: 'x:0' is float, an integer dtype was expected\n" + At(line + 5) +
          "assert_scalar: 'x:0' has shape [2,3], a scalar was expected\n" + At(line + 6) +
          "assert_equal: [1,2,3] == 2 does not hold\n" + At(line + 8) +
          "'y' is the float 2.5, int32 was expected");
}

}  // namespace
}  // namespace grapnel
