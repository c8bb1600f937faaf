#include "lib/diff/stage_names.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace grapnel {
namespace {

// Dumps of a folder, from lines "FUNCTION|STAGE" or "FUNCTION|STAGE|FROM"; the files are "0.pb",
// "1.pb", ...
std::vector<OrderedDump> Folder(const std::vector<std::string>& texts) {
  std::vector<OrderedDump> dumps;
  for (const std::string& text : texts) {
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::StringRef(text).split(parts, '|');
    DumpStage stage{std::to_string(dumps.size()) + ".pb", parts[0].str(),
                    parts.size() > 2 ? parts[2].str() : "", parts[1].str()};
    dumps.push_back({std::move(stage), nullptr, ""});
  }
  return dumps;
}

// The number of the stage, with the note; or the error.
std::string Find(const std::vector<OrderedDump>& dumps, llvm::StringRef name) {
  auto found = StageNames(dumps, "D").Find(name);
  if (!found) return llvm::toString(found.takeError());
  return std::to_string(found->index) + (found->note.empty() ? "" : " " + found->note);
}

const char kCpu[] = "__inference_f_12_partition__job:localhost_replica:0_task:0_device:CPU:0";

std::vector<OrderedDump> OneFunction() {
  static const std::string partition =
      std::string(kCpu) + "|before partition_passes|__inference_f_12";
  return Folder({"__wrapped__Mul_device_CPU:0|before placer", "__inference_f_12|initial",
                 "__inference_f_12|before placer",
                 "__inference_f_12|after opt_group_pre_placement_phase_10_LowerFunctionalOpsPass",
                 "__inference_f_12|after remapper, iteration 0",
                 "__inference_f_12|after remapper, iteration 1",
                 "__inference_f_12|after graph_optimization", partition.c_str()});
}

TEST(StageNamesTest, AFunctionGoesByItsNameWithAndWithoutPrefixAndNumber) {
  std::vector<OrderedDump> dumps = OneFunction();
  for (const char* function : {"__inference_f_12:", "f_12:", "f:", "f 12:", ""}) {
    EXPECT_EQ(Find(dumps, std::string(function) + "initial"), "1") << function;
    EXPECT_EQ(Find(dumps, std::string(function) + "after_graph_optimization"), "6") << function;
    EXPECT_EQ(Find(dumps, std::string(function) + "after remapper, iteration 1"), "5") << function;
  }
}

TEST(StageNamesTest, AFileIsAName) {
  EXPECT_EQ(Find(OneFunction(), "3.pb"), "3");
  EXPECT_EQ(Find(OneFunction(), "3"), "3");
}

TEST(StageNamesTest, OfSeveralIterationsTheFirstIsTakenAndSaid) {
  EXPECT_EQ(Find(OneFunction(), "f:after remapper"),
            "4 'f:after remapper' names 2 stages and the first is taken, 'f_12:after remapper, "
            "iteration 0'; the next is 'f_12:after remapper, iteration 1'");
}

TEST(StageNamesTest, APassGoesByItsNameWithoutItsGroup) {
  EXPECT_EQ(Find(OneFunction(), "f:after LowerFunctionalOpsPass"), "3");
}

TEST(StageNamesTest, BeforeWithoutADumpIsTheStageBefore) {
  EXPECT_EQ(Find(OneFunction(), "f:before graph_optimization"), "5");
  EXPECT_EQ(Find(OneFunction(), "before LowerFunctionalOpsPass"), "2");
  EXPECT_EQ(Find(OneFunction(), "before remapper, iteration 1"), "4");
  EXPECT_EQ(Find(OneFunction(), "f:before remapper").substr(0, 2), "3 ");
}

TEST(StageNamesTest, APartitionGoesByItsFunctionAndByItself) {
  EXPECT_EQ(Find(OneFunction(), "f:before partition_passes"), "7");
  EXPECT_EQ(Find(OneFunction(), std::string(kCpu) + ":before partition_passes"), "7");
}

TEST(StageNamesTest, EachStageHasANameOfItsOwn) {
  std::vector<OrderedDump> dumps = OneFunction();
  StageNames names(dumps, "D");
  for (size_t i = 0; i < dumps.size(); ++i)
    EXPECT_EQ(Find(dumps, names.NameOf(i)), std::to_string(i)) << names.NameOf(i);
}

TEST(StageNamesTest, WithoutItsNumberAFunctionOfSeveralTracesIsAmbiguous) {
  std::vector<OrderedDump> dumps =
      Folder({"__inference_f_1|initial", "__inference_f_1|after placer", "__inference_f_2|initial",
              "__inference_f_2|after remapper, iteration 0"});
  EXPECT_EQ(Find(dumps, "f:initial"),
            "D: 'f:initial' names stages of 2 functions: say which, 'f_1:initial', 'f_2:initial' "
            "(`grapnel timeline D` lists all)");
  EXPECT_EQ(Find(dumps, "f:after placer"), "1") << "only one trace has the stage";
  EXPECT_EQ(Find(dumps, "f_2:initial"), "2");
}

TEST(StageNamesTest, TheExactNameOfATraceIsNotTheShortOneOfAnother) {
  std::vector<OrderedDump> dumps =
      Folder({"__inference_f_1_2|initial", "__inference_f_1|initial", "__forward_f_1_2|initial"});
  EXPECT_EQ(Find(dumps, "f_1:initial"), "1");
  EXPECT_EQ(Find(dumps, "__forward_f_1_2:initial"), "2");
}

TEST(StageNamesTest, InstancesAreNumbered) {
  std::vector<OrderedDump> dumps =
      Folder({"__inference_f_1|initial", "__inference_f_1, instance 2|initial"});
  EXPECT_EQ(Find(dumps, "f:initial"), "0");
  EXPECT_EQ(Find(dumps, "f_1, instance 2:initial"), "1");
}

TEST(StageNamesTest, AFunctionOfADatasetGoesByItsPythonName) {
  std::vector<OrderedDump> dumps = Folder({"__inference_Dataset_map_parse_11|initial"});
  EXPECT_EQ(Find(dumps, "parse:initial"), "0");
  EXPECT_EQ(Find(dumps, "Dataset_map_parse:initial"), "0");
}

TEST(StageNamesTest, AFunctionOptimizedInItsCallersRunGoesByItsOwnName) {
  std::vector<OrderedDump> dumps = Folder({"MetaOptimizer run 0|before, iteration 0",
                                           "MetaOptimizer run 0: cond_true_7|before, iteration 0"});
  EXPECT_EQ(Find(dumps, "cond_true_7:before"), "1");
  EXPECT_EQ(Find(dumps, "MetaOptimizer_run_0: cond_true_7:before"), "1");
}

TEST(StageNamesTest, ErrorsListTheNearestTen) {
  std::vector<std::string> texts;
  texts.reserve(43);
  for (int i = 0; i < 30; ++i)
    texts.push_back("__inference_f_" + std::to_string(i) + "|after pass_" + std::to_string(i % 12));
  texts.emplace_back("__inference_f_0|after remapper");
  for (int i = 0; i < 12; ++i) texts.push_back("__inference_f_0|after x_" + std::to_string(i));
  std::vector<OrderedDump> dumps = Folder(texts);
  std::string stage = Find(dumps, "f_0:after remaper");
  EXPECT_EQ(stage.rfind("D: stage 'after remaper' not found in function 'f_0'; its stages are "
                        "'after remapper', ",
                        0),
            0)
      << stage;
  EXPECT_NE(stage.find("' and 4 more (`grapnel timeline D` lists all)"), std::string::npos);
  EXPECT_EQ(std::count(stage.begin(), stage.end(), '\''), 2 * 12);
  std::string function = Find(dumps, "g:after remapper");
  EXPECT_NE(function.find("did you mean 'f_0:after remapper'"), std::string::npos) << function;
  std::string nothing = Find(dumps, "completely:different");
  EXPECT_NE(nothing.find("a stage is FUNCTION:STAGE, as 'f_0:after pass_0'; functions are "),
            std::string::npos)
      << nothing;
  EXPECT_NE(nothing.find(" and 20 more"), std::string::npos) << nothing;
  EXPECT_EQ(Find(dumps, "f_3"),
            "D: 'f_3' is a function: name a stage of it, as 'f_3:after pass_3'; its stages are "
            "'after pass_3' (`grapnel timeline D` lists all)");
}

TEST(StageNamesTest, AnyTextIsRefusedInTime) {
  std::vector<OrderedDump> dumps = OneFunction();
  EXPECT_NE(Find(dumps, std::string(100000, ':')).find("not found"), std::string::npos);
  EXPECT_NE(Find(dumps, "").find("not found"), std::string::npos);
  EXPECT_NE(Find(dumps, ":").find("not found"), std::string::npos);
  EXPECT_NE(Find({}, "f:initial").find("not found"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
