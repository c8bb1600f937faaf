#include "lib/tfdbg/debug_watch.h"

#include <filesystem>

#include "gtest/gtest.h"
#include "tests/tfdbg/debug_writer.h"

namespace grapnel {
namespace {

bool HasNewBad(DebugWatch& watch) {
  auto found = watch.HasNewBad();
  if (!found) ADD_FAILURE() << TextOf(found.takeError());
  return found && *found;
}

// Tensor and device, dtype, rank, elements; -inf, inf, NaN, negative, zero, positive.
std::vector<double> FullHealth(double nans) { return {1, 0, 1, 1, 4, 0, 0, nans, 0, 0, 4 - nans}; }

TEST(DebugWatch, TellsOnceOfWhatIsNew) {
  TestDebugWriter writer("watch");
  DebugWatch watch(writer.path());
  EXPECT_FALSE(HasNewBad(watch));
  writer.Trace("g", "x", 2, proto::FULL_HEALTH, FullHealth(0));
  writer.Write();
  EXPECT_FALSE(HasNewBad(watch));
  writer.Trace("g", "y", 3, proto::FULL_HEALTH, FullHealth(2));
  writer.Trace("g", "z", 4, proto::FULL_HEALTH, FullHealth(0));
  writer.Write();
  EXPECT_TRUE(HasNewBad(watch));
  EXPECT_FALSE(HasNewBad(watch));
  writer.Execution("Log", 5, {1}, 2, proto::CURT_HEALTH, {2, 1});
  writer.Write();
  EXPECT_TRUE(HasNewBad(watch));
  EXPECT_FALSE(HasNewBad(watch));
}

TEST(DebugWatch, WaitsForTheRestOfARecord) {
  TestDebugWriter writer("watch_cut");
  writer.Trace("g", "x", 2, proto::FULL_HEALTH, FullHealth(0));
  writer.Trace("g", "y", 3, proto::FULL_HEALTH, FullHealth(1));
  writer.Write();
  std::string path = writer.path() + "/tfdbg_events.1.host.graph_execution_traces";
  size_t size = std::filesystem::file_size(path);
  DebugWatch watch(writer.path());
  for (size_t cut : {size - 1, size - 30, size / 2 + 3, size / 2}) {
    std::filesystem::resize_file(path, cut);
    EXPECT_FALSE(HasNewBad(watch)) << cut;
  }
  writer.Write();
  EXPECT_TRUE(HasNewBad(watch));
}

TEST(DebugWatch, SeesWhatTheWholeFolderHas) {
  size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator("testdata/tfdbg")) {
    if (!IsDebugFolder(entry.path().string())) continue;
    DebugFolder folder = Read(entry.path().string());
    bool has_bad = false;
    for (const DebugRun& run : folder.runs) {
      for (const DebugExecution& execution : run.executions)
        for (const RecordedTensor& output : execution.outputs) has_bad |= output.bad;
      for (const DebugTrace& trace : run.traces) has_bad |= trace.value.bad;
    }
    DebugWatch watch(entry.path().string());
    EXPECT_EQ(HasNewBad(watch), has_bad) << entry.path();
    ++folders;
  }
  EXPECT_GT(folders, 5u);
}

TEST(DebugWatch, NamesAFolderThatIsNone) {
  DebugWatch watch("nowhere/debug");
  auto found = watch.HasNewBad();
  ASSERT_FALSE(found);
  EXPECT_NE(TextOf(found.takeError()).find("nowhere/debug"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
