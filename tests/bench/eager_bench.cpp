// The cost of an eager op in addition to its kernel, with and without a tape, and of a call of a
// function in addition to the ops in it.
#include <ctime>
#include <functional>

#include "benchmark/benchmark.h"
#include "lib/exec/bound_kernel.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "lib/trace/function.h"
#include "lib/trace/gradient.h"
#include "lib/trace/ops.h"

namespace grapnel {
namespace {

Literal Ones(const std::vector<int64_t>& dims) {
  return Literal::Make(proto::DT_FLOAT, dims, std::string("\0\0\x80\x3f", 4));
}
Literal Ints(const std::vector<int32_t>& values) { return Literal::Vector32(values); }

// One op on small tensors: `call` takes them in the order of its inputs.
struct Case {
  const char* name;
  std::vector<Literal> inputs;
  std::function<Operation(Tracer&, const Values&)> call;
};

// tests/bench/trace_speed.py has the same for TensorFlow and JAX.
const std::vector<Case>& Cases() {
  static const std::vector<Case> kCases = {
      {"AddV2",
       {Ones({}), Ones({})},
       [](Tracer& t, const Values& v) {
         return t.Op("AddV2", {v[0], v[1]});
       }},
      {"MatMul",
       {Ones({2, 2}), Ones({2, 2})},
       [](Tracer& t, const Values& v) {
         return t.Op("MatMul", {v[0], v[1]});
       }},
      {"Mul",
       {Ones({8, 8}), Ones({8})},
       [](Tracer& t, const Values& v) {
         return t.Op("Mul", {v[0], v[1]});
       }},
      {"Tanh", {Ones({8})}, [](Tracer& t, const Values& v) { return t.Op("Tanh", {v[0]}); }},
      {"Relu", {Ones({8})}, [](Tracer& t, const Values& v) { return t.Op("Relu", {v[0]}); }},
      {"Softmax",
       {Ones({2, 4})},
       [](Tracer& t, const Values& v) { return t.Op("Softmax", {v[0]}); }},
      {"Sum",
       {Ones({8, 8}), Ints({0})},
       [](Tracer& t, const Values& v) {
         return t.Op("Sum", {v[0], v[1]});
       }},
      {"Reshape",
       {Ones({2, 4}), Ints({8})},
       [](Tracer& t, const Values& v) {
         return t.Op("Reshape", {v[0], v[1]});
       }},
      {"Transpose",
       {Ones({2, 4}), Ints({1, 0})},
       [](Tracer& t, const Values& v) {
         return t.Op("Transpose", {v[0], v[1]});
       }},
      {"ConcatV2",
       {Ones({4}), Ones({4}), Literal::Scalar(proto::DT_INT32, 0)},
       [](Tracer& t, const Values& v) {
         return t.Op("ConcatV2", {Values{v[0], v[1]}, v[2]});
       }},
      {"GatherV2",
       {Ones({8, 2}), Ints({1, 3}), Literal::Scalar(proto::DT_INT32, 0)},
       [](Tracer& t, const Values& v) {
         return t.Op("GatherV2", {v[0], v[1], v[2]});
       }},
      {"StridedSlice",
       {Ones({8}), Ints({1}), Ints({5}), Ints({2})},
       [](Tracer& t, const Values& v) {
         return t.Op("StridedSlice", {v[0], v[1], v[2], v[3]});
       }},
      {"Cast",
       {Ones({8})},
       [](Tracer& t, const Values& v) {
         return t.Op("Cast", {v[0]}, {{"DstT", proto::DT_DOUBLE}});
       }},
      {"Unpack",
       {Ones({2, 4})},
       [](Tracer& t, const Values& v) {
         return t.Op("Unpack", {v[0]}, {{"num", 2}});
       }},
  };
  return kCases;
}

// The kernel of a node, called as in a plan.
void Kernel(benchmark::State& state, const Case& of) {
  Tracer t;
  Values values;
  std::vector<Tensor> tensors;
  auto allocator = MakePoolAllocator();
  for (const Literal& input : of.inputs) {
    values.push_back(t.Placeholder(input.dtype(), Shape(input.dims())));
    tensors.push_back(cantFail(Tensor::FromLiteral(input, *allocator)));
  }
  Operation made = of.call(t, values);
  if (!made.ok()) return state.SkipWithError(TextOf(t.TakeErrors()).c_str());
  Node node = t.module().main.Find(made.name());
  NodeTypes types = cantFail(TypesOf(node, *DefinitionOf(node)));
  const KernelDef* def = cantFail(KernelRegistry::Get().Find(node, "CPU"));
  std::vector<const Tensor*> constants(tensors.size());
  KernelSetup setup(node, types.inputs, types.outputs, constants);
  BoundKernel kernel = cantFail(BoundKernel::Make(*def, setup));
  ThreadPool pool(1);
  MessageSink silent;
  RunServices services{*allocator, pool, silent};
  FlushDenormals flush;
  for (auto _ : state) {
    llvm::SmallVector<Tensor, 4> inputs(tensors.begin(), tensors.end());
    llvm::SmallVector<Tensor, 2> outputs(types.outputs.size());
    KernelContext context(inputs, outputs, types.outputs, services);
    cantFail(kernel.Call(context));
    benchmark::DoNotOptimize(outputs[0]);
  }
}

Values ValuesOf(Tracer& t, const Case& of) {
  Values values;
  for (const Literal& input : of.inputs) values.push_back(t.Constant(input));
  return values;
}

void Eager(benchmark::State& state, const Case& of) {
  Tracer t(Mode::kEager);
  Values values = ValuesOf(t, of);
  for (auto _ : state) benchmark::DoNotOptimize(of.call(t, values));
  if (Error error = t.TakeErrors()) state.SkipWithError(TextOf(std::move(error)).c_str());
}

// CPU time of this thread: other load on the machine matters little.
double Seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// With an active tape: the time of one of the ops of a step, which the tape keeps until it ends.
void Taped(benchmark::State& state, const Case& of) {
  constexpr int kOps = 1000;
  Tracer t(Mode::kEager);
  Values values = ValuesOf(t, of);
  for (auto _ : state) {
    double begin = Seconds();
    {
      Tape tape(t);
      tape.Watch(values[0]);
      for (int i = 0; i < kOps; ++i) benchmark::DoNotOptimize(of.call(t, values));
    }
    state.SetIterationTime((Seconds() - begin) / kOps);
  }
  if (Error error = t.TakeErrors()) state.SkipWithError(TextOf(std::move(error)).c_str());
}

const bool kRegistered = [] {
  for (const Case& of : Cases()) {
    auto add = [&](const char* kind, auto run) {
      std::string name = std::string(kind) + "/" + of.name;
      return benchmark::RegisterBenchmark(name.c_str(),
                                          [&of, run](benchmark::State& state) { run(state, of); });
    };
    add("Kernel", Kernel);
    add("Eager", Eager);
    add("Taped", Taped)->UseManualTime()->Iterations(200);
  }
  return true;
}();

void Operator(benchmark::State& state) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(Ones({}));
  for (auto _ : state) benchmark::DoNotOptimize(x + x);
}
BENCHMARK(Operator);

void OperatorOnANumber(benchmark::State& state) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(Ones({}));
  for (auto _ : state) benchmark::DoNotOptimize(x + 1.0f);
}
BENCHMARK(OperatorOnANumber);

// A chain of additions recorded by a tape, and its gradient: time per op of the chain.
void Chain(benchmark::State& state) {
  Tracer t(Mode::kEager);
  Value x = t.Constant(Ones({}));
  for (auto _ : state) {
    Tape tape(t);
    tape.Watch(x);
    Value y = x;
    for (int64_t i = 0; i < state.range(0); ++i) y = y * x;
    if (state.range(1)) benchmark::DoNotOptimize(tape.Gradient(y, x));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Chain)->Args({1000, 0})->Args({1000, 1});

void Function(benchmark::State& state) {
  Tracer t(Mode::kEager);
  PolymorphicFunction f("f", [](Tracer&, Value x) { return x + 1.0f; });
  Value x = t.Constant(Ones({2, 2}));
  for (auto _ : state) benchmark::DoNotOptimize(f(t, {x}));
}
BENCHMARK(Function);

}  // namespace
}  // namespace grapnel
