// A run calls its `print` on one thread at a time.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "lib/job/run.h"
#include "lib/support/file.h"
#include "lib/support/thread_pool.h"

namespace grapnel {
namespace {

TEST(RunJobTest, PrintsFromOneThreadAtATime) {
  std::string path = testing::TempDir() + "/print_test.gtxt";
  llvm::cantFail(WriteFile(path, R"(
%text = Const "x"
%a = PrintV2(%text)
%b = PrintV2(%text)
%c = PrintV2(%text)
%d = PrintV2(%text)
)"));
  OpenedGraph opened = llvm::cantFail(OpenedGraph::Open(path));
  ThreadPool pool(4);
  std::atomic<int> printing{0}, printed{0};
  std::atomic<bool> overlaps{false};
  RunRequest request;
  request.fetches = {"a", "b", "c", "d"};
  request.pool = &pool;
  request.print = [&](Severity, llvm::StringRef) {
    if (++printing > 1) overlaps = true;
    // Slow, so that the executor gives the nodes to several threads.
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ++printed;
    --printing;
  };
  auto job = llvm::cantFail(RunJob::Make(opened, std::move(request)));
  llvm::cantFail(job.Prepare());
  constexpr int kRuns = 20;
  for (int run = 0; run < kRuns; ++run) (void)llvm::cantFail(job.Run());
  llvm::cantFail(job.End());
  EXPECT_EQ(printed, 4 * kRuns);
  EXPECT_FALSE(overlaps);
}

}  // namespace
}  // namespace grapnel
