// Hooks around runs: they get the tensors that they request, run in order, may end the sequence,
// and are named in errors.
#include "lib/watch/step_hook.h"

#include <gtest/gtest.h>

#include "lib/io/open.h"
#include "lib/job/run.h"
#include "lib/support/file.h"
#include "lib/watch/assertion.h"

namespace grapnel {
namespace {

OpenedGraph Open(const char* text) {
  std::string path = testing::TempDir() + "/step_hook.gtxt";
  llvm::cantFail(WriteFile(path, text));
  return llvm::cantFail(OpenedGraph::Open(path));
}

constexpr const char* kGraph = R"(
%a = Const [1.0, 2.0, 3.0]
%b = Square(%a)
%c = Neg(%b)
%d = Exp(%a)
)";

class TellingHook : public StepHook {
 public:
  TellingHook(std::string name, std::vector<std::string>* told)
      : name_(std::move(name)), told_(told) {}
  std::string name() const override { return name_; }
  Error Begin(StepContext& step) override {
    for (const std::string& tensor : always) step.Fetch(tensor);
    return Emit("begin", step);
  }
  Error BeforeRun(StepContext& step) override {
    if (step.run == 2) {
      for (const std::string& tensor : in_second) step.Fetch(tensor);
    }
    return Emit("before", step);
  }
  Error AfterRun(StepContext& step) override {
    for (const char* tensor : {"b", "c:0", "d"}) {
      auto value = step.Value(tensor);
      if (value)
        values.push_back(std::to_string(step.run) + tensor);
      else
        llvm::consumeError(value.takeError());
    }
    if (step.run == stops_after) step.RequestStop();
    return Emit("after", step);
  }
  Error End(StepContext& step) override { return Emit(step.has_failed ? "failed" : "end", step); }

  std::vector<std::string> always, in_second, values;
  std::string fails_in;
  int64_t stops_after = 0;

 private:
  Error Emit(const std::string& what, const StepContext& step) {
    told_->push_back(name_ + " " + what + " " + std::to_string(step.run));
    return what == fails_in ? MakeError("no") : Error::success();
  }
  std::string name_;
  std::vector<std::string>* told_;
};

// Runs up to three times with those hooks.
void RunWith(std::vector<StepHook*> hooks, std::string* error) {
  OpenedGraph opened = Open(kGraph);
  RunRequest request;
  request.fetches = {"c"};
  request.steps = std::move(hooks);
  auto job = llvm::cantFail(RunJob::Make(opened, std::move(request)));
  Error failed = job.Prepare();
  for (int i = 0; i < 3 && !failed && !job.stops(); ++i) {
    auto outputs = job.Run();
    if (!outputs) {
      failed = outputs.takeError();
      break;
    }
    EXPECT_EQ(outputs->size(), 1u);
    EXPECT_EQ((*outputs)[0].data<float>()[2], -9);
  }
  Error ended = job.End();
  if (failed)
    llvm::consumeError(std::move(ended));
  else
    failed = std::move(ended);
  *error = failed ? TextOf(std::move(failed)) : "";
}

using Words = std::vector<std::string>;

TEST(StepHook, SeveralAreCalledInOrderAndOneStops) {
  Words told;
  std::string error;
  TellingHook one("one", &told), two("two", &told);
  one.stops_after = 2;
  RunWith({&one, &two}, &error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(told, (Words{"one begin 0", "two begin 0", "one before 1", "two before 1",
                         "one after 1", "two after 1", "one before 2", "two before 2",
                         "one after 2", "two after 2", "one end 2", "two end 2"}));
}

TEST(StepHook, WhatIsAskedForIsFetchedAlwaysOrInOneRun) {
  Words told;
  std::string error;
  TellingHook hook("hook", &told);
  hook.always = {"b:0", "c:0"};  // one is fetched anyway
  hook.in_second = {"d"};
  RunWith({&hook}, &error);
  EXPECT_EQ(error, "");
  EXPECT_EQ(hook.values, (Words{"1b", "1c:0", "2b", "2c:0", "2d", "3b", "3c:0"}));
}

TEST(StepHook, AnErrorNamesItsHookAndTheOthersEnd) {
  for (const char* where : {"begin", "before", "after", "end"}) {
    Words told;
    std::string error;
    TellingHook one("one", &told), two("two", &told);
    one.fails_in = where;
    RunWith({&one, &two}, &error);
    EXPECT_EQ(error, "one: no") << where;
    std::string last = std::string(where) == "begin" ? "two end 0"
                       : std::string(where) == "end" ? "two end 3"
                                                     : "two failed 1";
    EXPECT_EQ(told.back(), last) << where;
  }
}

TEST(StepHook, WhatIsNotThereIsSaid) {
  Words told;
  std::string error;
  TellingHook hook("hook", &told);
  hook.in_second = {"nothing"};
  RunWith({&hook}, &error);
  EXPECT_NE(error.find("'nothing'"), std::string::npos) << error;
}

// An assertion over two tensors is evaluated once in each call, even if calls overlap.
TEST(AssertionHook, IsAskedInEachCall) {
  OpenedGraph opened = Open(R"(
%x = Const [3.0, 2.0]
%p = PartitionedCall(%x) {Tin=[float], Tout=[float], f=@f}
%q = PartitionedCall(%p) {Tin=[float], Tout=[float], f=@f}
func @f(%a: float) -> (r: float) {
  %half = Mul(%a, %k=0.5)
  %less = Sub(%half, %k)
  return %less
}
)");
  auto assertion = llvm::cantFail(Assertion::Parse("less + 0.4 < half: 'm: n'"));
  EXPECT_EQ(assertion.message, "'m: n'");
  std::vector<Assertion> assertions = {assertion};
  assertions.push_back(llvm::cantFail(Assertion::Parse("less > 0")));
  auto hook = llvm::cantFail(AssertionHook::Make(opened.module(), assertions, nullptr, nullptr));
  RunRequest request;
  request.fetches = {"q"};
  request.steps = {hook.get()};
  auto job = llvm::cantFail(RunJob::Make(opened, std::move(request)));
  llvm::cantFail(job.Prepare());
  auto outputs = job.Run();
  ASSERT_FALSE(static_cast<bool>(outputs));
  std::string error = TextOf(outputs.takeError());
  EXPECT_FALSE(hook->failure().empty());
  EXPECT_NE(error.find("assertion 'less > 0' does not hold\n  at node 'less' (Sub), in f that q "
                       "calls, run 1\n  false for 2 of 2 elements, the first at [0]"),
            std::string::npos)
      << error;
}

}  // namespace
}  // namespace grapnel
