// A pass that fails is named, and its input is saved.
#include "lib/check/reproducer.h"

#include <stdexcept>

#include "gtest/gtest.h"
#include "lib/io/open.h"
#include "lib/ir/attr.h"

namespace grapnel {
namespace {

class ThrowingPass : public GraphPass {
 public:
  Error Run(Editor&) override { throw std::runtime_error("out of luck"); }
};

// Makes a graph that the verifier refuses.
class BreakingPass : public GraphPass {
 public:
  Error Run(Editor& edit) override {
    Node node = edit.graph().Find("e");
    if (!edit.Begin("break", node)) return Error::success();
    edit.RemoveAttr(node, "T");
    edit.End();
    return Error::success();
  }
};

GRAPNEL_PASS(ThrowingPass, (PassInfo{.name = "test_throwing", .help = "throws"}), );
GRAPNEL_PASS(BreakingPass, (PassInfo{.name = "test_breaking", .help = "breaks"}),
             {"break", "takes a type away"});

// y = Exp(Identity(x))
void MakeGraph(Module* module) {
  Graph& graph = module->main;
  NodeId x = graph.AddNode("x", "Placeholder"), i = graph.AddNode("i", "Identity"),
         e = graph.AddNode("e", "Exp");
  graph.SetAttr(x, "dtype", attr::Type(proto::DT_FLOAT));
  graph.AddInput(i, {x, 0});
  graph.AddInput(e, {i, 0});
  for (NodeId id : {i, e}) graph.SetAttr(id, "T", attr::Type(proto::DT_FLOAT));
}

std::string RunFailing(const std::string& pass, std::optional<Stage>* failed) {
  Module module;
  MakeGraph(&module);
  OptimizeOptions options;
  options.fetches = {"e"};
  options.passes = {"model_pruner", pass};
  PassManager manager;
  manager.Add(MakeFailureInstrumentation(failed));
  manager.Add(MakeVerifyInstrumentation());
  auto result = manager.Run(module, options);
  EXPECT_FALSE(!!result);
  return result ? "" : TextOf(result.takeError());
}

TEST(ReproducerTest, APassThatThrowsIsNamed) {
  std::optional<Stage> failed;
  EXPECT_EQ(RunFailing("test_throwing", &failed), "pass 'test_throwing': failed: out of luck");
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->pass, "test_throwing");
}

TEST(ReproducerTest, WhatTheVerifierRefusesIsThePassesFault) {
  std::optional<Stage> failed;
  std::string text = RunFailing("test_breaking", &failed);
  EXPECT_NE(text.find("pass 'test_breaking'"), std::string::npos) << text;
  EXPECT_NE(text.find("attribute 'T'"), std::string::npos) << text;
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->pass, "test_breaking");
}

TEST(ReproducerTest, ItsInputIsSaved) {
  std::optional<Stage> failed;
  RunFailing("test_throwing", &failed);
  ASSERT_TRUE(failed);
  Module module;
  MakeGraph(&module);
  OptimizeOptions options;
  options.fetches = {"e"};
  options.passes = {"model_pruner", "test_throwing"};
  std::string path = testing::TempDir() + "reproducer.pb";
  ASSERT_FALSE(!!SaveReproducer(module, options, *failed, path));
  auto saved = OpenModel(path);
  ASSERT_TRUE(!!saved);
  const Graph& graph = saved->graphs[0].module->main;
  EXPECT_TRUE(!!graph.Find("e"));
  EXPECT_FALSE(!!graph.Find("i"));  // removed by the pruner
}

}  // namespace
}  // namespace grapnel
