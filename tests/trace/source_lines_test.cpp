// The source lines of nodes: with the calls around them, and through every pass.
#include <set>

#include "lib/exec/evaluator.h"
#include "lib/ir/line_table.h"
#include "lib/pass/source_location_tracker.h"
#include "lib/support/thread_pool.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

std::vector<int> LinesOf(const LineTable& table, const char* function, const char* node) {
  std::vector<int> lines;
  for (const SourceFrame& frame : table.StackOf(table.Find(function, node)))
    lines.push_back(frame.line);
  return lines;
}

Literal Halves(llvm::ArrayRef<int64_t> dims) {
  int64_t size = 1;
  for (int64_t dim : dims) size *= dim;
  std::vector<float> values(size, 0.5f);
  return Literal::Make(proto::DT_FLOAT, dims,
                       {reinterpret_cast<const char*>(values.data()), values.size() * 4});
}

TEST(SourceLines, AreWithinScopesAndBranches) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {}, "x");
  const int base = __LINE__;
  auto scope = t.Scope("block");
  Value y = t.If(
      x > 0.0f, [&] { return x + 1.0f; },
      [&] {
        auto inner = t.Scope("deep");
        return x * 2.0f;
      });
  auto module = Traced(t.Finish({y}));
  ASSERT_TRUE(module);
  LineTable table(*module);
  EXPECT_EQ(LinesOf(table, "", "x"), std::vector({base - 1}));
  EXPECT_EQ(LinesOf(table, "", "block/Greater"), (std::vector{base + 1, base + 3}));
  const Function& otherwise = *module->functions[1];
  EXPECT_EQ(LinesOf(table, otherwise.name().str().c_str(), "block/cond/deep/mul"),
            (std::vector{base + 1, base + 3, base + 5, base + 6}));
  // Nodes that the branch adds have the branch's own line, once.
  for (Node node : otherwise.body.nodes()) {
    if (node.op() == "_Retval") continue;
    EXPECT_FALSE(table.StackOf(node).empty()) << node.name().str();
  }
}

// Every node that passes leave has a line, and it is one of the program's.
class Followed : public ::testing::Test {
 protected:
  void Check(std::unique_ptr<Module> module, std::vector<std::string> fetches) {
    ASSERT_TRUE(module);
    LineTable before(*module);
    std::set<std::string> known;
    auto collect = [&](const LineTable& table, const Graph& graph) {
      for (Node node : graph.nodes()) {
        if (auto line = table.LineOf(node)) known.insert(FrameText(*line));
      }
    };
    collect(before, module->main);
    for (const auto& function : module->functions) collect(before, function->body);
    ThreadPool pool(1);
    std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
    OptimizeOptions options;
    options.fetches = std::move(fetches);
    options.evaluator = evaluator.get();
    options.assumed_device = "/job:localhost/replica:0/task:0/device:CPU:0";
    options.config.set_min_graph_nodes(-1);
    SourceLocationTracker keeper(std::move(before));
    PassManager manager;
    manager.Add(&keeper);
    auto result = manager.Run(*module, options);
    ASSERT_TRUE(static_cast<bool>(result)) << TextOf(result.takeError());
    for (const Stage& stage : result->stages) {
      if (stage.rewrites > 0) fired_.insert(stage.pass);
    }
    keeper.WriteTo(module.get());
    LineTable after(*module);
    auto check = [&](const Graph& graph) {
      for (Node node : graph.nodes()) {
        if (node.op() == "_Retval") continue;
        auto line = after.LineOf(node);
        ASSERT_TRUE(line) << node.name().str() << " (" << node.op().str() << ")";
        EXPECT_TRUE(known.count(FrameText(*line))) << node.name().str();
      }
    };
    check(module->main);
    for (const auto& function : module->functions) check(function->body);
  }
  std::set<std::string> fired_;
};

TEST_F(Followed, ThroughThePipeline) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {8, 16, 16, 4}, "x");
  Value n = t.Placeholder(proto::DT_INT32, {}, "n");
  Value filter = t.Constant(Halves({3, 3, 4, 8}), "filter");
  Value bias = t.Constant(Halves({8}), "bias");
  Value y = t.Op("Conv2D", {x, filter},
                 {{"strides", std::vector<int64_t>{1, 1, 1, 1}}, {"padding", "SAME"}});
  y = t.Op("BiasAdd", {y, bias});
  y = t.Op("Relu", {y});
  Value z = t.Op("Transpose", {t.Op("Transpose", {y, std::vector<int>{0, 3, 1, 2}}),
                               std::vector<int>{0, 2, 3, 1}});
  Value folded = t.Constant(2.0f) + t.Constant(3.0f);
  Value same = x * folded + x * folded;
  Value loop =
      t.While([&](Value i) { return i < n; }, [](Value i) { return i + 1; }, {t.Constant(0)})[0];
  Value branch = t.If(
      n > 3, [&] { return t.Op("Neg", {t.Op("Neg", {n})}).output(); }, [&] { return n * 1; });
  auto module = Traced(t.Finish({z, same, loop, branch}));
  Check(std::move(module), {"Identity", "Identity_1", "Identity_2", "Identity_3"});
  for (const char* pass : {"function_optimizer", "constant_folding", "arithmetic_optimizer",
                           "remapper", "dependency_optimizer", "common_subgraph_elimination"})
    EXPECT_TRUE(fired_.count(pass)) << pass;
}

}  // namespace
}  // namespace grapnel
