// Hooks: their observations, pausing and stopping a run; the profile as a client of hooks.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "lib/trace/ops.h"
#include "lib/trace/trace.h"
#include "lib/watch/profile.h"
#include "lib/watch/tap_lines.h"
#include "tests/exec/loop_graph.h"

namespace grapnel {
namespace {

std::unique_ptr<Module> SumOfSquares() {
  return llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {3}}},
                              [](Tracer&, Value x) { return Square(x + 1.0f) * 2.0f; }));
}

std::unique_ptr<Executor> Compile(const Module& module, ThreadPool& pool, RunHook* hook,
                                  RunProfiler* profiler = nullptr) {
  ExecutorOptions options;
  options.feeds = {"x"};
  options.fetches = {"Identity"};
  options.pool = &pool;
  options.hook = hook;
  options.profiler = profiler;
  return llvm::cantFail(Executor::Compile(module.main, options));
}

class CallingHook : public RunHook {
 public:
  std::function<Error(const Node&)> before, after, on_constant;
  std::vector<std::string> ran;
  std::vector<bool> first_times;  // for constants

  bool Wants(const Node&) override { return true; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    return before ? before(node) : Error::success();
  }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor>) override {
    ran.push_back(node.op().str());
    return after ? after(node) : Error::success();
  }
  Error OnConstant(const Node& node, const Tensor&, bool is_first) override {
    first_times.push_back(is_first);
    return on_constant ? on_constant(node) : Error::success();
  }
};

TEST(Hook, StopsTheRunBeforeANode) {
  ThreadPool pool(2);
  auto module = SumOfSquares();
  CallingHook hook;
  hook.before = [](const Node& node) {
    return node.op() == "Square" ? MakeError("stopped at '{0}'", node.name()) : Error::success();
  };
  auto executor = Compile(*module, pool, &hook);
  auto outputs = executor->Run({FloatTensor({3}, {1, 2, 3})});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(TextOf(outputs.takeError()), "stopped at 'Square'");
  EXPECT_EQ(hook.ran, (std::vector<std::string>{"AddV2"}));
  hook.before = nullptr;
  outputs = executor->Run({FloatTensor({3}, {1, 2, 3})});
  ASSERT_TRUE(!!outputs);
  EXPECT_EQ(FloatsOf((*outputs)[0]), (std::vector<float>{8, 18, 32}));
}

TEST(Hook, StopsTheRunAfterANode) {
  ThreadPool pool(2);
  auto module = SumOfSquares();
  CallingHook hook;
  hook.after = [](const Node& node) {
    return node.op() == "AddV2" ? MakeError("seen enough") : Error::success();
  };
  auto outputs = Compile(*module, pool, &hook)->Run({FloatTensor({3}, {1, 2, 3})});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(TextOf(outputs.takeError()), "seen enough");
  EXPECT_EQ(hook.ran, (std::vector<std::string>{"AddV2"}));
}

TEST(Hook, PausesTheRunUntilItReturns) {
  ThreadPool pool(2);
  auto module = SumOfSquares();
  CallingHook hook;
  std::mutex mutex;
  std::condition_variable changed;
  bool is_paused = false, goes_on = false, is_done = false;
  hook.before = [&](const Node& node) -> Error {
    if (node.op() != "Square") return Error::success();
    std::unique_lock lock(mutex);
    is_paused = true;
    changed.notify_all();
    changed.wait(lock, [&] { return goes_on; });
    return Error::success();
  };
  auto executor = Compile(*module, pool, &hook);
  std::vector<float> values;
  std::thread runs([&] {
    auto outputs = llvm::cantFail(executor->Run({FloatTensor({3}, {1, 2, 3})}));
    std::lock_guard lock(mutex);
    values = FloatsOf(outputs[0]);
    is_done = true;
  });
  {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return is_paused; });
    EXPECT_FALSE(is_done);
    EXPECT_EQ(hook.ran, (std::vector<std::string>{"AddV2"}));
    goes_on = true;
  }
  changed.notify_all();
  runs.join();
  EXPECT_EQ(values, (std::vector<float>{8, 18, 32}));
}

TEST(Hook, IsToldOnceThatAConstantIsNew) {
  ThreadPool pool(1);
  auto module = SumOfSquares();
  CallingHook hook;
  auto executor = Compile(*module, pool, &hook);
  for (int i = 0; i < 2; ++i) llvm::cantFail(executor->Run({FloatTensor({3}, {1, 2, 3})}));
  EXPECT_EQ(hook.first_times, (std::vector<bool>{true, true, false, false}));
  llvm::cantFail(Compile(*module, pool, &hook)->Run({FloatTensor({3}, {1, 2, 3})}));
  EXPECT_EQ(hook.first_times, (std::vector<bool>{true, true, false, false, true, true}));
}

TEST(Hook, IsToldThatAConstantIsNewAfterARunThatFailedBeforeIt) {
  ThreadPool pool(1);
  auto module = SumOfSquares();
  CallingHook hook;
  hook.on_constant = [](const Node&) { return MakeError("stopped"); };
  auto executor = Compile(*module, pool, &hook);
  auto outputs = executor->Run({FloatTensor({3}, {1, 2, 3})});
  EXPECT_EQ(TextOf(outputs.takeError()), "stopped");
  hook.on_constant = nullptr;
  llvm::cantFail(executor->Run({FloatTensor({3}, {1, 2, 3})}));
  EXPECT_EQ(hook.first_times, (std::vector<bool>{true, false, true}));
}

TEST(Tap, SaysConstantsInEveryRun) {
  ThreadPool pool(1);
  auto module = SumOfSquares();
  std::string lines[2];
  for (int runs : {1, 2}) {
    llvm::raw_string_ostream os(lines[runs - 1]);
    TapLines written(TapMode::kFullHealth, os);
    WrittenTap tap({}, TapMode::kFullHealth, [&](const TapEvent& event) { written.Write(event); });
    auto executor = Compile(*module, pool, &tap);
    for (int i = 0; i < runs; ++i) llvm::cantFail(executor->Run({FloatTensor({3}, {1, 2, 3})}));
    tap.Drain();
    os.flush();
  }
  EXPECT_NE(lines[0].find(R"("op":"Const")"), std::string::npos);
  EXPECT_EQ(lines[1], lines[0] + lines[0]);
}

// Branches that move to other threads once they are known to be long, one of them within a call.
std::unique_ptr<Module> ParallelBranches(int64_t size) {
  return llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {size}}}, [](Tracer& t, Value x) {
    Value sum = x;
    for (int branch = 0; branch < 6; ++branch) {
      Value y = x + static_cast<float>(branch);
      for (int i = 0; i < 3; ++i) y = Tanh(Exp(y * -0.1f));
      sum = sum + y;
    }
    return t.If(
        ReduceSum(x) > 1.0f, [&] { return Tanh(sum) + Exp(x * -1.0f); },
        [&] { return sum + 1.0f; });
  }));
}

std::string TappedLines(const Module& module, int threads, int runs, const Tensor& x) {
  ThreadPool pool(threads);
  std::string lines;
  llvm::raw_string_ostream os(lines);
  TapLines written(TapMode::kConciseHealth, os);
  WrittenTap tap({}, TapMode::kConciseHealth, [&](const TapEvent& event) { written.Write(event); });
  tap.CountOn(&pool);
  auto executor = Compile(module, pool, &tap);
  for (int i = 0; i < runs; ++i) {
    tap.BeginRun(i + 1);
    llvm::cantFail(executor->Run({x}));
    tap.Drain();
  }
  return os.str();
}

TEST(Tap, TellsInTheOrderOfOneThreadOnSeveral) {
  constexpr int64_t kSize = 50000;
  auto module = ParallelBranches(kSize);
  Tensor x = FloatTensor({kSize}, std::vector<float>(kSize, 0.5f));
  std::string expected = TappedLines(*module, 1, 8, x);
  EXPECT_NE(expected.find(R"("calls":[{"node":)"), std::string::npos);
  for (int threads : {2, 4}) EXPECT_EQ(TappedLines(*module, threads, 8, x), expected);
}

TEST(Profile, ShowsACompilationAsItsOwn) {
  ThreadPool pool(1);
  auto module = llvm::cantFail(Trace("f", {{"x", proto::DT_FLOAT, {3}}}, [](Tracer& t, Value x) {
    return t.If(
        ReduceSum(x) > 1.0f, [&] { return x * 3.0f; }, [&] { return x + 1.0f; });
  }));
  Profile profile;
  auto executor = Compile(*module, pool, nullptr, &profile);
  for (int i = 0; i < 3; ++i) llvm::cantFail(executor->Run({FloatTensor({3}, {1, 2, 3})}));
  int64_t compilations = 0, total = 0, call_total = 0, own_of_calls = 0, inside = 0;
  std::string compiled;
  for (const Profile::Row& row : profile.ByNode()) {
    if (row.op == "(compile)") {
      compilations += row.calls;
      compiled = row.name;
      total += row.total;
    } else if (row.op == "If" || row.op == "StatelessIf") {
      call_total += row.total;
      own_of_calls += row.own;
    } else if (row.name.find('/') != std::string::npos && row.op == "Mul") {
      inside += row.total;
    }
  }
  EXPECT_EQ(compilations, 1);  // for the branch that was taken
  EXPECT_EQ(compiled.substr(0, 10), "cond_true_");
  EXPECT_EQ(own_of_calls, call_total - total - inside);
  std::string trace;
  llvm::raw_string_ostream os(trace);
  profile.WriteTrace(os);
  EXPECT_NE(os.str().find("\"name\":\"compile cond_true_"), std::string::npos);
}

}  // namespace
}  // namespace grapnel
