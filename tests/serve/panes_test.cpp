#include "lib/serve/pages/panes.h"

#include <gtest/gtest.h>

#include "lib/render/engine/engine.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

// Two graphs, and their merged graph.
struct Compared {
  Module a, b;
  Diff diff;
  std::unique_ptr<DiffGraph> merged;
  std::unique_ptr<Panes> panes;

  void Compare() {
    diff = DiffModules(a, b, {});
    merged = llvm::cantFail(DiffGraph::Make(b, diff, "both"));
    panes = std::make_unique<Panes>(a, b, diff, *merged);
  }

  // The columns of MatchTable, as the page reads them.
  llvm::json::Object Match() const {
    auto text =
        CallScript("for_tests.js", "tableColumns", {llvm::encodeBase64(panes->MatchTable())});
    if (text) return *llvm::cantFail(llvm::json::parse(*text)).getAsObject();
    ADD_FAILURE() << llvm::toString(text.takeError());
    return {};
  }
};

void AddChain(llvm::StringRef scope, llvm::ArrayRef<llvm::StringRef> ops, Module& module) {
  NodeId last = module.main.AddNode("x", "Placeholder");
  for (llvm::StringRef op : ops) {
    NodeId next = module.main.AddNode((scope + "/" + op).str(), op);
    module.main.AddInput(next, {last, 0});
    last = next;
  }
}

std::string Json(const llvm::json::Value* value) {
  return value ? llvm::formatv("{0}", *value).str() : "nothing";
}

// A renamed scope is found by its contents.
TEST(Panes, RenamedScopesAreMatched) {
  Compared both;
  AddChain("old/in", {"Relu", "Sqrt", "Tanh"}, both.a);
  AddChain("new/in", {"Relu", "Sqrt", "Tanh"}, both.b);
  both.Compare();
  llvm::json::Object match = both.Match();
  EXPECT_EQ(Json(match.get("scope body")), "[0,0]");
  EXPECT_EQ(Json(match.get("scope in a")), R"(["old","old/in"])");
  EXPECT_EQ(Json(match.get("scope in b")), R"(["new","new/in"])");
}

TEST(Panes, AScopeThatLostANodeKeepsItsName) {
  Compared both;
  AddChain("block", {"Relu", "Sqrt", "Tanh"}, both.a);
  AddChain("block", {"Relu", "Tanh"}, both.b);
  both.Compare();
  llvm::json::Object match = both.Match();
  EXPECT_EQ(match.get("scope body"), nullptr);
  EXPECT_EQ(match.getArray("a node")->size(), 4u);
  EXPECT_EQ(match.getArray("b node")->size(), 3u);
}

// The merged node of each node has the same name, if both graphs have it.
TEST(Panes, NodesAreMatched) {
  Compared both;
  AddChain("block", {"Relu", "Sqrt", "Tanh"}, both.a);
  AddChain("block", {"Relu", "Exp", "Tanh"}, both.b);
  both.Compare();
  llvm::json::Object match = both.Match();
  const GraphPage& merged = both.merged->page();
  for (const char* side : {"a", "b"}) {
    const GraphPage& page = side[0] == 'a' ? both.panes->a() : both.panes->b();
    auto column = [&](const char* name) -> const llvm::json::Array& {
      return *match.getArray((llvm::Twine(side) + name).str());
    };
    ASSERT_EQ(column(" node").size(), page.graph(0).num_nodes());
    for (size_t i = 0; i < column(" node").size(); ++i) {
      auto name = [&](const GraphPage& shown, const char* body, const char* node) {
        return shown.graph(*column(body)[i].getAsInteger())
            .node(*column(node)[i].getAsInteger())
            .name();
      };
      if (name(page, " body", " node").ends_with("Sqrt")) continue;  // became Exp
      EXPECT_EQ(name(page, " body", " node"), name(merged, " merged body", " merged node"));
    }
  }
}

}  // namespace
}  // namespace grapnel
