#include "lib/render/picture.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// How many edges of the graph the picture draws from one box to another.
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

// No node and no edge is lost or invented.
void ExpectComplete(const Picture& picture, size_t nodes, size_t inputs) {
  const PictureCounts& counts = picture.counts;
  size_t in_boxes = 0;
  for (const Box& box : picture.boxes) in_boxes += box.num_ops;
  EXPECT_EQ(counts.nodes, nodes);
  EXPECT_EQ(in_boxes + counts.constants + counts.constant_reads + counts.no_ops, nodes);
  EXPECT_EQ(counts.edges.Total(), inputs);
  uint64_t data = 0, control = 0, dangling = 0;
  for (const PictureEdge& edge : picture.edges) {
    data += edge.kind == PictureEdge::Kind::kData ? edge.count : 0;
    control += edge.kind == PictureEdge::Kind::kControl ? edge.count : 0;
    dangling += edge.kind == PictureEdge::Kind::kDangling ? edge.count : 0;
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

// A chain of `scopes` scopes, each of `ops` ops.
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
  for (int i = 0; i < 100; ++i)
    a.push_back(big = Add(graph, "a/op" + std::to_string(i) + "th", "Relu", {big}));
  NodeId b0 = Add(graph, "b/op0th", "Add", {a[10], a[20]});
  for (int i = 1; i < 100; ++i)
    b0 = Add(graph, "b/op" + std::to_string(i) + "th", "Add", {b0, a[30]});
  graph.AddControl(b0, a[99]);
  // Enough boxes outside that neither scope needs to be opened.
  for (int i = 0; i < 8; ++i) Add(graph, "other_" + std::to_string(i), "Neg", {x});
  Picture picture = Make(module);
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
  NodeId x = Add(module.main, "x", "Placeholder");
  for (int i = 0; i < 90; ++i) Add(module.main, "n" + std::to_string(i) + "th", "Relu", {x});
  ViewOptions options;
  options.max_boxes = 30;
  Picture picture = Make(module, options);
  ExpectComplete(picture, 91, InputsOf(module.main));
  EXPECT_LE(picture.boxes.size(), 30u);
  EXPECT_NE(llvm::StringRef(picture.header[0]).find("91 ops"), llvm::StringRef::npos);
  EXPECT_NE(picture.header[0].find("beyond --max-boxes 30"), std::string::npos)
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

TEST(Picture, DepthOpensEverythingThatFar) {
  Module module;
  Add(module.main, "a/b/x", "Placeholder");
  Add(module.main, "a/b/y", "Placeholder");
  Add(module.main, "a/c/x", "Placeholder");
  Add(module.main, "a/c/y", "Placeholder");
  Add(module.main, "d/x", "Placeholder");
  Add(module.main, "d/y", "Placeholder");
  ViewOptions options;
  options.depth = 0;
  EXPECT_EQ(Make(module, options).boxes.size(), 2u);
  options.depth = 1;
  EXPECT_EQ(Make(module, options).boxes.size(), 4u);
  options.depth = 2;
  EXPECT_EQ(Make(module, options).boxes.size(), 6u);
}

TEST(Picture, ConstantsAreFoldedIntoTheirReaders) {
  Module module;
  Graph& graph = module.main;
  NodeId x = Add(graph, "x", "Placeholder");
  NodeId c = Add(graph, "c", "Const");
  NodeId read = Add(graph, "c/read", "Identity", {c});
  Add(graph, "y", "AddV2", {x, read});
  Add(graph, "unread", "Const");
  Picture picture = Make(module);
  ExpectComplete(picture, 5, 3);
  EXPECT_EQ(picture.counts.constants, 1u);
  EXPECT_EQ(picture.counts.constant_reads, 1u);
  EXPECT_EQ(picture.counts.edges.folded, 2u);
  EXPECT_FALSE(Find(picture, "c"));
  EXPECT_TRUE(Find(picture, "unread"));
  ASSERT_EQ(Find(picture, "y")->notes.size(), 1u);
  EXPECT_EQ(Find(picture, "y")->notes[0].substr(0, 4),
            "y = ");  // AddV2's second argument is called y
  EXPECT_NE(
      picture.header[0].find("1 constant and 1 Identity op on them folded into their readers"),
      std::string::npos);
  ViewOptions options;
  options.show_constants = true;
  EXPECT_TRUE(Find(Make(module, options), "c"));
}

TEST(Picture, NoOpsPassOnWhatTheyWaitFor) {
  Module module;
  Graph& graph = module.main;
  NodeId x = Add(graph, "x", "Placeholder");
  NodeId print = graph.AddNode("print", "PrintV2");
  NodeId wait = graph.AddNode("wait", "NoOp");
  NodeId wait_more = graph.AddNode("wait_more", "NoOp");
  NodeId y = Add(graph, "y", "Identity", {x});
  graph.AddControl(wait, print);
  graph.AddControl(wait_more, wait);
  graph.AddControl(y, wait_more);
  Picture picture = Make(module);
  ExpectComplete(picture, 5, 4);
  EXPECT_EQ(EdgesBetween(picture, "print", "y", PictureEdge::Kind::kControl), 1u);
  EXPECT_EQ(picture.counts.no_ops, 2u);
}

TEST(Picture, ARingOfNoOpsIsDrawnAsItIs) {
  Module module;
  NodeId a = module.main.AddNode("a", "NoOp"), b = module.main.AddNode("b", "NoOp");
  module.main.AddControl(a, b);
  module.main.AddControl(b, a);
  Picture picture = Make(module);
  ExpectComplete(picture, 2, 2);
  EXPECT_EQ(picture.boxes.size(), 2u);
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

TEST(Picture, DanglingInputsAreRedStubs) {
  Module module;
  Graph& graph = module.main;
  NodeId y = Add(graph, "y", "AddV2", {Add(graph, "x", "Placeholder")});
  graph.AddImportedInput(y, {kNoNode, 0}, "gone:1", false);
  Picture picture = Make(module);
  ExpectComplete(picture, 2, 2);
  EXPECT_EQ(EdgesBetween(picture, "not found: gone:1", "y", PictureEdge::Kind::kDangling), 1u);
}

TEST(Picture, FunctionsOpenBesideTheirCaller) {
  Module module;
  NodeId call = module.main.AddNode("call", "PartitionedCall");
  module.main.SetAttr(call, "f", attr::Func("inner"));
  Function* inner = module.AddFunction("inner");
  NodeId last = inner->body.AddNode("a", "Relu");
  for (int i = 0; i < 3; ++i) last = Add(inner->body, "r" + std::to_string(i), "Relu", {last});
  module.AddFunction("unused");
  Picture picture = Make(module);
  ASSERT_EQ(picture.clusters.size(), 1u);
  EXPECT_EQ(picture.clusters[0].title, "inner");
  EXPECT_TRUE(Find(picture, "inner/a"));
  ASSERT_FALSE(picture.edges.empty());
  EXPECT_EQ(picture.edges.back().kind, PictureEdge::Kind::kCall);
  EXPECT_EQ(picture.edges.back().label, "f");
  EXPECT_EQ(picture.counts.functions_closed, 1u);
  ViewOptions options;
  options.depth = 0;
  EXPECT_TRUE(Find(Make(module, options), "function inner"));
  options.functions = {"inner"};
  EXPECT_TRUE(Find(Make(module, options), "inner/a"));
  options.functions = {"none"};
  EXPECT_EQ(ErrorOf(module, options), "function 'none' not found; there are 'inner', 'unused'");
}

TEST(Picture, AFunctionThatCallsItselfIsDrawnOnce) {
  Module module;
  NodeId call = module.main.AddNode("call", "PartitionedCall");
  module.main.SetAttr(call, "f", attr::Func("again"));
  Function* again = module.AddFunction("again");
  NodeId inner = again->body.AddNode("deeper", "PartitionedCall");
  again->body.SetAttr(inner, "f", attr::Func("again"));
  EXPECT_EQ(Make(module).boxes.size(), 2u);
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

TEST(Picture, PathsBetweenNodes) {
  Module module;
  Graph& graph = module.main;
  NodeId a = Add(graph, "a", "Placeholder");
  NodeId left = Add(graph, "left", "Relu", {a}), right = Add(graph, "right", "Relu", {a});
  NodeId aside = Add(graph, "aside", "Relu", {a});
  Add(graph, "z", "AddV2", {left, right});
  Add(graph, "after", "Relu", {aside});
  ViewOptions options;
  options.path_from = "a";
  options.path_to = "z";
  Picture picture = Make(module, options);
  EXPECT_EQ(picture.boxes.size(), 4u);
  EXPECT_FALSE(Find(picture, "aside"));
  std::swap(options.path_from, options.path_to);
  EXPECT_EQ(ErrorOf(module, options),
            "there is no path from 'z' to 'a'; there is one the other way");
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

TEST(Picture, NothingToDrawIsAnError) {
  Module module;
  EXPECT_EQ(ErrorOf(module, {}), "there is nothing to draw: the graph has no nodes");
}

}  // namespace
}  // namespace grapnel
