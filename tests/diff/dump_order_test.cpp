#include "lib/diff/dump_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace grapnel {
namespace {

// The contents of files, by name: files with equal numbers have equal contents.
using Contents = std::map<std::string, DumpContent>;

// The stages of the files, given in a shuffled order. Files missing in `contents` are all
// different.
std::vector<DumpStage> Order(std::vector<std::string> files, llvm::StringRef log = "",
                             Contents contents = {}) {
  std::sort(files.begin(), files.end());
  for (const std::string& file : files)
    contents.try_emplace(file, DumpContent{1000 + contents.size(), 1000 + contents.size()});
  return OrderDumps(files, log, [&](llvm::StringRef file) -> const DumpContent& {
    return contents.find(file.str())->second;
  });
}

std::vector<std::string> Files(const std::vector<DumpStage>& stages) {
  std::vector<std::string> files;
  files.reserve(stages.size());
  for (const DumpStage& stage : stages) files.push_back(stage.file);
  return files;
}

TEST(DumpOrderTest, PartitionsComeAfterTheGraphTheyAreOfAndRunsDoNotMix) {
  // The files of a v1 session that runs twice.
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

TEST(DumpOrderTest, TheLastLineOfAFileInTheLogCounts) {
  std::string log;
  for (const char* file :
       {"g.0002.main.b.pb", "g.0000.main.z.pb", "g.0002.main.b.pb", "g.0001.main.c.pb"})
    log += std::string("I dump_graph.cc: Dumped Graph to /dumps/") + file + "\n";
  std::vector<std::string> wanted = {"g.0000.main.z.pb", "g.0002.main.b.pb", "g.0001.main.c.pb"};
  EXPECT_EQ(Files(Order(wanted, log)), wanted);
}

std::vector<std::string> Lines(const std::vector<DumpStage>& stages) {
  std::vector<std::string> lines;
  lines.reserve(stages.size());
  for (const DumpStage& stage : stages) lines.push_back(stage.line);
  return lines;
}

TEST(DumpOrderTest, ARunIsOfTheFunctionThatItStartsFrom) {
  std::string one = "_123456789.pbtxt", two = "_223456789.pbtxt";
  std::string at = "MetaOptimizer_iteration_0";
  std::vector<std::string> wanted = {
      "f_1.0019.main.before_graph_optimization.pbtxt",
      "before_" + at + two,
      "after_" + at + "_model_pruner" + two,
      "after_" + at + two,
      "after_MetaOptimizer" + two,
      "f_1.0020.main.after_graph_optimization.pbtxt",
      "g_2.0019.main.before_graph_optimization.pbtxt",
      "before_" + at + one,
      "after_MetaOptimizer" + one,
      "g_2.0020.main.after_graph_optimization.pbtxt",
  };
  std::vector<DumpStage> stages =
      Order(wanted, "",
            {{wanted[0], {1, 7}}, {wanted[1], {2, 7}}, {wanted[6], {3, 8}}, {wanted[7], {3, 8}}});
  EXPECT_EQ(Files(stages), wanted);
  for (size_t i = 0; i < stages.size(); ++i) EXPECT_EQ(stages[i].line, i < 6 ? "f_1" : "g_2");
}

TEST(DumpOrderTest, RunsThatShareAnAddressAreToldApartByWhatFollowsWhat) {
  std::string end = "_123456789.pbtxt", end_1 = "_123456789_1.pbtxt", end_2 = "_123456789_2.pbtxt";
  std::string at = "MetaOptimizer_iteration_0", then = "MetaOptimizer_iteration_1";
  // Turn 1 is the final module pass of the first run; turn 2 is the second run, which has only one
  // iteration.
  std::vector<std::string> wanted = {
      "before_" + at + end,
      "after_" + at + "_model_pruner" + end,
      "after_" + at + "_constant_folding" + end,
      "after_" + at + end,
      "before_" + then + end,
      "after_" + then + end,
      "before_" + at + end_1,
      "after_" + at + end_1,
      "after_MetaOptimizer" + end,
      "before_" + at + end_2,
      "after_" + at + "_model_pruner" + end_1,
      "after_" + at + "_constant_folding" + end_1,
      "after_" + at + end_2,
      "after_MetaOptimizer" + end_1,
  };
  std::vector<DumpStage> stages = Order(wanted, "",
                                        {{wanted[2], {1, 1}},
                                         {wanted[3], {1, 1}},
                                         {wanted[4], {1, 1}},
                                         {wanted[5], {2, 2}},
                                         {wanted[6], {3, 2}},
                                         {wanted[11], {4, 4}},
                                         {wanted[12], {4, 4}}});
  EXPECT_EQ(Files(stages), wanted);
  EXPECT_EQ(stages[6].stage, "before final tfg_optimizer, iteration 0");
  EXPECT_EQ(stages[8].line, "MetaOptimizer run 0");
  EXPECT_EQ(stages[9].line, "MetaOptimizer run 1");
}

TEST(DumpOrderTest, ARunThatLostItsFirstDumpsStaysWithItsFunctionAndSpoilsNoOther) {
  std::string at = "MetaOptimizer_iteration_0", end = "_123456789.pb";
  auto turn = [&](const char* when, int k) {
    return when + at + "_123456789" + (k ? "_" + std::to_string(k) : "") + ".pb";
  };
  std::vector<std::string> wanted = {
      "f_1.0000.main.before_graph_optimization.pb",
      turn("before_", 1),  // the final module pass: the dumps before it are missing
      turn("after_", 1),
      "after_MetaOptimizer" + end,
      "f_1.0001.main.after_graph_optimization.pb",
      "g_2.0000.main.before_graph_optimization.pb",
      turn("before_", 2),
      "after_" + at + "_model_pruner_123456789_1.pb",
      turn("after_", 2),
      turn("before_", 3),
      turn("after_", 3),
      "after_MetaOptimizer_123456789_1.pb",
      "g_2.0001.main.after_graph_optimization.pb",
  };
  std::vector<DumpStage> stages = Order(wanted, "",
                                        {{wanted[2], {12, 2}},
                                         {wanted[3], {13, 2}},
                                         {wanted[4], {14, 2}},
                                         {wanted[5], {15, 5}},
                                         {wanted[6], {15, 5}},
                                         {wanted[7], {16, 6}},
                                         {wanted[8], {16, 6}},
                                         {wanted[9], {17, 6}},
                                         {wanted[10], {18, 6}},
                                         {wanted[11], {19, 6}}});
  EXPECT_EQ(Files(stages), wanted);
  for (size_t i = 0; i < stages.size(); ++i) EXPECT_EQ(stages[i].line, i < 5 ? "f_1" : "g_2");
}

TEST(DumpOrderTest, TurnsOfALibrarysFunctionsHaveLinesOfTheirOwn) {
  std::string at = "MetaOptimizer_iteration_0";
  std::vector<std::string> wanted = {
      "before_" + at + "_123456789.pbtxt",
      "before_" + at + "_923456789.pbtxt",
      "after_MetaOptimizer_123456789.pbtxt",
  };
  DumpContent library{1, 1, 1, {{"body", 5}}}, body{2, 2, 5, {}};
  std::vector<DumpStage> stages = Order(wanted, "", {{wanted[0], library}, {wanted[1], body}});
  EXPECT_EQ(Lines(stages), (std::vector<std::string>{"MetaOptimizer run 0", "MetaOptimizer run 0",
                                                     "MetaOptimizer run 0: body"}));
}

TEST(DumpOrderTest, EachInstanceOfAFunctionIsALine) {
  // TensorFlow numbers the dumps of both together. Two threads write the last two at the same time.
  std::vector<std::string> files = {
      "f.0000.main.initial.pb",
      "f.0001.main.before_graph_optimization.pb",
      "f.0002.main.after_graph_optimization.pb",
      "f.0003.main.initial.pb",
      "f.0004.main.before_graph_optimization.pb",
      "f.0005.main.initial.pb",
      "f.0006.main.before_graph_optimization.pb",
      "f.0007.main.after_graph_optimization.pb",
      "f.0008.main.after_graph_optimization.pb",
  };
  std::map<std::string, int> sizes;
  for (const DumpStage& stage : Order(files)) ++sizes[stage.line];
  EXPECT_EQ(sizes,
            (std::map<std::string, int>{{"f", 3}, {"f, instance 2", 3}, {"f, instance 3", 3}}));
}

TEST(DumpOrderTest, IterationsOfOurOwnDumpsAreOneLine) {
  std::vector<std::string> wanted = {"g.0000.main.before_constant_folding.pb",
                                     "g.0001.main.after_constant_folding.pb",
                                     "g.0002.main.before_constant_folding.pb"};
  for (const std::string& line : Lines(Order(wanted))) EXPECT_EQ(line, "g");
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
