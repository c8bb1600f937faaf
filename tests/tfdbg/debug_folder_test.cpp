#include "lib/tfdbg/debug_folder.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include "gtest/gtest.h"
#include "lib/check/cause_text.h"
#include "lib/check/first_cause.h"
#include "lib/tfdbg/debug_graph.h"
#include "lib/tfdbg/debug_index.h"
#include "llvm/Support/raw_ostream.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

TEST(DebugFolder, HoldsWhatTensorFlowWrote) {
  DebugFolder folder = Read("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  ASSERT_EQ(folder.runs.size(), 1u);
  EXPECT_TRUE(folder.problems.empty());
  const DebugRun& run = folder.runs[0];
  EXPECT_EQ(run.id, "91804c15");
  EXPECT_EQ(run.tensorflow_version, "2.21.0");
  EXPECT_EQ(run.mode, proto::FULL_HEALTH);
  EXPECT_EQ(run.executions.size(), 72u);
  EXPECT_EQ(run.traces.size(), 42u);
  ASSERT_EQ(run.devices.size(), 1u);
  EXPECT_EQ(run.devices[0].name, "/job:localhost/replica:0/task:0/device:CPU:0");
  ASSERT_EQ(run.graphs.size(), 5u);
  EXPECT_EQ(run.graphs[1].name, "model");
  EXPECT_EQ(run.graphs[1].outer, 0);
  EXPECT_EQ(run.graphs[0].inner.size(), 4u);
}

TEST(DebugFolder, OpsKnowTheirInputsAndStacks) {
  DebugFolder folder = Read("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  const DebugGraph& model = run.graphs[1];
  const DebugOp& matmul = model.ops[model.Find("MatMul")];
  ASSERT_EQ(matmul.inputs.size(), 2u);
  EXPECT_EQ(model.ops[matmul.inputs[0].op].name, "x");
  EXPECT_EQ(run.StackAt(matmul.stack).size(), 23u);
  int frame = UserFrame(run, matmul.stack);
  ASSERT_GE(frame, 0);
  EXPECT_EQ(run.frames[frame].line, 14);
  EXPECT_EQ(run.frames[frame].function, "__call__");
  std::vector<llvm::StringRef> lines = SourceLines(run.sources[run.frames[frame].source]);
  ASSERT_GT(lines.size(), 14u);
  EXPECT_TRUE(lines[13].contains("tf.matmul"));
}

TEST(DebugFolder, CallsAndTheirTracesAreJoined) {
  DebugFolder folder = Read("testdata/tfdbg/mnist_nan_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  EXPECT_EQ(run.executions[22].op_type, "__forward_loss_fn_243");
  EXPECT_EQ(run.graphs[run.executions[22].graph].name, "loss_fn");
  EXPECT_EQ(run.traces[11].execution, 22);
  EXPECT_EQ(run.traces[25].execution, 39);
  EXPECT_EQ(run.executions[39].call, 1);
}

TEST(DebugFolder, IterationsOfLoopsAreCounted) {
  DebugFolder folder = Read("testdata/tfdbg/control_flow_FULL_HEALTH");
  const DebugRun& run = folder.runs[0];
  EXPECT_EQ(run.traces[8].op_name, "Log");
  EXPECT_EQ(run.traces[18].op_name, "Log");
  EXPECT_EQ(run.traces[18].iteration, 2);
  EXPECT_EQ(run.traces[27].iteration, 0);  // another call
}

TEST(DebugFolder, KeepsRunsApart) {
  DebugFolder two = Read("testdata/tfdbg/two_sets_diff_run");
  EXPECT_EQ(two.runs.size(), 2u);
  DebugFolder one = Read("testdata/tfdbg/two_sets_same_run");
  ASSERT_EQ(one.runs.size(), 1u);
  EXPECT_EQ(one.runs[0].sets.size(), 2u);
  EXPECT_EQ(one.runs[0].graphs.size(), two.runs[0].graphs.size());
  EXPECT_EQ(one.runs[0].traces.size(), 2u);
}

// Records that crash TensorBoard are reported here, and the rest is read.
TEST(DebugFolder, SaysWhatIsBroken) {
  const std::pair<const char*, const char*> cases[] = {
      {"bad_file_index", "stack frame 'f1' refers to source file 9, but only 1 are recorded"},
      {"corrupt_crc", "record 1: its checksum is wrong: the record is skipped"},
      {"dup_op", "graph 'G' has two ops 'Log': the second is skipped"},
      {"full_health_len10", "its FULL_HEALTH summary has 10 numbers, 11 were expected"},
      {"trace_unknown_graph", "graph 'nope' is used, but no record describes it"},
      {"truncated_tail", "its last record is cut off"},
  };
  for (const auto& [name, problem] : cases) {
    DebugFolder folder = Read(std::string("testdata/tfdbg/") + name);
    ASSERT_EQ(folder.problems.size(), 1u) << name;
    EXPECT_NE(folder.problems[0].find(problem), std::string::npos) << folder.problems[0];
    EXPECT_EQ(folder.runs[0].traces.size(), 1u) << name;
  }
}

TEST(DebugFolder, OtherFoldersAreNone) {
  EXPECT_TRUE(IsDebugFolder("testdata/tfdbg/ok"));
  EXPECT_FALSE(IsDebugFolder("testdata/tfdbg"));
  EXPECT_FALSE(IsDebugFolder("testdata/collatz"));
  EXPECT_FALSE(IsDebugFolder("no/such/folder"));
  auto folder = ReadDebugFolder("testdata/collatz");
  ASSERT_FALSE(folder);
  EXPECT_NE(TextOf(folder.takeError()).find("is not a debug folder"), std::string::npos);
}

TEST(DebugFolder, AFolderWithoutDataIsEmpty) {
  TestDebugWriter writer("debug_empty");
  writer.Write();
  EXPECT_TRUE(IsDebugFolder(writer.path()));
  DebugFolder folder = Read(writer.path());
  ASSERT_EQ(folder.runs.size(), 1u);
  EXPECT_TRUE(folder.runs[0].traces.empty());
}

TEST(DebugFolder, GraphsWithinThemselvesEnd) {
  TestDebugWriter writer("debug_ring");
  writer.Graph("a", "f", "b");
  writer.Graph("b", "g", "a");
  writer.Op("a", "Log", "Log", {});
  writer.Trace("a", "Log", 1, proto::CURT_HEALTH, {1, 1});
  writer.Write();
  DebugFolder folder = Read(writer.path());
  EXPECT_EQ(folder.problems.size(), 1u);
  EXPECT_EQ(FindCauses(folder.runs[0]).alerts.size(), 1u);
}

std::string Bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Truncates every file at any point, and corrupts bytes: the remaining records are read, without a
// crash.
TEST(DebugFolder, SurvivesAnyDamage) {
  namespace fs = std::filesystem;
  fs::path copy = fs::path(testing::TempDir()) / "debug_damage";
  fs::remove_all(copy);
  fs::copy("testdata/tfdbg/two_sets_same_run", copy);
  for (const auto& entry : fs::directory_iterator("testdata/tfdbg/two_sets_same_run")) {
    std::string bytes = Bytes(entry.path());
    fs::path target = copy / entry.path().filename();
    for (size_t i = 0; i < bytes.size(); i += 3) {
      std::string damaged = i % 2 ? bytes.substr(0, i) : bytes;
      if (i % 2 == 0) damaged[i] = static_cast<char>(damaged[i] ^ (i % 4 ? 0xFF : 0x01));
      std::ofstream(target, std::ios::binary) << damaged;
      DebugFolder folder = Read(copy.string());
      std::string text;
      llvm::raw_string_ostream os(text);
      WriteDebugFolderText(
          folder, true, [](const DebugRun&) { return 0; }, os);
      for (const DebugRun& run : folder.runs) {
        WriteBlameText(run, FindCauses(run), os);
        DebugModule made = MakeDebugModule(run);
        EXPECT_EQ(made.module->main.num_nodes(), run.executions.size());
        DebugIndex index(run);
        for (size_t source = 0; source < run.sources.size(); ++source)
          index.LinesOf(static_cast<int>(source));
      }
      EXPECT_FALSE(text.empty());
    }
    std::ofstream(target, std::ios::binary) << bytes;
  }
}

}  // namespace
}  // namespace grapnel
