// Blocks of random graphs, including cycles, renamed and reordered.
#include "lib/diff/scope_hash.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

namespace grapnel {
namespace {

constexpr int kNodes = 60, kScopes = 5;

struct PlainNode {
  std::string op;
  std::vector<int> inputs;  // any node: makes cycles
  int control;              // kNodes: none
};

std::vector<PlainNode> MakePlain(std::mt19937* random) {
  static const char* const kOps[] = {"Neg", "AddV2", "Merge", "NextIteration"};
  std::vector<PlainNode> nodes(kNodes);
  for (PlainNode& node : nodes) {
    node.op = kOps[(*random)() % std::size(kOps)];
    for (unsigned i = (*random)() % 3; i > 0; --i)
      node.inputs.push_back(static_cast<int>((*random)() % kNodes));
    node.control = static_cast<int>((*random)() % (4 * kNodes));
  }
  return nodes;
}

// Scopes of twelve nodes each, all in `around`, which is the same block as the body.
std::vector<ScopeBlock> Blocks(const std::vector<PlainNode>& plain, const std::vector<int>& order,
                               const std::string& around) {
  Module module;
  std::vector<NodeId> ids(kNodes);
  for (int i : order)
    ids[i] = module.main.AddNode(
        around + "/" + std::to_string(i * kScopes / kNodes) + "/n" + std::to_string(order[i]),
        plain[i].op);
  for (int i : order) {
    for (int input : plain[i].inputs) module.main.AddInput(ids[i], {ids[input], 0});
    if (plain[i].control < kNodes) module.main.AddControl(ids[i], ids[plain[i].control]);
  }
  std::vector<ScopeBlock> blocks = ScopeBlocks(module)[0];
  for (ScopeBlock& block : blocks) block.path = "";  // points into the module, which is destroyed
  return blocks;
}

std::multiset<std::pair<int64_t, uint64_t>> Hashes(const std::vector<ScopeBlock>& blocks) {
  std::multiset<std::pair<int64_t, uint64_t>> hashes;
  for (const ScopeBlock& block : blocks) hashes.insert({block.nodes, block.hash});
  return hashes;
}

TEST(ScopeHash, NeitherNamesNorTheOrderCount) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    std::vector<PlainNode> plain = MakePlain(&random);
    std::vector<int> order(kNodes);
    std::iota(order.begin(), order.end(), 0);
    auto before = Hashes(Blocks(plain, order, "net"));
    ASSERT_EQ(before.size(), kScopes + 2u);
    std::shuffle(order.begin(), order.end(), random);
    EXPECT_EQ(Hashes(Blocks(plain, order, "other/deeper")), before) << seed;

    // Another op gives another block, and another body.
    plain[random() % kNodes].op = "Abs";
    auto after = Hashes(Blocks(plain, order, "net"));
    std::vector<std::pair<int64_t, uint64_t>> same;
    std::set_intersection(before.begin(), before.end(), after.begin(), after.end(),
                          std::back_inserter(same));
    EXPECT_EQ(same.size(), kScopes - 1u) << seed;
  }
}

}  // namespace
}  // namespace grapnel
