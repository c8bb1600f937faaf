// Runs whole graphs on four threads, unchanged and optimized, so that ThreadSanitizer observes
// kernels together with the executor.
#include <string>

#include "gtest/gtest.h"
#include "lib/check/comparison.h"
#include "lib/exec/evaluator.h"
#include "lib/exec/executor.h"
#include "lib/exec/feed.h"
#include "lib/io/open.h"
#include "lib/io/value.h"
#include "lib/ir/device_name.h"
#include "lib/pass/device_renames.h"
#include "lib/pass/pass_manager.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

constexpr int kThreads = 4, kRuns = 3;

Error Optimize(Module& module, const Case& values, ThreadPool& pool) {
  RETURN_IF_ERROR(SetMissingDevices(module, kLocalCpu));
  OptimizeOptions options;
  for (const Case::Feed& feed : values.feeds) options.feeds.push_back(feed.tensor);
  for (const Case::Fetch& fetch : values.fetches) options.fetches.push_back(fetch.tensor);
  options.config.set_min_graph_nodes(-1);
  options.pool = &pool;
  std::unique_ptr<Evaluator> evaluator = MakeCpuEvaluator(pool);
  options.evaluator = evaluator.get();
  return PassManager().Run(module, options).takeError();
}

// Runs the graph of a case folder `kRuns` times on one plan, and compares its outputs each time.
Error Replay(const std::string& folder, bool optimize) {
  ASSIGN_OR_RETURN(Model model, OpenModel(folder));
  if (!model.case_info) return MakeError("{0}: is not a case folder", folder);
  const Case& values = *model.case_info;
  Module& module = *model.graphs.at(0).module;
  ThreadPool pool(kThreads);
  if (optimize) RETURN_IF_ERROR(Optimize(module, values, pool));
  ExecutorOptions options;
  options.pool = &pool;
  std::vector<Tensor> feeds;
  for (const Case::Feed& feed : values.feeds) {
    options.feeds.push_back(feed.tensor);
    ASSIGN_OR_RETURN(Tensor tensor, LoadFeed(module.main, feed.tensor, feed.file));
    feeds.push_back(std::move(tensor));
  }
  for (const Case::Fetch& fetch : values.fetches) options.fetches.push_back(fetch.tensor);
  ASSIGN_OR_RETURN(std::unique_ptr<Executor> executor, Executor::Compile(module.main, options));
  for (int run = 0; run < kRuns; ++run) {
    ASSIGN_OR_RETURN(std::vector<Tensor> outputs, executor->Run(feeds));
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Case::Fetch& fetch = values.fetches[i];
      ASSIGN_OR_RETURN(Literal expected, LoadNpyLiteral(fetch.file, outputs[i].dtype()));
      Comparison comparison = Compare(outputs[i].ToLiteral(), expected, values.rtol, fetch.atol);
      if (!comparison.same)
        return MakeError("{0}: '{1}' in run {2}: {3}", folder, fetch.tensor, run,
                         comparison.message);
    }
  }
  return Error::success();
}

void ReplayBothWays(const std::string& folder) {
  for (bool optimize : {false, true}) {
    Error error = Replay(folder, optimize);
    EXPECT_FALSE(error) << TextOf(std::move(error)) << (optimize ? " (optimized)" : "");
  }
}

TEST(ThreadedReplayTest, Models) {
  for (const char* model :
       {"models/lenet", "models/transformer_block", "harmonic_mean_print", "collatz"})
    ReplayBothWays("testdata/" + std::string(model));
}

// Calls, branches and loops, each in several shapes.
TEST(ThreadedReplayTest, Functions) {
  std::error_code code;
  int cases = 0;
  for (llvm::sys::fs::directory_iterator at("testdata/functions", code), end; at != end && !code;
       at.increment(code)) {
    ReplayBothWays(at->path());
    ++cases;
  }
  EXPECT_GE(cases, 20);
}

}  // namespace
}  // namespace grapnel
