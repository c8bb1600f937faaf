// What an eager op costs beside its kernel, and a call of a function beside the ops in it.
#include "benchmark/benchmark.h"
#include "lib/exec/bound_kernel.h"
#include "lib/ir/node_types.h"
#include "lib/support/denormals.h"
#include "lib/trace/function.h"
#include "lib/trace/gradient.h"
#include "lib/trace/ops.h"

namespace grapnel {
namespace {

Value Ones(Tracer& t, const std::vector<int64_t>& dims) {
  return t.Constant(Literal::Make(proto::DT_FLOAT, dims, std::string("\0\0\x80\x3f", 4)));
}

// The kernel of a node, called as a plan calls it.
void Kernel(benchmark::State& state, const char* op, const std::vector<int64_t>& dims) {
  Module module;
  Tracer t;
  Shape shape((llvm::ArrayRef<int64_t>(dims)));
  Value x = t.Placeholder(proto::DT_FLOAT, shape, "x");
  Operation made = t.Op(op, {x, x});
  Node node = t.module().main.Find(made.name());
  NodeTypes types = cantFail(TypesOf(node, *DefinitionOf(node)));
  const KernelDef* def = cantFail(KernelRegistry::Get().Find(node, "CPU"));
  std::vector<const Tensor*> constants(2);
  KernelSetup setup(node, types.inputs, types.outputs, constants);
  BoundKernel kernel = cantFail(BoundKernel::Make(*def, setup));
  ThreadPool pool(1);
  MessageSink silent;
  auto allocator = MakePoolAllocator();
  RunServices services{*allocator, pool, silent};
  Tensor value = cantFail(Tensor::Allocate(proto::DT_FLOAT, dims));
  std::fill_n(value.data<float>(), value.num_elements(), 1.0f);
  FlushDenormals flush;
  for (auto _ : state) {
    Tensor inputs[] = {value, value}, outputs[1];
    KernelContext context(inputs, outputs, types.outputs, services);
    cantFail(kernel.Call(context));
    benchmark::DoNotOptimize(outputs[0]);
  }
}
BENCHMARK_CAPTURE(Kernel, AddV2_scalar, "AddV2", {});
BENCHMARK_CAPTURE(Kernel, MatMul_2x2, "MatMul", {2, 2});

void Eager(benchmark::State& state, const char* op, const std::vector<int64_t>& dims) {
  Tracer t(Mode::kEager);
  Value x = Ones(t, dims);
  for (auto _ : state) benchmark::DoNotOptimize(t.Op(op, {x, x}));
  if (Error error = t.TakeErrors()) state.SkipWithError(TextOf(std::move(error)).c_str());
}
BENCHMARK_CAPTURE(Eager, AddV2_scalar, "AddV2", {});
BENCHMARK_CAPTURE(Eager, MatMul_2x2, "MatMul", {2, 2});

void Operator(benchmark::State& state) {
  Tracer t(Mode::kEager);
  Value x = Ones(t, {});
  for (auto _ : state) benchmark::DoNotOptimize(x + x);
}
BENCHMARK(Operator);

void OperatorOnANumber(benchmark::State& state) {
  Tracer t(Mode::kEager);
  Value x = Ones(t, {});
  for (auto _ : state) benchmark::DoNotOptimize(x + 1.0f);
}
BENCHMARK(OperatorOnANumber);

// A chain of additions that a tape sees, and its gradient: time of an op of the chain.
void Taped(benchmark::State& state) {
  Tracer t(Mode::kEager);
  Value x = Ones(t, {});
  for (auto _ : state) {
    Tape tape(t);
    tape.Watch(x);
    Value y = x;
    for (int64_t i = 0; i < state.range(0); ++i) y = y * x;
    if (state.range(1)) benchmark::DoNotOptimize(tape.Gradient(y, x));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Taped)->Args({1000, 0})->Args({1000, 1});

void Function(benchmark::State& state) {
  Tracer t(Mode::kEager);
  PolymorphicFunction f("f", [](Tracer&, Value x) { return x + 1.0f; });
  Value x = Ones(t, {2, 2});
  for (auto _ : state) benchmark::DoNotOptimize(f(t, {x}));
}
BENCHMARK(Function);

}  // namespace
}  // namespace grapnel
