// Compares partitions with TensorFlow's own: node for node, except for the edge's number in
// tensor_name.
#include "lib/place/partition.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "lib/io/open.h"
#include "lib/ir/text.h"
#include "lib/ir/verify.h"
#include "lib/place/tensorflow_kernels.h"

namespace grapnel {
namespace {

std::unique_ptr<Module> Open(const std::string& path) {
  return llvm::cantFail(OpenGraph("testdata/partitions/" + path));
}

// A line a node; "edge_12_x" becomes "edge_x", and without `numbers` "x/_7" becomes "x".
std::multiset<std::string> Lines(const Graph& graph, bool numbers) {
  static const std::regex edge("edge_[0-9]+_"), name("/_[0-9]+");
  std::multiset<std::string> lines;
  for (Node node : graph.nodes()) {
    std::string line = std::regex_replace(NodeText(node), edge, "edge_");
    lines.insert(numbers ? line : std::regex_replace(line, name, ""));
  }
  return lines;
}

class PartitionTest : public ::testing::TestWithParam<const char*> {};

TEST_P(PartitionTest, IsTensorFlows) {
  std::string folder = GetParam();
  std::unique_ptr<Module> module = Open(folder + "/graph.pb");
  std::unique_ptr<KernelCatalog> kernels = MakeTensorFlowKernels();
  PartitionedGraph split = llvm::cantFail(PartitionByDevice(*module, *kernels));
  // With several loops, TensorFlow numbers the nodes in the order in which its edges need them.
  bool numbers = folder != "loop_in_a_loop";
  size_t sent = 0;
  for (const Partition& part : split.partitions) {
    std::string file = "/cpu_" + part.device.substr(part.device.rfind(':') + 1) + ".pb";
    std::unique_ptr<Module> expected = Open(folder + file);
    EXPECT_EQ(Lines(part.module->main, numbers), Lines(expected->main, numbers)) << folder << file;
    for (const Problem& problem : VerifyGraph(part.module->main))
      ADD_FAILURE() << folder << file << ": " << problem.ToString();
    for (Node node : part.module->main.nodes()) sent += node.op() == "_Send";
  }
  EXPECT_EQ(split.transfers.size(), sent);
}

INSTANTIATE_TEST_SUITE_P(All, PartitionTest,
                         ::testing::Values("edges", "loop", "loop_in_a_loop", "branch"),
                         [](const auto& info) { return std::string(info.param); });

std::string FailureOf(Module& module) {
  std::unique_ptr<KernelCatalog> kernels = MakeTensorFlowKernels();
  auto split = PartitionByDevice(module, *kernels);
  if (split) return "";
  return TextOf(split.takeError());
}

TEST(PartitionErrorTest, EveryNodeNeedsAFullDevice) {
  Module module;
  module.main.AddNode("a", "NoOp", "/device:CPU:0");
  EXPECT_EQ(FailureOf(module),
            "node 'a' has device '/device:CPU:0', a full name was expected: place the graph first");
}

TEST(PartitionErrorTest, ALoopWithoutACondition) {
  std::unique_ptr<Module> module = Open("loop/graph.pb");
  Graph& graph = module->main;
  graph.SetOp(graph.Find("loop/LoopCond").id(), "Identity");
  graph.SetAttr(graph.Find("loop/LoopCond").id(), "T", attr::Type(proto::DT_BOOL));
  EXPECT_EQ(FailureOf(*module),
            "loop 'loop/while_context' runs on several devices, which requires a LoopCond, but has "
            "none");
}

}  // namespace
}  // namespace grapnel
