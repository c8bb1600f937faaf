// Random edits of random graphs: the test makes the edits, so it knows the truth.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "lib/diff/diff.h"
#include "lib/ir/literal.h"

namespace grapnel {
namespace {

// A graph as plain data, easy to edit, shuffle and rename.
struct PlainNode {
  int identity;  // identifies the node under any name
  std::string name, op, device;
  std::vector<int> inputs;  // identities
  double value = 0;         // for a constant
  bool alpha = false;       // an attribute of the others
};
using PlainGraph = std::vector<PlainNode>;

class RandomGraphs {
 public:
  explicit RandomGraphs(int seed) : random_(seed) {}

  int Below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }

  // Layers of constants and ops, each reading from the last few nodes; in scopes.
  PlainGraph Make(int size) {
    static const char* const kUnary[] = {"Relu", "Neg", "Sqrt", "Square", "Tanh", "Exp"};
    static const char* const kBinary[] = {"AddV2", "Mul", "Sub", "MatMul", "BiasAdd"};
    PlainGraph graph = {{0, "x", "Placeholder", "", {}}};
    std::map<std::string, int> used;
    for (int i = 1; i < size; ++i) {
      PlainNode node = {i, "", "", "", {}};
      int recent = std::max(0, i - 8);
      switch (Below(4)) {
        case 0:
          node.op = "Const";
          node.value = Below(3) ? Below(1000000) : 1;
          break;
        case 1:
          node.op = kUnary[Below(6)];
          node.inputs = {recent + Below(i - recent)};
          break;
        default:
          node.op = kBinary[Below(5)];
          node.inputs = {recent + Below(i - recent), recent + Below(i - recent)};
      }
      std::string base = "layer_" + std::to_string(i / 12) + "/" + node.op;
      int count = used[base]++;
      node.name = count ? base + "_" + std::to_string(count) : base;
      graph.push_back(node);
    }
    return graph;
  }

  void Shuffle(PlainGraph* graph) { std::shuffle(graph->begin(), graph->end(), random_); }

  void Scramble(PlainGraph* graph) {
    for (PlainNode& node : *graph)
      node.name =
          "n" + std::to_string(random_() % 1000000007) + "_" + std::to_string(node.identity);
  }

  struct Truth {
    std::set<int> changed, added, removed;
  };

  // One edit at a random place; false if it does not fit there.
  bool Edit(PlainGraph* graph, int fresh, Truth* truth) {
    PlainNode& node = (*graph)[Below(static_cast<int>(graph->size()))];
    auto touch = [&](int identity) {
      if (!truth->added.count(identity)) truth->changed.insert(identity);
    };
    switch (Below(4)) {
      case 0:
        if (node.op == "Const") {
          node.value += 0.5;
        } else {
          node.alpha = !node.alpha;
        }
        touch(node.identity);
        return true;
      case 1:
        node.device = node.device.empty() ? "/device:CPU:1" : "";
        touch(node.identity);
        return true;
      case 2: {  // an Identity before the first input
        if (node.inputs.empty()) return false;
        PlainNode inserted = {fresh, "inserted_" + std::to_string(fresh), "Identity", "", {}};
        inserted.inputs = {node.inputs[0]};
        node.inputs[0] = fresh;
        touch(node.identity);
        truth->added.insert(fresh);
        graph->push_back(inserted);
        return true;
      }
      default: {  // removes a node with one input: its readers read that input
        if (node.inputs.size() != 1 || truth->added.count(node.identity)) return false;
        int gone = node.identity, source = node.inputs[0];
        for (PlainNode& reader : *graph) {
          for (int& input : reader.inputs) {
            if (input != gone) continue;
            input = source;
            touch(reader.identity);
          }
        }
        truth->removed.insert(gone);
        truth->changed.erase(gone);
        graph->erase(std::find_if(graph->begin(), graph->end(),
                                  [&](const PlainNode& n) { return n.identity == gone; }));
        return true;
      }
    }
  }

 private:
  std::mt19937 random_;
};

std::unique_ptr<Module> Build(const PlainGraph& plain) {
  auto module = std::make_unique<Module>();
  std::map<int, NodeId> ids;
  for (const PlainNode& node : plain) {
    NodeId id = module->main.AddNode(node.name, node.op, node.device);
    ids[node.identity] = id;
    if (node.op == "Const") {
      Literal value = Literal::Scalar(proto::DT_FLOAT, node.value);
      module->main.SetAttr(id, "value", attr::Tensor(value.ToTensorProto()));
    }
    if (node.alpha) module->main.SetAttr(id, "alpha", attr::Bool(true));
  }
  for (const PlainNode& node : plain) {
    for (int input : node.inputs) module->main.AddInput(ids[node.identity], {ids[input], 0});
  }
  return module;
}

std::map<std::string, int> Identities(const PlainGraph& plain) {
  std::map<std::string, int> out;
  for (const PlainNode& node : plain) out[node.name] = node.identity;
  return out;
}

// The share of correct pairs, as F1. Nodes in groups do not count: adjacent edits may look like a
// group.
double Score(const PlainGraph& a, const PlainGraph& b, const Diff& diff) {
  auto in_a = Identities(a), in_b = Identities(b);
  size_t right = 0, wanted = 0;
  for (const MatchedPair& pair : diff.matched)
    right += in_a[pair.a.node.name().str()] == in_b[pair.b.node.name().str()];
  std::set<int> grouped, of_b;
  for (const GroupEntry& group : diff.groups) {
    for (const NodeEntry& node : group.a) grouped.insert(in_a[node.node.name().str()]);
    for (const NodeEntry& node : group.b) grouped.insert(in_b[node.node.name().str()]);
  }
  for (const PlainNode& node : b) of_b.insert(node.identity);
  for (const PlainNode& node : a)
    wanted += of_b.count(node.identity) && !grouped.count(node.identity);
  return 2.0 * static_cast<double>(right) / static_cast<double>(diff.matched.size() + wanted);
}

// Names are a bijection, and each node of either graph is in exactly one list.
void ExpectPartition(const Module& a, const Module& b, const Diff& diff) {
  std::multiset<std::string> in_a, in_b;
  for (const MatchedPair& pair : diff.matched) {
    in_a.insert(pair.a.name.str());
    in_b.insert(pair.b.name.str());
  }
  for (const NodeEntry& node : diff.removed) in_a.insert(node.name.str());
  for (const NodeEntry& node : diff.added) in_b.insert(node.name.str());
  for (const GroupEntry& group : diff.groups) {
    for (const NodeEntry& node : group.a) in_a.insert(node.name.str());
    for (const NodeEntry& node : group.b) in_b.insert(node.name.str());
  }
  std::multiset<std::string> all_a, all_b;
  for (Node node : a.main.nodes()) all_a.insert(node.name().str());
  for (Node node : b.main.nodes()) all_b.insert(node.name().str());
  EXPECT_EQ(in_a, all_a);
  EXPECT_EQ(in_b, all_b);
}

TEST(DiffPropertyTest, ScrambledNamesAndOrderAreNoDifference) {
  for (int seed = 0; seed < 40; ++seed) {
    RandomGraphs random(seed);
    PlainGraph a = random.Make(50 + 10 * seed), b = a;
    random.Scramble(&b);
    random.Shuffle(&b);
    auto module_a = Build(a), module_b = Build(b);
    Diff diff = DiffModules(*module_a, *module_b, {});
    EXPECT_TRUE(diff.Same()) << "seed " << seed;
    ExpectPartition(*module_a, *module_b, diff);
  }
}

TEST(DiffPropertyTest, EditsAreFoundByNames) {
  double sum = 0;
  constexpr int kSeeds = 60;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomGraphs random(1000 + seed);
    PlainGraph a = random.Make(150), b = a;
    RandomGraphs::Truth truth;
    for (int edit = 0; edit < 8; ++edit) random.Edit(&b, 10000 + edit, &truth);
    random.Shuffle(&b);
    auto module_a = Build(a), module_b = Build(b);
    Diff diff = DiffModules(*module_a, *module_b, {});
    ExpectPartition(*module_a, *module_b, diff);
    double score = Score(a, b, diff);
    EXPECT_GE(score, 0.95) << "seed " << seed;
    sum += score;
    size_t changed = 0;
    for (const MatchedPair& pair : diff.matched) changed += !pair.changes.empty();
    if (score == 1 && diff.groups.empty()) {
      EXPECT_EQ(diff.removed.size(), truth.removed.size()) << "seed " << seed;
      EXPECT_EQ(diff.added.size(), truth.added.size()) << "seed " << seed;
      EXPECT_LE(changed, truth.changed.size()) << "seed " << seed;
    }
  }
  EXPECT_GE(sum / kSeeds, 0.99);
}

TEST(DiffPropertyTest, EditsAreFoundWithoutNames) {
  double sum = 0;
  constexpr int kSeeds = 60;
  for (int seed = 0; seed < kSeeds; ++seed) {
    RandomGraphs random(2000 + seed);
    PlainGraph a = random.Make(200), b = a;
    RandomGraphs::Truth truth;
    for (int edit = 0; edit < 4; ++edit) random.Edit(&b, 10000 + edit, &truth);
    random.Scramble(&b);
    random.Shuffle(&b);
    auto module_a = Build(a), module_b = Build(b);
    Diff diff = DiffModules(*module_a, *module_b, {});
    ExpectPartition(*module_a, *module_b, diff);
    sum += Score(a, b, diff);
  }
  EXPECT_GE(sum / kSeeds, 0.95);
}

// With this many nodes, keys are filtered and sorted in parts.
TEST(DiffPropertyTest, LargeBodiesAreTheSameOnOneThreadAndTwo) {
  RandomGraphs random(4000);
  PlainGraph a = random.Make(70'000), b = a;
  RandomGraphs::Truth truth;
  for (int edit = 0; edit < 200; ++edit) random.Edit(&b, 100'000 + edit, &truth);
  random.Shuffle(&b);
  auto module_a = Build(a), module_b = Build(b);
  DiffOptions alone;
  alone.side_by_side = false;
  Diff one = DiffModules(*module_a, *module_b, alone), two = DiffModules(*module_a, *module_b, {});
  ExpectPartition(*module_a, *module_b, one);
  EXPECT_GE(Score(a, b, one), 0.99);
  ASSERT_EQ(one.matched.size(), two.matched.size());
  for (size_t i = 0; i < one.matched.size(); ++i) {
    ASSERT_EQ(one.matched[i].a.name, two.matched[i].a.name);
    ASSERT_EQ(one.matched[i].b.name, two.matched[i].b.name);
    ASSERT_EQ(one.matched[i].changes.size(), two.matched[i].changes.size());
  }
  EXPECT_EQ(one.groups.size(), two.groups.size());
}

TEST(DiffPropertyTest, IsTheSameEachTimeAndCompleteBothWays) {
  for (int seed = 0; seed < 20; ++seed) {
    RandomGraphs random(3000 + seed);
    PlainGraph a = random.Make(120), b = a;
    RandomGraphs::Truth truth;
    for (int edit = 0; edit < 5; ++edit) random.Edit(&b, 10000 + edit, &truth);
    auto module_a = Build(a), module_b = Build(b);
    Diff first = DiffModules(*module_a, *module_b, {});
    Diff again = DiffModules(*module_a, *module_b, {});
    ASSERT_EQ(first.matched.size(), again.matched.size());
    for (size_t i = 0; i < first.matched.size(); ++i) {
      EXPECT_EQ(first.matched[i].a.name, again.matched[i].a.name);
      EXPECT_EQ(first.matched[i].b.name, again.matched[i].b.name);
    }
    // In the other direction, what was added is removed.
    Diff back = DiffModules(*module_b, *module_a, {});
    EXPECT_EQ(back.Same(), first.Same());
    EXPECT_EQ(back.added.size() + back.matched.size(), [&] {
      size_t grouped = 0;
      for (const GroupEntry& group : back.groups) grouped += group.b.size();
      return a.size() - grouped;
    }());
  }
}

}  // namespace
}  // namespace grapnel
