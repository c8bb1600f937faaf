#include "lib/diff/provenance.h"

#include <gtest/gtest.h>

#include "lib/diff/diff.h"

namespace grapnel {
namespace {

// A: x -> mul -> add -> y. B: x -> other -> y, where only the ledger shows that `other` was made
// from mul and add.
class ProvenanceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Chain(&a_.main, {"x Placeholder", "mul Mul", "add AddV2", "y Relu"});
    Chain(&b_.main, {"x Placeholder", "other Fused", "y Relu"});
  }
  static void Chain(Graph* graph, llvm::ArrayRef<const char*> nodes) {
    NodeId last = kNoNode;
    for (llvm::StringRef node : nodes) {
      NodeId id = graph->AddNode(node.split(' ').first, node.split(' ').second);
      if (last != kNoNode) graph->AddInput(id, {last, 0});
      last = id;
    }
  }
  Diff With(llvm::StringRef ledger) { return With(ledger, b_); }
  Diff With(llvm::StringRef ledger, const Module& b) {
    auto provenance = Provenance::Parse(ledger);
    EXPECT_TRUE(static_cast<bool>(provenance)) << TextOf(provenance.takeError());
    DiffOptions options;
    options.provenance = &*provenance;
    return DiffModules(a_, b, options);
  }
  Module a_, b_;
};

TEST_F(ProvenanceTest, WhatARewriteMadeOfSeveralNodesIsAGroup) {
  Diff diff = With(
      R"({"rewrite":1,"rule":"r","node":"add","used":["add","mul"],"made":["other"],"changed":["y"],)"
      R"("removed":["add","mul"]})");
  ASSERT_EQ(diff.groups.size(), 1u);
  EXPECT_EQ(diff.groups[0].a.size(), 2u);
  EXPECT_EQ(diff.groups[0].b[0].name, "other");
}

TEST_F(ProvenanceTest, ANodeThatBecameWhatItAndOthersWereIsAGroup) {
  Module fused, led_around;
  Chain(&fused.main, {"x Placeholder", "add Fused", "y Relu"});
  std::string rewrite =
      R"({"rewrite":1,"rule":"r","node":"add","used":["add","mul"],"made":[],"changed":["add"],)"
      R"("removed":["mul"]})";
  Diff diff = With(rewrite, fused);
  ASSERT_EQ(diff.groups.size(), 1u);
  EXPECT_EQ(diff.groups[0].a.size(), 2u);
  EXPECT_EQ(diff.groups[0].b[0].name, "add");

  // A node that kept its op has only lost a neighbor.
  Chain(&led_around.main, {"x Placeholder", "add AddV2", "y Relu"});
  EXPECT_TRUE(With(rewrite, led_around).groups.empty());
}

TEST_F(ProvenanceTest, ChainsOfRewritesLeadBackToTheFirstGraph) {
  Diff diff = With(
      R"({"rewrite":1,"rule":"r","node":"mul","used":["mul"],"made":["between"],"changed":[],"removed":["mul"]})"
      "\n"
      R"({"rewrite":2,"rule":"r","node":"add","used":["add","between"],"made":["other"],"changed":["y"],"removed":["add","between"]})"
      "\n");
  ASSERT_EQ(diff.groups.size(), 1u);
  EXPECT_EQ(diff.groups[0].a[0].name, "add");
  EXPECT_EQ(diff.groups[0].a[1].name, "mul");
}

TEST_F(ProvenanceTest, ErrorsNameTheLine) {
  auto no_json = Provenance::Parse("{\"rule\":\"r\"}\nnot json\n");
  ASSERT_FALSE(static_cast<bool>(no_json));
  EXPECT_TRUE(llvm::StringRef(TextOf(no_json.takeError())).contains("line 2"));
  auto no_ledger = Provenance::Parse("{\"stages\":[]}");
  ASSERT_FALSE(static_cast<bool>(no_ledger));
  EXPECT_TRUE(llvm::StringRef(TextOf(no_ledger.takeError())).contains("not a ledger entry"));
}

// If a rewrite frees a name and gives it to another node, that is not the node that had it.
TEST_F(ProvenanceTest, ANameThatWasGivenAwayIsNotFollowed) {
  Module a, b;
  Chain(&a.main, {"x Placeholder", "one Relu", "two Relu", "end Neg"});
  Chain(&b.main, {"x Placeholder", "two Relu", "end Neg"});
  auto provenance = Provenance::Parse(
      R"({"rule":"r","node":"one","used":["one"],"made":["two"],"changed":["end"],"removed":["one","two"]})");
  ASSERT_TRUE(static_cast<bool>(provenance));
  DiffOptions options;
  options.provenance = &*provenance;
  Diff diff = DiffModules(a, b, options);
  ASSERT_EQ(diff.removed.size(), 1u);
  EXPECT_EQ(diff.removed[0].name, "two");
}

}  // namespace
}  // namespace grapnel
