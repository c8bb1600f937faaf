// A loop over two devices: how far one runs ahead of the other, that the result does not depend on
// thread timing, and that it can run again after a failure.
#include "lib/exec/partitioned_executor.h"

#include <atomic>

#include "lib/place/partition.h"
#include "lib/place/tensorflow_kernels.h"
#include "tests/exec/loop_graph.h"

namespace grapnel {
namespace {

constexpr const char* kFirst = "/job:localhost/replica:0/task:0/device:CPU:0";
constexpr const char* kSecond = "/job:localhost/replica:0/task:0/device:CPU:1";

// The counter on one device, the sum and the chain on another.
class SplitLoop {
 public:
  SplitLoop(const std::vector<std::string>& chain, int64_t parallel_iterations)
      : loop_(chain, parallel_iterations) {
    Graph& graph = loop_.module().main;
    for (NodeId id = 0; id < graph.end_id(); ++id) {
      llvm::StringRef name = graph.node(id).name();
      bool is_work = name.starts_with("chain") || name == "next_s" || name == "again_s" ||
                     name == "s" || name == "s_on" || name == "enter_s" || name == "out";
      graph.SetDevice(id, is_work ? kSecond : kFirst);
    }
    split_ = llvm::cantFail(PartitionByDevice(loop_.module(), *MakeTensorFlowKernels()));
  }

  std::unique_ptr<PartitionedExecutor> Compile(ThreadPool& pool, RunHook* hook = nullptr,
                                               RunProfiler* profiler = nullptr) const {
    std::vector<PartitionGraph> partitions;
    for (const Partition& part : split_.partitions)
      partitions.push_back({part.device, &part.module->main});
    ExecutorOptions options;
    options.feeds = {"n"};
    options.fetches = {"out"};
    options.pool = &pool;
    options.hook = hook;
    options.profiler = profiler;
    auto executor = PartitionedExecutor::Compile(partitions, options);
    if (executor) return std::move(*executor);
    ADD_FAILURE() << TextOf(executor.takeError());
    return nullptr;
  }

 private:
  LoopGraph loop_;
  PartitionedGraph split_;
};

float Sum(PartitionedExecutor& executor, float n) {
  auto outputs = executor.Run({FloatTensor({}, {n})});
  if (outputs) return *(*outputs)[0].data<float>();
  ADD_FAILURE() << TextOf(outputs.takeError());
  return -1;
}

// The most by which the counter was ahead of the sum.
class LeadWatch : public RunHook {
 public:
  bool Wants(const Node& node) override {
    return node.name() == "next_i" || node.name() == "next_s";
  }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    int lead = lead_ += node.name() == "next_i" ? 1 : -1;
    int before = most;
    while (before < lead && !most.compare_exchange_weak(before, lead)) {
    }
    return Error::success();
  }
  std::atomic<int> most{0};

 private:
  std::atomic<int> lead_{0};
};

TEST(PartitionedExecutor, ASenderInALoopIsAheadByItsParallelIterationsAtMost) {
  for (int threads : {1, 2}) {
    for (int64_t parallel : {1, 3, 10}) {
      SplitLoop loop({"Neg", "Abs"}, parallel);
      ThreadPool pool(threads);
      LeadWatch watch;
      EXPECT_EQ(Sum(*loop.Compile(pool, &watch), 300), 44850);
      // This many are sent and not received, this many are running there, and this many here.
      EXPECT_LE(watch.most, 3 * parallel) << threads << " threads";
    }
  }
}

class NoProfile : public RunProfiler {
 public:
  void OnKernel(const Node&, Clock::time_point, Clock::time_point,
                llvm::ArrayRef<Tensor>) override {}
};

TEST(PartitionedExecutor, MemoryDoesNotGrowWithTheIterations) {
  SplitLoop loop({"Neg", "Abs"}, 10);
  ThreadPool pool(2);
  int64_t peak[2];
  float iterations[] = {100, 5000};
  for (int i = 0; i < 2; ++i) {
    NoProfile profile;
    auto executor = loop.Compile(pool, nullptr, &profile);
    Sum(*executor, iterations[i]);
    peak[i] = profile.memory.peak();
  }
  // At most the memory of a few iterations, whose number depends on thread timing.
  EXPECT_LE(peak[1], peak[0] + 64 * 100);
}

TEST(PartitionedExecutor, RunsAgainAndAgain) {
  SplitLoop loop({"Neg", "Abs", "Neg"}, 4);
  ThreadPool pool(2);
  auto executor = loop.Compile(pool);
  for (int run = 0; run < 200; ++run) {
    float n = static_cast<float>(run % 7);
    EXPECT_EQ(Sum(*executor, n), -n * (n - 1) / 2);
  }
}

TEST(PartitionedExecutor, ChecksTheNumberOfFeeds) {
  SplitLoop loop({"Neg"}, 4);
  ThreadPool pool(2);
  auto executor = loop.Compile(pool);
  for (size_t count : {0, 2}) {
    auto outputs = executor->Run(std::vector<Tensor>(count, FloatTensor({}, {3})));
    EXPECT_EQ(TextOf(outputs.takeError()),
              llvm::formatv("{0} values are fed, 1 were expected", count).str());
  }
  EXPECT_EQ(Sum(*executor, 3), -3);
}

// Fails in the tenth run of a node, and never again.
class FailsOnce : public RunHook {
 public:
  bool Wants(const Node& node) override { return node.name() == "next_s"; }
  Error BeforeNode(const Node&, llvm::ArrayRef<Tensor>) override {
    return ++runs_ == 10 ? MakeError("stopped by the test") : Error::success();
  }

 private:
  std::atomic<int> runs_{0};
};

TEST(PartitionedExecutor, AfterAnErrorItRunsAnew) {
  for (int threads : {1, 2}) {
    SplitLoop loop({"Neg", "Abs"}, 5);
    ThreadPool pool(threads);
    FailsOnce hook;
    auto executor = loop.Compile(pool, &hook);
    auto failed = executor->Run({FloatTensor({}, {100})});
    ASSERT_FALSE(bool(failed));
    EXPECT_EQ(TextOf(failed.takeError()),
              std::string(kSecond) + ": loop 'loop': iteration 9: stopped by the test");
    EXPECT_EQ(Sum(*executor, 100), 4950);
  }
}

}  // namespace
}  // namespace grapnel
