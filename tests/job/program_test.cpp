// Programs: functions over variables that stay, from a trace and from a file; what does not fit.
#include "lib/job/program.h"

#include "gtest/gtest.h"
#include "lib/trace/losses.h"
#include "lib/trace/optimizers.h"
#include "llvm/Support/FileSystem.h"

namespace grapnel {
namespace {

Tensor Floats(llvm::ArrayRef<int64_t> dims, const std::vector<float>& values) {
  Tensor tensor = llvm::cantFail(Tensor::Allocate(proto::DT_FLOAT, dims));
  std::copy(values.begin(), values.end(), tensor.data<float>());
  return tensor;
}

template <typename T>
T Must(Expected<T> value) {
  if (!value) ADD_FAILURE() << TextOf(value.takeError());
  return std::move(*value);
}

template <typename T>
std::string ErrorOf(Expected<T> value) {
  if (!value) return TextOf(value.takeError());
  ADD_FAILURE() << "an error was expected";
  return {};
}

// y = w x, and the step that fits w.
TracedModel Line() {
  ModelBuilder builder;
  builder.Add("step", {{"x", proto::DT_FLOAT, {4}}, {"y", proto::DT_FLOAT, {4}}},
              [](Tracer& t, Value x, Value y) {
                Variable w(t, "line/w", initial::Zeros({}));
                Value loss = MeanSquaredError(y, x * w);
                Sgd sgd(t, {.learning_rate = 0.1});
                sgd.Minimize(loss, Trainable(t));
                return loss;
              });
  builder.Add("serve", {{"x", proto::DT_FLOAT, {kUnknownDim}}}, [](Tracer& t, Value x) {
    Variable w(t, "line/w", initial::Zeros({}));
    return x * w;
  });
  return Must(builder.Finish());
}

class Programs : public testing::Test {
 protected:
  void SetUp() override {
    llvm::SmallString<128> folder;
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("program", folder));
    folder_ = folder.str().str();
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder_); }

  // The last loss of 30 steps.
  float TrainOn(Program& program) {
    float loss = 0;
    for (int i = 0; i < 30; ++i) {
      loss = *Must(program.Call("step", {Floats({4}, {1, 2, 3, 4}), Floats({4}, {2, 4, 6, 8})}))[0]
                  .data<float>();
    }
    return loss;
  }

  std::string folder_;
};

TEST_F(Programs, KeepVariablesOverCallsOfAllFunctions) {
  for (bool optimize : {false, true}) {
    ProgramOptions options;
    options.optimize = optimize;
    Program program = Must(Program::Make(Line(), options));
    EXPECT_EQ(*Must(program.Call("serve", {Floats({2}, {1, 5})}))[0].data<float>(), 0);
    EXPECT_LT(TrainOn(program), 1e-6);
    EXPECT_NEAR(Must(program.Call("serve", {Floats({2}, {1, 5})}))[0].data<float>()[1], 10, 1e-3);
    EXPECT_NEAR(*Must(program.Get("line/w")).data<float>(), 2, 1e-4);
    EXPECT_FALSE(program.Set("line/w", Floats({}, {3})));
    EXPECT_NEAR(*Must(program.Call("serve", {Floats({1}, {1})}))[0].data<float>(), 3, 1e-6);
  }
}

TEST_F(Programs, AreSavedAndLoadedAgain) {
  std::string model = folder_ + "/model", prefix = folder_ + "/ckpt";
  Program program = Must(Program::Make(Line()));
  TrainOn(program);
  ASSERT_FALSE(program.SaveModel(model));
  ASSERT_FALSE(program.SaveCheckpoint(prefix, 30));
  Program loaded = Must(Program::Load(model));
  ASSERT_EQ(loaded.functions().size(), 2u);
  EXPECT_EQ(loaded.functions()[0].name, "serve");
  EXPECT_NEAR(Must(loaded.Call("serve", {Floats({2}, {1, 5})}))[0].data<float>()[1], 10, 1e-3);
  EXPECT_LT(TrainOn(loaded), 1e-9);
  Program other = Must(Program::Make(Line()));
  EXPECT_EQ(Must(other.LoadCheckpoint(prefix)), 30);
  EXPECT_NEAR(*Must(other.Get("line/w")).data<float>(), 2, 1e-4);
}

// A traced function calls one of a file, whose variables it shares.
TEST_F(Programs, ImportedFunctionsAreCalledInATrace) {
  std::string model = folder_ + "/model";
  Program program = Must(Program::Make(Line()));
  ASSERT_FALSE(program.Set("line/w", Floats({}, {3})));
  ASSERT_FALSE(program.SaveModel(model));
  Program loaded = Must(Program::Load(model));
  Tracer t(loaded.CopyModule());
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "more");
  Values y = CallImported(t, loaded.functions()[0], {x});
  ASSERT_EQ(y.size(), 1u);
  Variable w = Variable::Find(t, "line/w");
  Value result = y[0] * 2.0f;
  Value slope = Gradients(t, {ReduceSum(result)}, {w})[0];
  auto module = t.Finish({result, slope});
  ASSERT_TRUE(static_cast<bool>(module)) << TextOf(module.takeError());
  ExecutorOptions options;
  ThreadPool pool(1);
  options.pool = &pool;
  options.session = &loaded.session();
  options.feeds = {"more"};
  options.fetches = {"Identity", "Identity_1"};
  auto executor = Must(Executor::Compile((*module)->main, options));
  std::vector<Tensor> values = Must(executor->Run({Floats({2}, {1, 5})}));
  EXPECT_EQ(values[0].data<float>()[1], 30);
  EXPECT_EQ(*values[1].data<float>(), 12);
}

TEST_F(Programs, WhatDoesNotFitIsSaid) {
  Program program = Must(Program::Make(Line()));
  EXPECT_EQ(ErrorOf(program.Call("stepp", {})), "function 'stepp' not found; did you mean 'step'?");
  EXPECT_EQ(ErrorOf(program.Call("step", {Floats({4}, {1, 2, 3, 4})})),
            "function 'step' takes 2 values (x, y), but 1 are given");
  EXPECT_EQ(ErrorOf(program.Call("step", {Floats({4}, {1, 2, 3, 4}), Floats({2}, {1, 2})})),
            "function 'step': argument 'y' is float[4], but float[2] is given");
  EXPECT_EQ(TextOf(program.Set("line/w", Floats({2}, {1, 2}))),
            "variable 'line/w' is float, but the given value is float[2]");
  EXPECT_EQ(ErrorOf(program.Get("w")), "variable 'w' not found; did you mean 'line/w'?");
  ModelBuilder other;
  other.Add("f", {{"x", proto::DT_FLOAT, {4}}},
            [](Tracer& t, Value x) { return x * Variable(t, "scale", initial::Ones({4})); });
  Program another = Must(Program::Make(Must(other.Finish())));
  ASSERT_FALSE(another.SaveCheckpoint(folder_ + "/other"));
  std::string error = ErrorOf(program.LoadCheckpoint(folder_ + "/other"));
  EXPECT_NE(error.find("is a checkpoint of another model: the model has 'line/w', 'sgd/iteration', "
                       "which the checkpoint lacks; the checkpoint has 'scale', which the model "
                       "lacks"),
            std::string::npos)
      << error;
}

TEST_F(Programs, FunctionsOfAModelMustAgreeOnVariables) {
  ModelBuilder builder;
  builder.Add("f", {{"x", proto::DT_FLOAT, {2}}},
              [](Tracer& t, Value x) { return x * Variable(t, "w", initial::Ones({2})); });
  builder.Add("g", {{"x", proto::DT_FLOAT, {2}}},
              [](Tracer& t, Value x) { return x * Variable(t, "w", initial::Ones({})); });
  std::string error = ErrorOf(builder.Finish());
  EXPECT_NE(error.find("g: "), std::string::npos) << error;
  EXPECT_NE(error.find("variable 'w': it is float here, and float[2] at"), std::string::npos)
      << error;
}

}  // namespace
}  // namespace grapnel
