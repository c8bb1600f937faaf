// The cost of taps: each case runs plain and tapped in turns, in one process, on two threads.
//
//   grapnel_taps_bench CASE...      one line per case and mode: wall and CPU time relative to the plain run
//
// The ratio is the median of 31 pairs with its 95 % interval, by ranks; nanoseconds are the extra
// time per tapped tensor.
#include <time.h>

#include <cmath>

#include "lib/job/optimize.h"
#include "lib/job/run.h"
#include "lib/job/run_taps.h"
#include "lib/support/text.h"
#include "lib/watch/check_numerics.h"
#include "llvm/Support/Format.h"

namespace grapnel {
namespace {

constexpr int kPairs = 31;
// of 31 sorted: the median is between them with 95 % confidence
constexpr int kLow = 9, kHigh = 21;
constexpr double kBatch = 0.02;  // minimum seconds of a batch of runs

struct Times {
  double wall = 0, cpu = 0;  // seconds
};

Times Now() {
  timespec wall, cpu;
  clock_gettime(CLOCK_MONOTONIC, &wall);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
  return {wall.tv_sec + wall.tv_nsec * 1e-9, cpu.tv_sec + cpu.tv_nsec * 1e-9};
}

Expected<Times> RunBatch(RunJob& job, int runs) {
  Times began = Now();
  for (int i = 0; i < runs; ++i) {
    auto outputs = job.Run();
    if (!outputs) return outputs.takeError();
  }
  Times ended = Now();
  return Times{ended.wall - began.wall, ended.cpu - began.cpu};
}

std::string Ratio(std::vector<double> ratios) {
  llvm::sort(ratios);
  return llvm::formatv("{0:f3} ({1:f3} to {2:f3})", ratios[kPairs / 2], ratios[kLow],
                       ratios[kHigh]);
}

double Median(std::vector<double> values) {
  llvm::sort(values);
  return values[values.size() / 2];
}

struct Mode {
  std::string name;
  RunHook* hook;
  std::function<int64_t()> tapped;  // number of tapped tensors since it was made
};

Error Compare(OpenedGraph& opened, const std::string& name, ThreadPool& pool, const Mode& mode) {
  auto make = [&](RunHook* hook) {
    RunRequest request;
    request.pool = &pool;
    request.hook = hook;
    request.sink = request.print = [](Severity, llvm::StringRef) {};
    return RunJob::Make(opened, std::move(request));
  };
  ASSIGN_OR_RETURN(RunJob plain, make(nullptr));
  ASSIGN_OR_RETURN(RunJob watched, make(mode.hook));
  RETURN_IF_ERROR(plain.Prepare());
  RETURN_IF_ERROR(watched.Prepare());
  int runs = 8;
  for (;;) {
    ASSIGN_OR_RETURN(Times times, RunBatch(plain, runs));
    if (times.wall > kBatch) break;
    runs *= 2;
  }
  ASSIGN_OR_RETURN(Times warm, RunBatch(watched, 8));
  (void)warm;
  std::vector<double> wall, cpu, extra;
  int64_t before = mode.tapped();
  for (int pair = 0; pair < kPairs; ++pair) {
    Times with, without;
    for (bool second : {false, true}) {
      bool is_watched = second == (pair % 2 == 0);
      ASSIGN_OR_RETURN(Times times, RunBatch(is_watched ? watched : plain, runs));
      (is_watched ? with : without) = times;
    }
    wall.push_back(with.wall / without.wall);
    cpu.push_back(with.cpu / without.cpu);
    extra.push_back((with.cpu - without.cpu) / runs);
  }
  double tensors = static_cast<double>(mode.tapped() - before) / (kPairs * runs);
  llvm::outs() << llvm::formatv("{0,-20} {1,-15} {2,6:f0} tensors  wall {3}  cpu {4}  {5:f0} ns\n",
                                name, mode.name, tensors, Ratio(wall), Ratio(cpu),
                                Median(extra) * 1e9 / std::max(tensors, 1.0));
  llvm::outs().flush();
  return Error::success();
}

class CountingNumerics : public CheckNumerics {
 public:
  using CheckNumerics::CheckNumerics;
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override {
    count += static_cast<int64_t>(outputs.size());
    return CheckNumerics::AfterNode(node, outputs);
  }
  std::atomic<int64_t> count{0};
};

Error Measure(const std::string& path) {
  ASSIGN_OR_RETURN(Model model, OpenModel(path));
  OpenedGraph opened(std::make_shared<Model>(std::move(model)), 0);
  ThreadPool pool(2);
  OptimizeRequest passes;
  passes.options.pool = &pool;
  passes.device = "/device:CPU:0";
  ASSIGN_OR_RETURN(Optimized done, Optimize(opened, passes));
  RETURN_IF_ERROR(done.AsError());
  std::string name = llvm::StringRef(path).rtrim('/').rsplit('/').second.str();
  for (TapMode mode : {TapMode::kNoTensor, TapMode::kFullHealth}) {
    Tap tap({}, mode);
    tap.CountOn(&pool);
    RETURN_IF_ERROR(Compare(opened, name, pool,
                            {mode == TapMode::kNoTensor ? "NO_TENSOR" : "FULL_HEALTH", &tap,
                             [&] { return tap.tensors_tapped(); }}));
  }
  CountingNumerics numerics({}, &pool);
  RETURN_IF_ERROR(Compare(opened, name, pool,
                          {"check-numerics", &numerics, [&] { return numerics.count.load(); }}));
  TapRequest request;
  std::string lines;
  llvm::raw_null_ostream os;
  request.lines = &os;
  request.pool = &pool;
  ASSIGN_OR_RETURN(std::unique_ptr<RunTaps> taps,
                   RunTaps::Make(opened, request, [](Severity, llvm::StringRef) {}));
  return Compare(opened, name, pool,
                 {"... as lines", taps->node_hook(), [&] { return taps->tap().tensors_tapped(); }});
}

}  // namespace
}  // namespace grapnel

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] == '-') continue;
    if (grapnel::Error error = grapnel::Measure(argv[i]))
      llvm::errs() << argv[i] << ": " << grapnel::TextOf(std::move(error)) << "\n";
  }
}
