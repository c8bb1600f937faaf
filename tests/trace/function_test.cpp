// Functions that are traced once for each signature: counts and reasons, their representation in a
// trace, and gradients.
#include "lib/trace/function.h"

#include "lib/trace/gradient.h"
#include "lib/trace/variable.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

std::vector<float> Floats(const Value& value) {
  auto elements = ToVector<float>(value);
  if (elements) return std::move(*elements);
  ADD_FAILURE() << TextOf(elements.takeError());
  return {};
}

void ExpectNoErrors(Tracer& t) {
  if (Error error = t.TakeErrors()) ADD_FAILURE() << TextOf(std::move(error));
}

Value Twos(Tracer& t, size_t size) { return t.Constant(std::vector<float>(size, 2.0f)); }

std::vector<std::string> Reasons(const PolymorphicFunction& f) {
  std::vector<std::string> reasons;
  for (const auto& record : f.traces()) reasons.push_back(record.reason);
  return reasons;
}

TEST(Function, IsTracedOnceASignature) {
  int calls = 0;
  PolymorphicFunction f("f", [&](Tracer&, Value x, Value y) {
    ++calls;
    return x * y;
  });
  Tracer t(Mode::kEager);
  EXPECT_EQ(Floats(f(t, {Twos(t, 2), Twos(t, 2)})[0]), (std::vector<float>{4, 4}));
  EXPECT_EQ(Floats(f(t, {Twos(t, 2), 3.0f})[0]), (std::vector<float>{6, 6}));
  int line = __LINE__ - 1;
  EXPECT_EQ(Floats(f(t, {Twos(t, 2), 5.0f})[0]), (std::vector<float>{10, 10}));
  f(t, {Twos(t, 4), 5.0f});
  f(t, {Twos(t, 3), 5.0f});
  f(t, {t.Constant(1), 5});
  f(t, {Twos(t, 2), Twos(t, 2)});
  f(t, {Twos(t, 4), Twos(t, 2)});
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(f.num_traces(), 6);
  EXPECT_EQ(Reasons(f),
            (std::vector<std::string>{"the first call", "argument 1: shape [] is new; before: [2]",
                                      "argument 0: shape [4] is new; before: [2]",
                                      "argument 0: shape [3] is new; before: [2], [4]",
                                      "argument 0: dtype int32 is new; before: float",
                                      "this combination of dtypes and shapes is new"}));
  EXPECT_EQ(f.traces()[1].signature, "float[2], float");
  EXPECT_EQ(f.traces()[1].where.line, line);
  llvm::consumeError(t.TakeErrors());
}

TEST(Function, ShapesAreRelaxed) {
  PolymorphicFunction f("f", [](Tracer&, Value x) { return ReduceSum(x); },
                        {.reduce_retracing = true});
  Tracer t(Mode::kEager);
  for (size_t size : {2, 3, 4, 5, 2}) EXPECT_EQ(Floats(f(t, {Twos(t, size)})[0])[0], 2.0f * size);
  EXPECT_EQ(f.num_traces(), 2);
  EXPECT_EQ(f.traces()[1].signature, "float[?]");
  ExpectNoErrors(t);
}

TEST(Function, AnInputSignatureIsTheOnlyOne) {
  FunctionOptions options;
  options.input_signature = std::vector<TensorSpec>{{"x", proto::DT_FLOAT, {kUnknownDim}}};
  PolymorphicFunction f(
      "f", [](Tracer&, Value x) { return x + x; }, options);
  Tracer t(Mode::kEager);
  for (size_t size : {2, 3, 4}) EXPECT_EQ(Floats(f(t, {Twos(t, size)})[0]).size(), size);
  EXPECT_EQ(f.num_traces(), 1);
  ExpectNoErrors(t);
  EXPECT_FALSE(f(t, {t.Constant(1)})[0].ok());
  int line = __LINE__ - 1;
  EXPECT_EQ(TextOf(t.TakeErrors()),
            llvm::formatv(
                "{0}:{1}: function 'f': argument 0 is int32, the input signature requires float[?]",
                __FILE__, line)
                .str());
  EXPECT_EQ(f.num_traces(), 1);
}

TEST(Function, AnAlertWhenItIsTracedAgainAndAgain) {
  std::vector<std::string> alerts;
  FunctionOptions options;
  options.sink = [&](Severity severity, llvm::StringRef text) {
    EXPECT_EQ(severity, Severity::kWarning);
    alerts.push_back(text.str());
  };
  PolymorphicFunction f(
      "f", [](Tracer&, Value x) { return x + x; }, options);
  Tracer t(Mode::kEager);
  for (size_t size = 1; size < 5; ++size) f(t, {Twos(t, size)});
  f(t, {Twos(t, 1)});
  EXPECT_TRUE(alerts.empty());
  for (size_t size = 5; size < 20; ++size) f(t, {Twos(t, size)});
  ASSERT_EQ(alerts.size(), 2u);
  EXPECT_NE(alerts[0].find("function 'f': 5 of the last 6 calls traced it again"),
            std::string::npos)
      << alerts[0];
  EXPECT_NE(alerts[0].find("argument 0: shape [5] is new; before: [1], [2], [3], [4]"),
            std::string::npos);
  EXPECT_NE(alerts[0].find("reduce_retracing"), std::string::npos);
  // Many calls between traces give no warning.
  alerts.clear();
  PolymorphicFunction g(
      "g", [](Tracer&, Value x) { return x + x; }, options);
  for (size_t size = 1; size < 10; ++size) {
    for (int i = 0; i < 10; ++i) g(t, {Twos(t, size)});
  }
  EXPECT_TRUE(alerts.empty());
}

TEST(Function, InATraceItIsACallOfTheLibrary) {
  PolymorphicFunction step("step", [](Tracer&, Value x) { return x * 2.0f; });
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  Value y = step(t, {step(t, {x})[0]})[0];
  EXPECT_EQ(step.num_traces(), 1);
  auto module = Traced(t.Finish({y}));
  ASSERT_TRUE(module);
  EXPECT_EQ(Lines(module->main),
            (std::vector<std::string>{"x = Placeholder()", "PartitionedCall = PartitionedCall(x)",
                                      "PartitionedCall_1 = PartitionedCall(PartitionedCall)",
                                      "Identity = Identity(PartitionedCall_1)"}));
  ASSERT_EQ(module->functions.size(), 1u);
  EXPECT_TRUE(module->functions[0]->name().starts_with("__inference_step_"))
      << module->functions[0]->name().str();
  // Another Tracer, with another library, traces it again.
  Tracer other;
  step(other, {other.Placeholder(proto::DT_FLOAT, {2}, "x")});
  EXPECT_EQ(step.traces()[1].reason, "the first call");
  Traced(other.Finish());
}

TEST(Function, EffectsMakeTheCallStateful) {
  PolymorphicFunction say("say", [](Tracer& t, Value x) { t.Print("{}", {x}); });
  Tracer t;
  Values none = say(t, {t.Placeholder(proto::DT_FLOAT, {2}, "x")});
  EXPECT_TRUE(none.empty());
  auto module = Traced(t.Finish());
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "StatefulPartitionedCall"),
            "StatefulPartitionedCall = StatefulPartitionedCall(x)");
}

TEST(Function, CapturesArePassedIn) {
  Tracer t(Mode::kEager);
  Value w = Twos(t, 2);
  PolymorphicFunction f("f", [&](Tracer&, Value x) { return x * w; });
  EXPECT_EQ(Floats(f(t, {3.0f})[0]), (std::vector<float>{6, 6}));
  Tracer traced;
  Value v = traced.Placeholder(proto::DT_FLOAT, {2}, "v");
  PolymorphicFunction g("g", [&](Tracer&, Value x) { return x * v; });
  Value x = traced.Placeholder(proto::DT_FLOAT, {}, "x");
  Value y = g(traced, {x})[0];
  auto module = Traced(traced.Finish({y}));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "PartitionedCall"), "PartitionedCall = PartitionedCall(x, v)");
  ExpectNoErrors(t);
}

TEST(Function, GradientsGoThrough) {
  auto fn = [](Tracer& t, Value x) {
    Value y = t.While([](Value i, Value) { return i < 3; },
                      [&](Value i, Value y) {
                        return Values{i + 1, y * x};
                      },
                      {0, Operand(x)})[1];
    return ReduceSum(y + Exp(0.0f * x));
  };
  PolymorphicFunction f("f", fn);
  Tracer t(Mode::kEager);
  Value x = t.Constant(std::vector<float>{1, 2});
  Tape outer(t);
  outer.Watch(x);
  Value dx;
  {
    Tape tape(t);
    tape.Watch(x);
    Value y = f(t, {x})[0];
    EXPECT_EQ(Floats(y)[0], 1 + 16 + 2);
    dx = tape.Gradient(y, x);
  }
  EXPECT_EQ(Floats(dx), (std::vector<float>{4, 32}));
  EXPECT_EQ(Floats(outer.Gradient(dx, x)), (std::vector<float>{12, 48}));
  EXPECT_EQ(f.num_traces(), 1);
  ExpectNoErrors(t);
}

TEST(Function, ATapeWatchesTheVariablesThatItReads) {
  Tracer t(Mode::kEager);
  Variable w(t, "w", std::vector<float>{3, 4});
  PolymorphicFunction f("f", [&](Tracer&, Value x) { return ReduceSum(x * w); });
  Tape tape(t);
  Value y = f(t, {Twos(t, 2)})[0];
  EXPECT_EQ(Floats(tape.Gradient(y, w.handle())), (std::vector<float>{2, 2}));
  ExpectNoErrors(t);
}

TEST(Function, RunsOnTensorsAndGivesModules) {
  PolymorphicFunction f("f", [](Tracer&, Value x) { return x + 1.0f; });
  Tensor x = cantFail(Tensor::FromLiteral(Literal::Scalar(proto::DT_FLOAT, 2)));
  auto results = f.Run({x});
  ASSERT_TRUE(bool(results)) << TextOf(results.takeError());
  EXPECT_EQ((*results)[0].data<float>()[0], 3);
  auto module = Traced(f.Concrete({{"x", proto::DT_FLOAT, {3}}}));
  ASSERT_TRUE(module);
  EXPECT_EQ(LineOf(module->main, "add"), "add = AddV2(x, add/y)");
  auto failed = f.Run({});
  EXPECT_FALSE(bool(failed));
  EXPECT_NE(TextOf(failed.takeError()).find("0 arguments are given, the function takes 1"),
            std::string::npos);
}

}  // namespace
}  // namespace grapnel
