// The values of variables on a page of two graphs drawn as one.
#include <gtest/gtest.h>

#include "lib/render/engine/engine.h"
#include "lib/serve/pages/diff_graph.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// A variable and an op that reads it. Its dtype tells it from others, whatever their names.
void AddVariable(llvm::StringRef name, llvm::StringRef reader, Module& module) {
  NodeId variable = module.main.AddNode(name, "VarHandleOp");
  module.main.SetAttr(variable, "dtype",
                      attr::Type(name == "gone" ? proto::DT_INT32 : proto::DT_FLOAT));
  module.main.AddInput(module.main.AddNode(reader, "ReadVariableOp"), {variable, 0});
}

// Values of variables in the order of `module`: `first` and so on.
PageValues ValuesFrom(int32_t first) {
  auto variable_of = [](const Node& node) {
    if (node.op() == "VarHandleOp") return node.id();
    return node.num_inputs() > 0 ? node.input(0).node : kNoNode;
  };
  auto read = [first](NodeId variable) -> std::optional<Literal> {
    return Literal::Vector32({first, static_cast<int32_t>(variable)});
  };
  return {variable_of, read};
}

std::string ValueOf(llvm::StringRef name, GraphPage& page) {
  auto place = page.Find("", name);
  if (!place) return "no node";
  std::string table = llvm::cantFail(page.NodeTable(0, place->second));
  auto text = CallScript("for_tests.js", "tableNode",
                         {llvm::encodeBase64(table), std::to_string(place->second)});
  if (!text) return llvm::toString(text.takeError());
  llvm::json::Value card = llvm::cantFail(llvm::json::parse(*text));
  auto value = card.getAsObject()->getString("value");
  return value ? value->str() : "none";
}

// Nodes of B show the values of B; nodes that only A has show those of variables that only A has.
TEST(DiffValues, EachNodeShowsTheValueOfItsGraph) {
  Module a, b;
  AddVariable("gone", "read_gone", a);
  AddVariable("both", "read_both", a);
  a.main.AddInput(a.main.AddNode("more", "ReadVariableOp"), {a.main.Find("both").id(), 0});
  AddVariable("both", "read_both", b);
  Diff diff = DiffModules(a, b, {});
  auto merged = llvm::cantFail(DiffGraph::Make(b, diff, "both"));
  merged->SetValues(b, ValuesFrom(100), ValuesFrom(200));
  EXPECT_EQ(ValueOf("both", merged->page()), "[200,0]");
  EXPECT_EQ(ValueOf("read_both", merged->page()), "[200,0]");
  EXPECT_EQ(ValueOf("gone", merged->page()), "[100,0]");
  EXPECT_EQ(ValueOf("read_gone", merged->page()), "[100,0]");
  EXPECT_EQ(ValueOf("more", merged->page()), "none");
}

TEST(DiffValues, OneOfTheGraphsMayHaveNone) {
  Module a, b;
  AddVariable("gone", "read_gone", a);
  AddVariable("both", "read_both", a);
  AddVariable("both", "read_both", b);
  Diff diff = DiffModules(a, b, {});
  auto of_a = llvm::cantFail(DiffGraph::Make(b, diff, "both"));
  of_a->SetValues(b, ValuesFrom(100), std::nullopt);
  EXPECT_EQ(ValueOf("both", of_a->page()), "none");
  EXPECT_EQ(ValueOf("gone", of_a->page()), "[100,0]");
  auto of_b = llvm::cantFail(DiffGraph::Make(b, diff, "both"));
  of_b->SetValues(b, std::nullopt, ValuesFrom(200));
  EXPECT_EQ(ValueOf("both", of_b->page()), "[200,0]");
  EXPECT_EQ(ValueOf("gone", of_b->page()), "none");
}

}  // namespace
}  // namespace grapnel
