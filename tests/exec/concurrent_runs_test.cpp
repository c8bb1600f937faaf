// Overlapping runs of one executor compute the same as sequential runs.
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "lib/exec/partitioned_executor.h"
#include "lib/exec/session.h"
#include "lib/ir/text.h"
#include "lib/place/partition.h"
#include "lib/place/tensorflow_kernels.h"
#include "tests/exec/loop_graph.h"

namespace grapnel {
namespace {

constexpr int kThreads = 4, kRunsOfEach = 40;

std::unique_ptr<Module> FromText(const std::string& text) {
  auto graphs = ReadGraphText(*FileBytes::FromString(text, "test"));
  for (const Problem& problem : graphs[0].module->problems) ADD_FAILURE() << problem.ToString();
  return std::move(graphs[0].module);
}

std::unique_ptr<Executor> Compile(const Module& module, const ExecutorOptions& options) {
  auto executor = Executor::Compile(module.main, options);
  if (executor) return std::move(*executor);
  ADD_FAILURE() << TextOf(executor.takeError());
  return nullptr;
}

ExecutorOptions From(std::vector<std::string> feeds, std::vector<std::string> fetches,
                     ThreadPool& pool) {
  ExecutorOptions options;
  options.feeds = std::move(feeds);
  options.fetches = std::move(fetches);
  options.pool = &pool;
  return options;
}

// Returns the first fetch for the feed "x", or the error.
using RunOf = std::function<std::string(float x)>;

template <typename AnyExecutor>
RunOf RunOn(AnyExecutor& executor, llvm::ArrayRef<int64_t> dims = {}) {
  return [&executor, dims = Dims(dims.begin(), dims.end())](float x) -> std::string {
    std::vector<float> values(NumElements(dims).value());
    for (size_t i = 0; i < values.size(); ++i) values[i] = x + static_cast<float>(i % 7) / 8;
    auto outputs = executor.Run({FloatTensor(dims, values)});
    return outputs ? (*outputs)[0].ToString(1 << 20) : TextOf(outputs.takeError());
  };
}

// Each of four threads runs with its own feeds, in its own order.
void ExpectSameOnThreads(const RunOf& run) {
  std::vector<std::string> expected;
  expected.reserve(8);
  for (int x = 0; x < 8; ++x) expected.push_back(run(static_cast<float>(x)));
  EXPECT_NE(expected[0], expected[5]);
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<int> num_waiting{kThreads};
  std::mutex mutex;
  std::set<std::string> differences;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      --num_waiting;
      while (num_waiting > 0) std::this_thread::yield();
      for (int i = 0; i < kRunsOfEach; ++i) {
        int x = (i * (2 * thread + 1) + thread) % 8;
        std::string got = run(static_cast<float>(x));
        if (got == expected[x]) continue;
        std::lock_guard lock(mutex);
        differences.insert("expected " + expected[x] + ", got " + got);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& difference : differences) ADD_FAILURE() << difference;
}

TEST(ConcurrentRuns, OfAPlainGraph) {
  auto module = FromText(R"(
    %x = Placeholder {dtype=float}
    %w = Const 0.25 : float[16,16]
    %product = MatMul(%x, %w)
    %a = Tanh(%product)
    %b = Square(%x)
    %sum = AddV2(%a, %b)
    %y = Relu(%sum)
  )");
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    auto executor = Compile(*module, From({"x"}, {"y"}, pool));
    ExpectSameOnThreads(RunOn(*executor, {4, 16}));
  }
}

// Nodes long enough for helpers, which all runs share.
TEST(ConcurrentRuns, WhereHelpersTakeNodes) {
  auto module = FromText(R"(
    %x = Placeholder {dtype=float}
    %sine = Sin(%x)
    %cosine = Cos(%x)
    %root = Sqrt(%x)
    %two = AddV2(%sine, %cosine)
    %three = Mul(%two, %root)
    %y = Sum(%three, [0])
  )");
  ThreadPool pool(3);
  auto executor = Compile(*module, From({"x"}, {"y"}, pool));
  ExpectSameOnThreads(RunOn(*executor, {100000}));
}

// oneDNN's primitives are shared too, with the weights that they have packed.
TEST(ConcurrentRuns, OfLargeProducts) {
  auto module = FromText(R"(
    %x = Placeholder {dtype=float}
    %w = Const 0.01 : float[128,128]
    %constant = MatMul(%x, %w)
    %changing = MatMul(%x, %x) {transpose_b=true}
    %one = Sum(%constant, [0,1])
    %two = Sum(%changing, [0,1])
    %y = AddV2(%one, %two)
  )");
  ThreadPool pool(2);
  auto executor = Compile(*module, From({"x"}, {"y"}, pool));
  ExpectSameOnThreads(RunOn(*executor, {64, 128}));
}

TEST(ConcurrentRuns, OfVariablesThatAreRead) {
  auto module = FromText(R"(
    %x = Placeholder {dtype=float}
    %v = VarHandleOp() {dtype=float, shape=[4], shared_name="v"}
    %start = Const [1.0,2.0,3.0,4.0] : float[4]
    %init = AssignVariableOp(%v, %start)
    %read = ReadVariableOp(%v) {dtype=float}
    %y = Mul(%x, %read)
  )");
  ThreadPool pool(2);
  Session session;
  ExecutorOptions init = From({}, {"init"}, pool), use = From({"x"}, {"y"}, pool);
  init.session = use.session = &session;
  EXPECT_TRUE(static_cast<bool>(Compile(*module, init)->Run({})));
  auto executor = Compile(*module, use);
  ExpectSameOnThreads(RunOn(*executor, {4}));
}

TEST(ConcurrentRuns, OfALoopOfSingleNodes) {
  LoopGraph loop({"Neg", "Square", "Tanh"}, 4);
  for (int threads : {1, 3}) {
    ThreadPool pool(threads);
    auto executor = loop.Compile(pool);
    ExpectSameOnThreads(RunOn(*executor));
  }
}

constexpr const char* kFunctions = R"(
  func @goes_on(%i: float, %x: float) -> (goes: bool) {
    %goes = Less(%i, 12.0)
    return %goes
  }
  func @halve(%x: float) -> (y: float) {
    %y = Mul(%x, 0.5)
    return %y
  }
  func @more(%x: float) -> (y: float) {
    %y = AddV2(%x, 3.0)
    return %y
  }
  func @step(%i: float, %x: float) -> (i: float, y: float) {
    %next = AddV2(%i, 1.0)
    %large = Greater(%x, 5.0)
    %y = If(%large, %x) {then_branch=@halve, else_branch=@more, Tout=[float]}
    return %next, %y
  }
  func @down(%x: float) -> (y: float) {
    %goes = Greater(%x, 0.0)
    %y = If(%goes, %x) {then_branch=@lower, else_branch=@halve, Tout=[float]}
    return %y
  }
  func @lower(%x: float) -> (y: float) {
    %less = Sub(%x, 1.5)
    %rest = PartitionedCall(%less) {f=@down, Tout=[float]}
    %y = AddV2(%rest, %x)
    return %y
  }
)";

TEST(ConcurrentRuns, OfFunctionsThatCallOneAnother) {
  auto module = FromText(std::string(kFunctions) + R"(
    %x = Placeholder {dtype=float}
    %zero = Const 0.0 : float
    %loop = While(%zero, %x) {cond=@goes_on, body=@step, T=[float,float]}
    %recursion = PartitionedCall(%x) {f=@down, Tout=[float]}
    %y = AddV2(%loop:1, %recursion)
  )");
  ThreadPool pool(2);
  auto executor = Compile(*module, From({"x"}, {"y"}, pool));
  ExpectSameOnThreads(RunOn(*executor));
}

TEST(ConcurrentRuns, OfPartitions) {
  LoopGraph loop({"Neg", "Square"}, 3);
  Graph& graph = loop.module().main;
  for (NodeId id = 0; id < graph.end_id(); ++id) {
    llvm::StringRef name = graph.node(id).name();
    bool is_work = name.starts_with("chain") || name == "next_s" || name == "s" || name == "out" ||
                   name == "again_s" || name == "s_on" || name == "enter_s";
    std::string device = "/job:localhost/replica:0/task:0/device:CPU:";
    graph.SetDevice(id, device + (is_work ? "1" : "0"));
  }
  auto split = llvm::cantFail(PartitionByDevice(loop.module(), *MakeTensorFlowKernels()));
  std::vector<PartitionGraph> partitions;
  for (const Partition& part : split.partitions)
    partitions.push_back({part.device, &part.module->main});
  for (int threads : {1, 2}) {
    ThreadPool pool(threads);
    auto executor = PartitionedExecutor::Compile(partitions, From({"n"}, {"out"}, pool));
    ASSERT_TRUE(static_cast<bool>(executor)) << TextOf(executor.takeError());
    ExpectSameOnThreads(RunOn(**executor));
  }
}

class CountingHook : public RunHook {
 public:
  bool Wants(const Node&) override { return true; }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    if (node.op() == "Square") ++squares;
    return Error::success();
  }
  Error OnConstant(const Node&, const Tensor&, bool is_first) override {
    ++constants;
    if (is_first) ++first_times;
    return Error::success();
  }
  std::atomic<int> squares{0}, constants{0}, first_times{0};
};

TEST(ConcurrentRuns, TellTheHookOfEachRunAndOfAConstantsFirstTimeOnce) {
  auto module = FromText(R"(
    %x = Placeholder {dtype=float}
    %two = Const 2.0 : float
    %square = Square(%x)
    %y = Mul(%square, %two)
  )");
  ThreadPool pool(2);
  CountingHook hook;
  ExecutorOptions options = From({"x"}, {"y"}, pool);
  options.hook = &hook;
  auto executor = Compile(*module, options);
  ExpectSameOnThreads(RunOn(*executor));
  int runs = 8 + kThreads * kRunsOfEach;
  EXPECT_EQ(hook.squares, runs);
  EXPECT_EQ(hook.constants, runs);
  EXPECT_EQ(hook.first_times, 1);
}

// A failing run does not affect other runs, nor those that follow.
TEST(ConcurrentRuns, SomeOfWhichFail) {
  auto module = FromText(R"(
    %x = Placeholder {dtype=float}
    %index = Cast(%x) {DstT=int32}
    %table = Const [1.0,2.0,3.0,4.0] : float[4]
    %y = GatherV2(%table, %index, 0)
  )");
  ThreadPool pool(2);
  auto executor = Compile(*module, From({"x"}, {"y"}, pool));
  RunOf run = RunOn(*executor);
  EXPECT_NE(run(7).find("GatherV2"), std::string::npos) << run(7);
  ExpectSameOnThreads(run);
}

// Random state belongs to an op, not to a run: no two runs get the same numbers.
TEST(ConcurrentRuns, GetDifferentRandomNumbers) {
  auto module = FromText("%y = RandomUniform([2]) {seed=3, dtype=float}");
  ThreadPool pool(2);
  auto executor = Compile(*module, From({}, {"y"}, pool));
  std::mutex mutex;
  std::set<std::vector<float>> drawn;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kRunsOfEach; ++i) {
        auto outputs = llvm::cantFail(executor->Run(std::vector<Tensor>()));
        std::lock_guard lock(mutex);
        drawn.insert(FloatsOf(outputs[0]));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(drawn.size(), static_cast<size_t>(kThreads * kRunsOfEach));
}

// A node still runs for its other output if one output is fed.
TEST(Feeds, TakeThePlaceOfOneOutputOfANodeThatRuns) {
  auto module = FromText(R"(
    %one = Const 1.0 : float
    %two = Const 2.0 : float
    %pair = IdentityN(%one, %two)
    %y = AddV2(%pair, %pair:1)
  )");
  ThreadPool pool(1);
  auto executor = Compile(*module, From({"pair:0"}, {"y"}, pool));
  auto outputs = llvm::cantFail(executor->Run({FloatTensor({}, {10})}));
  EXPECT_EQ(FloatsOf(outputs[0]), std::vector<float>{12});
}

}  // namespace
}  // namespace grapnel
