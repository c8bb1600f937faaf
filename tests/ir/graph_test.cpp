#include "lib/ir/graph.h"

#include <gtest/gtest.h>

#include "lib/ir/import.h"
#include "lib/ir/module.h"
#include "lib/ir/verify.h"
#include "lib/proto/node_def.pb.h"

namespace grapnel {
namespace {

std::vector<std::string> InputsOf(const Node& node) {
  std::vector<std::string> inputs;
  for (Port port : node.inputs()) inputs.push_back(PortText(node.graph(), port));
  return inputs;
}

using Names = std::vector<std::string>;

class GraphTest : public ::testing::Test {
 protected:
  NodeId Add(llvm::StringRef name, llvm::ArrayRef<Port> inputs = {}) {
    NodeId id = graph_.AddNode(name, "NoOp");
    graph_.SetInputs(id, inputs);
    return id;
  }
  // Every use must name a slot that reads the node, and exactly one use must name each input.
  void CheckUses() {
    size_t inputs = 0, uses = 0;
    for (Node node : graph_.nodes()) {
      inputs += node.inputs().size();
      uses += node.uses().size();
      for (const Use& use : node.uses())
        EXPECT_EQ(graph_.node(use.node).inputs()[use.slot].node, node.id());
    }
    EXPECT_EQ(inputs, uses);
  }
  Module module_;
  Graph& graph_ = module_.main;
};

TEST_F(GraphTest, ControlInputsComeAfterDataInputs) {
  NodeId a = Add("a"), b = Add("b"), c = Add("c");
  NodeId reader = Add("reader", {{a, 0}});
  graph_.AddControl(reader, b);
  graph_.AddInput(reader, {c, 2});
  EXPECT_EQ(InputsOf(graph_.node(reader)), (Names{"a", "c:2", "^b"}));
  EXPECT_FALSE(graph_.AddControl(reader, b));
  CheckUses();
}

TEST_F(GraphTest, UsesStayRightThroughChanges) {
  NodeId a = Add("a"), b = Add("b");
  NodeId reader = Add("reader", {{a, 0}, {b, 0}, {a, 1}, {b, kControlPort}});
  NodeId other = Add("other", {{a, 0}});
  CheckUses();
  graph_.RemoveInput(reader, 0);
  EXPECT_EQ(InputsOf(graph_.node(reader)), (Names{"b", "a:1", "^b"}));
  CheckUses();
  graph_.SetInput(reader, 1, {b, 3});
  CheckUses();
  graph_.RemoveControl(reader, b);
  EXPECT_EQ(InputsOf(graph_.node(reader)), (Names{"b", "b:3"}));
  CheckUses();
  graph_.RemoveNode(other);
  EXPECT_FALSE(graph_.Find("other"));
  EXPECT_TRUE(graph_.node(a).uses().empty());
  graph_.RemoveNode(a);
  CheckUses();
  EXPECT_EQ(graph_.num_nodes(), 2u);
}

TEST_F(GraphTest, TopologicalOrderLetsLoopsCloseAndLeavesOtherCyclesOut) {
  NodeId enter = graph_.AddNode("enter", "Enter");
  NodeId merge = graph_.AddNode("merge", "Merge");
  NodeId next = graph_.AddNode("next", "NextIteration");
  graph_.SetInputs(merge, {{enter, 0}, {next, 0}});
  graph_.SetInputs(next, {{merge, 0}});
  EXPECT_EQ(TopologicalOrder(graph_), (std::vector<NodeId>{enter, merge, next}));
  NodeId a = Add("a"), b = Add("b", {{a, 0}});
  graph_.SetInputs(a, {{b, 0}});
  EXPECT_EQ(TopologicalOrder(graph_).size(), 3u);
  EXPECT_TRUE(HasErrors(VerifyGraph(graph_)));
}

TEST_F(GraphTest, UniqueNamesCount) {
  Add("x");
  EXPECT_EQ(graph_.UniqueName("x"), "x_1");
  Add("x_1");
  EXPECT_EQ(graph_.UniqueName("x"), "x_2");
  EXPECT_EQ(graph_.UniqueName("y"), "y");
}

TEST_F(GraphTest, RenameReachesReaders) {
  NodeId a = Add("a"), reader = Add("reader", {{a, 0}});
  graph_.Rename(a, "b");
  EXPECT_EQ(InputsOf(graph_.node(reader)), Names{"b"});
  EXPECT_TRUE(graph_.Find("b"));
  EXPECT_FALSE(graph_.Find("a"));
}

TEST_F(GraphTest, AttributesAreReadLateAndTheLastOfAKeyCounts) {
  NodeId a = Add("a");
  graph_.SetAttr(a, "N", attr::Int(-3));
  graph_.SetAttr(a, "shape", attr::ShapeOf(Shape({2, kUnknownDim})));
  graph_.SetAttr(a, "N", attr::Int(4));
  Node node = graph_.node(a);
  EXPECT_EQ(node.GetInt("N"), 4);
  EXPECT_EQ(node.FindAttr("shape")->AsShape()->ToString(), "[2,?]");
  EXPECT_FALSE(node.FindAttr("missing"));
  EXPECT_EQ(node.Attrs().size(), 2u);
  graph_.RemoveAttr(a, "N");
  EXPECT_EQ(node.GetInt("N", 9), 9);
}

TEST_F(GraphTest, AnAttributeThatNobodyAskedForIsRemoved) {
  proto::NodeDef def;
  def.set_name("a");
  def.set_op("NoOp");
  (*def.mutable_attr())["_only_here"].set_b(true);
  std::string source = def.SerializeAsString();
  NodeId a = graph_.AddImported(module_.strings.Intern("a"), module_.strings.Intern("NoOp"),
                                kEmptyString, source);
  graph_.RemoveAttr(a, "_only_here");
  EXPECT_FALSE(graph_.node(a).FindAttr("_only_here"));
}

// Nodes with the same attributes may share their bytes, until one of them is changed.
TEST_F(GraphTest, SharesAttributes) {
  proto::NodeDef attrs;
  (*attrs.mutable_attr())["N"].set_i(2);
  (*attrs.mutable_attr())["T"].set_type(proto::DT_FLOAT);
  llvm::StringRef bytes = module_.Keep(attrs.SerializeAsString());
  NodeId a = Add("a"), b = Add("b"), c = Add("c");
  graph_.ShareAttrs(a, bytes);
  graph_.ShareAttrs(b, bytes);
  graph_.CopyAttrs(c, graph_.node(a));
  graph_.SetAttr(b, "N", attr::Int(3));
  EXPECT_EQ(graph_.node(a).GetInt("N"), 2);
  EXPECT_EQ(graph_.node(b).GetInt("N"), 3);
  EXPECT_EQ(graph_.node(b).GetType("T"), proto::DT_FLOAT);
  EXPECT_EQ(graph_.AttrBytes(a), graph_.AttrBytes(c));
  EXPECT_EQ(graph_.AttrBytes(b), std::nullopt);
  EXPECT_FALSE(graph_.HasAttrsOfSource(a));
  EXPECT_TRUE(graph_.Source(a).empty());
  // It is written like any newly created node.
  proto::NodeDef written;
  ASSERT_TRUE(written.ParseFromString(ExportNodeDef(graph_.node(a), nullptr)));
  EXPECT_EQ(written.name(), "a");
  EXPECT_EQ(written.attr().at("N").i(), 2);
}

TEST_F(GraphTest, EachChangeGivesAnotherVersion) {
  Module other;
  EXPECT_NE(graph_.version(), other.main.version());
  NodeId a = Add("a"), b = Add("b");
  uint64_t before = graph_.version();
  auto changes = [&] {
    uint64_t last = std::exchange(before, graph_.version());
    return last != before;
  };
  EXPECT_FALSE(changes());
  graph_.SetAttr(a, "N", attr::Int(3));
  EXPECT_TRUE(changes());
  graph_.AddInput(b, {a, 0});
  EXPECT_TRUE(changes());
  graph_.RemoveInput(b, 0);
  EXPECT_TRUE(changes());
  graph_.RemoveNode(b);
  EXPECT_TRUE(changes());
}

}  // namespace
}  // namespace grapnel
