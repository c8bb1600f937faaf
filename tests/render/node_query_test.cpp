#include "lib/render/node_query.h"

#include "gtest/gtest.h"
#include "lib/ir/module.h"

namespace grapnel {
namespace {

class NodeQueryTest : public testing::Test {
 protected:
  NodeQueryTest()
      : node_(module_.main.node(module_.main.AddNode("Model/block_1/Conv/relu", "Relu6"))) {}

  std::optional<int> Rank(llvm::StringRef text) {
    auto device = [] { return std::string("gpu:1"); };
    auto types = [] { return std::string("float[2,28]"); };
    auto attributes = [] { return std::string("padding=\"SAME\""); };
    return NodeQuery::Parse(text).RankOf(node_, {device, types, attributes});
  }

  Module module_;
  Node node_;
};

TEST_F(NodeQueryTest, TheNearestNameComesFirst) {
  EXPECT_EQ(Rank("model/block_1/conv/RELU"), 0);
  EXPECT_EQ(Rank("relu"), 2);
  EXPECT_EQ(Rank("relu6"), 4);
  EXPECT_EQ(Rank("rel"), 6);
  EXPECT_EQ(Rank("lock_1/CO"), 8);
  EXPECT_EQ(Rank("block_2"), std::nullopt);
  EXPECT_EQ(Rank("relu7"), std::nullopt);
}

TEST_F(NodeQueryTest, ArgumentsOfFunctionsComeBehindOthers) {
  node_ = module_.main.node(module_.main.AddNode("model_block_1_relu", "_Arg"));
  EXPECT_EQ(Rank("model_block_1_relu"), 1);
  EXPECT_EQ(Rank("block_1_relu"), 9);
}

TEST_F(NodeQueryTest, GlobsBeginAtAnyComponent) {
  EXPECT_EQ(Rank("model*"), 0);
  EXPECT_EQ(Rank("re?u"), 2);
  EXPECT_EQ(Rank("block_?/*"), 8);
  EXPECT_EQ(Rank("lock*"), std::nullopt);
  EXPECT_EQ(Rank("[*"), std::nullopt);  // not a glob: searched as a part of the name
}

TEST_F(NodeQueryTest, AnOpIsWholeOrAGlob) {
  EXPECT_EQ(Rank("op:RELU6"), 0);
  EXPECT_EQ(Rank("op:relu"), std::nullopt);
  EXPECT_EQ(Rank("op:relu?"), 0);
  EXPECT_EQ(Rank("op:*lu*"), 0);
  EXPECT_EQ(Rank("op:*elu"), std::nullopt);
}

TEST_F(NodeQueryTest, RegularExpressionsMatchPartsOfNames) {
  EXPECT_EQ(Rank("/re.u$/"), 2);
  EXPECT_EQ(Rank("/Block_\\d.conv/"), 8);
  EXPECT_EQ(Rank("/^block/"), std::nullopt);
  EXPECT_EQ(Rank("/block_1/"), 8);
  EXPECT_EQ(Rank("/(/"), std::nullopt);  // not a regular expression: a part of the name
}

TEST_F(NodeQueryTest, AllWordsMustHold) {
  EXPECT_EQ(Rank("op:relu6 shape:[2, device:GPU attr:same"), 0);
  EXPECT_EQ(Rank("op:relu6 relu"), 2);
  EXPECT_EQ(Rank("relu dtype:half"), std::nullopt);
  EXPECT_EQ(Rank("relu device:cpu"), std::nullopt);
  EXPECT_EQ(Rank("relu attr:valid"), std::nullopt);
}

TEST_F(NodeQueryTest, NoWordIsEmpty) {
  EXPECT_TRUE(NodeQuery::Parse(" \t ").empty());
  EXPECT_FALSE(NodeQuery::Parse("op:").empty());
}

}  // namespace
}  // namespace grapnel
