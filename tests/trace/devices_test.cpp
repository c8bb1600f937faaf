// Device and Colocate: the same result as tf.device and colocate_with for the same program.
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

// "name device [class]" of each node except arguments and results.
std::vector<std::string> Placed(const Graph& graph) {
  std::vector<std::string> lines;
  for (Node node : graph.nodes()) {
    if (node.op() == "_Arg" || node.op() == "_Retval") continue;
    std::string line = (node.name() + " " + node.device()).str();
    if (auto with = node.FindAttr("_class")) line += " " + with->ToString();
    lines.push_back(line);
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Devices, InnerOnesCompleteOuterOnes) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  {
    auto gpu = t.Device("/gpu:0");
    t.Op("Abs", {x}, {}, "a");
    {
      auto worker = t.Device("/job:w/task:1");
      t.Op("Abs", {x}, {}, "b");
      x + 1.0f;
    }
    auto none = t.Device("");
    t.Op("Abs", {x}, {}, "c");
  }
  t.Op("Abs", {x}, {}, "d");
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(Placed(module->main), (Lines{"x ", "a /device:GPU:0", "b /job:w/task:1/device:GPU:0",
                                         "add/y /job:w/task:1/device:GPU:0",
                                         "add /job:w/task:1/device:GPU:0", "c ", "d "}));
}

TEST(Devices, ColocatedNodesFollowTheirs) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  auto abs = [&](llvm::StringRef name) { return t.Op("Abs", {x}, {}, name); };
  Operation a;
  {
    auto gpu = t.Device("/gpu:0");
    a = abs("a");
  }
  {
    auto with_a = t.Colocate(a);
    Operation d = abs("d");
    auto cpu = t.Device("/cpu:0");
    abs("e");
    auto with_d = t.Colocate(d);
    abs("f");
  }
  {
    auto cpu = t.Device("/cpu:0");
    auto with_a = t.Colocate(a);
    abs("g");
  }
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  std::string with_a = " /device:GPU:0 [\"loc:@a\"]";
  EXPECT_EQ(Placed(module->main), (Lines{"x ", "a /device:GPU:0", "d" + with_a, "e" + with_a,
                                         "f" + with_a, "g" + with_a}));
}

TEST(Devices, ReachBranchesAndLoops) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  {
    auto cpu = t.Device("/cpu:0");
    t.While([](Value i) { return i < 3; }, [](Value i) { return i + 1; }, {t.Constant(0)});
    t.If(
        ReduceSum(x) > 0.0f, [&] { return x * 2.0f; },
        [&] { return t.Op("Abs", {x}, {}, "inner").output(); });
  }
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  auto check = [](const Graph& graph) {
    for (Node node : graph.nodes()) {
      if (node.op() == "Placeholder" || node.op() == "_Arg" || node.op() == "_Retval") continue;
      EXPECT_EQ(node.device(), "/device:CPU:0") << node.name().str();
    }
  };
  check(module->main);
  EXPECT_EQ(module->functions.size(), 4u);
  for (const auto& function : module->functions) check(function->body);
}

TEST(Devices, NamesThatAreNoneAreErrors) {
  Tracer t;
  { auto device = t.Device("/gpu:first"); }
  int line = __LINE__ - 1;
  { auto with = t.Colocate(Operation()); }
  std::string errors = ErrorsOf(t.Finish());
  EXPECT_EQ(errors.rfind(llvm::formatv("{0}:{1}: ", __FILE__, line).str(), 0), 0u) << errors;
  EXPECT_NE(errors.find("/gpu:first"), std::string::npos) << errors;
}

}  // namespace
}  // namespace grapnel
