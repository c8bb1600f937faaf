#include "lib/render/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <string>
#include <vector>

#include "lib/ir/attr.h"
#include "lib/support/error.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

Picture Make(const Module& module, const ViewOptions& options = {}) {
  auto picture = MakePicture(module, options);
  if (!picture) {
    ADD_FAILURE() << TextOf(picture.takeError());
    return {};
  }
  return std::move(*picture);
}

std::string ErrorOf(const Module& module, const ViewOptions& options) {
  auto picture = MakePicture(module, options);
  return picture ? "" : TextOf(picture.takeError());
}

const Box* Find(const Picture& picture, llvm::StringRef id) {
  for (const Box& box : picture.boxes) {
    if (box.id == id) return &box;
  }
  return nullptr;
}

// The number of graph edges that the picture draws from one box to another.
size_t EdgesBetween(const Picture& picture, llvm::StringRef from, llvm::StringRef to,
                    PictureEdge::Kind kind) {
  size_t count = 0;
  for (const PictureEdge& edge : picture.edges) {
    bool here = picture.boxes[edge.from].id == from && picture.boxes[edge.to].id == to;
    if (here && edge.kind == kind) count += edge.count;
  }
  return count;
}

size_t InputsOf(const Graph& graph) {
  size_t count = 0;
  for (Node node : graph.nodes()) count += node.num_inputs() + node.num_controls();
  return count;
}

// No node or edge is lost or invented.
void ExpectComplete(const Picture& picture, size_t nodes, size_t inputs) {
  const PictureCounts& counts = picture.counts;
  size_t in_boxes = 0;
  for (const Box& box : picture.boxes) in_boxes += box.num_ops;
  EXPECT_EQ(counts.nodes, nodes);
  EXPECT_EQ(in_boxes + counts.constants + counts.constant_reads + counts.no_ops, nodes);
  EXPECT_EQ(counts.edges.Total(), inputs);
  uint64_t data = 0, control = 0;
  for (const PictureEdge& edge : picture.edges) {
    data += edge.kind == PictureEdge::Kind::kData ? edge.count : 0;
    control += edge.kind == PictureEdge::Kind::kControl ? edge.count : 0;
  }
  EXPECT_EQ(data, counts.edges.data);
  EXPECT_EQ(control + counts.stubbed_control + counts.hidden_control, counts.edges.control);
}

NodeId Add(Graph& graph, const std::string& name, const char* op,
           const std::vector<NodeId>& inputs = {}) {
  NodeId id = graph.AddNode(name, op);
  graph.SetAttr(id, "T", attr::Type(proto::DT_FLOAT));
  if (llvm::StringRef(op) == "Placeholder" || llvm::StringRef(op) == "Const") {
    graph.SetAttr(id, "dtype", attr::Type(proto::DT_FLOAT));
  }
  for (NodeId input : inputs) graph.AddInput(id, {input, 0});
  return id;
}

// A chain of `scopes` scopes with `ops` ops each.
void AddScopes(Graph& graph, int scopes, int ops) {
  NodeId last = Add(graph, "x", "Placeholder");
  for (int s = 0; s < scopes; ++s) {
    for (int o = 0; o < ops; ++o)
      last = Add(graph, "s" + std::to_string(s) + "/op" + std::to_string(o), "Relu", {last});
  }
  Add(graph, "y", "Identity", {last});
}

TEST(Picture, EdgesAreGatheredBetweenClosedScopes) {
  Module module;
  Graph& graph = module.main;
  NodeId x = Add(graph, "x", "Placeholder");
  NodeId big = x;
  std::vector<NodeId> a;
  a.reserve(100);
  auto is_odd = [](unsigned i) { return std::popcount(i) % 2; };  // so that neither is a series
  for (unsigned i = 0; i < 100; ++i) {
    big = Add(graph, "a/op" + std::to_string(i) + "th", is_odd(i) ? "Relu" : "Tanh", {big});
    a.push_back(big);
  }
  NodeId b0 = Add(graph, "b/op0th", "Add", {a[10], a[20]});
  for (unsigned i = 1; i < 100; ++i)
    b0 = Add(graph, "b/op" + std::to_string(i) + "th", is_odd(i) ? "Add" : "Mul", {b0, a[30]});
  graph.AddControl(b0, a[99]);
  for (int i = 0; i < 8; ++i) Add(graph, "other_" + std::to_string(i), "Neg", {x});
  ViewOptions options;
  options.depth = 0;
  Picture picture = Make(module, options);
  ExpectComplete(picture, 209, InputsOf(graph));
  EXPECT_EQ(EdgesBetween(picture, "x", "a/", PictureEdge::Kind::kData), 1u);
  EXPECT_EQ(EdgesBetween(picture, "a/", "b/", PictureEdge::Kind::kData), 101u);
  EXPECT_EQ(EdgesBetween(picture, "a/", "b/", PictureEdge::Kind::kControl), 1u);
  EXPECT_EQ(Find(picture, "a/")->num_ops, 100u);
}

TEST(Picture, ALoneScopeIsOpened) {
  Module module;
  NodeId last = Add(module.main, "net/x", "Placeholder");
  for (int i = 0; i < 10; ++i)
    last = Add(module.main, "net/relu_" + std::to_string(i), "Relu", {last});
  Picture picture = Make(module);
  EXPECT_EQ(picture.boxes.size(), 11u);
  ASSERT_EQ(picture.clusters.size(), 1u);
  EXPECT_EQ(picture.clusters[0].title, "net");
  EXPECT_EQ(Find(picture, "net/relu_3")->name, "relu_3");
}

TEST(Picture, OpensUntilThereIsEnoughToSee) {
  Module module;
  AddScopes(module.main, 12, 10);
  Picture picture = Make(module);
  ExpectComplete(picture, 122, InputsOf(module.main));
  EXPECT_GE(picture.boxes.size(), 14u);  // each closed scope is one
  EXPECT_LE(picture.boxes.size(), 40u);
}

TEST(Picture, TheCapHoldsAndTheRestIsSaid) {
  Module module;
  AddScopes(module.main, 20, 10);
  ViewOptions options;
  options.max_boxes = 12;
  Picture picture = Make(module, options);
  ExpectComplete(picture, 202, InputsOf(module.main));
  EXPECT_LE(picture.boxes.size(), 12u);
  EXPECT_NE(llvm::StringRef(picture.header[0]).find("202 ops"), llvm::StringRef::npos);
  EXPECT_NE(picture.header[0].find("beyond --max-boxes 12"), std::string::npos)
      << picture.header[0];
}

TEST(Picture, MoreThanAHundredSiblingsBecomeParts) {
  Module module;
  NodeId x = Add(module.main, "x", "Placeholder");
  for (int i = 0; i < 500; ++i) Add(module.main, "n" + std::to_string(i), "Relu", {x});
  Picture picture = Make(module);
  ExpectComplete(picture, 501, InputsOf(module.main));
  EXPECT_LE(picture.boxes.size(), 40u);
  EXPECT_TRUE(llvm::any_of(picture.boxes, [](const Box& box) {
    return box.kind == BoxKind::kScope && llvm::StringRef(box.id).contains(" \xe2\x80\xa6 ");
  }));
}

TEST(Picture, ScopesThatAreAskedForAreOpen) {
  Module module;
  AddScopes(module.main, 30, 10);
  ViewOptions options;
  options.scopes = {"s7"};
  Picture picture = Make(module, options);
  ExpectComplete(picture, 302, InputsOf(module.main));
  EXPECT_TRUE(Find(picture, "s7/op3"));
  EXPECT_FALSE(Find(picture, "s8/op3"));
  options.scopes = {"s77"};
  EXPECT_NE(
      ErrorOf(module, options).find("scope 's77' not found; did you mean 's7', 's17', 's27'?"),
      std::string::npos);
}

TEST(Picture, ManyControlEdgesIntoOneBoxAreSaidNotDrawn) {
  Module module;
  Graph& graph = module.main;
  NodeId end = graph.AddNode("end", "NoOp");
  for (int i = 0; i < 15; ++i)
    graph.AddControl(end, Add(graph, "n" + std::to_string(i), "Placeholder"));
  Picture picture = Make(module);
  ExpectComplete(picture, 16, 15);
  EXPECT_EQ(picture.counts.stubbed_control, 15u);
  EXPECT_EQ(Find(picture, "end")->notes, std::vector<std::string>{"waits for 15 ops in 15 boxes"});
  ViewOptions options;
  options.show_control = true;
  EXPECT_EQ(Make(module, options).counts.stubbed_control, 0u);
  options.hide_control = true;
  EXPECT_EQ(Make(module, options).counts.hidden_control, 15u);
}

// The notes of a closed scope count each op once, though both ops of the scope wait for it.
TEST(Picture, OpsThatSeveralOpsOfAScopeWaitForCountOnce) {
  Module module;
  Graph& graph = module.main;
  NodeId x = Add(graph, "x", "Placeholder"), before = x;
  NodeId tanh = Add(graph, "s/tanh", "Tanh", {x}), relu = Add(graph, "s/relu", "Relu", {tanh});
  for (int i = 0; i < 10; ++i) {
    before = Add(graph, "before" + std::to_string(i) + "x", "Relu", {before});
    NodeId after = Add(graph, "after" + std::to_string(i) + "x", "Relu", {x});
    for (NodeId op : {tanh, relu}) {
      graph.AddControl(op, before);
      graph.AddControl(after, op);
    }
  }
  ViewOptions options;
  options.depth = 0;
  Picture picture = Make(module, options);
  EXPECT_EQ(picture.counts.stubbed_control, 40u);
  auto scope = llvm::find_if(picture.boxes, [](const Box& box) { return box.title == "s"; });
  ASSERT_NE(scope, picture.boxes.end());
  EXPECT_TRUE(llvm::is_contained(scope->notes, "waits for 10 ops in 10 boxes"));
  EXPECT_TRUE(llvm::is_contained(scope->notes, "10 ops in 10 boxes wait for this"));
}

TEST(Picture, LikeSiblingsAreOneBox) {
  Module module;
  Graph& graph = module.main;
  NodeId x = Add(graph, "x", "Placeholder");
  std::vector<NodeId> many;
  many.reserve(24);
  for (int i = 0; i < 24; ++i) many.push_back(Add(graph, "n" + std::to_string(i), "Relu", {x}));
  NodeId other = Add(graph, "other", "Tanh", {x});
  many.push_back(other);
  Add(graph, "sum", "AddN", many);
  Picture picture = Make(module);
  ExpectComplete(picture, 27, InputsOf(graph));
  ASSERT_EQ(picture.boxes.size(), 4u);
  EXPECT_EQ(Find(picture, "n0")->repeat, 24u);
  EXPECT_EQ(EdgesBetween(picture, "x", "n0", PictureEdge::Kind::kData), 24u);
}

TEST(Picture, AScopeWithNearlyAllIsOpenHoweverManyOutputsStandAroundIt) {
  Module module;
  Graph& graph = module.main;
  NodeId last = Add(graph, "net/x", "Placeholder");
  std::vector<NodeId> inner;
  for (int i = 0; i < 200; ++i) {
    const char* op = std::popcount(static_cast<unsigned>(i)) % 2 ? "Relu" : "Tanh";
    inner.push_back(last = Add(graph, "net/n" + std::to_string(i) + "th", op, {last}));
  }
  for (size_t i = 0; i < 60; ++i) Add(graph, "out" + std::to_string(i), "Identity", {inner[3 * i]});
  Picture picture = Make(module);
  ExpectComplete(picture, 261, InputsOf(graph));
  EXPECT_FALSE(Find(picture, "net/"));
  EXPECT_LE(picture.boxes.size(), 60u);
  for (const Box& box : picture.boxes) EXPECT_LE(box.num_ops, 130u) << box.id;
}

TEST(Picture, NodesAreListedByTheEqualsOfASeries) {
  Module module;
  Graph& graph = module.main;
  NodeId last = Add(graph, "x", "Placeholder");
  for (int i = 0; i < 30; ++i) {
    std::string n = std::to_string(i);
    last = Add(graph, "u" + n, "Tanh", {Add(graph, "v" + n, "Relu", {last})});
  }
  Add(graph, "y", "Softmax", {Add(graph, "m", "Mean", {last})});
  ViewOptions options;
  options.list_nodes = true;
  options.depth = 0;
  Picture picture = Make(module, options);
  ASSERT_EQ(picture.boxes.size(), 4u);
  EXPECT_EQ(picture.boxes[0].parts, (std::vector<std::vector<NodeId>>{{0}}));
  ASSERT_EQ(picture.boxes[1].parts.size(), 30u);
  EXPECT_EQ(picture.boxes[1].parts[29], (std::vector<NodeId>{59, 60}));
}

TEST(Picture, AroundANode) {
  Module module;
  AddScopes(module.main, 10, 10);
  ViewOptions options;
  options.around = "s5/op5";
  options.hops = 2;
  Picture picture = Make(module, options);
  EXPECT_EQ(picture.boxes.size(), 5u);
  EXPECT_EQ(picture.counts.nodes, 5u);
  EXPECT_EQ(picture.counts.edges.outside, 1u);
  EXPECT_EQ(Find(picture, "s5/op3")->notes, std::vector<std::string>{"not shown: 1 input"});
  options.around = "op5";
  EXPECT_EQ(ErrorOf(module, options),
            "node 'op5' not found; did you mean 's0/op5', 's1/op5', 's2/op5'?");
}

TEST(Picture, DeepScopesAreOneCluster) {
  Module module;
  std::string name;
  for (int i = 0; i < 10000; ++i) name += "s/";
  Add(module.main, name + "x", "Placeholder");
  Add(module.main, name + "y", "Placeholder");
  Picture picture = Make(module);
  EXPECT_EQ(picture.boxes.size(), 2u);
  EXPECT_EQ(picture.clusters.size(), 1u);
}

TEST(Picture, AHundredThousandNodesMakeASmallPicture) {
  Module module;
  AddScopes(module.main, 100, 1000);
  Picture picture = Make(module);
  ExpectComplete(picture, 100002, InputsOf(module.main));
  EXPECT_LE(picture.boxes.size(), 60u);
}

}  // namespace
}  // namespace grapnel
