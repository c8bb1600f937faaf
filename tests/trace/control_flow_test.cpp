// While and If: functions, their names, and their captures. Expected values are from TensorFlow
// 2.21.
#include "lib/proto/op_def.pb.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using Texts = std::vector<std::string>;

const Function& FunctionOf(const Module& module, llvm::StringRef node, llvm::StringRef key) {
  return *module.FindFunction(module.main.Find(node).FindAttr(key)->AsFuncName().value());
}

Texts ArgsOf(const Function& function) {
  Texts names;
  for (const OpArg& arg : function.info.inputs) names.push_back(arg.name);
  return names;
}

Texts ResultsOf(const Function& function) {
  Texts names;
  for (const OpArg& arg : function.info.outputs) names.push_back(arg.name);
  return names;
}

// A loop with one capture in the condition and one in the body, and a print.
TEST(While, CapturesAndEffectsAsTensorFlow) {
  auto module = Traced(Trace("w", {{"x", proto::DT_FLOAT, {3}}, {"y", proto::DT_FLOAT, {3}}},
                             [](Tracer& t, Value x, Value y) {
                               Value i0 = t.Constant(0);
                               Value limit = x * 2.0f;
                               auto results = t.While(
                                   [&](Value, Value x) {
                                     Value sum = ReduceSum(x);
                                     return sum < ReduceSum(limit);
                                   },
                                   [&](Value i, Value x) {
                                     t.Print("i {} {}", {i, x});
                                     Value next = x + y;
                                     return Values{i + 1, next};
                                   },
                                   {i0, x});
                               t.Print("done");
                               return Values{results[1], results[0]};
                             }));
  ASSERT_TRUE(module);
  EXPECT_EQ(Lines(module->main),
            (Texts{"x = Placeholder()", "y = Placeholder()", "Const = Const()", "mul/y = Const()",
                   "mul = Mul(x, mul/y)", "while/maximum_iterations = Const()",
                   "while/loop_counter = Const()",
                   "while = While(while/loop_counter, while/maximum_iterations, Const, x, mul, y)",
                   "StringFormat = StringFormat()", "PrintV2 = PrintV2(StringFormat, ^while)",
                   "Identity = Identity(while:3, ^NoOp)", "Identity_1 = Identity(while:2, ^NoOp)",
                   "NoOp = NoOp(^PrintV2, ^while)"}));

  const Function& body = FunctionOf(*module, "while", "body");
  EXPECT_EQ(body.name().take_front(11), "while_body_");
  EXPECT_EQ(ArgsOf(body),
            (Texts{"while_while_loop_counter", "while_while_maximum_iterations",
                   "while_placeholder", "while_placeholder_1", "while_mul_0", "while_add_y_0"}));
  EXPECT_EQ(ResultsOf(body), (Texts{"while_identity", "while_identity_1", "while_identity_2",
                                    "while_identity_3", "while_mul", "while_add_y"}));
  EXPECT_EQ(
      Lines(body.body),
      (Texts{"while/StringFormat = StringFormat(while_placeholder, while_placeholder_1)",
             "while/PrintV2 = PrintV2(while/StringFormat)",
             "while/add = AddV2(while_placeholder_1, while_add_y_0)", "while/add_1/y = Const()",
             "while/add_1 = AddV2(while_placeholder, while/add_1/y)", "while/add_2/y = Const()",
             "while/add_2 = AddV2(while_while_loop_counter, while/add_2/y)",
             "while/Identity = Identity(while/add_2, ^while/NoOp)",
             "while/Identity_1 = Identity(while_while_maximum_iterations, ^while/NoOp)",
             "while/Identity_2 = Identity(while/add_1, ^while/NoOp)",
             "while/Identity_3 = Identity(while/add, ^while/NoOp)",
             "while/NoOp = NoOp(^while/PrintV2)"}));
  ASSERT_EQ(body.control_results.size(), 1u);
  EXPECT_EQ(body.control_results[0].first, "while/PrintV2");
  EXPECT_TRUE(body.info.is_stateful);

  const Function& cond = FunctionOf(*module, "while", "cond");
  Texts args = ArgsOf(cond);
  ASSERT_EQ(args.size(), 6u);
  EXPECT_EQ(args[4], "while_sum_1_mul");
  EXPECT_EQ(args[5], ("while_" + cond.name() + "___redundant_placeholder0").str());
  EXPECT_EQ(Lines(cond.body),
            (Texts{"while/Const = Const()", "while/Sum = Sum(while_placeholder_1, while/Const)",
                   "while/Const_1 = Const()", "while/Sum_1 = Sum(while_sum_1_mul, while/Const_1)",
                   "while/Less = Less(while/Sum, while/Sum_1)",
                   "while/Identity = Identity(while/Less)"}));
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(If, CapturesAndEffectsAsTensorFlow) {
  auto module = Traced(Trace("c", {{"x", proto::DT_FLOAT, {kUnknownDim}}}, [](Tracer& t, Value x) {
    Value z = x * x;
    return t.If(
        ReduceSum(x) > 0.0f,
        [&] {
          t.Print("pos {}", {z});
          return x + 1.0f;
        },
        [&] { return z; });
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(Lines(module->main),
            (Texts{"x = Placeholder()", "mul = Mul(x, x)", "Const = Const()", "Sum = Sum(x, Const)",
                   "Greater/y = Const()", "Greater = Greater(Sum, Greater/y)",
                   "cond = If(Greater, mul, x)", "cond/Identity = Identity(cond)",
                   "Identity = Identity(cond/Identity, ^NoOp)", "NoOp = NoOp(^cond)"}));
  const Function& then = FunctionOf(*module, "cond", "then_branch");
  EXPECT_EQ(then.name().take_front(10), "cond_true_");
  EXPECT_EQ(ArgsOf(then), (Texts{"cond_stringformat_mul", "cond_add_x"}));
  EXPECT_EQ(ResultsOf(then), (Texts{"cond_identity"}));
  const Function& otherwise = FunctionOf(*module, "cond", "else_branch");
  EXPECT_EQ(ArgsOf(otherwise), (Texts{"cond_identity_mul", "cond_placeholder"}));
  EXPECT_EQ(Lines(otherwise.body), (Texts{"cond/Identity = Identity(cond_identity_mul)"}));
  EXPECT_EQ(AttrText(module->main, "cond", "Tout"), "[float]");
}

// A value of the main graph that only the innermost function reads passes through the functions
// between.
TEST(ControlFlow, CapturesPassThroughFunctionsBetween) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}, {"k", proto::DT_FLOAT, {}}},
                             [](Tracer& t, Value x, Value k) {
                               auto cond = [](Value v) { return v < 100.0f; };
                               auto body = [&](Value v) {
                                 return t.If(
                                     v > 10.0f, [&] { return v * k; }, [&] { return v + 1.0f; });
                               };
                               return t.While(cond, body, {x});
                             }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "while"),
            "while = StatelessWhile(while/loop_counter, while/maximum_iterations, x, k)");
  const Function& body = FunctionOf(*module, "while", "body");
  EXPECT_EQ(LineOf(body.body, "while/cond"),
            "while/cond = StatelessIf(while/Greater, while_placeholder, while_cond_k_0)");
  EXPECT_TRUE(VerifyModule(*module).empty());
}

TEST(ControlFlow, BranchesWithoutResultsKeepTheirEffects) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    t.If(
        x > 0.0f, [&] { t.Print("positive"); }, [] {});
    return x;
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "cond"), "cond = If(Greater)");
  EXPECT_EQ(LineOf(module->main, "NoOp"), "NoOp = NoOp(^cond)");
}

// If a branch must wait for an outside op, the If waits for it.
TEST(ControlFlow, ControlDependenciesOnValuesOutside) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    Value first = Exp(x);
    auto then = [&] {
      auto after = t.ControlDependencies({first});
      return x + 1.0f;
    };
    return t.If(x > 0.0f, then, [&] { return x; });
  }));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "cond"), "cond = StatelessIf(Greater, x, ^Exp)");
}

TEST(ControlFlow, ErrorsSayWhatDoesNotFit) {
  auto errors = [](auto fn) { return ErrorsOf(Trace("f", {{"x", proto::DT_FLOAT, {2}}}, fn)); };
  auto once = [](Value) { return Value(); };
  EXPECT_NE(errors([&](Tracer& t, Value x) {
              return t.While([](Value v) { return v; }, once, {x});
            }).find("while: the condition is float, bool was expected"),
            std::string::npos);
  auto less = [](Value v) { return ReduceSum(v) < 1.0f; };
  EXPECT_NE(errors([&](Tracer& t, Value x) {
              return t.While(less, [](Value v) { return v > 1.0f; }, {x});
            }).find("while: variable 0 is float, but the body returns bool"),
            std::string::npos);
  EXPECT_NE(errors([&](Tracer& t, Value x) {
              return t.While(less, [](Value v) { return Concat({v, v}, 0); }, {x});
            }).find("while: variable 0 has shape [2], but the body returns shape [4]"),
            std::string::npos);
  EXPECT_NE(errors([&](Tracer& t, Value x) {
              return t.While(less, [](Value v) { return Values{v, v}; }, {x});
            }).find("while: the body returns 2 values for 1 variables"),
            std::string::npos);
  EXPECT_NE(errors([&](Tracer& t, Value x) {
              return t.If(
                  less(x), [&] { return x; }, [&] { return x > 1.0f; });
            }).find("if: result 0 is float in one branch, bool in the other"),
            std::string::npos);
}

TEST(ControlFlow, ValuesOfAFunctionStayInside) {
  std::string errors = ErrorsOf(Trace("f", {{"x", proto::DT_FLOAT, {}}}, [](Tracer& t, Value x) {
    Value leaked;
    t.If(
        x > 0.0f, [&] { return leaked = x + 1.0f; }, [&] { return x; });
    return leaked * 2.0f;
  }));
  EXPECT_NE(errors.find("op 'Mul': input 0 ('cond/add:0') belongs to function 'cond_true_"),
            std::string::npos)
      << errors;
}

}  // namespace
}  // namespace grapnel
