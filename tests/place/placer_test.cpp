#include "lib/place/placer.h"

#include <gtest/gtest.h>

#include "lib/place/tensorflow_kernels.h"

namespace grapnel {
namespace {

// A graph made node by node, and where its nodes go.
class PlacerTest : public testing::Test {
 protected:
  NodeId Add(const char* name, const char* op, std::vector<NodeId> inputs, const char* device = "",
             DataType type = proto::DT_FLOAT) {
    NodeId id = graph_.AddNode(name, op, device);
    for (NodeId input : inputs) graph_.AddInput(id, {input, 0});
    for (const char* key : {"T", "dtype"}) graph_.SetAttr(id, key, attr::Type(type));
    return id;
  }
  void Colocate(NodeId id, llvm::StringRef with) {
    std::string spec = ("loc:@" + with).str();
    graph_.SetAttr(id, "_class", attr::Strings({llvm::StringRef(spec)}));
  }
  void Run(const char* devices, bool soft = true, std::optional<int> default_device = {}) {
    devices_ = llvm::cantFail(DeviceSet::Parse(devices));
    placement_ = Place(graph_, devices_, *kernels_, {soft, default_device});
  }
  std::string Where(NodeId id) {
    const DeviceSpec& name = devices_.device(placement_.Of(id).device).name;
    return (name.type.text() + ":").str() + std::to_string(name.id);
  }

  Module module_;
  Graph& graph_ = module_.main;
  DeviceSet devices_;
  std::unique_ptr<KernelCatalogue> kernels_ = MakeTensorFlowKernels();
  Placement placement_;
};

TEST_F(PlacerTest, PrefersGpuUnlessThereIsADefault) {
  NodeId c = Add("c", "Const", {});
  NodeId s = Add("s", "Sin", {c});
  Run("cpu:1,gpu:2");
  EXPECT_EQ(Where(s), "GPU:0");
  EXPECT_EQ(Where(c), "GPU:0");
  EXPECT_EQ(placement_.Of(c).rule, PlacementRule::kGenerator);
  EXPECT_EQ(placement_.Of(c).witness, s);
  Run("cpu:1,gpu:2", true, 0);
  EXPECT_EQ(Where(s), "CPU:0");
  EXPECT_EQ(placement_.Of(s).rule, PlacementRule::kDefault);
}

TEST_F(PlacerTest, WhatHasNoGpuKernelIsSoftenedOrFails) {
  NodeId c = Add("c", "Const", {}, "", proto::DT_STRING);
  NodeId s = Add("s", "StringLower", {c}, "/gpu:0", proto::DT_STRING);
  Run("cpu:1,gpu:1");
  EXPECT_EQ(Where(s), "CPU:0");
  EXPECT_TRUE(placement_.Of(s).was_softened);
  Run("cpu:1,gpu:1", false);
  ASSERT_TRUE(placement_.failure);
  EXPECT_NE(placement_.failure->message.find("no supported kernel for GPU devices"),
            std::string::npos);
}

TEST_F(PlacerTest, GroupsShareADevice) {
  NodeId c = Add("c", "Const", {});
  NodeId a = Add("a", "Sin", {c});
  NodeId b = Add("b", "Sin", {c}, "/cpu:1");
  NodeId d = Add("d", "Sin", {c});
  Colocate(a, "b");
  Colocate(d, "nobody");  // an unknown name only names a set
  Run("cpu:3");
  EXPECT_EQ(Where(a), "CPU:1");
  EXPECT_EQ(Where(b), "CPU:1");
  EXPECT_EQ(Where(d), "CPU:0");
  EXPECT_EQ(placement_.groups->RootOf(a), placement_.groups->RootOf(b));
  EXPECT_NE(placement_.groups->RootOf(a), placement_.groups->RootOf(d));
  Colocation::Chain chain = placement_.groups->ChainBetween(a, b);
  EXPECT_EQ(chain.nodes, (std::vector<NodeId>{a, b}));
  ASSERT_EQ(chain.ties.size(), 1u);
  EXPECT_EQ(chain.ties[0].kind, Tie::kClass);
}

TEST_F(PlacerTest, TheSmallestConflictIsNamed) {
  NodeId c = Add("c", "Const", {});
  NodeId a = Add("a", "Sin", {c}, "/cpu:1");
  NodeId b = Add("b", "Sin", {c});
  NodeId d = Add("d", "Sin", {c}, "/cpu:2");
  NodeId e = Add("e", "Sin", {c}, "/cpu:1");
  Colocate(b, "a");
  Colocate(d, "b");
  Colocate(e, "a");
  Run("cpu:3", false);
  ASSERT_TRUE(placement_.failure);
  EXPECT_EQ(placement_.failure->nodes.size(), 3u);
  EXPECT_EQ(placement_.failure->ties.size(), 2u);
  for (NodeId id : {a, b, d}) EXPECT_TRUE(llvm::is_contained(placement_.failure->nodes, id)) << id;
}

TEST_F(PlacerTest, AReaderFollowsTheVariable) {
  NodeId v = Add("v", "VariableV2", {}, "/cpu:2");
  NodeId c = Add("c", "Const", {});
  NodeId set = Add("set", "Assign", {v, c}, "/cpu:1");
  Run("cpu:3", false);
  EXPECT_EQ(Where(set), "CPU:2");
  EXPECT_EQ(Where(v), "CPU:2");
  EXPECT_EQ(Where(c), "CPU:2");
  ASSERT_EQ(placement_.groups->dropped().size(), 1u);
  EXPECT_EQ(placement_.groups->dropped()[0].node, set);
}

TEST_F(PlacerTest, OrderIsThatOfTensorFlowsLog) {
  NodeId c = Add("c", "Const", {});
  NodeId s = Add("s", "Sin", {c});
  NodeId shape = Add("shape", "Shape", {s});
  NodeId e = Add("e", "Exp", {s});
  Run("cpu:1");
  EXPECT_EQ(placement_.order, (std::vector<NodeId>{s, shape, e, c}));
}

TEST_F(PlacerTest, EmptyGraph) {
  Run("cpu:1");
  EXPECT_FALSE(placement_.failure);
  EXPECT_TRUE(placement_.order.empty());
}

}  // namespace
}  // namespace grapnel
