#include "lib/render/flow_parts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "lib/render/flow_pieces.h"

namespace grapnel {
namespace {

// A builder for graphs: Add("relu", {inputs}) returns the number of a new member.
struct Flow {
  std::deque<std::string> names;
  std::vector<FlowMember> members;
  FlowEdges edges;
  uint32_t Add(const std::string& op, const std::vector<uint32_t>& inputs = {},
               const std::string& name = "") {
    uint32_t id = static_cast<uint32_t>(members.size());
    names.push_back(name.empty() ? op + "_" + std::to_string(id) : name);
    members.push_back({std::hash<std::string>()(op), 1, names.back()});
    for (uint32_t input : inputs) edges.push_back({input, id});
    return id;
  }
  // "conv bn relu": a chain of members.
  uint32_t Chain(uint32_t last, const std::vector<std::string>& ops) {
    for (const std::string& op : ops) last = Add(op, {last});
    return last;
  }
  uint32_t Residual(uint32_t last) {
    return Add("add", {last, Chain(last, {"conv", "bn", "relu", "conv", "bn"})});
  }
  std::vector<FlowPart> Parts(uint32_t most = 20) const { return FlowParts(members, edges, most); }
  // "add_9 x3": the last member, and the number of repeats.
  std::vector<std::string> Titles(uint32_t most = 20) const {
    std::vector<std::string> titles;
    for (const FlowPart& part : Parts(most)) {
      std::string title = members[part.repeats.front().back()].name.str();
      if (part.repeats.size() > 1) title += " x" + std::to_string(part.repeats.size());
      titles.push_back(title);
    }
    return titles;
  }
};

// Every member occurs once, no part is on a cycle, and every part (each repeat of a series) is
// connected or a single member.
void ExpectSound(const Flow& flow, const std::vector<FlowPart>& parts, bool connected = true) {
  std::vector<uint32_t> part_of(flow.members.size(), ~0u), equal_of(flow.members.size(), 0);
  uint32_t equals = 0;
  std::vector<size_t> sizes;
  for (uint32_t i = 0; i < parts.size(); ++i) {
    for (const std::vector<uint32_t>& repeat : parts[i].repeats) {
      for (uint32_t member : repeat) {
        ASSERT_EQ(part_of[member], ~0u);
        part_of[member] = i;
        equal_of[member] = equals;
      }
      sizes.push_back(repeat.size());
      ++equals;
    }
  }
  EXPECT_EQ(std::count(part_of.begin(), part_of.end(), ~0u), 0);
  FlowEdges between;
  std::vector<uint32_t> root(flow.members.size());
  for (uint32_t i = 0; i < root.size(); ++i) root[i] = i;
  auto find = [&](uint32_t i) {
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
  };
  for (auto [from, to] : flow.edges) {
    if (part_of[from] != part_of[to]) between.push_back({part_of[from], part_of[to]});
    if (equal_of[from] == equal_of[to]) root[find(from)] = find(to);
  }
  std::vector<uint32_t> cycles = CyclesOf(static_cast<uint32_t>(parts.size()), between);
  EXPECT_EQ(std::set<uint32_t>(cycles.begin(), cycles.end()).size(), parts.size());
  std::vector<std::set<uint32_t>> roots(equals);
  for (uint32_t i = 0; i < root.size(); ++i) roots[equal_of[i]].insert(find(i));
  for (const std::set<uint32_t>& of : roots) {
    if (connected) EXPECT_EQ(of.size(), 1u);
  }
}

TEST(FlowParts, ResidualBlocksAreASeries) {
  Flow flow;
  uint32_t last = flow.Chain(flow.Add("input"), {"conv", "pool"});
  for (int i = 0; i < 8; ++i) last = flow.Residual(last);
  flow.Chain(last, {"mean", "dense"});
  ExpectSound(flow, flow.Parts());
  EXPECT_EQ(flow.Titles(), (std::vector<std::string>{"input_0", "conv_1", "pool_2", "add_8 x8",
                                                     "mean_51", "dense_52"}));
}

// Series with one period inside the flow, with any number of ops in a repeat.
TEST(FlowParts, AChainOfTurnsIsASeries) {
  Flow flow;
  uint32_t last = flow.Add("input");
  for (int i = 0; i < 9; ++i) last = flow.Chain(last, {"conv", "bn", "relu", "pad"});
  flow.Chain(last, {"mean"});
  ExpectSound(flow, flow.Parts());
  EXPECT_EQ(flow.Titles(), (std::vector<std::string>{"input_0", "pad_4 x9", "mean_37"}));
}

TEST(FlowParts, AMaskThatAllLayersReadDoesNotHoldThemTogether) {
  Flow flow;
  uint32_t mask = flow.Chain(flow.Add("mask"), {"cast", "mul"});
  uint32_t last = flow.Chain(flow.Add("tokens"), {"gather", "norm"});
  for (int i = 0; i < 8; ++i) {
    uint32_t scores = flow.Add("matmul", {flow.Add("query", {last}), flow.Add("key", {last})});
    uint32_t seen = flow.Add("softmax", {flow.Add("add", {scores, mask})});
    uint32_t mixed = flow.Add("matmul", {seen, flow.Add("value", {last})});
    last = flow.Add("norm", {flow.Add("add", {last, mixed})});
    uint32_t wide = flow.Chain(last, {"dense", "gelu", "dense"});
    last = flow.Add("norm", {flow.Add("add", {last, wide})});
  }
  flow.Chain(last, {"slice", "dense"});
  std::vector<FlowPart> parts = flow.Parts();
  ExpectSound(flow, parts);
  EXPECT_TRUE(std::any_of(parts.begin(), parts.end(), [](const FlowPart& part) {
    return part.repeats.size() == 8 && part.repeats[0].size() == 14;
  })) << testing::PrintToString(flow.Titles());
}

TEST(FlowParts, CellsThatReadTheTwoBeforeThemAreCutWhereFewestCross) {
  Flow flow;
  uint32_t before = flow.Add("conv", {flow.Add("input")}), last = flow.Add("bn", {before});
  for (int i = 0; i < 6; ++i) {
    uint32_t a = flow.Chain(last, {"relu", "conv", "bn"}), b = flow.Chain(before, {"relu", "conv"});
    uint32_t left = flow.Add("add", {flow.Chain(a, {"sep", "bn"}), flow.Chain(b, {"sep"})});
    uint32_t right = flow.Add("add", {flow.Chain(a, {"pool"}), b});
    before = std::exchange(last, flow.Add("concat", {a, b, left, right}));
  }
  flow.Chain(last, {"mean", "dense"});
  std::vector<FlowPart> parts = flow.Parts();
  ExpectSound(flow, parts);
  size_t cells = 0;
  for (const FlowPart& part : parts) {
    for (const std::vector<uint32_t>& repeat : part.repeats) cells += repeat.size() == 12;
  }
  EXPECT_GE(cells, 5u) << testing::PrintToString(flow.Titles());
}

TEST(FlowParts, NamesJoinWhatFollowsInTheFlow) {
  Flow flow;
  uint32_t last = flow.Add("input");
  for (int i = 0; i < 10; ++i) {
    for (int k = 0; k <= 2 + i % 3; ++k) {
      const std::string op = k + i == 3 ? "conv" : k % 2 ? "relu" : "bn";
      last = flow.Add(op, {last}, "block_" + std::to_string(i) + "_" + op + std::to_string(k));
    }
  }
  std::vector<FlowPart> parts = flow.Parts();
  ExpectSound(flow, parts);
  EXPECT_LE(parts.size(), 11u);
}

TEST(FlowParts, WhatHasNothingToDoWithAnotherStaysApart) {
  Flow flow;
  for (int i = 0; i < 6; ++i) {
    uint32_t last = flow.Add("input" + std::to_string(i));
    for (int k = 0; k < 7; ++k) last = flow.Add("op" + std::to_string(i * 7 + k), {last});
  }
  ExpectSound(flow, flow.Parts(8));
}

// For any graph, parts are sound and deterministic.
TEST(FlowParts, RandomGraphs) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    Flow flow;
    uint32_t count = 2 + random() % 200, kinds = 1 + random() % 5, reach = 1 + random() % 20;
    flow.Add("0");
    for (uint32_t i = 1; i < count; ++i) {
      std::vector<uint32_t> inputs;
      for (uint32_t k = 0; k < 1 + random() % 3; ++k)
        inputs.push_back(i - 1 - random() % std::min(i, reach));
      flow.Add(std::to_string(random() % kinds), inputs);
    }
    std::vector<FlowPart> parts = flow.Parts();
    ExpectSound(flow, parts);
    EXPECT_LE(parts.size(), 40u);
    std::vector<FlowPart> again = flow.Parts();
    ASSERT_EQ(parts.size(), again.size());
    for (size_t i = 0; i < parts.size(); ++i) EXPECT_EQ(parts[i].repeats, again[i].repeats);
  }
}

TEST(FlowParts, EqualPartsAreEqual) {
  Flow flow;
  uint32_t last = flow.Add("input");
  for (int i = 0; i < 4; ++i) last = flow.Residual(flow.Residual(flow.Chain(last, {"pool"})));
  for (const FlowPart& part : flow.Parts()) {
    std::multiset<uint64_t> first;
    for (uint32_t member : part.repeats[0]) first.insert(flow.members[member].structure);
    for (const std::vector<uint32_t>& repeat : part.repeats) {
      std::multiset<uint64_t> ops;
      for (uint32_t member : repeat) ops.insert(flow.members[member].structure);
      EXPECT_EQ(ops, first);
    }
  }
}

TEST(FlowOrder, ADemandedBranchComesAsAWhole) {
  // 0 -> 1 -> 2 -> 6, 0 -> 3 -> 4 -> 5 -> 6: the longer branch first, not interleaved.
  EXPECT_EQ(DataFlowOrder(7, {{0, 1}, {1, 2}, {2, 6}, {0, 3}, {3, 4}, {4, 5}, {5, 6}}),
            (std::vector<uint32_t>{0, 3, 4, 5, 1, 2, 6}));
}

TEST(FlowOrder, CyclesAreFound) {
  std::vector<uint32_t> cycles = CyclesOf(5, {{0, 1}, {1, 2}, {2, 1}, {2, 3}, {3, 4}});
  EXPECT_EQ(cycles[1], cycles[2]);
  EXPECT_EQ(std::set<uint32_t>(cycles.begin(), cycles.end()).size(), 4u);
}

}  // namespace
}  // namespace grapnel
