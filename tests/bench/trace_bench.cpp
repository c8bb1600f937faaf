// What tracing costs an op: a chain of additions, and typed builders of ops with attributes.
#include "benchmark/benchmark.h"
#include "lib/trace/ops/nn.h"
#include "lib/trace/trace.h"

namespace grapnel {
namespace {

void Chain(benchmark::State& state) {
  for (auto _ : state) {
    Tracer t;
    Value x = t.Placeholder(proto::DT_FLOAT, {8}, "x"), y = x;
    for (int64_t i = 0; i < state.range(0); ++i) y = y + x;
    auto module = t.Finish({y});
    if (!module) state.SkipWithError(TextOf(module.takeError()).c_str());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Chain)->Unit(benchmark::kMillisecond)->Arg(10'000)->Arg(100'000)->Arg(1'000'000);

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
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Convolutions)->Unit(benchmark::kMillisecond)->Arg(10'000)->Arg(100'000);

}  // namespace
}  // namespace grapnel
