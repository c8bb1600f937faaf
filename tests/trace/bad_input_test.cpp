// Mistakes of a program, in both modes: each is an error at its line, with both sides
// named; and the program goes on.
#include <stdexcept>

#include "lib/trace/eager.h"
#include "lib/trace/function.h"
#include "lib/trace/gradient.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

class BadInput : public testing::TestWithParam<Mode> {
 protected:
  bool eager() const { return GetParam() == Mode::kEager; }
  // [2] of float: given, or a placeholder.
  Value Floats(Tracer& t, size_t size = 2) {
    if (t.is_eager()) return t.Constant(std::vector<float>(size, 1.0f));
    return t.Placeholder(proto::DT_FLOAT, Shape(Dims{static_cast<int64_t>(size)}), "x");
  }
  // The errors of `t`, which then still works.
  std::string ErrorsOf(Tracer& t) {
    Error error = t.TakeErrors();
    EXPECT_TRUE(bool(error)) << "an error was expected";
    std::string text = TextOf(std::move(error));
    Value after = Floats(t) + 1.0f;
    EXPECT_TRUE(after.ok());
    EXPECT_FALSE(bool(t.TakeErrors()));
    return text;
  }
  // Removes "FILE:LINE: ", whose line is at most a few before this one.
  static std::string Near(const std::string& text, int line = __builtin_LINE()) {
    std::string file = std::string(__FILE__) + ":";
    size_t at = text.find(file);
    if (at == std::string::npos) return "no line: " + text;
    size_t end = text.find(": ", at);
    int said = std::atoi(text.c_str() + at + file.size());
    EXPECT_TRUE(said < line && said > line - 6) << text << " beside " << line;
    return text.substr(0, at) + text.substr(end + 2);
  }
  static std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }
  static bool Has(llvm::StringRef text, llvm::StringRef part) {
    return text.find(part) != llvm::StringRef::npos;
  }
};
INSTANTIATE_TEST_SUITE_P(Modes, BadInput, testing::Values(Mode::kGraph, Mode::kEager),
                         [](const auto& mode) {
                           return mode.param == Mode::kEager ? "eager" : "graph";
                         });

TEST_P(BadInput, ValuesOfTwoTracers) {
  Tracer t(GetParam()), same(GetParam()), other(eager() ? Mode::kGraph : Mode::kEager);
  Value x = Floats(t), y = Floats(same), z = Floats(other);
  int line = __LINE__ - 1;
  Value bad = x + y;
  EXPECT_FALSE(bad.ok());
  std::string text = ErrorsOf(t);
  EXPECT_TRUE(Has(text, At(line + 2) + "op 'AddV2': input 1 ('")) << text;
  EXPECT_TRUE(Has(text, "belongs to another Tracer")) << text;
  EXPECT_FALSE(Concat({x, z}, 0).ok());
  text = ErrorsOf(t);
  EXPECT_TRUE(Has(text, eager() ? "which traces, while this one is eager"
                                : "which is eager, while this one traces"))
      << text;
  Gradients(t, {z}, {x});
  EXPECT_TRUE(Has(ErrorsOf(t), eager() ? "make a Tape" : "belongs to another Tracer"));
  PolymorphicFunction f("f", [](Tracer&, Value v) { return v; });
  EXPECT_FALSE(f(t, {z})[0].ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "function 'f': argument 0 ('"));
  t.If(
      ReduceAll(x > 0.0f), [&] { return z; }, [&] { return x; });
  EXPECT_TRUE(Has(ErrorsOf(t), "belongs to another Tracer"));
  t.While([](Value v) { return ReduceAll(v < 9.0f); }, [&](Value) { return y; }, {x});
  EXPECT_TRUE(Has(ErrorsOf(t), "belongs to another Tracer"));
}

TEST_P(BadInput, DtypesAndShapesThatDoNotFit) {
  Tracer t(GetParam());
  Value x = Floats(t), i = t.Constant(std::vector<int>{1, 2}), three = Floats(t, 3);
  EXPECT_FALSE((x + i).ok());
  EXPECT_EQ(Near(ErrorsOf(t)),
            "op 'AddV2': input 'y' is int32, float was expected as input 'x' is");
  EXPECT_FALSE((i + 1.5f).ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "op 'AddV2': input 'y' is the float 1.5, int32 was expected");
  EXPECT_FALSE(t.Op("Relu", {i}, {{"T", proto::DT_STRING}}).ok());
  ErrorsOf(t);
  EXPECT_FALSE(t.Op("Reluu", {x}).ok());
  EXPECT_TRUE(Has(ErrorsOf(t), "did you mean 'Relu'"));
  EXPECT_FALSE(t.Op("Cast", {x}).ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "op 'Cast': attribute 'DstT' (type) is required");
  EXPECT_FALSE((x + Value()).ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "op 'AddV2': input 1 is a Value that was never made"));
  Value bad = x + three;
  int line = __LINE__ - 1;
  if (eager()) {
    EXPECT_FALSE(bad.ok());
    EXPECT_TRUE(Has(ErrorsOf(t), At(line) + "op 'AddV2': "));
  } else {
    std::string text = grapnel::ErrorsOf(t.Finish());
    EXPECT_TRUE(Has(text, At(line) + "node 'add")) << text;
  }
}

TEST_P(BadInput, ALoopThatChangesWhatItCarries) {
  Tracer t(GetParam());
  Value x = Floats(t);
  auto go = [](Value v) { return ReduceAll(v < 9.0f); };
  EXPECT_FALSE(t.While(go, [](Value v) { return Concat({v, v}, 0); }, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "while: variable 0 has shape [2], but the body returns shape [4]");
  EXPECT_FALSE(t.While(go, [](Value v) { return Cast(v, proto::DT_INT32); }, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "while: variable 0 is float, but the body returns int32");
  EXPECT_FALSE(t.While(go, [](Value v) { return Values{v, v}; }, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "while: the body returns 2 values for 1 variables");
  EXPECT_FALSE(t.While([](Value v) { return v; }, [](Value v) { return v; }, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "while: the condition is float, bool was expected");
  auto same = [&] { return x; };
  t.If(x, same, same);
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "if: the condition is float, bool was expected"));
  EXPECT_FALSE(t.Case(x, [&] { return x; }).ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "case: the index is float, int32 was expected"));
}

TEST_P(BadInput, AnOpWithoutAGradient) {
  Tracer t(GetParam());
  Value x = Floats(t);
  Tape tape(t);
  tape.Watch(x);
  Value y = t.Op("UniqueV2", {x, std::vector<int>{0}});
  EXPECT_FALSE(tape.Gradient(y, x).ok());
  EXPECT_EQ(Near(ErrorsOf(t)),
            "op 'UniqueV2', node 'UniqueV2': it has no gradient; apply StopGradient() to its "
            "inputs to treat its outputs as constants");
  Tape second(t);
  second.Watch(x);
  EXPECT_FALSE(second.Gradient(PreventGradient(x, "not this"), x).ok());
  EXPECT_TRUE(Has(ErrorsOf(t), "not this"));
  // In a function: reported only when its gradient is requested.
  PolymorphicFunction f("f", [](Tracer& t, Value x) {
    return t.Op("UniqueV2", {x, std::vector<int>{0}}).output();
  });
  Tape third(t);
  third.Watch(x);
  y = f(t, {x})[0];
  EXPECT_FALSE(bool(t.TakeErrors()));
  EXPECT_FALSE(third.Gradient(y, x).ok());
  std::string text = ErrorsOf(t);
  EXPECT_TRUE(Has(text, __FILE__)) << text;
  EXPECT_TRUE(Has(text, "op 'UniqueV2', node 'UniqueV2': it has no gradient")) << text;
}

TEST_P(BadInput, AValueOfABranchUsedOutside) {
  Tracer t(GetParam());
  Value x = Floats(t), leaked;
  t.If(
      ReduceAll(x > 0.0f), [&] { return leaked = x * 2.0f, x; },
      [&] { return leaked = x * 3.0f, x; });
  EXPECT_TRUE(leaked.ok());
  EXPECT_FALSE((leaked + 1.0f).ok());
  int line = __LINE__ - 1;
  std::string text = ErrorsOf(t);
  EXPECT_TRUE(Has(text, At(line) + "op 'AddV2': input 0")) << text;
  EXPECT_TRUE(Has(text, "return ")) << text;
  t.While([](Value i) { return i < 2; },
          [&](Value i) {
            leaked = x * 5.0f;
            return i + 1;
          },
          {0});
  EXPECT_FALSE(Square(leaked).ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "op 'Square': input 0"));
  PolymorphicFunction f("f", [&](Tracer&, Value v) { return leaked = v * 2.0f, v; });
  f(t, {x});
  EXPECT_FALSE(Square(leaked).ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "op 'Square': input 0"));
}

TEST_P(BadInput, WhatTheProgramThrows) {
  Tracer t(GetParam());
  Value x = Floats(t);
  auto fail = [](Value) -> Value { throw std::runtime_error("my own"); };
  auto go = [](Value v) { return ReduceAll(v < 9.0f); };
  EXPECT_FALSE(t.While(go, fail, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "while: the body failed: my own");
  EXPECT_FALSE(t.While(fail, [](Value v) { return v; }, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "while: the condition failed: my own");
  Value cond = ReduceAll(x > 0.0f);
  auto branch = [&] { return x; };
  EXPECT_FALSE(t.If(
                    cond, [&] { return fail(x); }, branch)
                   .ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "if: "));
  PolymorphicFunction f("f", [](Tracer& t, Value v) -> Value {
    auto scope = t.Scope("inside");
    if (v.shape().rank() == 1) throw 7;
    return v;
  });
  EXPECT_FALSE(f(t, {x})[0].ok());
  EXPECT_EQ(Near(ErrorsOf(t)), "function 'f' failed: unknown exception");
  EXPECT_TRUE(f(t, {ReduceSum(x)})[0].ok());
  auto traced = Trace("g", {{"x", proto::DT_FLOAT, {}}},
                      [](Tracer&, Value) -> Value { throw std::logic_error("no"); });
  EXPECT_EQ(Near(grapnel::ErrorsOf(std::move(traced))),
            "g: "
            "the function failed: no");
  auto ran = RunEagerly(
      "g", {}, [](Tracer&, llvm::ArrayRef<Value>) -> Values { throw std::logic_error("no"); }, {});
  EXPECT_EQ(Near(TextOf(ran.takeError())),
            "g: "
            "the function failed: no");
}

TEST_P(BadInput, AFunctionThatCallsItself) {
  Tracer t(GetParam());
  PolymorphicFunction* self = nullptr;
  PolymorphicFunction f("f", [&](Tracer& t, Value v) { return (*self)(t, {v})[0]; });
  self = &f;
  EXPECT_FALSE(f(t, {Floats(t)})[0].ok());
  EXPECT_TRUE(Has(Near(ErrorsOf(t)), "function 'f': it calls itself"));
}

TEST(RunEagerly, FeedsAreChecked) {
  auto fn = [](Tracer&, llvm::ArrayRef<Value> v) { return Values{v[0] + 1.0f}; };
  Tensor two = cantFail(Tensor::Allocate(proto::DT_FLOAT, {2}));
  auto text = [&](const std::vector<TensorSpec>& inputs, std::vector<Tensor> feeds) {
    auto ran = RunEagerly("f", inputs, fn, std::move(feeds));
    return ran ? std::string() : TextOf(ran.takeError());
  };
  EXPECT_EQ(text({{"x", proto::DT_FLOAT, {kUnknownDim}}}, {two}), "");
  EXPECT_EQ(text({{"x", proto::DT_FLOAT, {3}}}, {two}),
            "f: feed 'x' is float[2], float[3] was expected");
  EXPECT_EQ(text({{"x", proto::DT_INT32, {2}}}, {two}),
            "f: feed 'x' is float[2], int32[2] was expected");
  EXPECT_EQ(text({{"x", proto::DT_FLOAT, {2}}}, {}), "f: 0 feeds were given for 1 inputs");
}

}  // namespace
}  // namespace grapnel
