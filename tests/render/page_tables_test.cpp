// GraphPage's tables, and what the page's scripts make of them.
#include <gtest/gtest.h>

#include "lib/io/open.h"
#include "lib/ir/text.h"
#include "lib/render/engine/engine.h"
#include "lib/render/graph_page.h"
#include "lib/render/page_rows.h"
#include "lib/render/scope_view.h"
#include "lib/support/file.h"
#include "lib/support/printable.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

using llvm::json::Array;
using llvm::json::Object;

Object Made(const char* function, Expected<std::string> table,
            std::vector<std::string> arguments = {}) {
  if (!table) {
    ADD_FAILURE() << llvm::toString(table.takeError());
    return {};
  }
  arguments.insert(arguments.begin(), llvm::encodeBase64(*table));
  auto text = CallScript("for_tests.js", function, arguments);
  if (!text) {
    ADD_FAILURE() << llvm::toString(text.takeError());
    return {};
  }
  return *llvm::cantFail(llvm::json::parse(*text)).getAsObject();
}

class PageTables : public testing::Test {
 protected:
  void Open(const std::string& text) {
    std::string path = testing::TempDir() + "/page_tables.gtxt";
    llvm::cantFail(WriteFile(path, text));
    model_ = std::make_unique<Model>(llvm::cantFail(OpenModel(path)));
    page_ = std::make_unique<GraphPage>(module(), llvm::ArrayRef<Signature>(), "title", marks_);
  }
  Module& module() { return *model_->graphs[0].module; }
  NodeId Id(llvm::StringRef name) { return module().main.Find(name).id(); }
  Object NodeOf(llvm::StringRef name) {
    return Made("tableNode", page_->NodeTable(0, Id(name)), {std::to_string(Id(name))});
  }
  Object Scope(const std::string& scope = "") {
    std::optional<ScopeId> id;
    if (!scope.empty()) id = static_cast<ScopeId>(std::stoul(scope));
    return Made("tableScope", page_->ScopeTable(0, id), {"0", scope});
  }
  // The box with this name in a view.
  static const Object* Box(const Object& document, llvm::StringRef name) {
    for (const llvm::json::Value& box : *document.getObject("view")->getArray("boxes"))
      if (box.getAsObject()->getString("name") == name) return box.getAsObject();
    return nullptr;
  }
  static std::string Json(const llvm::json::Value* value) {
    return value ? llvm::formatv("{0}", *value).str() : "nothing";
  }

  const PageMarks* marks_ = nullptr;
  std::unique_ptr<Model> model_;
  std::unique_ptr<GraphPage> page_;
};

constexpr const char* kGraph = R"(fetch %out
%x = Placeholder {dtype=float, shape=[2,3]}
%w = Const [[1.0,2.0,3.0,4.0],[5.0,6.0,7.0,8.0],[9.0,10.0,11.0,12.0]]
%axis = Const 0
%block/in/mul = MatMul(%x, %w) @cpu:0
%block/in/relu = Relu(%block/in/mul)
%block/tanh = Tanh(%block/in/relu)
%parts = Split(%axis, %block/tanh) {num_split=2}
%out = AddN(%parts, %parts:1, ^x)
)";

TEST_F(PageTables, ANodeHasItsTextInputsAndReaders) {
  Open(kGraph);
  Object node = NodeOf("block/in/mul");
  EXPECT_EQ(node.getString("op"), "MatMul");
  EXPECT_EQ(node.getString("device"), module().main.Find("block/in/mul").device());
  EXPECT_EQ(node.getString("text"), NodeText(module().main.Find("block/in/mul")));
  const Array& inputs = *node.getArray("inputs");
  ASSERT_EQ(inputs.size(), 2u);
  EXPECT_EQ(inputs[0].getAsObject()->getString("slot"), "a");
  EXPECT_EQ(inputs[0].getAsObject()->getString("name"), "x");
  EXPECT_EQ(inputs[1].getAsObject()->getString("type"), "float[3,4]");
  const Object& output = *(*node.getArray("outputs"))[0].getAsObject();
  EXPECT_EQ(output.getString("type"), "float[2,4]");
  EXPECT_EQ(output.getString("slot"), "product");
  EXPECT_EQ(output.getInteger("count"), 1);
  EXPECT_EQ((*output.getArray("readers"))[0].getAsObject()->getString("name"), "block/in/relu");
}

// Each node's text, whatever its inputs are.
TEST_F(PageTables, EveryNodeHasTheTextOfTheGraphsText) {
  for (const char* path : {"testdata/models/lenet", "testdata/collatz"}) {
    Model model = llvm::cantFail(OpenModel(path));
    const Module& module = *model.graphs[0].module;
    GraphPage page(module, llvm::ArrayRef<Signature>(), "title");
    for (size_t body = 0; body < page.num_bodies(); ++body) {
      for (Node node : page.graph(body).nodes()) {
        Object made =
            Made("tableNode", page.NodeTable(body, node.id()), {std::to_string(node.id())});
        EXPECT_EQ(made.getString("text"), Printable(NodeText(node)));
        EXPECT_EQ(made.getString("name"), Printable(node.name()));
      }
    }
  }
}

TEST_F(PageTables, AConstantIsFoldedIntoItsReadersBox) {
  Open(kGraph);
  Object node = NodeOf("w");
  EXPECT_EQ(node.getBoolean("folded"), true);
  EXPECT_EQ(node.getObject("reader")->getString("name"), "block/in/mul");
  EXPECT_EQ(node.getString("value"), "[1,2,3,4,5,6,7,8,...]");
  EXPECT_NE(node.getObject("statistics"), nullptr);
  Object mul = NodeOf("block/in/mul");
  EXPECT_EQ(Json(node.get("around")), Json(mul.get("around")));
}

// Two nodes that differ only in the variable that they read have texts of their own.
TEST_F(PageTables, VariablesAndTheirReadersHaveValues) {
  Open(R"(fetch %sum
%a = VarHandleOp {dtype=float, shape=[9], shared_name="a"}
%b = VarHandleOp {dtype=float, shape=[2], shared_name="b"}
%c = VarHandleOp {dtype=float, shape=[2], shared_name="c"}
%read_a = ReadVariableOp(%a) {dtype=float}
%read_b = ReadVariableOp(%b) {dtype=float}
%read_c = ReadVariableOp(%c) {dtype=float}
%sum = AddN(%read_b, %read_c)
)");
  EXPECT_EQ(NodeOf("read_b").getString("value"), std::nullopt);
  int reads = 0;
  PageValues values;
  values.variable_of = [&](const Node& node) {
    return node.num_inputs() == 0 ? node.id() : node.input(0).node;
  };
  values.read = [&](NodeId variable) -> std::optional<Literal> {
    ++reads;
    if (variable == Id("c")) return std::nullopt;
    if (variable == Id("b")) return Literal::Vector32({5, 6});
    return Literal::Integers(proto::DT_INT64, {9}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  };
  page_ = std::make_unique<GraphPage>(module(), llvm::ArrayRef<Signature>(), "title", marks_);
  page_->SetValues(std::move(values));
  for (const char* name : {"a", "read_a"}) {
    Object node = NodeOf(name);
    EXPECT_EQ(node.getString("variable"), "a");
    EXPECT_EQ(node.getString("value"), "[1,2,3,4,5,6,7,8,...]");
    ASSERT_NE(node.getObject("statistics"), nullptr);
    EXPECT_EQ(node.getObject("statistics")->getNumber("mean"), 5);
  }
  EXPECT_EQ(reads, 1);
  EXPECT_EQ(NodeOf("read_b").getString("value"), "[5,6]");
  EXPECT_EQ(NodeOf("read_b").getObject("statistics"), nullptr);
  EXPECT_EQ(NodeOf("read_c").getString("value"), std::nullopt);
  EXPECT_EQ(NodeOf("sum").getString("variable"), std::nullopt);
}

TEST_F(PageTables, OutputsAndControlInputsAreListed) {
  Open(kGraph);
  Object split = NodeOf("parts");
  ASSERT_EQ(split.getArray("outputs")->size(), 2u);
  Object out = NodeOf("out");
  const Array& inputs = *out.getArray("inputs");
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[1].getAsObject()->getInteger("port"), 1);
  EXPECT_EQ(inputs[2].getAsObject()->getBoolean("control"), true);
  EXPECT_EQ(inputs[2].getAsObject()->getString("name"), "x");
  Object x = NodeOf("x");
  EXPECT_EQ(x.getObject("after")->getInteger("count"), 1);
}

TEST_F(PageTables, AMissingInputIsNamed) {
  Open("%a = Neg(%\"gone\") {T=float}\n%b = Neg(%a, ^\"nowhere\")\n");
  const Object a = NodeOf("a");
  EXPECT_EQ((*a.getArray("inputs"))[0].getAsObject()->getString("missing"), "gone");
  EXPECT_EQ(a.getString("text"), NodeText(module().main.Find("a")));
  const Object b = NodeOf("b");
  const Object& input = *(*b.getArray("inputs"))[1].getAsObject();
  EXPECT_EQ(input.getBoolean("control"), true);
  EXPECT_EQ(input.getString("missing"), "^nowhere");
}

TEST_F(PageTables, NamesInQuotesKeepThem) {
  Open(
      "%\"a b\" = Placeholder {dtype=float, shape=[]}\n%\"c d\" = Neg(%\"a b\")\n%e = Neg(%\"c "
      "d\")\n");
  for (const char* name : {"a b", "c d", "e"})
    EXPECT_EQ(NodeOf(name).getString("text"), NodeText(module().main.Find(name)));
}

TEST_F(PageTables, AScopeHasBoxesEdgesAndPorts) {
  Open(kGraph);
  Object outer = Scope();
  EXPECT_EQ(outer.getObject("counts")->getInteger("constants"), 2);
  const Object* block = Box(outer, "block");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->getString("kind"), "scope");
  EXPECT_EQ(block->getInteger("ops"), 3);
  EXPECT_EQ(Json(block->get("notes")), R"(["1 MatMul, 1 Relu, 1 Tanh"])");
  EXPECT_EQ(Json(block->get("devices")), R"({"cpu:0":1,"none":2})");
  Object inner = Scope(std::to_string(*block->getInteger("scope")));
  const Object& view = *inner.getObject("view");
  EXPECT_EQ(view.getString("path"), "block");
  EXPECT_EQ(Json(view.get("sources")),
            llvm::formatv(R"([{"key":"n{0}","name":"x"}])", Id("x")).str());
  EXPECT_EQ(Json(view.get("sinks")),
            llvm::formatv(R"([{"key":"n{0}","name":"parts"}])", Id("parts")).str());
  const Object* in = Box(inner, "in");
  ASSERT_NE(in, nullptr);
  Object innermost = Scope(std::to_string(*in->getInteger("scope")));
  const Object* mul = Box(innermost, "mul");
  ASSERT_NE(mul, nullptr);
  EXPECT_EQ(Json(mul->get("notes")), R"(["b = float[3,4]"])");
  EXPECT_EQ(Json(mul->get("noted")), llvm::formatv("[{0}]", Id("w")).str());
  EXPECT_EQ(mul->getInteger("bytes"), 48);
  EXPECT_EQ(mul->getInteger("flops"), 48);
}

// Data flows out of the replica and back into it; the scope grads has a node that is not its own.
TEST_F(PageTables, ScopesThatTheFlowEntersAgain) {
  Open(
      "%x = Placeholder {dtype=float, shape=[2]}\n"
      "%replica_1/a = Relu(%x)\n"
      "%replica_1/b = Relu(%replica_1/a)\n"
      "%sum = Neg(%replica_1/b)\n"
      "%replica_1/c = Relu(%sum)\n"
      "%grads/a = Relu(%x)\n"
      "%grads/b = Relu(%grads/a)\n"
      "%grads/c = Relu(%grads/b)\n"
      "%grads/d = Relu(%grads/c)\n"
      "%between = Neg(%grads/d)\n"
      "%grads/e = Relu(%between)\n"
      "%grads/f = Relu(%grads/e)\n"
      "%grads/g = Relu(%grads/f)\n"
      "%grads/h = Relu(%grads/g)\n");
  Object outer = Scope();
  const Object *replica = Box(outer, "replica_1"), *grads = Box(outer, "grads + 1 op");
  ASSERT_NE(replica, nullptr);
  EXPECT_EQ(replica->get("made_up"), nullptr);
  ASSERT_NE(grads, nullptr);
  EXPECT_EQ(grads->getBoolean("made_up"), true);
  EXPECT_EQ(grads->getInteger("taken"), 1);
  const Object& view = *outer.getObject("view");
  const Array& above = *view.getArray("above");
  ASSERT_EQ(above.size(), 1u) << "only the replica is drawn above what it reads";
  const llvm::json::Value& box = (*view.getArray("boxes"))[*above[0].getAsInteger()];
  EXPECT_EQ(box.getAsObject()->getString("name"), "replica_1");
}

TEST_F(PageTables, MarksAreOfNodesAndOfScopes) {
  PageMarks marks;
  marks.kinds = {"removed", "added"};
  marks.kind_of = [](const Node& node) { return node.op() == "Relu" ? 1 : -1; };
  marks.details = [](const Node& node) -> std::vector<PageMarks::Detail> {
    if (node.op() != "Relu") return {};
    return {{"T", "half", "float", ""}};
  };
  marks_ = &marks;
  Open(kGraph);
  Object outer = Scope();
  EXPECT_EQ(Json(Box(outer, "block")->get("marks")), "[0,1]");
  Object relu = NodeOf("block/in/relu");
  EXPECT_EQ(relu.getInteger("mark"), 1);
  EXPECT_EQ(Json(relu.get("details")), R"([{"after":"float","before":"half","what":"T"}])");
  EXPECT_EQ(NodeOf("x").getInteger("mark"), std::nullopt);
}

TEST_F(PageTables, LongListsOfReadersComeInPages) {
  std::string text = "%x = Placeholder {dtype=float, shape=[]}\n";
  for (int i = 0; i < 2500; ++i) text += "%r" + std::to_string(i) + " = Neg(%x)\n";
  Open(text);
  Object x = NodeOf("x");
  const Object& output = *(*x.getArray("outputs"))[0].getAsObject();
  EXPECT_EQ(output.getInteger("count"), 2500);
  EXPECT_EQ(output.getArray("readers")->size(), kFirstListed);
  EXPECT_EQ(output.getInteger("next"), static_cast<int64_t>(kFirstListed));
  Object more = Made("tableList", page_->ReadersTable(0, Id("x"), 0, kFirstListed, true));
  EXPECT_EQ(more.getArray("nodes")->size(), kListedAPage);
  EXPECT_EQ((*more.getArray("nodes"))[0].getAsObject()->getString("op"), "Neg");
  Object last =
      Made("tableList", page_->ReadersTable(0, Id("x"), 0, *more.getInteger("next"), true));
  EXPECT_EQ(last.getArray("nodes")->size(), 2500 - kFirstListed - kListedAPage);
  EXPECT_EQ(last.get("next"), nullptr);
}

TEST_F(PageTables, TheIndexListsAllNodes) {
  Open(kGraph);
  Object first = Made("tableList", page_->IndexTable(0, 0, 5));
  EXPECT_EQ(first.getArray("nodes")->size(), 5u);
  Object rest = Made("tableList", page_->IndexTable(0, *first.getInteger("next"), 100));
  EXPECT_EQ(rest.getArray("nodes")->size(), module().main.num_nodes() - 5);
}

TEST_F(PageTables, WhatIsNotThereIsAnError) {
  Open(kGraph);
  auto why = [](auto answer) { return answer ? "" : llvm::toString(answer.takeError()); };
  EXPECT_EQ(why(page_->NodeTable(0, 999)), "body 0 has no node 999");
  EXPECT_EQ(why(page_->NodeTable(7, 0)), "there is no body 7: the number of bodies is 1");
  EXPECT_EQ(why(page_->ScopeTable(0, 999)), "body 0 has no scope 999 that can be opened");
  EXPECT_NE(why(page_->ReadersTable(0, Id("x"), 9, 0, true)), "");
}

// Nodes of one kind share their texts, though they have other names and inputs.
TEST_F(PageTables, EqualNodesShareTheirTexts) {
  std::string text = "%x = Placeholder {dtype=float, shape=[2]}\n%r0 = Relu(%x)\n";
  for (int i = 1; i < 100; ++i)
    text += "%r" + std::to_string(i) + " = Relu(%r" + std::to_string(i - 1) + ")\n";
  Open(text);
  KnownNodeTexts none;
  std::unique_ptr<PageRows> rows = page_->NodeRows(0, 0, 1000, none);
  for (PageTextKind kind : {PageTextKind::kTraits, PageTextKind::kPanel})
    EXPECT_EQ(rows->texts().Of(static_cast<size_t>(kind)).size(), 2u);
  EXPECT_LT(rows->Table().size(), 2500u);
}

}  // namespace
}  // namespace grapnel
