// What is drawn of a diff: B with what only A has put back.
#include "lib/diff/union_graph.h"

#include "gtest/gtest.h"

namespace grapnel {
namespace {

void AddBody(Module& module, llvm::StringRef name, llvm::StringRef op) {
  Graph& body = module.AddFunction(name)->body;
  NodeId first = body.AddNode("first", "Const");
  NodeId second = body.AddNode("second", op);
  body.AddInput(second, {first, 0});
}

TEST(UnionGraph, PutsBackAFunctionThatOnlyAHas) {
  Module a, b;
  AddBody(a, "gone", "Neg");
  AddBody(b, "stays", "Exp");
  AddBody(a, "stays", "Exp");
  Diff diff = DiffModules(a, b, {});
  UnionGraph graph = llvm::cantFail(MakeUnion(b, diff));
  const Function* gone = graph.module->FindFunction("gone");
  ASSERT_TRUE(gone);
  Node second = gone->body.Find("second");
  ASSERT_TRUE(second);
  EXPECT_EQ(second.op(), "Neg");
  EXPECT_EQ(second.input_node(0).name(), "first");
  EXPECT_EQ(graph.StatusOf(second), NodeStatus::kRemoved);
  EXPECT_EQ(graph.StatusOf(graph.module->FindFunction("stays")->body.Find("second")),
            NodeStatus::kSame);
}

}  // namespace
}  // namespace grapnel
