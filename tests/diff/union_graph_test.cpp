// The graph drawn for a diff: B with the nodes that only A has put back.
#include "lib/diff/union_graph.h"

#include "gtest/gtest.h"
#include "lib/ir/import.h"
#include "lib/proto/graph.pb.h"

namespace grapnel {
namespace {

// A library of functions, each with a constant and one node that reads it.
std::unique_ptr<Module> Library(llvm::ArrayRef<std::pair<std::string, std::string>> names_and_ops) {
  proto::GraphDef graph;
  for (const auto& [name, op] : names_and_ops) {
    proto::FunctionDef* function = graph.mutable_library()->add_function();
    function->mutable_signature()->set_name(name);
    proto::NodeDef* first = function->add_node_def();
    first->set_name("first");
    first->set_op("Const");
    (*first->mutable_attr())["dtype"].set_type(proto::DT_FLOAT);
    proto::NodeDef* second = function->add_node_def();
    second->set_name("second");
    second->set_op(op);
    second->add_input("first:output:0");
  }
  auto file = FileBytes::FromString(graph.SerializeAsString(), "library");
  return llvm::cantFail(ImportGraphDef(file, file->bytes()));
}

TEST(UnionGraph, PutsBackAFunctionThatOnlyAHas) {
  auto a = Library({{"gone", "Neg"}, {"stays", "Exp"}}), b = Library({{"stays", "Exp"}});
  Diff diff = DiffModules(*a, *b, {});
  UnionGraph graph = MakeUnion(*b, diff);
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
