// lib/render/web/layering.js, in the engine.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "lib/render/engine/engine.h"
#include "lib/render/node_texts.h"
#include "llvm/Support/JSON.h"

namespace grapnel {
namespace {

struct LayerEdge {
  uint32_t from = 0, to = 0;
  uint32_t weight = 1;
  bool back = false;
};

struct LayerGraph {
  uint32_t items = 0;
  std::vector<LayerEdge> edges;
  std::vector<uint32_t> top = {}, bottom = {}, above = {};
};

struct Layering {
  std::vector<std::vector<uint32_t>> layers, bends;
  std::vector<bool> upwards;
  std::vector<uint32_t> back;  // the edges that are marked as back
  uint32_t items = 0;
};

std::vector<uint32_t> Numbers(const llvm::json::Value& value) {
  std::vector<uint32_t> numbers;
  for (const llvm::json::Value& one : *value.getAsArray())
    numbers.push_back(static_cast<uint32_t>(*one.getAsInteger()));
  return numbers;
}

void WriteNumbers(const char* key, llvm::ArrayRef<uint32_t> numbers, llvm::json::OStream& json) {
  json.attributeArray(key, [&] {
    for (uint32_t number : numbers) json.value(number);
  });
}

std::vector<Layering> LayersOfAll(llvm::ArrayRef<LayerGraph> graphs) {
  std::string asked = JsonText([&](llvm::json::OStream& json) {
    json.array([&] {
      for (const LayerGraph& graph : graphs) {
        json.object([&] {
          json.attribute("items", graph.items);
          json.attributeArray("edges", [&] {
            for (const LayerEdge& edge : graph.edges) {
              json.object([&] {
                json.attribute("from", edge.from);
                json.attribute("to", edge.to);
                json.attribute("weight", edge.weight);
                json.attribute("back", edge.back);
              });
            }
          });
          WriteNumbers("top", graph.top, json);
          WriteNumbers("bottom", graph.bottom, json);
          WriteNumbers("above", graph.above, json);
        });
      }
    });
  });
  auto text = CallScript("for_tests.js", "layersOf", {asked});
  EXPECT_TRUE(static_cast<bool>(text));
  if (!text) {
    ADD_FAILURE() << llvm::toString(text.takeError());
    return std::vector<Layering>(graphs.size());
  }
  llvm::json::Value answer = llvm::cantFail(llvm::json::parse(*text));
  std::vector<Layering> all;
  for (const llvm::json::Value& value : *answer.getAsArray()) {
    const llvm::json::Object& object = *value.getAsObject();
    Layering layering;
    for (const auto& layer : *object.getArray("layers")) layering.layers.push_back(Numbers(layer));
    for (const auto& bends : *object.getArray("bends")) layering.bends.push_back(Numbers(bends));
    for (const auto& up : *object.getArray("upwards"))
      layering.upwards.push_back(*up.getAsBoolean());
    layering.back = Numbers(*object.get("back"));
    layering.items = static_cast<uint32_t>(*object.getInteger("items"));
    all.push_back(std::move(layering));
  }
  return all;
}

Layering LayersOf(const LayerGraph& graph) { return LayersOfAll(llvm::ArrayRef(graph))[0]; }

std::vector<int> LayerOf(const Layering& layering) {
  std::vector<int> layer(layering.items, -1);
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
  ASSERT_EQ(layering.bends.size(), edges.size());
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
  LayerGraph graph = {4, {{0, 1}, {1, 2}, {2, 3}}};
  Layering layering = LayersOf(graph);
  ExpectProper(layering, graph.edges);
  EXPECT_EQ(layering.layers.size(), 4u);
}

TEST(Layering, ConstantGoesDownToItsReader) {
  Layering layering = LayersOf({5, {{0, 1}, {1, 2}, {2, 3}, {4, 3}}});
  EXPECT_EQ(LayerOf(layering)[4], 2);
  EXPECT_EQ(layering.items, 5u) << "no bends are needed";
}

TEST(Layering, EdgesOfOneSourceShareBends) {
  LayerGraph graph = {5, {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {0, 3}, {0, 4}}};
  Layering layering = LayersOf(graph);
  ExpectProper(layering, graph.edges);
  EXPECT_EQ(layering.bends[4], layering.bends[5]);
  EXPECT_EQ(layering.items, 7u);
}

TEST(Layering, DeclaredBackEdgeRunsUp) {
  LayerGraph graph = {4, {{0, 1}, {1, 2}, {2, 1, 1, true}, {2, 3}}};
  Layering layering = LayersOf(graph);
  ExpectProper(layering, graph.edges);
  EXPECT_TRUE(layering.upwards[2]);
  EXPECT_FALSE(layering.upwards[1]);
}

// 0 -> 1 -> 2 by data, 2 -> 3 -> 0 by control: data runs down, wherever the walk begins.
TEST(Layering, ControlEdgesRunUpRatherThanData) {
  for (uint32_t shift = 0; shift < 4; ++shift) {
    LayerGraph graph = {4, {}};
    for (uint32_t i = 0; i < 4; ++i)
      graph.edges.push_back({(i + shift) % 4, (i + 1 + shift) % 4, i < 2 ? 3u : 1u});
    Layering layering = LayersOf(graph);
    ExpectProper(layering, graph.edges);
    EXPECT_FALSE(layering.upwards[0] || layering.upwards[1]) << shift;
    EXPECT_NE(layering.upwards[2], layering.upwards[3]) << shift;
  }
}

// 0 -> replicas 1 and 2 -> sum 3 -> both again, and -> 4: only what brings the sum back runs up.
TEST(Layering, ItemsAboveTheirCycles) {
  LayerGraph graph = {5, {{0, 1}, {3, 1}, {0, 2}, {3, 2}, {1, 3}, {2, 3}, {3, 4}}, {}, {}, {1, 2}};
  Layering layering = LayersOf(graph);
  ExpectProper(layering, graph.edges);
  EXPECT_EQ(layering.upwards, (std::vector<bool>{false, true, false, true, false, false, false}));
  EXPECT_EQ(layering.back, (std::vector<uint32_t>{1, 3}));
  Layering ring = LayersOf({2, {{0, 1}, {1, 0}}, {}, {}, {0, 1}});
  EXPECT_TRUE(ring.back.empty()) << "neither is above the other";
}

TEST(Layering, PortsKeepTheirOrderInFirstAndLastLayer) {
  LayerGraph graph = {6, {{2, 0}, {3, 1}, {0, 5}, {1, 4}}, {3, 2}, {4, 5}};
  Layering layering = LayersOf(graph);
  ExpectProper(layering, graph.edges);
  EXPECT_EQ(layering.layers.front(), graph.top);
  EXPECT_EQ(layering.layers.back(), graph.bottom);
  EXPECT_EQ(layering.layers[1], (std::vector<uint32_t>{1, 0})) << "no two edges cross";
}

TEST(Layering, NothingAtAll) {
  EXPECT_TRUE(LayersOf({0, {}}).layers.empty());
  EXPECT_EQ(LayersOf({3, {}}).layers.size(), 1u);
}

TEST(Layering, AnyGraphIsLayeredTheSameWayTwice) {
  std::vector<LayerGraph> graphs;
  for (uint32_t seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    LayerGraph graph = {1 + static_cast<uint32_t>(random() % 40), {}};
    for (uint32_t i = random() % 90; i > 0; --i)
      graph.edges.push_back({static_cast<uint32_t>(random() % graph.items),
                             static_cast<uint32_t>(random() % graph.items), random() % 2 ? 3u : 1u,
                             random() % 8 == 0});
    graphs.push_back(std::move(graph));
  }
  std::vector<Layering> first = LayersOfAll(graphs), second = LayersOfAll(graphs);
  for (size_t i = 0; i < graphs.size(); ++i) {
    ExpectProper(first[i], graphs[i].edges);
    EXPECT_EQ(first[i].layers, second[i].layers);
  }
}

}  // namespace
}  // namespace grapnel
