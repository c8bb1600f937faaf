#include "lib/ir/kept_order.h"

#include <random>

#include "gtest/gtest.h"

namespace grapnel {
namespace {

// Changes a graph at random, as passes do: inserts nodes between others, redirects edges.
class Changes {
 public:
  Changes(Graph& graph, unsigned seed) : graph_(graph), random_(seed) {}

  NodeId Any() {
    NodeId id = random_() % graph_.end_id();
    while (!graph_.IsAlive(id)) id = (id + 1) % graph_.end_id();
    return id;
  }
  NodeId AddNode() { return graph_.AddNode("n" + std::to_string(graph_.end_id()), "Identity"); }

  void Once(bool may_close_a_cycle) {
    switch (random_() % 8) {
      case 0:  // a node between another one and its readers
      case 1:
      case 2: {
        NodeId source = Any();
        llvm::SmallVector<Use, 4> uses(graph_.node(source).uses());
        NodeId made = AddNode();
        graph_.AddInput(made, {source, 0});
        for (const Use& use : uses) {
          if (graph_.node(use.node).input(use.slot).IsControl()) continue;
          graph_.SetInput(use.node, use.slot, {made, 0});
        }
        return;
      }
      case 3:
        if (graph_.num_nodes() > 10) Remove(Any());
        return;
      case 4:
        graph_.AddInput(AddNode(), {Any(), 0});
        return;
      case 5: {
        NodeId from = Any(), to = Any();
        if (from == to || (!may_close_a_cycle && Reads(from, to))) return;
        graph_.AddControl(to, from);
        return;
      }
      case 6: {
        NodeId to = Any(), from = Any();
        if (graph_.node(to).num_inputs() == 0 || from == to) return;
        if (may_close_a_cycle || !Reads(from, to)) graph_.SetInput(to, 0, {from, 0});
        return;
      }
      default: {
        NodeId id = Any();
        int slots = graph_.node(id).num_inputs() + graph_.node(id).num_controls();
        if (slots) graph_.RemoveInput(id, random_() % slots);
      }
    }
  }

  // True if `reader` depends on `source`, directly or not.
  bool Reads(NodeId reader, NodeId source) const {
    std::vector<bool> seen(graph_.end_id());
    std::vector<NodeId> open = {reader};
    while (!open.empty()) {
      NodeId id = open.back();
      open.pop_back();
      if (id == source) return true;
      if (seen[id]) continue;
      seen[id] = true;
      for (Port port : graph_.node(id).inputs()) open.push_back(port.node);
    }
    return false;
  }

 private:
  void Remove(NodeId id) {
    while (!graph_.node(id).uses().empty()) {
      Use use = graph_.node(id).uses()[0];
      graph_.RemoveInput(use.node, use.slot);
    }
    graph_.RemoveNode(id);
  }

  Graph& graph_;
  std::mt19937 random_;
};

bool IsAcyclic(const Graph& graph) {
  std::vector<NodeId> order = TopologicalOrder(graph);
  return order.size() == graph.num_nodes();
}

TEST(KeptOrder, SaysWhatAWalkOverTheWholeGraphSays) {
  int cycles = 0, checks = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    Module module;
    Changes changes(module.main, seed);
    for (int i = 0; i < 12; ++i) changes.AddNode();
    KeptOrder kept;
    ASSERT_TRUE(kept.IsAcyclic(module.main, nullptr));
    uint64_t version = module.main.version();
    for (int step = 0; step < 120; ++step) {
      for (unsigned count = 1 + (seed + step) % 5; count > 0; --count)
        changes.Once(/*may_close_a_cycle=*/step % 40 == 39);
      std::vector<NodeId> changed = module.main.ChangedSince(version);
      bool expected = IsAcyclic(module.main);
      ASSERT_EQ(kept.IsAcyclic(module.main, &changed), expected) << "seed " << seed << " " << step;
      version = module.main.version();
      cycles += !expected;
      ++checks;
    }
  }
  EXPECT_GT(cycles, 100);
  EXPECT_GT(checks - cycles, 1000);
}

TEST(Graph, KnowsWhatChangedSinceAnyVersion) {
  Module module;
  Graph& graph = module.main;
  Changes changes(graph, 1);
  for (int i = 0; i < 20; ++i) changes.AddNode();
  std::vector<uint64_t> versions = {graph.version()};
  for (int step = 0; step < 600; ++step) {  // more than the graph records
    changes.Once(/*may_close_a_cycle=*/false);
    versions.push_back(graph.version());
  }
  for (uint64_t since : versions) {
    std::vector<NodeId> expected;
    for (Node node : graph.nodes()) {
      if (graph.VersionOf(node.id()) > since) expected.push_back(node.id());
    }
    ASSERT_EQ(graph.ChangedSince(since), expected);
  }
  EXPECT_TRUE(graph.ChangedSince(graph.version()).empty());
}

TEST(Graph, KnowsWhichAttributesThereMayBe) {
  Module module;
  Graph& graph = module.main;
  NodeId a = graph.AddNode("a", "Identity"), b = graph.AddNode("b", "Identity");
  graph.SetAttr(a, "T", attr::Type(proto::DT_FLOAT));
  graph.ShareAttrs(b, "\x2A\x08\x0A\x02_a\x12\x02\x30\x01");
  EXPECT_TRUE(graph.MayHaveAttr("T"));
  EXPECT_TRUE(graph.MayHaveAttr("_a"));
  EXPECT_FALSE(graph.MayHaveAttr("_b"));
  EXPECT_FALSE(graph.MayHaveAttr("_c"));
  EXPECT_FALSE(graph.MayHaveAttr("_d"));
  graph.SetAttr(a, "_b", attr::Type(proto::DT_FLOAT));
  EXPECT_TRUE(graph.MayHaveAttr("_b"));
  graph.ShareAttrs(graph.AddNode("c", "Identity"), "\x2A\x08\x0A\x02_c\x12\x02\x30\x01");
  EXPECT_TRUE(graph.MayHaveAttr("_c"));
  Graph other(&module);
  NodeId d = other.AddNode("d", "Identity");
  other.SetAttr(d, "_d", attr::Type(proto::DT_FLOAT));
  graph.CopyAttrs(graph.AddNode("e", "Identity"), other.node(d));
  EXPECT_TRUE(graph.MayHaveAttr("_d"));
  EXPECT_FALSE(graph.MayHaveAttr("_e"));
}

}  // namespace
}  // namespace grapnel
