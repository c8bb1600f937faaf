#include "lib/render/scope_view.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "lib/io/open.h"

namespace grapnel {
namespace {

std::unique_ptr<Module> Chain(int count, const std::function<std::string(int)>& name) {
  auto module = std::make_unique<Module>();
  NodeId last = kNoNode;
  for (int i = 0; i < count; ++i) {
    NodeId node = module->main.AddNode(name(i), i == 0 ? "Placeholder" : "Relu");
    if (i > 0) module->main.AddInput(node, {last, 0});
    last = node;
  }
  return module;
}

std::vector<ScopeId> Openable(const ScopeTree& tree) {
  std::vector<ScopeId> scopes = {tree.scope(kRootScope).core};
  for (ScopeId id = 0; id < tree.size(); ++id) {
    if (id != scopes[0] && tree.scope(id).core == id && tree.scope(id).num_shown > 1)
      scopes.push_back(id);
  }
  return scopes;
}

// Over all scopes, the edges between two boxes of one scope are every input once; an edge that ends
// at a closed scope continues at a port inside it, with the same count.
void ExpectNothingLost(const Graph& graph) {
  ShapeMap shapes = InferShapes(graph);
  BodyScopes body(graph, FoldOptions(), shapes);
  uint64_t inputs = 0, drawn = 0;
  for (Node node : graph.nodes()) inputs += node.num_inputs() + node.num_controls();
  EXPECT_EQ(inputs,
            body.num_drawn_inputs() + body.num_folded_inputs() + body.num_dangling_inputs());
  for (ScopeId scope : Openable(body.tree())) {
    ScopeView view = body.View(scope);
    size_t boxes = view.entities.size();
    for (const EdgeBundle& edge : view.edges) {
      ASSERT_LT(edge.from, view.num_items());
      ASSERT_LT(edge.to, view.num_items());
      if (edge.from < boxes && edge.to < boxes) drawn += edge.count;
      if (edge.to >= boxes || view.entities[edge.to].node != kNoNode) continue;
      ScopeId inner = body.tree().scope(view.entities[edge.to].scope).core;
      ScopeView inside = body.View(inner);
      bool from_box = edge.from < boxes;
      const ScopePort port =
          from_box ? ScopePort{false, view.entities[edge.from]} : view.sources[edge.from - boxes];
      uint64_t count = 0;
      bool rest = port.rest;
      for (const EdgeBundle& other : inside.edges) {
        size_t first = inside.entities.size();
        if (other.control != edge.control || other.from < first) continue;
        const ScopePort& at = inside.sources[other.from - first];
        rest |= at.rest;
        if (at.rest == port.rest && (at.rest || at.far == port.far)) count += other.count;
      }
      bool words = false;  // control edges shown as text inside
      for (const ScopeView::Unseen& unseen : inside.unseen_control) words |= unseen.in > 0;
      if (!rest && !words) {
        EXPECT_EQ(count, edge.count) << body.tree().PathText(scope);
      }
    }
  }
  EXPECT_LE(drawn, body.num_drawn_inputs());
}

TEST(ScopeView, EveryInputIsDrawnFoldedOrMissing) {
  for (const char* path : {"testdata/models/lenet", "testdata/collatz"}) {
    auto model = OpenModel(path);
    if (!model) {
      ADD_FAILURE() << llvm::toString(model.takeError());
      continue;
    }
    Module& module = *model->graphs[0].module;
    ExpectNothingLost(module.main);
    for (const auto& function : module.functions) ExpectNothingLost(function->body);
  }
}

TEST(ScopeView, EdgesBetweenScopesHaveAPortOnEachWayDown) {
  Module module;
  Graph& graph = module.main;
  NodeId x = graph.AddNode("x", "Placeholder");
  NodeId a = graph.AddNode("a/b/first", "Relu"), b = graph.AddNode("a/b/second", "Relu");
  NodeId c = graph.AddNode("a/third", "Relu"), d = graph.AddNode("d/relu", "Relu");
  NodeId e = graph.AddNode("d/more", "Relu");
  graph.AddInput(a, {x, 0});
  graph.AddInput(b, {a, 0});
  graph.AddInput(c, {b, 0});
  graph.AddInput(d, {b, 0});
  graph.AddInput(e, {d, 0});
  ShapeMap shapes = InferShapes(graph);
  BodyScopes body(graph, FoldOptions(), shapes);
  const ScopeTree& tree = body.tree();
  ScopeView inner = body.View(tree.Find("a/b"));
  ASSERT_EQ(inner.entities.size(), 2u);
  ASSERT_EQ(inner.sources.size(), 1u);
  EXPECT_EQ(inner.sources[0].far.node, x);
  ASSERT_EQ(inner.sinks.size(), 2u);
  std::set<std::string> sinks = {inner.sinks[0].far.Key(), inner.sinks[1].far.Key()};
  EXPECT_EQ(sinks,
            (std::set<std::string>{"n" + std::to_string(c), "s" + std::to_string(tree.Find("d"))}));
  ScopeView outer = body.View(tree.Find("a"));
  ASSERT_EQ(outer.sinks.size(), 1u);
  EXPECT_EQ(outer.sinks[0].far.scope, tree.Find("d"));
  EXPECT_EQ(body.Around(a), (std::vector<ScopeId>{kRootScope, tree.Find("a"), tree.Find("a/b")}));
}

TEST(ScopeView, ManyControlEdgesAreSaidInWords) {
  Module module;
  NodeId done = module.main.AddNode("done", "Relu");
  module.main.AddInput(done, {module.main.AddNode("x", "Placeholder"), 0});
  for (int i = 0; i < 20; ++i)
    module.main.AddControl(done, module.main.AddNode("op" + std::to_string(i) + "x", "Relu"));
  ShapeMap shapes = InferShapes(module.main);
  BodyScopes body(module.main, FoldOptions(), shapes);
  ScopeView view = body.View(kRootScope);
  uint64_t unseen = 0, seen = 0;
  for (const ScopeView::Unseen& one : view.unseen_control) unseen += one.in;
  for (const EdgeBundle& edge : view.edges) seen += edge.control;
  EXPECT_EQ(unseen, 20u);
  EXPECT_EQ(seen, 0u);
}

// A scope's words count each op once, though both ops of the scope wait for it.
TEST(ScopeView, OpsThatSeveralOpsOfAScopeWaitForCountOnce) {
  Module module;
  Graph& graph = module.main;
  auto add = [&graph](const std::string& name, const char* op, NodeId input) {
    NodeId id = graph.AddNode(name, op);
    graph.AddInput(id, {input, 0});
    return id;
  };
  NodeId x = graph.AddNode("x", "Placeholder"), before = x;
  NodeId tanh = add("s/tanh", "Tanh", x), relu = add("s/relu", "Relu", tanh);
  for (int i = 0; i < 10; ++i) {
    before = add("before" + std::to_string(i) + "x", "Relu", before);
    NodeId after = add("after" + std::to_string(i) + "x", "Relu", x);
    for (NodeId op : {tanh, relu}) {
      graph.AddControl(op, before);
      graph.AddControl(after, op);
    }
  }
  ShapeMap shapes = InferShapes(graph);
  BodyScopes body(graph, FoldOptions(), shapes);
  ScopeView view = body.View(kRootScope);
  for (size_t i = 0; i < view.entities.size(); ++i) {
    bool is_scope = view.entities[i].scope == body.tree().Find("s");
    EXPECT_EQ(view.unseen_control[i].in, is_scope ? 10u : 0u) << i;
    EXPECT_EQ(view.unseen_control[i].out, is_scope ? 10u : 0u) << i;
  }
}

// Degenerate graphs: each scope stays small.
TEST(ScopeView, HugeChainIsCutIntoPartsOfParts) {
  auto module = Chain(100000, [](int i) { return "node" + std::to_string(i * 7919 % 100003); });
  ShapeMap shapes = InferShapes(module->main);
  BodyScopes body(module->main, FoldOptions(), shapes);
  ScopeView view = body.View(body.tree().scope(kRootScope).core);
  EXPECT_LE(view.entities.size(), 100u);
  EXPECT_EQ(view.edges.size(), view.entities.size() - 1) << "a chain of parts";
  for (ScopeId scope : Openable(body.tree())) EXPECT_LE(body.View(scope).entities.size(), 100u);
}

TEST(ScopeView, HugeFanOutStaysSmall) {
  Module module;
  NodeId x = module.main.AddNode("x", "Placeholder");
  for (int i = 0; i < 50000; ++i)
    module.main.AddInput(module.main.AddNode("r" + std::to_string(i), "Relu"), {x, 0});
  ShapeMap shapes = InferShapes(module.main);
  BodyScopes body(module.main, FoldOptions(), shapes);
  for (ScopeId scope : Openable(body.tree())) {
    ScopeView view = body.View(scope);
    EXPECT_LE(view.entities.size(), 100u);
    EXPECT_LE(view.sources.size(), 12u);
  }
}

TEST(ScopeView, DeepAndOddNames) {
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += "a/";
  auto module = Chain(6, [&](int i) {
    static const std::string odd[] = {"//", "/", "a//b", "<script>", "\"'\\", ""};
    return i == 5 ? deep + "end" : odd[i];
  });
  ExpectNothingLost(module->main);
}

}  // namespace
}  // namespace grapnel
