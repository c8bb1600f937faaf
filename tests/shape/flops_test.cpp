#include "lib/shape/flops.h"

#include <gtest/gtest.h>

#include "lib/ir/module.h"

namespace grapnel {
namespace {

class FlopsTest : public ::testing::Test {
 protected:
  NodeId Placeholder(const std::string& name, llvm::ArrayRef<int64_t> dims) {
    NodeId id = graph_.AddNode(name, "Placeholder");
    graph_.SetAttr(id, "dtype", attr::Type(proto::DT_FLOAT));
    graph_.SetAttr(id, "shape", attr::ShapeOf(Shape(dims)));
    return id;
  }
  NodeId Add(const std::string& op, llvm::ArrayRef<NodeId> inputs) {
    NodeId id = graph_.AddNode(graph_.UniqueName(op), op);
    graph_.SetAttr(id, "T", attr::Type(proto::DT_FLOAT));
    for (NodeId input : inputs) graph_.AddInput(id, {input, 0});
    return id;
  }
  std::optional<int64_t> FlopsOf(NodeId id) {
    ShapeMap shapes = InferShapes(graph_);
    return EstimateFlops(graph_.node(id), shapes);
  }

  Module module_;
  Graph& graph_ = module_.main;
};

TEST_F(FlopsTest, ProductsOfMatrices) {
  NodeId a = Placeholder("a", {3, 5}), b = Placeholder("b", {5, 7}), c = Placeholder("c", {5, 3});
  EXPECT_EQ(FlopsOf(Add("MatMul", {a, b})), 2 * 3 * 5 * 7);
  NodeId transposed = Add("MatMul", {c, b});
  graph_.SetAttr(transposed, "transpose_a", attr::Bool(true));
  EXPECT_EQ(FlopsOf(transposed), 2 * 3 * 5 * 7);
  NodeId x = Placeholder("x", {4, 3, 5}), y = Placeholder("y", {4, 5, 7});
  EXPECT_EQ(FlopsOf(Add("BatchMatMulV2", {x, y})), 2 * 4 * 3 * 5 * 7);
}

TEST_F(FlopsTest, Einsums) {
  NodeId x = Placeholder("x", {4, 3, 5}), w = Placeholder("w", {5, 7}),
         y = Placeholder("y", {4, 3});
  auto einsum = [&](const std::vector<NodeId>& inputs, const char* equation) {
    NodeId node = Add("Einsum", inputs);
    graph_.SetAttr(node, "equation", attr::String(equation));
    graph_.SetAttr(node, "N", attr::Int(static_cast<int64_t>(inputs.size())));
    return FlopsOf(node);
  };
  EXPECT_EQ(einsum({x, w}, "bsd,de->bse"), 2 * 4 * 3 * 5 * 7);
  EXPECT_EQ(einsum({x, w}, "...d,de->...e"), 2 * 4 * 3 * 5 * 7);
  EXPECT_EQ(einsum({x, w}, "bsd,de->be"), 2 * 4 * 3 * 5 * 7);
  EXPECT_EQ(einsum({x, y}, "bsd,bs->bsd"), 4 * 3 * 5);
  EXPECT_EQ(einsum({x}, "bsd->b"), 4 * 3 * 5);
}

TEST_F(FlopsTest, Convolutions) {
  NodeId image = Placeholder("image", {2, 8, 8, 3}), filter = Placeholder("filter", {3, 3, 3, 16});
  NodeId convolution = Add("Conv2D", {image, filter});
  graph_.SetAttr(convolution, "strides", attr::Ints({1, 1, 1, 1}));
  graph_.SetAttr(convolution, "padding", attr::String("SAME"));
  EXPECT_EQ(FlopsOf(convolution), 2 * (2 * 8 * 8 * 16) * (3 * 3 * 3));
  NodeId depthwise_filter = Placeholder("depthwise_filter", {3, 3, 3, 2});
  NodeId depthwise = Add("DepthwiseConv2dNative", {image, depthwise_filter});
  graph_.SetAttr(depthwise, "strides", attr::Ints({1, 1, 1, 1}));
  graph_.SetAttr(depthwise, "padding", attr::String("SAME"));
  EXPECT_EQ(FlopsOf(depthwise), 2 * (2 * 8 * 8 * 6) * (3 * 3));
}

TEST_F(FlopsTest, OthersCountElements) {
  NodeId a = Placeholder("a", {3, 5}), row = Placeholder("row", {5});
  EXPECT_EQ(FlopsOf(Add("AddV2", {a, row})), 15);
  EXPECT_EQ(FlopsOf(Add("Identity", {a})), 0);
  EXPECT_TRUE(MovesNothing("Identity"));
  EXPECT_FALSE(MovesNothing("Transpose"));
  NodeId open = Placeholder("open", {kUnknownDim, 5});
  EXPECT_EQ(FlopsOf(Add("Tanh", {open})), std::nullopt);
}

// As many as TensorFlow's profiler counts.
TEST_F(FlopsTest, SeveralForAnElement) {
  NodeId x = Placeholder("x", {2, 8, 8, 3});
  EXPECT_EQ(FlopsOf(Add("Relu", {x})), 384);
  EXPECT_EQ(FlopsOf(Add("Rsqrt", {x})), 2 * 384);
  EXPECT_EQ(FlopsOf(Add("SquaredDifference", {x, x})), 2 * 384);
  EXPECT_EQ(FlopsOf(Add("Softmax", {x})), 5 * 384);
  NodeId pool = Add("MaxPool", {x});
  graph_.SetAttr(pool, "ksize", attr::Ints({1, 3, 3, 1}));
  graph_.SetAttr(pool, "strides", attr::Ints({1, 2, 2, 1}));
  graph_.SetAttr(pool, "padding", attr::String("SAME"));
  EXPECT_EQ(FlopsOf(pool), 2 * 4 * 4 * 3 * 9);
}

}  // namespace
}  // namespace grapnel
