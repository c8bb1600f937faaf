// Case as tf.switch_case: names, arguments that one branch reads and all take, effects.
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

using NodeLines = std::vector<std::string>;

TEST(Case, IsMadeAsTensorFlowMakesIt) {
  auto module = Traced(Trace("f", {{"x", proto::DT_FLOAT, {3}}, {"i", proto::DT_INT32, {}}},
                             [](Tracer& t, Value x, Value i) {
                               Value v = x * 3.0f;
                               Value a = t.Case(
                                   i, [&] { return x + v; }, [&] { return x * 2.0f; },
                                   [&] { return Abs(x); });
                               std::array<Value, 2> b = t.Case(
                                   i,
                                   [&] {
                                     return std::array<Value, 2>{x, v};
                                   },
                                   [&] {
                                     return std::array<Value, 2>{v, x};
                                   });
                               t.Case(
                                   i, [&] { t.Print("{}", {x}); }, [&] { t.Print("b"); });
                               return Values{a, b[0], b[1]};
                             }));
  ASSERT_TRUE(module);
  NodeLines lines = Lines(module->main);
  EXPECT_EQ(LineOf(module->main, "switch_case/indexed_case"),
            "switch_case/indexed_case = StatelessCase(i, x, mul)");
  EXPECT_EQ(LineOf(module->main, "switch_case/indexed_case/Identity"),
            "switch_case/indexed_case/Identity = Identity(switch_case/indexed_case)");
  EXPECT_EQ(LineOf(module->main, "switch_case_1/indexed_case/Identity_1"),
            "switch_case_1/indexed_case/Identity_1 = Identity(switch_case_1/indexed_case:1)");
  EXPECT_EQ(LineOf(module->main, "switch_case_2/indexed_case"),
            "switch_case_2/indexed_case = Case(i, x)");
  EXPECT_EQ(AttrText(module->main, "switch_case/indexed_case", "output_shapes"), "[[3]]");
  EXPECT_EQ(AttrText(module->main, "switch_case/indexed_case", "_lower_using_switch_merge"),
            "true");
  NodeLines names;
  // TensorFlow's numbers differ, because it also counts other objects.
  for (const auto& function : module->functions)
    names.push_back(function->name().rsplit('_').first.str());
  llvm::sort(names);
  ASSERT_EQ(names.size(), 7u);
  EXPECT_EQ(names[5], "switch_case_indexed_case_branch1");
  EXPECT_EQ(names[6], "switch_case_indexed_case_branch2");
  const Function* third = module->functions[2].get();
  EXPECT_EQ(third->name().rsplit('_').first, "switch_case_indexed_case_branch2");
  ASSERT_EQ(third->info.inputs.size(), 2u);
  EXPECT_EQ(third->info.inputs[0].name, "switch_case_indexed_case_abs_x");
  EXPECT_EQ(third->info.inputs[1].name, "switch_case_indexed_case_placeholder");
}

TEST(Case, ErrorsNameTheBranch) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  Value i = t.Placeholder(proto::DT_INT32, {}, "i");
  t.Case(
      i, [&] { return x; }, [&] { return x; }, [&] { return Cast(x, proto::DT_INT32); });
  t.Case(x, [&] { return x; });
  t.SwitchCase(i, {});
  std::string errors = ErrorsOf(t.Finish());
  EXPECT_NE(errors.find("case: result 0 is float in branch 0, int32 in branch 2"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("case: the index is float, int32 was expected"), std::string::npos);
  EXPECT_NE(errors.find("case: there are no branches"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
