#include "lib/render/layering.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace grapnel {
namespace {

std::vector<int> LayerOf(const Layering& layering) {
  std::vector<int> layer(layering.num_items, -1);
  for (size_t i = 0; i < layering.layers.size(); ++i) {
    for (uint32_t item : layering.layers[i]) {
      EXPECT_EQ(layer[item], -1) << "item " << item << " is there twice";
      layer[item] = static_cast<int>(i);
    }
  }
  for (int at : layer) EXPECT_GE(at, 0);
  return layer;
}

// Each edge runs down one layer at a time, or up if requested.
void ExpectProper(const Layering& layering, llvm::ArrayRef<LayerEdge> edges) {
  std::vector<int> layer = LayerOf(layering);
  for (size_t i = 0; i < edges.size(); ++i) {
    if (edges[i].from == edges[i].to) {
      EXPECT_TRUE(layering.bends[i].empty());
      continue;
    }
    bool up = layering.upwards[i];
    int at = layer[up ? edges[i].to : edges[i].from];
    for (uint32_t bend : layering.bends[i]) EXPECT_EQ(layer[bend], ++at);
    EXPECT_EQ(layer[up ? edges[i].from : edges[i].to], at + 1) << "edge " << i;
  }
}

TEST(Layering, ChainIsOneItemALayer) {
  std::vector<LayerEdge> edges = {{0, 1}, {1, 2}, {2, 3}};
  Layering layering = MakeLayers(4, edges, {}, {});
  ExpectProper(layering, edges);
  EXPECT_EQ(layering.layers.size(), 4u);
}

TEST(Layering, ConstantGoesDownToItsReader) {
  std::vector<LayerEdge> edges = {{0, 1}, {1, 2}, {2, 3}, {4, 3}};
  Layering layering = MakeLayers(5, edges, {}, {});
  EXPECT_EQ(LayerOf(layering)[4], 2);
  EXPECT_EQ(layering.num_items, 5u) << "no bends are needed";
}

TEST(Layering, EdgesOfOneSourceShareBends) {
  std::vector<LayerEdge> edges = {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {0, 3}, {0, 4}};
  Layering layering = MakeLayers(5, edges, {}, {});
  ExpectProper(layering, edges);
  EXPECT_EQ(layering.bends[4], layering.bends[5]);
  EXPECT_EQ(layering.num_items, 7u);
}

TEST(Layering, DeclaredBackEdgeRunsUp) {
  std::vector<LayerEdge> edges = {{0, 1}, {1, 2}, {2, 1, 1, true}, {2, 3}};
  Layering layering = MakeLayers(4, edges, {}, {});
  ExpectProper(layering, edges);
  EXPECT_TRUE(layering.upwards[2]);
  EXPECT_FALSE(layering.upwards[1]);
}

// 0 -> 1 -> 2 by data, 2 -> 3 -> 0 by control: data runs down, wherever the walk begins.
TEST(Layering, ControlEdgesRunUpRatherThanData) {
  for (uint32_t shift = 0; shift < 4; ++shift) {
    std::vector<LayerEdge> edges;
    for (uint32_t i = 0; i < 4; ++i)
      edges.push_back({(i + shift) % 4, (i + 1 + shift) % 4, i < 2 ? 3u : 1u});
    Layering layering = MakeLayers(4, edges, {}, {});
    ExpectProper(layering, edges);
    EXPECT_FALSE(layering.upwards[0] || layering.upwards[1]) << shift;
    EXPECT_NE(layering.upwards[2], layering.upwards[3]) << shift;
  }
}

// 0 -> replicas 1 and 2 -> sum 3 -> both again, and -> 4: only what brings the sum back runs up.
TEST(Layering, ItemsAboveTheirCycles) {
  std::vector<LayerEdge> edges = {{0, 1}, {3, 1}, {0, 2}, {3, 2}, {1, 3}, {2, 3}, {3, 4}};
  PutAbove({1, 2}, 5, &edges);
  Layering layering = MakeLayers(5, edges, {}, {});
  ExpectProper(layering, edges);
  EXPECT_EQ(layering.upwards, (std::vector<bool>{false, true, false, true, false, false, false}));
  std::vector<LayerEdge> ring = {{0, 1}, {1, 0}};
  PutAbove({0, 1}, 2, &ring);
  EXPECT_FALSE(ring[0].back || ring[1].back) << "neither is above the other";
}

TEST(Layering, PortsKeepTheirOrderInFirstAndLastLayer) {
  std::vector<LayerEdge> edges = {{2, 0}, {3, 1}, {0, 5}, {1, 4}};
  std::vector<uint32_t> top = {3, 2}, bottom = {4, 5};
  Layering layering = MakeLayers(6, edges, top, bottom);
  ExpectProper(layering, edges);
  EXPECT_EQ(layering.layers.front(), top);
  EXPECT_EQ(layering.layers.back(), bottom);
  EXPECT_EQ(layering.layers[1], (std::vector<uint32_t>{1, 0})) << "no two edges cross";
}

TEST(Layering, NothingAtAll) {
  EXPECT_TRUE(MakeLayers(0, {}, {}, {}).layers.empty());
  EXPECT_EQ(MakeLayers(3, {}, {}, {}).layers.size(), 1u);
}

TEST(Layering, AnyGraphIsLayeredTheSameWayTwice) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    uint32_t items = 1 + random() % 40;
    std::vector<LayerEdge> edges;
    for (uint32_t i = random() % 90; i > 0; --i)
      edges.push_back({static_cast<uint32_t>(random() % items),
                       static_cast<uint32_t>(random() % items), 1, random() % 8 == 0});
    Layering layering = MakeLayers(items, edges, {}, {});
    ExpectProper(layering, edges);
    EXPECT_EQ(layering.layers, MakeLayers(items, edges, {}, {}).layers);
  }
}

}  // namespace
}  // namespace grapnel
