// The time of tracing and of a gradient per node: programs of tests/trace/sized_programs.h, and
// typed builders of ops with attributes. The nodes of all bodies of the resulting graph count. A
// trace is timed from the construction of the Tracer to the verified module; a gradient, for the
// call alone.
//
//   grapnel_trace_bench --benchmark_filter=layers
#include <ctime>

#include "benchmark/benchmark.h"
#include "lib/trace/ops/nn.h"
#include "lib/trace/trace.h"
#include "tests/trace/sized_programs.h"

namespace grapnel {
namespace {

// CPU time of this thread: other load on the machine matters little.
double Seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

void CountNodes(benchmark::State& state, size_t nodes) {
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["us_a_node"] = benchmark::Counter(
      static_cast<double>(nodes) / 1e6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void TraceOf(benchmark::State& state, const SizedProgram& program) {
  size_t nodes = 0;
  for (auto _ : state) {
    double begin = Seconds();
    Tracer t;
    Value y = program.build(t, t.Placeholder(proto::DT_FLOAT, {8, 8}, "x"), state.range(0));
    auto module = t.Finish({y});
    state.SetIterationTime(Seconds() - begin);
    if (!module) return state.SkipWithError(TextOf(module.takeError()).c_str());
    nodes = NumNodes(**module);
  }
  CountNodes(state, nodes);
}

// Counts the nodes of the program that the gradient visits, and those of its gradient.
void GradientOf(benchmark::State& state, const SizedProgram& program) {
  size_t forward = 0, nodes = 0;
  for (auto _ : state) {
    Tracer t;
    Value x = t.Placeholder(proto::DT_FLOAT, {8, 8}, "x");
    Value y = program.build(t, x, state.range(0));
    forward = NumNodes(t.module());
    double begin = Seconds();
    benchmark::DoNotOptimize(Gradients(t, {y}, {x}));
    state.SetIterationTime(Seconds() - begin);
    if (Error error = t.TakeErrors()) return state.SkipWithError(TextOf(std::move(error)).c_str());
    nodes = NumNodes(t.module());
  }
  state.counters["made"] = static_cast<double>(nodes - forward);
  CountNodes(state, nodes);
}

const bool registered = [] {
  for (const SizedProgram& program : SizedPrograms()) {
    auto add = [&](const std::string& name, auto run) {
      benchmark::RegisterBenchmark(
          name.c_str(), [&program, run](benchmark::State& state) { run(state, program); })
          ->Unit(benchmark::kMillisecond)
          ->UseManualTime()
          ->RangeMultiplier(10)
          ->Range(1'000, 1'000'000);
    };
    add(std::string("trace/") + program.name, TraceOf);
    add(std::string("gradient/") + program.name, GradientOf);
  }
  return true;
}();

// Ops with eight attributes.
void Convolutions(benchmark::State& state) {
  for (auto _ : state) {
    Tracer t;
    Value x = t.Placeholder(proto::DT_FLOAT, {1, 16, 16, 8}, "x");
    Value filter = t.Placeholder(proto::DT_FLOAT, {3, 3, 8, 8}, "filter");
    for (int64_t i = 0; i < state.range(0); ++i)
      x = ops::Conv2D(t, x, filter, {1, 1, 1, 1}, "SAME");
    auto module = t.Finish({x});
    if (!module) state.SkipWithError(TextOf(module.takeError()).c_str());
  }
  CountNodes(state, state.range(0));
}
BENCHMARK(Convolutions)->Unit(benchmark::kMillisecond)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace grapnel
