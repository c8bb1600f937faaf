#include "lib/pass/cut.h"

#include "gtest/gtest.h"
#include "lib/ir/literal.h"

namespace grapnel {
namespace {

// x -> a (Split, two outputs) -> b = Add(a:0, a:1) -> c = Neg; d = NoOp after a, b waits for it.
class CutTest : public testing::Test {
 protected:
  void SetUp() override {
    Graph& graph = module_.main;
    NodeId axis = Add("axis", "Const");
    graph.SetAttr(axis, "dtype", attr::Type(proto::DT_INT32));
    graph.SetAttr(axis, "value", attr::Tensor(Literal::Scalar(proto::DT_INT32, 0).ToTensorProto()));
    NodeId x = Add("x", "Placeholder");
    graph.SetAttr(x, "dtype", attr::Type(proto::DT_FLOAT));
    graph.SetAttr(x, "shape", attr::ShapeOf(Shape({4, 6})));
    NodeId a = Add("a", "Split", {{axis, 0}, {x, 0}});
    graph.SetAttr(a, "num_split", attr::Int(2));
    Type(a);
    NodeId b = Add("b", "AddV2", {{a, 0}, {a, 1}});
    Type(b);
    Type(Add("c", "Neg", {{b, 0}}));
    NodeId d = Add("d", "NoOp");
    graph.AddControl(d, a);
    graph.AddControl(b, d);
  }
  NodeId Add(llvm::StringRef name, llvm::StringRef op, llvm::ArrayRef<Port> inputs = {}) {
    NodeId id = module_.main.AddNode(name, op);
    for (Port port : inputs) module_.main.AddInput(id, port);
    return id;
  }
  void Type(NodeId id) { module_.main.SetAttr(id, "T", attr::Type(proto::DT_FLOAT)); }
  Port At(llvm::StringRef name, int index = 0) { return {module_.main.Find(name).id(), index}; }
  CutResult Cut(llvm::ArrayRef<Port> inputs, llvm::ArrayRef<Port> outputs) {
    auto result = CutGraph(&module_, inputs, outputs);
    if (!result) {
      ADD_FAILURE() << TextOf(result.takeError());
      return {};
    }
    return std::move(*result);
  }
  std::string Names() {
    std::string names;
    for (Node node : module_.main.nodes()) names += node.name().str() + " ";
    return names;
  }
  Module module_;
};

TEST_F(CutTest, APlaceholderTakesTheName) {
  CutResult result = Cut({At("b")}, {At("c")});
  EXPECT_EQ(Names(), "c b ");
  Node b = module_.main.Find("b");
  EXPECT_EQ(b.op(), "Placeholder");
  EXPECT_EQ(b.GetType("dtype"), proto::DT_FLOAT);
  EXPECT_EQ(result.inputs[0].placeholder, "b");
  EXPECT_EQ(module_.main.Find("c").input_node(0), b);
}

// Nodes that waited for the node wait for its placeholder.
TEST_F(CutTest, EachOutputHasAPlaceholder) {
  CutResult result = Cut({At("a", 0), At("a", 1)}, {At("b")});
  EXPECT_EQ(Names(), "b d a_1 a ");
  EXPECT_EQ(result.inputs[1].placeholder, "a_1");
  EXPECT_EQ(module_.main.Find("d").control(0), module_.main.Find("a"));
}

TEST_F(CutTest, ANodeThatStaysKeepsItsName) {
  CutResult result = Cut({At("a", 0)}, {At("b")});
  EXPECT_EQ(result.inputs[0].placeholder, "a_1");
  EXPECT_EQ(module_.main.Find("a").op(), "Split");
  EXPECT_EQ(module_.main.Find("b").input_node(0).name(), "a_1");
  EXPECT_EQ(module_.main.Find("b").input_node(1).name(), "a");
}

TEST_F(CutTest, WithoutInputsItIsWhatTheOutputsNeed) {
  Cut({}, {At("a")});
  EXPECT_EQ(Names(), "axis x a ");
}

TEST_F(CutTest, AnInputThatNobodyNeedsIsLeftOut) {
  CutResult result = Cut({At("c")}, {At("b")});
  EXPECT_EQ(result.inputs[0].placeholder, "");
  EXPECT_FALSE(module_.main.Find("c"));
}

TEST_F(CutTest, RequestsToShareADeviceWithWhatIsGoneAreDropped) {
  module_.main.SetAttr(At("c").node, "_class", attr::Strings({"loc:@a", "loc:@b"}));
  Cut({At("b")}, {At("c")});
  EXPECT_EQ(module_.main.Find("c").FindAttr("_class")->AsStrings()->size(), 1u);
}

TEST_F(CutTest, UnknownOpsHaveNoType) {
  NodeId strange = Add("strange", "Strange");
  module_.main.SetInput(At("c").node, 0, {strange, 0});
  auto result = CutGraph(&module_, {At("strange")}, {At("c")});
  ASSERT_FALSE(result);
  EXPECT_EQ(TextOf(result.takeError()), "input 'strange:0': unknown dtype (op 'Strange')");
}

}  // namespace
}  // namespace grapnel
