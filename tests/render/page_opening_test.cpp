#include "lib/render/page_opening.h"

#include <gtest/gtest.h>

#include "lib/ir/text.h"
#include "lib/render/selection.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// main calls @outer in a scope, which calls @inner in another; @twice is recursive and uncalled.
constexpr const char* kCalls = R"(
%x = Placeholder {dtype=float}
%a/b/neg = Neg(%x)
%a/b/call = PartitionedCall(%a/b/neg) {f=@outer}
%c/exp = Exp(%a/b/call)
%c/log = Log(%c/exp)

func @outer(%y: float) -> (z: float) {
  %s/neg = Neg(%y)
  %s/call = PartitionedCall(%s/neg) {f=@inner}
  return %s/call
}

func @inner(%y: float) -> (z: float) {
  %t/neg = Neg(%y)
  %t/abs = Abs(%t/neg)
  %u = Exp(%t/abs)
  return %u
}

func @twice(%y: float) -> (z: float) {
  %r/neg = Neg(%y)
  %r/call = PartitionedCall(%r/neg) {f=@twice}
  return %r/call
}
)";

class PageOpeningTest : public testing::Test {
 protected:
  PageOpeningTest() : graphs_(ReadGraphText(*FileBytes::FromString(kCalls, "test"))) {}

  const Module& module() const { return *graphs_[0].module; }

  PageOpening Open(const OpenRequest& wanted, const Function* first = nullptr) {
    auto opening = OpenPage(module(), first, wanted);
    if (opening) return std::move(*opening);
    ADD_FAILURE() << TextOf(opening.takeError());
    return {};
  }

  // Names of the ops whose functions are open: "a/b/call outer/s/call".
  std::string Callers(const PageOpening& opening) {
    std::string names;
    for (const PageOpening::Body& body : opening.bodies) {
      const Function* function = FunctionOf(*body.graph);
      for (NodeId caller : body.callers) {
        names += (names.empty() ? "" : " ") + (function ? function->name().str() + "/" : "") +
                 body.graph->node(caller).name().str();
      }
    }
    return names;
  }

  std::string ErrorOf(const OpenRequest& wanted) {
    auto opening = OpenPage(module(), nullptr, wanted);
    return opening ? "" : TextOf(opening.takeError());
  }

 private:
  std::vector<TextGraph> graphs_;
};

TEST_F(PageOpeningTest, AllThatLeadsToAFunctionIsOpen) {
  PageOpening opening = Open({.functions = {"inner"}});
  EXPECT_EQ(opening.first, nullptr);
  EXPECT_EQ(Callers(opening), "a/b/call outer/s/call");
  ASSERT_TRUE(opening.viewport);
  EXPECT_EQ(opening.viewport->graph, &module().FindFunction("inner")->body);
  const ScopeTree tree(module().main, Fold(module().main, {}, FoldOptions()).uses);
  ASSERT_EQ(opening.bodies[0].graph, &module().main);
  EXPECT_TRUE(llvm::is_contained(opening.bodies[0].scopes, tree.scope(tree.Find("a/b")).core));
  EXPECT_FALSE(llvm::is_contained(opening.bodies[0].scopes, tree.Find("c")));
}

TEST_F(PageOpeningTest, AFunctionThatNothingLeadsToIsSeenFirst) {
  PageOpening opening = Open({.functions = {"twice"}});
  EXPECT_EQ(opening.first, module().FindFunction("twice"));
  EXPECT_FALSE(opening.viewport);
  const Function* outer = module().FindFunction("outer");
  EXPECT_EQ(Open({.functions = {"inner"}}, outer).first, outer);
  EXPECT_EQ(Callers(Open({.functions = {"all"}})), "a/b/call outer/s/call");
}

TEST_F(PageOpeningTest, AScopeOfAFunctionIsLedToLikewise) {
  PageOpening opening = Open({.scopes = {"inner/t"}});
  EXPECT_EQ(Callers(opening), "a/b/call outer/s/call");
  ASSERT_TRUE(opening.viewport);
  EXPECT_EQ(opening.viewport->graph, &module().FindFunction("inner")->body);
}

TEST_F(PageOpeningTest, WhatIsNotThereIsSaid) {
  EXPECT_EQ(ErrorOf({.scopes = {"c/x"}}), "scope 'c/x' not found; there are 'a', 'c', 'a/b'");
  EXPECT_EQ(ErrorOf({.functions = {"iner"}}), "function 'iner' not found; did you mean 'inner'?");
  EXPECT_TRUE(OpenRequest().empty());
  EXPECT_FALSE(Open({}).viewport);
}

}  // namespace
}  // namespace grapnel
