// Loops of single nodes: how many iterations run at a time, on one thread and on several.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/exec/loop_graph.h"

namespace grapnel {
namespace {

// The most by which the counter was ahead of the sum.
class LeadWatch : public RunHook {
 public:
  bool Wants(const Node& node) override {
    return node.name() == "next_i" || node.name() == "next_s";
  }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    lead_ += node.name() == "next_i" ? 1 : -1;
    most = std::max(most, lead_);
    return Error::success();
  }
  int most = 0;

 private:
  int lead_ = 0;
};

// Returns the fetch for n = 20, from two runs of one plan.
float SumOf(Executor& executor) {
  float sums[2] = {-1, -2};
  for (float& sum : sums) {
    auto outputs = executor.Run({FloatTensor({}, {20})});
    if (outputs)
      sum = *(*outputs)[0].data<float>();
    else
      ADD_FAILURE() << TextOf(outputs.takeError());
  }
  EXPECT_EQ(sums[0], sums[1]);
  return sums[0];
}

const std::vector<std::string> kNegateFortyTimes(40, "Neg");

TEST(Loop, AsManyIterationsAsItsEntersSayAreUnderWay) {
  ThreadPool pool(1);
  int most[3];
  int64_t parallel[] = {1, 3, 1000};
  for (int k = 0; k < 3; ++k) {
    LoopGraph graph(kNegateFortyTimes, parallel[k]);
    LeadWatch watch;
    EXPECT_EQ(SumOf(*graph.Compile(pool, &watch)), 190);
    most[k] = watch.most;
  }
  EXPECT_EQ(most[0], 1);  // each iteration ends before the next begins
  EXPECT_EQ(most[1], 3);
  EXPECT_GT(most[2], 3);
}

TEST(Loop, NoParallelIterationsAtAllMeansOneAtATime) {
  ThreadPool pool(1);
  LoopGraph graph(kNegateFortyTimes, 0);
  LeadWatch watch;
  EXPECT_EQ(SumOf(*graph.Compile(pool, &watch)), 190);
  EXPECT_EQ(watch.most, 1);
}

// Two ops without a kernel of ours, slow and observable: x + 1 and x * 2.
std::atomic<int> under_way{0}, most_under_way{0}, same_node{0};

template <int kWhich>
Error RunSlow(KernelContext& ctx) {
  static std::atomic<bool> is_running{false};
  if (is_running.exchange(true)) ++same_node;
  int now = ++under_way, most = most_under_way;
  while (now > most && !most_under_way.compare_exchange_weak(most, now)) {
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  float x = *ctx.input(0).data<float>();
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
  *out->data<float>() = kWhich == 0 ? x + 1 : x * 2;
  --under_way;
  is_running = false;
  return Error::success();
}
template <int kWhich>
Expected<KernelFn> MakeSlow(const KernelSetup&) {
  return KernelFn(RunSlow<kWhich>);
}
// Ops that TensorFlow no longer has, so that they have no other kernel.
GRAPNEL_CPU_KERNEL("BatchCholesky", MakeSlow<0>, OfTypes("T", {proto::DT_FLOAT}));
GRAPNEL_CPU_KERNEL("BatchMatrixInverse", MakeSlow<1>, OfTypes("T", {proto::DT_FLOAT}));

TEST(Loop, IterationsOverlapOnSeveralThreadsAndGiveTheSame) {
  LoopGraph one_by_one({"BatchCholesky", "BatchMatrixInverse"}, 1),
      overlapping({"BatchCholesky", "BatchMatrixInverse"}, 10);
  same_node = 0;
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    most_under_way = 0;
    EXPECT_EQ(SumOf(*one_by_one.Compile(pool)), 420);
    EXPECT_EQ(most_under_way, 1);
    most_under_way = 0;
    EXPECT_EQ(SumOf(*overlapping.Compile(pool)), 420);
    // Two kernels, of different iterations; never one kernel twice.
    EXPECT_EQ(most_under_way, threads == 1 ? 1 : 2);
    EXPECT_EQ(same_node, 0);
  }
}

// Without loops: x passes through both slow ops three times, in parallel.
TEST(Plan, LongNodesRunBesideOthersAndGiveTheSame) {
  Module module;
  auto add = [&](const std::string& name, const char* op, llvm::ArrayRef<Port> inputs,
                 const char* type = "T") {
    NodeId id = module.main.AddNode(name, op);
    module.main.SetAttr(id, type, module.Keep(attr::Type(proto::DT_FLOAT)));
    for (Port port : inputs) module.main.AddInput(id, port);
    return id;
  };
  NodeId x = add("x", "Placeholder", {}, "dtype"), sum = x;
  for (int i = 0; i < 3; ++i) {
    std::string number = std::to_string(i);
    NodeId left = add("left" + number, "BatchCholesky", {{x, 0}});
    NodeId right = add("right" + number, "BatchMatrixInverse", {{x, 0}});
    sum = add("with_left" + number, "AddV2", {{sum, 0}, {left, 0}});
    sum = add("sum" + number, "AddV2", {{sum, 0}, {right, 0}});
  }
  for (int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    ExecutorOptions options;
    options.feeds = {"x"};
    options.fetches = {"sum2"};
    options.pool = &pool;
    auto executor = llvm::cantFail(Executor::Compile(module.main, options));
    most_under_way = 0;
    for (int run = 0; run < 6; ++run) {
      auto outputs = llvm::cantFail(executor->Run({FloatTensor({}, {5})}));
      EXPECT_EQ(FloatsOf(outputs[0]), (std::vector<float>{53}));
    }
    EXPECT_EQ(most_under_way == 1, threads == 1);
  }
}

// Fails in the sixth iteration, on any thread.
std::atomic<int> iterations_until_failure{0};
std::atomic<bool> fails_by_exception{false};
Error RunFailing(KernelContext& ctx) {
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  if (iterations_until_failure-- == 0) {
    if (fails_by_exception) throw std::runtime_error("this one throws");
    return MakeError("this one fails");
  }
  ctx.SetOutput(0, ctx.input(0));
  return Error::success();
}
Expected<KernelFn> MakeFailing(const KernelSetup&) { return KernelFn(RunFailing); }
GRAPNEL_CPU_KERNEL("BatchSelfAdjointEig", MakeFailing, OfTypes("T", {proto::DT_FLOAT}));

TEST(Loop, AFailureNamesTheIterationAndThePlanRunsAgain) {
  LoopGraph graph({"BatchCholesky", "BatchSelfAdjointEig", "BatchMatrixInverse"}, 10);
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    auto executor = graph.Compile(pool);
    iterations_until_failure = 5;
    auto outputs = executor->Run({FloatTensor({}, {20})});
    ASSERT_FALSE(outputs);
    EXPECT_EQ(TextOf(outputs.takeError()),
              "loop 'loop': iteration 5: node 'chain1' (BatchSelfAdjointEig, float, "
              "/device:CPU:0): this one "
              "fails");
    iterations_until_failure = 5;
    fails_by_exception = true;
    outputs = executor->Run({FloatTensor({}, {20})});
    fails_by_exception = false;
    ASSERT_FALSE(outputs);
    EXPECT_NE(TextOf(outputs.takeError()).find("/device:CPU:0): failed: this one throws"),
              std::string::npos);
    iterations_until_failure = 1000;
    EXPECT_EQ(SumOf(*executor), 420);
  }
}

TEST(Loop, NoIterationAtAll) {
  ThreadPool pool(2);
  LoopGraph graph({"Neg"}, 10);
  auto outputs = graph.Compile(pool)->Run({FloatTensor({}, {0})});
  ASSERT_TRUE(!!outputs);
  EXPECT_EQ(*(*outputs)[0].data<float>(), 0);
}

}  // namespace
}  // namespace grapnel
