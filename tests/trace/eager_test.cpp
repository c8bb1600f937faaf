// Eager mode: immediate values, tapes, control flow, resources, hooks, and freeing.
#include "lib/trace/eager.h"

#include <cmath>

#include "lib/exec/executor.h"
#include "lib/support/cancel.h"
#include "lib/support/memory_budget.h"
#include "lib/trace/examples.h"
#include "lib/trace/function.h"
#include "lib/trace/gradient.h"
#include "lib/trace/ops/nn.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

template <typename T>
std::vector<T> Elements(const Value& value) {
  auto elements = ToVector<T>(value);
  if (elements) return std::move(*elements);
  ADD_FAILURE() << TextOf(elements.takeError());
  return {};
}

std::string ErrorOf(const Value& value) {
  auto tensor = value.tensor();
  if (!tensor) return TextOf(tensor.takeError());
  ADD_FAILURE() << "an error was expected";
  return {};
}

void ExpectNoErrors(Tracer& t) {
  if (Error error = t.TakeErrors()) ADD_FAILURE() << TextOf(std::move(error));
}

std::vector<float> Floats(const Value& value) { return Elements<float>(value); }

TEST(Eager, AValueHasItsTensorAtOnce) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(std::vector<float>{1, 2, 4});
  EXPECT_TRUE(t.is_eager());
  EXPECT_EQ(Floats(x + 1.0f), (std::vector<float>{2, 3, 5}));
  EXPECT_EQ(Floats(3 * x - x / 2), (std::vector<float>{2.5, 5, 10}));
  Value mean = Cast(Size(x), proto::DT_FLOAT) / ReduceSum(1.0f / x);
  EXPECT_FLOAT_EQ(Floats(mean)[0], 12.0f / 7);
  EXPECT_EQ(mean.shape(), Shape::Scalar());
  EXPECT_EQ(mean.dtype(), proto::DT_FLOAT);
  EXPECT_EQ(Floats(-x), (std::vector<float>{-1, -2, -4}));
  EXPECT_EQ(Elements<bool>(x > 1.5f), (std::vector<bool>{false, true, true}));
  Value text = t.Constant("a") + t.Constant("b");
  EXPECT_EQ(Elements<std::string>(text), std::vector<std::string>{"ab"});
  ExpectNoErrors(t);
}

TEST(Eager, BuildersAndOpsWithSeveralOutputs) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(std::vector<float>{5, 1, 7, 3});
  auto [values, indices] = ops::TopKV2(t, x, 2);
  EXPECT_EQ(Floats(values), (std::vector<float>{7, 5}));
  EXPECT_EQ(Elements<int32_t>(indices), (std::vector<int32_t>{2, 0}));
  Operation split = t.Op("Split", {0, x}, {{"num_split", 2}});
  EXPECT_EQ(split.num_outputs(), 2);
  EXPECT_EQ(Floats(split.output(1)), (std::vector<float>{7, 3}));
  EXPECT_FALSE(split.output(2).ok());
  EXPECT_EQ(Floats(Concat({x, x}, 0)).size(), 8u);
  ExpectNoErrors(t);
}

TEST(Eager, AnOpThatFailsIsAnErrorOfItsLine) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(std::vector<float>{1, 2}), y = t.Constant(std::vector<float>{1, 2, 3});
  Value bad = x + y;
  int line = __LINE__ - 1;
  EXPECT_FALSE(bad.ok());
  EXPECT_TRUE(llvm::StringRef(ErrorOf(bad)).starts_with(At(line) + "op 'AddV2': ")) << ErrorOf(bad);
  Value after = ReduceSum(bad * 2.0f) + x;
  EXPECT_EQ(ErrorOf(after), ErrorOf(bad));
  std::string text = TextOf(t.TakeErrors());
  EXPECT_EQ(text, ErrorOf(bad));
  EXPECT_EQ(Floats(x + x), (std::vector<float>{2, 4}));
  Value one = t.Constant(1), mixed = x + one;
  line = __LINE__ - 1;
  EXPECT_EQ(ErrorOf(mixed),
            At(line) + "op 'AddV2': input 'y' is int32, float was expected as input 'x' is");
  llvm::consumeError(t.TakeErrors());
}

TEST(Eager, LoopsAndBranchesRun) {
  Tracer t(Mode::kEager);
  auto [n, steps] =
      t.While([](Value n, Value) { return n > 1; },
              [&t](Value n, Value steps) {
                Value next = t.If(
                    n % 2 == 0, [&] { return FloorDiv(n, 2); }, [&] { return 3 * n + 1; });
                return Values{next, steps + 1};
              },
              {27, 0});
  EXPECT_EQ(Elements<int32_t>(n)[0], 1);
  EXPECT_EQ(Elements<int32_t>(steps)[0], 111);
  Value chosen = t.Case(
      t.Constant(1), [&] { return t.Constant(10); }, [&] { return t.Constant(11); });
  EXPECT_EQ(Elements<int32_t>(chosen)[0], 11);
  chosen = t.Case(
      t.Constant(-3), [&] { return t.Constant(10); }, [&] { return t.Constant(11); });
  EXPECT_EQ(Elements<int32_t>(chosen)[0], 11);
  ExpectNoErrors(t);
}

TEST(Eager, PrintsAndAssertsInTheOrderOfTheProgram) {
  std::string printed;
  EagerOptions options;
  options.print = [&](Severity, llvm::StringRef text) { printed += text.str() + "|"; };
  Tracer t(options);
  Value x = t.Constant(std::vector<float>{1, 2});
  t.Print("x: {}", {x});
  t.Print("sum: {} of {}", {ReduceSum(x), x});
  EXPECT_EQ(printed, "x: [1 2]|sum: 3 of [1 2]|");
  Operation fine = t.Op("Assert", {ReduceAll(x > 0.0f), Values{x}});
  EXPECT_TRUE(fine.ok());
  Operation wrong = t.Op("Assert", {ReduceAll(x > 1.0f), Values{x}});
  EXPECT_FALSE(wrong.ok());
  EXPECT_FALSE(t.Op("CheckNumerics", {x / 0.0f}, {{"message", "after the division"}}).ok());
  std::string text = TextOf(t.TakeErrors());
  EXPECT_NE(text.find("op 'Assert': "), std::string::npos) << text;
  EXPECT_NE(text.find("after the division"), std::string::npos) << text;
}

TEST(Eager, Resources) {
  Tracer t(Mode::kEager);
  auto make = [&] {
    return t.Op("VarHandleOp", {}, {{"dtype", proto::DT_FLOAT}, {"shape", Shape(Dims{2})}})
        .output();
  };
  Value a = make(), b = make();
  t.Op("AssignVariableOp", {a, t.Constant(std::vector<float>{1, 2})});
  t.Op("AssignVariableOp", {b, t.Constant(std::vector<float>{5, 6})});
  t.Op("AssignAddVariableOp", {a, t.Constant(std::vector<float>{10, 10})});
  auto read = [&](Value v) {
    return t.Op("ReadVariableOp", {v}, {{"dtype", proto::DT_FLOAT}}).output();
  };
  EXPECT_EQ(Floats(read(a)), (std::vector<float>{11, 12}));
  EXPECT_EQ(Floats(read(b)), (std::vector<float>{5, 6}));
  Value list = t.Op("TensorListReserve", {t.Constant(-1), 2}, {{"element_dtype", proto::DT_FLOAT}});
  list = t.Op("TensorListSetItem", {list, 1, read(a)});
  Value item = t.Op("TensorListGetItem", {list, 1, t.Constant(std::vector<int>{2})},
                    {{"element_dtype", proto::DT_FLOAT}});
  EXPECT_EQ(Floats(item), (std::vector<float>{11, 12}));
  // A variable that a tape watches automatically.
  Tape tape(t);
  Value loss = ReduceSum(Square(read(a)));
  EXPECT_EQ(Floats(tape.Gradient(loss, a)), (std::vector<float>{22, 24}));
  ExpectNoErrors(t);
}

TEST(Eager, Tapes) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(std::vector<float>{1, 2, 3}), w = t.Constant(2.0f);
  {
    Tape tape(t);
    tape.Watch(x);
    Value y = ReduceSum(Square(x) * w);
    EXPECT_EQ(Floats(tape.Gradient(y, x)), (std::vector<float>{4, 8, 12}));
    EXPECT_FALSE(tape.Gradient(y, x).ok());
    EXPECT_NE(TextOf(t.TakeErrors()).find("can return gradients only once"), std::string::npos);
  }
  {
    Tape outer(t);
    outer.Watch(x);
    Value dy;
    {
      Tape inner(t);
      inner.Watch(x);
      dy = inner.Gradient(ReduceSum(x * x * x), x);
    }
    EXPECT_EQ(Floats(dy), (std::vector<float>{3, 12, 27}));
    EXPECT_EQ(Floats(outer.Gradient(dy, x)), (std::vector<float>{6, 12, 18}));
  }
  {
    Tape tape(t, {.persistent = true});
    tape.Watch(x);
    Value y = x * x;
    EXPECT_EQ(Floats(tape.Gradient(y, x)), (std::vector<float>{2, 4, 6}));
    EXPECT_EQ(Floats(tape.Jacobian(y, {x})[0]), (std::vector<float>{2, 0, 0, 0, 4, 0, 0, 0, 6}));
    Value z = t.If(
        ReduceSum(x) > 3.0f, [&] { return Exp(x * 0.0f) * x; }, [&] { return x; });
    EXPECT_EQ(Floats(tape.Gradient(z, x)), (std::vector<float>{1, 1, 1}));
  }
  ExpectNoErrors(t);
  Values none = Gradients(t, {x * x}, {x});
  EXPECT_FALSE(none[0].ok());
  EXPECT_NE(TextOf(t.TakeErrors()).find("make a Tape"), std::string::npos);
}

TEST(Eager, GradientsOfWhatIsRecorded) {
  EagerOptions options;
  options.records = true;
  Tracer t(options);
  Value x = t.Constant(std::vector<float>{1, 2});
  Value y = t.WhileLoop([](llvm::ArrayRef<Value> v) { return v[0] < 3; },
                        [&](llvm::ArrayRef<Value> v) {
                          return Values{v[0] + 1, v[1] * x};
                        },
                        {0, Operand(x)})[1];
  EXPECT_EQ(Floats(y), (std::vector<float>{1, 16}));
  EXPECT_EQ(Floats(Gradients(t, {y}, {x})[0]), (std::vector<float>{4, 32}));
  ExpectNoErrors(t);
}

TEST(Eager, CustomGradients) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(2.0f);
  Tape tape(t);
  tape.Watch(x);
  Values y = CustomGradient(t, {x}, [](llvm::ArrayRef<Value> in) {
    return WithGradient{{in[0] * in[0]},
                        [](llvm::ArrayRef<Value> dys) { return Values{dys[0] * 100.0f}; }};
  });
  EXPECT_EQ(Floats(y[0])[0], 4);
  EXPECT_EQ(Floats(tape.Gradient(y[0], x))[0], 100);
  ExpectNoErrors(t);
}

TEST(Eager, LogsPlacements) {
  std::vector<std::string> lines;
  EagerOptions options;
  options.log_placement = [&](Severity, llvm::StringRef text) { lines.push_back(text.str()); };
  Tracer t(options);
  Value x = t.Constant(std::vector<float>{1, 2});
  ReduceSum(x);
  {
    auto device = t.Device("/cpu:2");
    x + x;
  }
  auto gpu = t.Device("/gpu:0");
  x + x;
  EXPECT_EQ(lines,
            (std::vector<std::string>{
                "Executing op Sum in device /job:localhost/replica:0/task:0/device:CPU:0",
                "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:2",
                "Executing op AddV2 in device /job:localhost/replica:0/task:0/device:CPU:0"}));
}

// Names, ops and first elements of everything that it observes.
class Recorder : public RunHook {
 public:
  bool Wants(const Node&) override { return true; }
  Error BeforeNode(const Node& node, llvm::ArrayRef<Tensor> inputs) override {
    lines.push_back(("> " + node.name() + " " + llvm::Twine(inputs.size())).str());
    return stop_at == node.name() ? MakeError("stopped") : Error::success();
  }
  Error AfterNode(const Node& node, llvm::ArrayRef<Tensor> outputs) override {
    lines.push_back(("< " + node.name() + " " + node.op() + " " +
                     (outputs.empty() ? "" : outputs[0].ToString()))
                        .str());
    return Error::success();
  }
  std::vector<std::string> lines;
  std::string stop_at;
};

TEST(Eager, HooksSeeEachOpUnderANameOfItsOwn) {
  Recorder hook;
  EagerOptions options;
  options.hook = &hook;
  Tracer t(options);
  Value x = t.Constant(std::vector<float>{1, 2});
  {
    auto scope = t.Scope("mean");
    x + x;
    x + x;
  }
  EXPECT_EQ(hook.lines,
            (std::vector<std::string>{"> mean/add 2", "< mean/add AddV2 float[2] [2,4]",
                                      "> mean/add_1 2", "< mean/add_1 AddV2 float[2] [2,4]"}));
  hook.stop_at = "Square";
  Value stopped = Square(x);
  EXPECT_EQ(ErrorOf(stopped), At(__LINE__ - 1) + "op 'Square': stopped");
  llvm::consumeError(t.TakeErrors());
}

// Cancels the run before an op's kernel starts.
class Canceller : public RunHook {
 public:
  bool Wants(const Node&) override { return true; }
  Error BeforeNode(const Node&, llvm::ArrayRef<Tensor>) override {
    flag.Cancel();
    return Error::success();
  }
  Error AfterNode(const Node&, llvm::ArrayRef<Tensor>) override { return Error::success(); }
  CancelFlag flag;
};

TEST(Eager, ACancelledRunReportsOneError) {
  Canceller hook;
  EagerOptions options;
  options.hook = &hook;
  options.cancel = &hook.flag;
  Tracer t(options);
  Value x = t.Constant(std::vector<float>{1, 2});
  Square(x);
  Abs(x);
  EXPECT_EQ(TextOf(t.TakeErrors()), At(__LINE__ - 2) + "cancelled");
}

int64_t BytesInUse() { return MemoryBudget::Get().taken(); }

TEST(Eager, FreesWhatNobodyHolds) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(std::vector<float>(1000, 1.0f)), one = t.Constant(1.0f);
  auto step = [&] {
    x = x + one;
    Tape tape(t);
    tape.Watch(x);
    Value g = tape.Gradient(ReduceSum(Square(x)), x);
    x = x - 0.0f * g;
    auto [top, places] = ops::TopKV2(t, x, 2);
    EXPECT_TRUE(top.ok());
  };
  for (int i = 0; i < 10; ++i) step();
  int64_t before = BytesInUse();
  for (int i = 0; i < 20000; ++i) step();
  EXPECT_EQ(BytesInUse(), before);
  Value kept = t.Op("Split", {0, x}, {{"num_split", 2}}).output(1);
  EXPECT_EQ(Floats(kept).size(), 500u);
  ExpectNoErrors(t);
}

TEST(Eager, AValueMayOutliveItsTracer) {
  Value kept;
  {
    Tracer t(Mode::kEager);
    kept = t.Constant(std::vector<float>{1, 2}) * 2.0f;
  }
  EXPECT_EQ(Floats(kept), (std::vector<float>{2, 4}));
}

TEST(Eager, ImportedFunctionsAreCalled) {
  Tracer traced;
  Value x = traced.Placeholder(proto::DT_FLOAT, {2}, "x");
  PolymorphicFunction doubled("doubled", [](Tracer&, Value x) { return x * 2.0f; });
  auto module = Traced(traced.Finish(doubled(traced, {x})));
  ASSERT_TRUE(module);
  std::string name = module->functions[0]->name().str();
  Tracer t(EagerOptions(), std::move(module));
  EXPECT_EQ(Floats(t.Op(name, {t.Constant(std::vector<float>{1, 2})})), (std::vector<float>{2, 4}));
  EXPECT_FALSE(t.Find("x").ok());
  llvm::consumeError(t.TakeErrors());
}

// --- The same programs in both modes, with bitwise equal results.

struct Program {
  const char* name;
  std::vector<TensorSpec> inputs;
  std::function<Values(Tracer&, llvm::ArrayRef<Value>)> call;
};

std::vector<Program> Programs() {
  auto f = [](std::initializer_list<int64_t> dims) {
    return TensorSpec("x", proto::DT_FLOAT, dims);
  };
  std::vector<Program> programs = {
      {"mlp",
       {f({4, 3})},
       [](Tracer& t, llvm::ArrayRef<Value> v) {
         Value w =
             t.Constant(Literal::Make(proto::DT_FLOAT, {3, 3}, std::string("\0\0\x80\x3e", 4)));
         Tape tape(t);
         tape.Watch(w);
         Value y = ReduceMean(Square(Tanh(MatMul(v[0], w)) - Sigmoid(v[0])));
         return Values{y, tape.Gradient(y, w)};
       }},
      {"softmax",
       {f({2, 5})},
       [](Tracer& t, llvm::ArrayRef<Value> v) {
         Tape tape(t);
         tape.Watch(v[0]);
         Value y = t.Op("LogSoftmax", {v[0]});
         return Values{y, tape.Gradient(ReduceSum(y * y), v[0])};
       }},
      {"convolution",
       {f({1, 6, 6, 2})},
       [](Tracer& t, llvm::ArrayRef<Value> v) {
         Value k = t.Constant(
             Literal::Make(proto::DT_FLOAT, {3, 3, 2, 4}, std::string("\0\0\x80\x3e", 4)));
         Tape tape(t);
         tape.Watch(k);
         Value y = ReduceSum(Relu(ops::Conv2D(t, v[0], k, {1, 1, 1, 1}, "SAME")));
         return Values{y, tape.Gradient(y, k)};
       }},
      {"loop",
       {f({3})},
       [](Tracer& t, llvm::ArrayRef<Value> v) {
         Value x = v[0];
         Tape tape(t);
         tape.Watch(x);
         Value y = t.While([](Value i, Value) { return i < 4; },
                           [&](Value i, Value y) {
                             Value next = t.If(
                                 i % 2 == 0, [&] { return y * x; }, [&] { return Exp(y * 0.1f); });
                             return Values{i + 1, next};
                           },
                           {0, Operand(x)})[1];
         return Values{y, tape.Gradient(y, x)};
       }},
      {"jacobian",
       {f({3})},
       [](Tracer& t, llvm::ArrayRef<Value> v) {
         Tape tape(t, {.persistent = true});
         tape.Watch(v[0]);
         Value y = v[0] * ReduceSum(v[0]);
         return tape.Jacobian(y, {v[0]});
       }},
      {"reductions",
       {f({2, 3})},
       [](Tracer&, llvm::ArrayRef<Value> v) {
         return Values{ReduceMax(v[0], 1), ReduceProd(v[0], 0, true),
                       v[0] / ReduceSum(v[0], -1, true)};
       }},
  };
  for (const TraceExample& example : TraceExamples())
    programs.push_back({example.name, example.inputs, example.call});
  return programs;
}

Tensor Filled(const TensorSpec& spec) {
  Tensor tensor = cantFail(Tensor::Allocate(spec.dtype, spec.shape.dims()));
  for (int64_t i = 0; i < tensor.num_elements(); ++i) {
    if (spec.dtype == proto::DT_FLOAT)
      tensor.data<float>()[i] = 0.3f * static_cast<float>(i % 7) + 0.1f;
    if (spec.dtype == proto::DT_INT32) tensor.data<int32_t>()[i] = 27;
  }
  return tensor;
}

std::string Bits(const Tensor& tensor) {
  return tensor.ToString() +
         std::string(static_cast<const char*>(tensor.raw()), tensor.byte_size());
}

TEST(BothModes, GiveTheSameBits) {
  ThreadPool pool(1);
  for (const Program& program : Programs()) {
    SCOPED_TRACE(program.name);
    auto module = Traced(TraceFunction(program.name, program.inputs, program.call));
    ASSERT_TRUE(module);
    ExecutorOptions options;
    options.pool = &pool;
    std::vector<Tensor> feeds;
    for (const TensorSpec& input : program.inputs) {
      feeds.push_back(Filled(input));
      options.feeds.push_back(input.name);
    }
    EagerOptions eager;
    eager.pool = &pool;
    auto ran = RunEagerly(program.name, program.inputs, program.call, feeds, eager);
    ASSERT_TRUE(bool(ran)) << TextOf(ran.takeError());
    for (size_t i = 0; i < ran->size(); ++i) {
      Node last;
      for (Node node : module->main.nodes())
        if (node.name() == (i == 0 ? "Identity" : "Identity_" + std::to_string(i))) last = node;
      ASSERT_TRUE(bool(last));
      options.fetches.push_back(last.name().str());
    }
    auto executor = Executor::Compile(module->main, options);
    ASSERT_TRUE(bool(executor)) << TextOf(executor.takeError());
    auto outputs = (*executor)->Run(feeds);
    ASSERT_TRUE(bool(outputs)) << TextOf(outputs.takeError());
    for (size_t i = 0; i < ran->size(); ++i) EXPECT_EQ(Bits((*ran)[i]), Bits((*outputs)[i])) << i;
  }
}

}  // namespace
}  // namespace grapnel
