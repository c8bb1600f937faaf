#include "lib/render/frame_views.h"

#include <gtest/gtest.h>

namespace grapnel {
namespace {

// Boxes by their cluster; clusters by their parent.
Picture Nested(const std::vector<int>& clusters_of_boxes, const std::vector<int>& parents) {
  Picture picture;
  for (int cluster : clusters_of_boxes) {
    Box box;
    box.id = "b" + std::to_string(picture.boxes.size());
    box.cluster = cluster;
    picture.boxes.push_back(box);
  }
  for (int parent : parents) {
    Cluster cluster;
    cluster.parent = parent;
    picture.clusters.push_back(cluster);
  }
  return picture;
}

PictureEdge EdgeOf(uint32_t from, uint32_t to, std::string label = "") {
  PictureEdge edge;
  edge.from = from;
  edge.to = to;
  edge.label = std::move(label);
  return edge;
}

std::vector<std::string> KeysOf(const FrameView& view) {
  std::vector<std::string> keys;
  for (const FrameItem& item : view.items) keys.push_back(item.Key());
  return keys;
}

TEST(FrameViews, AnEdgeIntoAFrameIsOneOutsideAndOneFromAPortInside) {
  Picture picture = Nested({-1, 1}, {-1, 0});
  picture.edges = {EdgeOf(0, 1, "float[2]")};
  std::vector<FrameView> views = MakeFrameViews(picture);
  ASSERT_EQ(views.size(), 3u);
  EXPECT_EQ(KeysOf(views[0]), (std::vector<std::string>{"b0", "c0"}));
  EXPECT_EQ(KeysOf(views[1]), (std::vector<std::string>{"c1"}));
  EXPECT_EQ(KeysOf(views[2]), (std::vector<std::string>{"b1"}));
  // The ports on the way are named by the item next to the outermost frame.
  EXPECT_EQ(views[1].sources, (std::vector<std::string>{"b0"}));
  EXPECT_EQ(views[2].sources, (std::vector<std::string>{"b0"}));
  for (const FrameView& view : views) {
    ASSERT_EQ(view.edges.size(), 1u);
    EXPECT_EQ(view.edges[0].label, "float[2]");
  }
  EXPECT_EQ(views[2].edges[0].from, 1u);  // the source, after the box
  EXPECT_EQ(views[2].edges[0].to, 0u);
}

TEST(FrameViews, BetweenTwoItemsIsOneLineWithACount) {
  Picture picture = Nested({0, 0, 1, 1}, {-1, -1});
  picture.edges = {EdgeOf(0, 2, "float[2]"), EdgeOf(0, 3, "float[2]"), EdgeOf(1, 3, "int32[]")};
  std::vector<FrameView> views = MakeFrameViews(picture);
  ASSERT_EQ(views[0].edges.size(), 1u);
  EXPECT_EQ(views[0].edges[0].count, 3u);
  EXPECT_EQ(views[0].edges[0].label, "") << "they carry different things";
  EXPECT_EQ(views[1].edges.size(), 2u);
  EXPECT_EQ(views[1].sinks, (std::vector<std::string>{"c1"}));
  EXPECT_EQ(views[2].sources, (std::vector<std::string>{"c0"}));
}

TEST(FrameViews, OfTooManyFarEndsSomeShareAPort) {
  std::vector<int> clusters(41, -1);
  clusters[0] = 0;
  Picture picture = Nested(clusters, {-1});
  for (uint32_t i = 1; i <= 40; ++i) picture.edges.push_back(EdgeOf(i, 0));
  picture.edges.push_back(EdgeOf(40, 0));  // the strongest keeps its own
  std::vector<FrameView> views = MakeFrameViews(picture);
  EXPECT_EQ(views[1].sources.size(), 12u);
  EXPECT_TRUE(llvm::is_contained(views[1].sources, "rest"));
  EXPECT_TRUE(llvm::is_contained(views[1].sources, "b40"));
  uint32_t count = 0;
  for (const FrameEdge& edge : views[1].edges) count += edge.count;
  EXPECT_EQ(count, 41u);
}

TEST(FrameViews, ACallGoesToTheFrameAndNotIntoIt) {
  Picture picture = Nested({-1, 0}, {-1});
  picture.clusters[0].function = true;
  PictureEdge call = EdgeOf(0, 1, "body");
  call.kind = PictureEdge::Kind::kCall;
  call.to_cluster = 0;
  picture.edges = {call};
  std::vector<FrameView> views = MakeFrameViews(picture);
  ASSERT_EQ(views[0].edges.size(), 1u);
  EXPECT_EQ(views[0].items[views[0].edges[0].to].Key(), "c0");
  EXPECT_TRUE(views[1].edges.empty());
  EXPECT_TRUE(views[1].sources.empty());
}

TEST(FrameViews, AFunctionThatCallsItselfIsALineInside) {
  Picture picture = Nested({0, 0}, {-1});
  PictureEdge call = EdgeOf(1, 0, "calls");
  call.kind = PictureEdge::Kind::kCall;
  call.to_cluster = 0;
  picture.edges = {call};
  std::vector<FrameView> views = MakeFrameViews(picture);
  EXPECT_TRUE(views[0].edges.empty());
  EXPECT_EQ(views[1].edges.size(), 1u);
}

}  // namespace
}  // namespace grapnel
