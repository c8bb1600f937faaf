// The gradient engine: names, sums, tapes, windows, errors; tests/python/gradient_test.py compares
// the rules with TensorFlow's.
#include "lib/trace/gradient.h"

#include <chrono>
#include <cmath>

#include "lib/exec/executor.h"
#include "lib/ir/line_table.h"
#include "lib/proto/graph.pb.h"
#include "lib/trace/function.h"
#include "lib/trace/gradient_rule.h"
#include "lib/trace/ops/data_flow.h"
#include "lib/trace/variable.h"
#include "tests/trace/trace_util.h"

namespace grapnel {
namespace {

std::string At(int line) { return llvm::formatv("{0}:{1}: ", __FILE__, line).str(); }

// Runs the main graph on one vector that is fed as "x:0".
std::vector<double> RunOn(const Module& module, const std::vector<double>& x,
                          const std::string& fetch) {
  ThreadPool pool(1);
  ExecutorOptions options;
  options.feeds = {"x:0"};
  options.fetches = {fetch};
  options.pool = &pool;
  auto executor = Executor::Compile(module.main, options);
  if (!executor) {
    ADD_FAILURE() << TextOf(executor.takeError());
    return {};
  }
  Literal literal = Literal::Make(proto::DT_DOUBLE, {static_cast<int64_t>(x.size())},
                                  {reinterpret_cast<const char*>(x.data()), x.size() * 8});
  auto results = (*executor)->Run({llvm::cantFail(Tensor::FromLiteral(literal))});
  if (!results) {
    ADD_FAILURE() << TextOf(results.takeError());
    return {};
  }
  Literal y = (*results)[0].ToLiteral();
  std::vector<double> values;
  for (int64_t i = 0; i < y.num_elements(); ++i) values.push_back(y.AsDouble(i));
  return values;
}

std::unique_ptr<Module> TracedOn(int64_t size, llvm::function_ref<Values(Tracer&, Value)> fn) {
  return Traced(
      Trace("f", {{"x", proto::DT_DOUBLE, {size}}}, [&](Tracer& t, Value x) { return fn(t, x); }));
}

void ExpectNear(const std::vector<double>& got, const std::vector<double>& want) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-9) << i;
}

// Gradient nodes of `mul` are made in the scope of the multiplication, with its line.
TEST(Gradients, AreNamedAndPlacedAfterTheForwardOp) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  int line = __LINE__ + 1;
  Value y = x * x;
  Values g = Gradients(t, {y}, {x});
  auto module = Traced(t.Finish(g));
  ASSERT_TRUE(module);
  EXPECT_EQ(Lines(module->main),
            (std::vector<std::string>{"x = Placeholder()", "mul = Mul(x, x)", "ones = Const()",
                                      "gradient_tape/mul/Mul = Mul(ones, x)",
                                      "gradient_tape/mul/Mul_1 = Mul(ones, x)",
                                      "AddN = AddN(gradient_tape/mul/Mul, gradient_tape/mul/Mul_1)",
                                      "Identity = Identity(AddN)"}));
  // Within the call that requests the gradient, which also has the nodes without a forward op.
  LineTable table(*module);
  LineTable::Stack stack = table.StackOf(table.Find("", "gradient_tape/mul/Mul"));
  ASSERT_EQ(stack.size(), 2u);
  EXPECT_EQ(stack[0].line, line + 1);
  EXPECT_EQ(stack[1].line, line);
  stack = table.StackOf(table.Find("", "ones"));
  ASSERT_EQ(stack.size(), 1u);
  EXPECT_EQ(stack[0].line, line + 1);
}

TEST(Gradients, OfSeveralYsAddUp) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    Value y = Square(x);
    return Gradients(t, {y, Exp(x)}, {x});
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {1, 2}, "Identity:0"), {2 + std::exp(1.0), 4 + std::exp(2.0)});
}

TEST(Gradients, TakeWhatComesInFromOutside) {
  auto module = TracedOn(
      2, [](Tracer& t, Value x) { return Gradients(t, {Square(x)}, {x}, {.grad_ys = {x}}); });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {3, 4}, "Identity:0"), {18, 32});
}

TEST(Gradients, StopWhereTheyAreToldTo) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    Value s = Sqrt(x);
    Values told = Gradients(t, {s * x}, {x}, {.stop_gradients = {s}});
    Values asked = Gradients(t, {StopGradient(Sqrt(x)) * x}, {x});
    return Values{told[0], asked[0]};
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {4, 9}, "Identity:0"), {2, 3});
  ExpectNear(RunOn(*module, {4, 9}, "Identity_1:0"), {2, 3});
}

TEST(Gradients, OfWhatIsNotConnected) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x"), y = t.Placeholder(proto::DT_FLOAT, {3}, "y");
  Values none = Gradients(t, {Square(x)}, {y});
  EXPECT_FALSE(none[0].ok());
  Values zeros = Gradients(t, {Square(x)}, {y}, {.unconnected = Unconnected::kZeros});
  EXPECT_EQ(zeros[0].shape(), Shape(Dims{3}));
  Traced(t.Finish());
}

TEST(Gradients, OfVariablesThatAreNotConnected) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  Variable v(t, "v", initial::Zeros({3, 1}));
  Variable w(t, "w", initial::Zeros({4}, proto::DT_DOUBLE));
  EXPECT_FALSE(Gradients(t, {Square(x)}, {v})[0].ok());
  Values zeros = Gradients(t, {Square(x)}, {v, w}, {.unconnected = Unconnected::kZeros});
  ASSERT_TRUE(zeros[0].ok() && zeros[1].ok());
  EXPECT_EQ(zeros[0].shape(), Shape(Dims{3, 1}));
  EXPECT_EQ(zeros[0].dtype(), proto::DT_FLOAT);
  EXPECT_EQ(zeros[1].shape(), Shape(Dims{4}));
  EXPECT_EQ(zeros[1].dtype(), proto::DT_DOUBLE);
  Traced(t.Finish());
}

TEST(Gradients, OfGradients) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    Value first = Gradients(t, {x * x * x}, {x})[0];
    return Gradients(t, {first}, {x});
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {1, 2}, "Identity:0"), {6, 12});
}

TEST(Gradients, SlicesStayUntilTheyAreNeeded) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {4, 2}, "x");
  Value rows = t.Op("GatherV2", {x, t.Constant({1, 1, 3}), 0});
  auto sparse = SparseGradients(t, {rows}, {x});
  EXPECT_TRUE(sparse[0].is_slices());
  EXPECT_EQ(sparse[0].values.shape(), Shape(Dims{3, 2}));
  EXPECT_EQ(Gradients(t, {rows}, {x})[0].shape(), Shape(Dims{4, 2}));
  Traced(t.Finish());
}

TEST(Gradients, CustomOnesReplaceTheOwn) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    Values y = CustomGradient(t, {x}, [](llvm::ArrayRef<Value> v) {
      return WithGradient{{Square(v[0])},
                          [](llvm::ArrayRef<Value> dys) { return Values{dys[0] * 10.0}; }};
    });
    return Gradients(t, y, {x});
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {1, 2}, "Identity_1:0"), {10, 10});
}

// Each gradient has its own array; otherwise the second would add to the first.
TEST(Gradients, OfOneTensorArrayTwice) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    auto array = ops::TensorArrayV3(t, 1, proto::DT_DOUBLE, {.clear_after_read = false});
    Value flow = ops::TensorArrayWriteV3(t, array.handle, 0, x, array.flow);
    Value y = ops::TensorArrayReadV3(t, array.handle, 0, flow, proto::DT_DOUBLE);
    Value once = Gradients(t, {y * 2.0}, {x})[0];
    return Values{once, Gradients(t, {y * 3.0}, {x})[0]};
  });
  ASSERT_TRUE(module);
  for (const auto& [fetch, want] : {std::pair{"Identity:0", 2.0}, {"Identity_1:0", 3.0}})
    ExpectNear(RunOn(*module, {1, 2}, fetch), {want, want});
}

TEST(Tapes, SeeWhatIsMadeWhileTheyRun) {
  Tracer other;
  Value y = other.Placeholder(proto::DT_FLOAT, {2}, "y");
  Tape late(other, {.persistent = true});
  Value early = Square(y);
  late.Watch(y);
  Value inside = Square(y);
  late.Stop();
  Value after = Exp(y);
  EXPECT_FALSE(late.Gradient(early, y).ok());
  EXPECT_TRUE(late.Gradient(inside, y).ok());
  EXPECT_FALSE(late.Gradient(after, y).ok());
  Traced(other.Finish());
}

TEST(Tapes, ThatAreNotPersistentGiveOnce) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  Tape tape(t);
  tape.Watch(x);
  Value y = Square(x);
  tape.Gradient(y, x);
  int line = __LINE__ + 1;
  tape.Gradient(y, x);
  EXPECT_EQ(ErrorsOf(t.Finish()),
            At(line) +
                "tape: a tape that is not persistent can return gradients only once; make it with "
                "{.persistent = true}");
}

// The tape's own body reads none of these variables.
TEST(Tapes, WatchVariablesThatCallsBranchesAndLoopsRead) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_DOUBLE, {2}, "x");
  Variable called(t, "called", initial::Ones({2}, proto::DT_DOUBLE));
  Variable chosen(t, "chosen", initial::Ones({2}, proto::DT_DOUBLE));
  Variable looped(t, "looped", initial::Ones({2}, proto::DT_DOUBLE));
  Variable unread(t, "unread", initial::Ones({2}, proto::DT_DOUBLE));
  PolymorphicFunction inner("inner", [&](Tracer&, Value x) { return x * called; });
  PolymorphicFunction outer("outer", [&](Tracer& t, Value x) { return inner(t, {x})[0]; });
  Tape tape(t), blind(t, {.watch_accessed_variables = false});
  Value y = outer(t, {x})[0];
  y = t.If(
      ReduceSum(x) > 0.0, [&] { return y * chosen; }, [&] { return Exp(y); });
  y = t.While([](Value i, Value) { return i < 3; },
              [&](Value i, Value v) {
                return Values{i + 1, v * looped};
              },
              {t.Constant(0), y})[1];
  EXPECT_FALSE(blind.Gradient(y, called.handle()).ok());
  Values gradients =
      tape.Gradient({y}, {called.handle(), chosen.handle(), looped.handle(), unread.handle()});
  std::vector<bool> exist;
  for (const Value& gradient : gradients) exist.push_back(gradient.ok());
  EXPECT_EQ(exist, (std::vector<bool>{true, true, true, false}));
  Traced(t.Finish());
}

TEST(Jacobians, HaveARowForEachElement) {
  auto module = TracedOn(3, [](Tracer& t, Value x) { return Jacobian(t, x * ReduceSum(x), {x}); });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {1, 2, 3}, "Identity:0"), {7, 1, 1, 2, 8, 2, 3, 3, 9});
}

// --- Control flow.

TEST(ControlFlow, LoopsAreGoneThroughBackwards) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    auto y = t.While([](Value i, Value) { return i < 3; },
                     [](Value i, Value v) {
                       return Values{i + 1, v * v};
                     },
                     {t.Constant(0), x});
    return Gradients(t, {y[1]}, {x});
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {1.1, 2}, "Identity:0"), {8 * std::pow(1.1, 7), 1024});
}

TEST(ControlFlow, ValuesFromOutsideOfALoopToo) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    auto y = t.While([](Value i, Value) { return i < 4; },
                     [&](Value i, Value v) {
                       return Values{i + 1, v * x};
                     },
                     {t.Constant(0), t.Constant(std::vector<double>{1, 1})});
    return Gradients(t, {y[1]}, {x});
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {2, 3}, "Identity:0"), {32, 108});
}

TEST(ControlFlow, TheBranchThatWasTaken) {
  auto module = TracedOn(2, [](Tracer& t, Value x) {
    Value y = t.If(
        ReduceSum(x) > 10.0, [&] { return Square(x); }, [&] { return Exp(x) * x; });
    return Gradients(t, {y}, {x});
  });
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {6, 7}, "Identity:0"), {12, 14});
  ExpectNear(RunOn(*module, {0, 1}, "Identity:0"), {1, 2 * std::exp(1.0)});
}

// --- Errors.

TEST(Errors, NameOpNodeAndLine) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  Value i = t.Placeholder(proto::DT_INT32, {3}, "i");
  int line = __LINE__ + 1;
  Value bad = t.Op("UniqueV2", {x, std::vector<int>{0}});
  Gradients(t, {bad}, {x});
  Gradients(t, {PreventGradient(Square(x), "no second derivative")}, {x});
  Gradients(t, {x}, {i});
  Gradients(t, {x}, {Value()});
  Gradients(t, {Square(x)}, {x}, {.grad_ys = {i}});
  EXPECT_EQ(
      ErrorsOf(t.Finish()),
      At(line) +
          "op 'UniqueV2', node 'UniqueV2': it has no gradient; apply StopGradient() to its inputs "
          "to treat its outputs as constants\n" +
          At(line + 2) +
          "op 'PreventGradient', node 'PreventGradient': its gradient must not be requested: "
          "no second derivative\n" +
          At(line + 3) +
          "gradients: x 'i:0' is int32: only floating-point and complex tensors have "
          "gradients\n" +
          At(line + 5) + "gradients: y 0 ('Square_1:0') is float, its given gradient is int32");
}

TEST(Errors, ValuesOfAnotherTracer) {
  Tracer t, other;
  Value x = t.Placeholder(proto::DT_FLOAT, {3}, "x");
  int line = __LINE__ + 1;
  Gradients(other, {Square(x)}, {x});
  EXPECT_EQ(ErrorsOf(other.Finish()), At(line) + "gradients: y ('Square:0', made at " + __FILE__ +
                                          ":" + std::to_string(line) +
                                          ") belongs to another Tracer");
}

// --- Graphs that were read.

TEST(Imported, TracingGoesOnWithThem) {
  auto first = Traced(
      Trace("f", {{"x", proto::DT_DOUBLE, {2}}}, [](Tracer&, Value x) { return Square(x) * x; }));
  ASSERT_TRUE(first);
  Tracer t(std::move(first));
  Value x = t.Find("x:0");
  Values g = Gradients(t, {t.Find("Identity")}, {x});
  auto module = Traced(t.Finish(g));
  ASSERT_TRUE(module);
  ExpectNear(RunOn(*module, {1, 2}, "Identity_1:0"), {3, 12});
}

TEST(Imported, NamesThatAreNotThere) {
  Tracer t(Traced(
      Trace("f", {{"input", proto::DT_DOUBLE, {2}}}, [](Tracer&, Value x) { return Square(x); })));
  int line = __LINE__ + 1;
  t.Find("inputt");
  EXPECT_EQ(ErrorsOf(t.Finish()), At(line) + "node 'inputt' not found; did you mean 'input'?");
}

// The limit is 4 us per node; a test machine is slower, and busy.
TEST(Cost, IsLinearAndNeedsNoRecursion) {
  Tracer t;
  Value x = t.Placeholder(proto::DT_FLOAT, {2}, "x");
  Value y = x;
  constexpr int kNodes = 100000;
  for (int i = 0; i < kNodes; ++i) y = i % 2 == 0 ? Tanh(y) : y + x;
  auto begin = std::chrono::steady_clock::now();
  Values g = Gradients(t, {y}, {x});
  std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
  EXPECT_TRUE(g[0].ok());
  RecordProperty("us_a_node", std::to_string(took.count() / kNodes));
  EXPECT_LT(took.count() / kNodes, 200);
  Traced(t.Finish());
}

TEST(Registry, HasNoRuleTwice) {
  EXPECT_GT(AllGradients().size(), 400u);
  EXPECT_NE(FindGradient("MatMul")->fn, nullptr);
  EXPECT_EQ(FindGradient("Less")->fn, nullptr);
  EXPECT_EQ(FindGradient("UniqueV2"), nullptr);
}

}  // namespace
}  // namespace grapnel
