#include "lib/diff/dump_order.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace grapnel {
namespace {

// The stages of the files, given in another order than the wanted one.
std::vector<DumpStage> Order(std::vector<std::string> files, llvm::StringRef log = "",
                             std::vector<std::pair<std::string, std::string>> same = {}) {
  std::sort(files.begin(), files.end());
  return OrderDumps(files, log, [&](llvm::StringRef a, llvm::StringRef b) {
    return std::any_of(same.begin(), same.end(),
                       [&](const auto& pair) { return pair.first == a && pair.second == b; });
  });
}

std::vector<std::string> Files(const std::vector<DumpStage>& stages) {
  std::vector<std::string> files;
  files.reserve(stages.size());
  for (const DumpStage& stage : stages) files.push_back(stage.file);
  return files;
}

TEST(DumpOrderTest, PartitionsComeAfterTheGraphTheyAreOfAndRunsDoNotMix) {
  // As a v1 session writes them that runs twice.
  std::vector<std::string> wanted = {
      "g.0000.main.before_opt_group_pre_placement.pbtxt",
      "g.0001.main.before_opt_group_post_rewrite_for_exec.pbtxt",
      "g_partition_cpu.0000.main.before_opt_group_post_partitioning.pbtxt",
      "g.0002.main.before_opt_group_post_rewrite_for_exec.pbtxt",
      "g_partition_cpu.0001.main.before_opt_group_post_partitioning.pbtxt",
  };
  std::vector<DumpStage> stages = Order(wanted);
  EXPECT_EQ(Files(stages), wanted);
  EXPECT_EQ(stages[2].from_line, "g");
  EXPECT_EQ(stages[2].stage, "before opt_group_post_partitioning");
}

TEST(DumpOrderTest, NumbersAreNumbers) {
  std::vector<std::string> wanted = {"g.0002.main.a.pb", "g.0010.main.b.pb", "g.10000.main.c.pb"};
  EXPECT_EQ(Files(Order(wanted)), wanted);
}

TEST(DumpOrderTest, MetaOptimizersDumpsGoByPassAndByTurn) {
  std::string end = "_123456789.pbtxt", end_1 = "_123456789_1.pbtxt", end_2 = "_123456789_2.pbtxt";
  std::string at = "MetaOptimizer_iteration_0";
  // Turn 1 is a function's and has no pass's dump; the second call of Grappler is turn 2.
  std::vector<std::string> wanted = {
      "before_" + at + end,
      "after_" + at + "_model_pruner" + end,
      "after_" + at + "_constant_folding" + end,
      "after_" + at + "_arithmetic_optimizer" + end,
      "after_" + at + end,
      "before_" + at + end_1,
      "after_" + at + end_1,
      "after_MetaOptimizer" + end,
      "before_" + at + end_2,
      "after_" + at + "_model_pruner" + end_1,
      "after_" + at + "_constant_folding" + end_1,
      "after_" + at + "_arithmetic_optimizer" + end_1,
      "after_" + at + end_2,
      "after_MetaOptimizer" + end_1,
  };
  std::vector<DumpStage> stages =
      Order(wanted, "", {{wanted[3], wanted[4]}, {wanted[11], wanted[12]}});
  EXPECT_EQ(Files(stages), wanted);
  EXPECT_EQ(stages[13].from_line, stages[12].line);
  EXPECT_NE(stages[6].line, stages[4].line);
}

TEST(DumpOrderTest, TheLogDecides) {
  std::vector<std::string> wanted = {"g.0001.main.b.pb", "g.0000.main.a.pb"};
  EXPECT_EQ(Files(Order(wanted,
                        "x] Dumped Graph to /a/g.0001.main.b.pb\n"
                        "y] Dumped Graph to /a/g.0000.main.a.pb\n")),
            wanted);
}

TEST(DumpOrderTest, OtherFilesAreNoStages) {
  EXPECT_TRUE(
      Order({"index.json", "log.txt", "gcolocation_graph.txt", "timings.pbtx", "stacks.csv"})
          .empty());
}

TEST(DumpOrderTest, NamesOfPassesAreLoose) {
  std::vector<DumpStage> stages =
      Order({"g.0000.main.initial.pb", "before_some_pass.pbtxt", "gplacer_output_1.pb",
             "EnsureMemoryTypes_12.pbtxt", "partition__job:a_device:CPU:0_94049559696952.pbtxt"},
            "Dumped Graph to /a/EnsureMemoryTypes_12.pbtxt\n");
  auto find = [&](llvm::StringRef file) {
    return *std::find_if(stages.begin(), stages.end(),
                         [&](const DumpStage& stage) { return stage.file == file; });
  };
  EXPECT_FALSE(find("g.0000.main.initial.pb").is_loose);
  DumpStage pass = find("before_some_pass.pbtxt");
  EXPECT_TRUE(pass.is_loose);
  EXPECT_FALSE(pass.is_in_log);
  EXPECT_EQ(pass.stage, "before some_pass");
  EXPECT_EQ(pass.when, 0);
  DumpStage placer = find("gplacer_output_1.pb");
  EXPECT_EQ(placer.line, "g 1");
  EXPECT_EQ(placer.stage, "after placer");
  EXPECT_TRUE(find("EnsureMemoryTypes_12.pbtxt").is_in_log);
  EXPECT_EQ(find("EnsureMemoryTypes_12.pbtxt").turn, 12);
  EXPECT_EQ(find("partition__job:a_device:CPU:0_94049559696952.pbtxt").turn, 0);
}

}  // namespace
}  // namespace grapnel
