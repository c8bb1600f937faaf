#include "lib/render/scope_tree.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lib/ir/module.h"

namespace grapnel {
namespace {

ScopeTree TreeOf(const Graph& graph, uint32_t group_above = 24) {
  return ScopeTree(graph, std::vector<NodeUse>(graph.end_id(), NodeUse::kShown), group_above);
}

TEST(ScopeTree, CountsAndNests) {
  Module module;
  for (const char* name : {"x", "a/b/c", "a/b/d", "a/e", "f/g"}) module.main.AddNode(name, "NoOp");
  ScopeTree tree = TreeOf(module.main);
  ASSERT_EQ(tree.size(), 4u);  // root, a, f, a/b
  const Scope& root = tree.scope(kRootScope);
  EXPECT_EQ(root.num_ops, 5u);
  EXPECT_EQ(root.num_entities, 3u);  // x, a, f
  ScopeId a = tree.Find("a"), b = tree.Find("a/b");
  ASSERT_NE(a, kNoScope);
  EXPECT_EQ(tree.scope(a).num_ops, 3u);
  EXPECT_EQ(tree.scope(b).parent, a);
  EXPECT_EQ(tree.Ops(b).size(), 2u);
  EXPECT_EQ(tree.ScopeOf(1), b);
  EXPECT_EQ(tree.Find("b"), kNoScope);
  EXPECT_EQ(tree.Find("a/b/"), b);
}

TEST(ScopeTree, AnOpNamedAsAScopeLiesInIt) {
  Module module;
  NodeId op = module.main.AddNode("a/dense", "MatMul");
  module.main.AddNode("a/dense/kernel", "VarHandleOp");
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.ScopeOf(op), tree.Find("a/dense"));
  EXPECT_EQ(tree.scope(tree.Find("a/dense")).num_direct_ops, 2u);
}

TEST(ScopeTree, ChainsOfLoneScopesHaveOneCore) {
  Module module;
  module.main.AddNode("a/b/c/x", "NoOp");
  module.main.AddNode("a/b/c/y", "NoOp");
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.scope(kRootScope).core, tree.Find("a/b/c"));
  EXPECT_EQ(tree.scope(tree.Find("a")).core, tree.Find("a/b/c"));
}

TEST(ScopeTree, OnlyFoldedNodesShowNothing) {
  Module module;
  module.main.AddNode("a/x", "Relu");
  module.main.AddNode("a/c/k", "Const");
  ScopeTree tree(module.main, {NodeUse::kShown, NodeUse::kFolded});
  const Scope& a = tree.scope(tree.Find("a"));
  EXPECT_EQ(a.num_ops, 2u);
  EXPECT_EQ(a.num_shown, 1u);
  EXPECT_EQ(a.num_entities, 1u);
}

TEST(ScopeTree, OddSlashesArePartsOfNames) {
  Module module;
  for (const char* name : {"/", "//", "a//b", "/a/", "a/", "", "a/b/"})
    module.main.AddNode(name, "NoOp");
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.scope(kRootScope).num_ops, 7u);
  EXPECT_EQ(tree.Ops(tree.Find("a")).size(), 2u);  // "a//b" and "a/b/"; "a/" is an op of the root
}

// block_1_conv, block_1_relu, block_2_conv, ... are in block_*, there in block_1_*.
TEST(ScopeTree, ManySiblingsAreGrouped) {
  Module module;
  for (int block = 1; block <= 16; ++block) {
    for (const char* part : {"conv", "bn", "relu", "pad"}) {
      module.main.AddNode("net/block_" + std::to_string(block) + "_" + part + "/op", "Conv2D");
    }
  }
  module.main.AddNode("net/top/op", "Relu");
  ScopeTree tree = TreeOf(module.main);
  ScopeId net = tree.Find("net");
  EXPECT_EQ(tree.scope(net).num_entities, 2u);
  ScopeId blocks = tree.Find("net/block_*");
  ASSERT_NE(blocks, kNoScope);
  EXPECT_TRUE(tree.scope(blocks).group);
  EXPECT_EQ(tree.scope(blocks).num_entities, 16u);
  EXPECT_EQ(tree.scope(blocks).num_ops, 64u);
  ScopeId third = tree.Find("net/block_3_*");
  ASSERT_NE(third, kNoScope);
  EXPECT_EQ(tree.scope(third).num_entities, 4u);
  EXPECT_EQ(tree.RealScope(third), net);
  EXPECT_EQ(tree.PathText(third), "net/block_3_*");
}

// Pairs are too small for groups by name, so the flow decides the groups.
TEST(ScopeTree, PairsOfNamesAreGroupedByTheFlow) {
  Module module;
  for (int i = 0; i < 15; ++i) {
    std::string word(1, static_cast<char>('a' + i));
    for (const char* part : {"_first", "_second"}) {
      NodeId id = module.main.AddNode(word + part, i % 2 == 0 ? "Relu" : "Neg");
      if (id > 0) module.main.AddInput(id, {id - 1, 0});
    }
  }
  ScopeTree tree = TreeOf(module.main);
  EXPECT_LE(tree.scope(kRootScope).num_entities, 24u);
}

TEST(ScopeTree, ANameAndItsNumberedOnesAreOneGroup) {
  Module module;
  module.main.AddNode("AddN", "AddN");
  for (int i = 1; i <= 120; ++i) module.main.AddNode("AddN_" + std::to_string(i), "AddN");
  module.main.AddNode("x", "Placeholder");
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.scope(kRootScope).num_entities, 2u);  // the group, x
  ScopeId group = tree.Find("AddN_*");
  ASSERT_NE(group, kNoScope);
  EXPECT_EQ(tree.scope(group).num_ops, 121u);
  // They are indistinguishable: a series.
  ScopeId series = tree.scope(group).core;
  EXPECT_TRUE(tree.scope(series).series);
  EXPECT_EQ(tree.NumMembers(series), 121u);
}

// 16 layers of one structure, each reading the previous one, but one of them has an extra Relu.
void AddLayers(int odd_one, Module* module) {
  Graph& graph = module->main;
  NodeId last = graph.AddNode("input", "Placeholder");
  for (int i = 0; i < 16; ++i) {
    std::string scope = "net/layer_" + std::to_string(i);
    NodeId weights = graph.AddNode(scope + "/w_" + std::to_string(7 * i), "VariableV2");
    NodeId product = graph.AddNode(scope + "/dense_" + std::to_string(3 * i) + "/mul", "MatMul");
    graph.AddInput(product, {last, 0});
    graph.AddInput(product, {weights, 0});
    last = product;
    if (i != odd_one) continue;
    last = graph.AddNode(scope + "/relu", "Relu");
    graph.AddInput(last, {product, 0});
  }
  graph.AddInput(graph.AddNode("net/head", "Softmax"), {last, 0});
}

TEST(ScopeTree, SiblingsOfOneStructureAreASeries) {
  Module module;
  AddLayers(-1, &module);
  ScopeTree tree = TreeOf(module.main);
  ScopeId net = tree.Find("net");
  EXPECT_EQ(tree.scope(net).num_entities, 2u);
  ScopeId series = tree.Find("net/layer_0 \xe2\x80\xa6 layer_15");
  ASSERT_NE(series, kNoScope);
  EXPECT_TRUE(tree.scope(series).series);
  EXPECT_EQ(tree.scope(series).num_entities, 16u);
  EXPECT_EQ(tree.TitleText(series),
            "net/layer_0 \xe2\x80\xa6 layer_15 \xc3\x97"
            "16");
  EXPECT_EQ(tree.RealScope(series), net);
  EXPECT_EQ(tree.scope(tree.Find("net/layer_3")).parent, series);
  // By its box's title, with the number of members and without it.
  EXPECT_EQ(tree.Find(tree.TitleText(series)), series);
  EXPECT_EQ(tree.Find(tree.TypedText(series)), series);
  EXPECT_EQ(tree.TypedText(series), "net/layer_0 \xe2\x80\xa6 layer_15");
}

// A box for the others would have an edge out, through layer_5, and back in.
TEST(ScopeTree, ASeriesThatFlowsThroughAnotherSiblingIsNone) {
  Module module;
  AddLayers(5, &module);
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.scope(tree.Find("net")).num_entities, 17u);
}

TEST(ScopeTree, TheOddOneAtTheEndStaysOutside) {
  Module module;
  AddLayers(15, &module);
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.scope(tree.Find("net")).num_entities, 3u);
  EXPECT_NE(tree.Find("net/layer_0 \xe2\x80\xa6 layer_14"), kNoScope);
}

TEST(ScopeTree, OtherWiringIsAnotherStructure) {
  Module module;
  AddLayers(-1, &module);
  Graph& graph = module.main;
  for (Node node : graph.nodes()) {  // w * w instead of x * w, in the last one
    if (node.name() == "net/layer_15/dense_45/mul") graph.SetInput(node.id(), 0, node.input(1));
  }
  ScopeTree tree = TreeOf(graph);
  EXPECT_NE(tree.Find("net/layer_0 \xe2\x80\xa6 layer_14"), kNoScope);
}

// a/x -> b/y -> a/z: a scope that an edge leaves and reenters is dissolved, and its path leads to
// the scope of its members.
TEST(ScopeTree, AScopeThatTheFlowLeavesAndEntersAgainIsNone) {
  Module module;
  Graph& graph = module.main;
  NodeId last = graph.AddNode("net/a/x", "Placeholder");
  for (const char* name : {"net/b/y", "net/a/z", "net/c/u", "net/c/v"}) {
    NodeId next = graph.AddNode(name, "Relu");
    graph.AddInput(next, {last, 0});
    last = next;
  }
  ScopeTree tree = TreeOf(graph);
  ScopeId net = tree.Find("net");
  EXPECT_EQ(tree.Find("net/a"), net);
  EXPECT_TRUE(tree.IsDissolved("net/a/"));
  EXPECT_NE(tree.Find("net/c"), net);
  EXPECT_FALSE(tree.IsDissolved("net/c"));
  EXPECT_EQ(tree.ScopeOf(0), net);
  EXPECT_EQ(tree.scope(net).num_entities, 4u);  // x, b (which has one op), z, c
}

// grads/x_0 -> sum -> grads/x_1 ...: a few ops on the way that are in no scope join it.
TEST(ScopeTree, OpsBetweenThoseOfAScopeAreTakenIn) {
  for (int between : {1, 3}) {
    Module module;
    Graph& graph = module.main;
    NodeId last = graph.AddNode("x", "Placeholder"), sum = kNoNode;
    auto add = [&](const std::string& name) {
      NodeId next = graph.AddNode(name, "Relu");
      graph.AddInput(next, {last, 0});
      return last = next;
    };
    for (int i = 0; i < 8; ++i) {
      if (i > 0 && i <= between) sum = add("sum_" + std::to_string(i));
      add("grads/x_" + std::to_string(i));
    }
    ScopeTree tree = TreeOf(graph);
    bool is_few = between == 1;  // of 8; with many, the scope is dissolved
    EXPECT_EQ(tree.Find("grads") != kRootScope, is_few) << between;
    EXPECT_EQ(tree.ScopeOf(sum), tree.Find("grads")) << between;
    EXPECT_EQ(tree.Find("grads + 1 op") != kNoScope, is_few) << between;
  }
}

// x -> replica_1/a -> sum -> replica_1/b, and the same in an outer scope: replicas are boxes of their
// nodes alone.
TEST(ScopeTree, ReplicasAreKept) {
  for (const char* name : {"replica_1", "step/tower_0", "Clone_3", "tower12", "gpu_0_1"}) {
    Module module;
    Graph& graph = module.main;
    NodeId last = graph.AddNode("x", "Placeholder");
    for (const char* node : {"/a", "sum", "/b", "/c"}) {
      std::string path = node[0] == '/' ? std::string(name) + node : node;
      NodeId next = graph.AddNode(path, "Relu");
      graph.AddInput(next, {last, 0});
      last = next;
    }
    ScopeTree tree = TreeOf(graph);
    ScopeId replica = tree.Find(name);
    ASSERT_NE(replica, kNoScope) << name;
    EXPECT_FALSE(tree.IsDissolved(name));
    EXPECT_FALSE(tree.IsMadeUp(replica)) << name;
    EXPECT_TRUE(tree.scope(replica).kept) << name;
    EXPECT_EQ(tree.scope(replica).num_ops, 3u) << name;
    EXPECT_EQ(tree.TitleText(replica), name);
  }
}

TEST(ScopeTree, ManyReplicasAreASeries) {
  for (int count : {3, 30}) {
    Module module;
    Graph& graph = module.main;
    NodeId x = graph.AddNode("x", "Placeholder"), sum = graph.AddNode("sum", "AddN");
    for (int i = 0; i < count; ++i) {
      std::string scope = "replica_" + std::to_string(i);
      NodeId forward = graph.AddNode(scope + "/forward", "Relu");
      NodeId update = graph.AddNode(scope + "/update", "Neg");
      graph.AddInput(forward, {x, 0});
      graph.AddInput(sum, {forward, 0});
      graph.AddInput(update, {sum, 0});
    }
    ScopeTree tree = TreeOf(graph);
    EXPECT_EQ(tree.scope(kRootScope).num_entities, count == 3 ? 5u : 3u);
    ScopeId one = tree.Find("replica_2"), above = tree.scope(one).parent;
    EXPECT_EQ(tree.RealScope(above), kRootScope);
    EXPECT_EQ(tree.IsMadeUp(above), count == 30);
    EXPECT_TRUE(tree.scope(one).kept);
  }
}

// A value that circulates in a loop may leave its scope by NextIteration.
TEST(ScopeTree, AScopeOfALoopStays) {
  Module module;
  Graph& graph = module.main;
  NodeId merge = graph.AddNode("merge", "Merge"), body = graph.AddNode("body/add", "Add");
  NodeId more = graph.AddNode("body/mul", "Mul"), next = graph.AddNode("next", "NextIteration");
  graph.AddInput(body, {merge, 0});
  graph.AddInput(more, {body, 0});
  graph.AddInput(next, {more, 0});
  graph.AddInput(merge, {next, 0});
  EXPECT_EQ(TreeOf(graph).scope(TreeOf(graph).Find("body")).num_ops, 2u);
}

// conv_i -> bn_i -> relu_i -> ...: names that the flow interleaves do not form groups.
TEST(ScopeTree, NamesThatTheFlowMixesDoNotGroup) {
  Module module;
  Graph& graph = module.main;
  NodeId last = graph.AddNode("input", "Placeholder");
  for (int i = 0; i < 30; ++i) {
    for (const char* op : {"conv", "bn", "relu"}) {
      NodeId next = graph.AddNode(op + ("_" + std::to_string(i)), op);
      graph.AddInput(next, {last, 0});
      last = next;
    }
  }
  graph.AddInput(graph.AddNode("head", "Softmax"), {last, 0});
  ScopeTree tree = TreeOf(graph);
  EXPECT_EQ(tree.Find("conv_*"), kNoScope);
  EXPECT_TRUE(tree.scope(kRootScope).cut);
  ScopeId series = tree.Find("conv_0 \xe2\x80\xa6 relu_29");
  ASSERT_NE(series, kNoScope);
  EXPECT_EQ(tree.TitleText(series),
            "conv_0 \xe2\x80\xa6 relu_29 \xc3\x97"
            "30");
  EXPECT_TRUE(tree.IsMadeUp(series));
  EXPECT_EQ(tree.scope(kRootScope).num_entities, 3u);
}

TEST(ScopeTree, EachShownNodeIsInExactlyOneScope) {
  Module module;
  for (int i = 0; i < 1000; ++i) {
    module.main.AddNode(
        "s" + std::to_string(i % 7) + "/t_" + std::to_string(i % 31) + "_u/v" + std::to_string(i),
        "NoOp");
  }
  ScopeTree tree = TreeOf(module.main, 5);
  std::vector<int> seen(module.main.end_id(), 0);
  for (ScopeId id = 0; id < tree.size(); ++id) {
    for (NodeId op : tree.Ops(id)) {
      ++seen[op];
      EXPECT_EQ(tree.ScopeOf(op), id);
    }
    if (id != kRootScope) {
      EXPECT_LT(tree.scope(id).parent, id);
    }
  }
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
  EXPECT_EQ(tree.scope(kRootScope).num_ops, 1000u);
}

TEST(ScopeTree, TenThousandScopesDeep) {
  Module module;
  std::string name;
  for (int i = 0; i < 10000; ++i) name += "s/";
  module.main.AddNode(name + "x", "NoOp");
  module.main.AddNode(name + "y", "NoOp");
  ScopeTree tree = TreeOf(module.main);
  EXPECT_EQ(tree.size(), 10001u);
  EXPECT_EQ(tree.scope(kRootScope).core, 10000u);
}

}  // namespace
}  // namespace grapnel
