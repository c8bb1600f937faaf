// Cost against size: reading, summarizing, verifying and optimizing graphs of 10,000, 100,000 and
// 1,000,000 nodes. Every cost must be linear: time per node (the counter) stays the same.
#include <benchmark/benchmark.h>

#include "lib/ir/import.h"
#include "lib/ir/summary.h"
#include "lib/ir/verify.h"
#include "lib/ir/wire.h"
#include "lib/pass/pass_manager.h"

namespace grapnel {
namespace {

std::string NodeDef(llvm::StringRef name, llvm::StringRef op, llvm::ArrayRef<std::string> inputs,
                    llvm::StringRef type_key) {
  std::string node, entry;
  AppendBytesField(&node, 1, name);
  AppendBytesField(&node, 2, op);
  for (const std::string& input : inputs) AppendBytesField(&node, 3, input);
  AppendBytesField(&entry, 1, type_key);
  AppendBytesField(&entry, 2, attr::Type(proto::DT_FLOAT));
  AppendBytesField(&node, 5, entry);
  return node;
}

// Has the shape of a deep network: layers of scopes, each node reading its neighbor and one a
// hundred before.
std::string MakeGraph(int nodes) {
  std::string graph;
  auto name = [](int i) {
    return "model/block_" + std::to_string(i / 100) + "/layer_" + std::to_string(i / 10 % 10) +
           "/op_" + std::to_string(i);
  };
  AppendBytesField(&graph, 1, NodeDef(name(0), "Placeholder", {}, "dtype"));
  for (int i = 1; i < nodes; ++i) {
    std::vector<std::string> inputs = {name(i - 1)};
    if (i % 3 == 0) inputs.push_back(name(std::max(0, i - 100)));
    AppendBytesField(&graph, 1,
                     NodeDef(name(i),
                             inputs.size() == 2 ? "AddV2"
                             : i % 3 == 1       ? "Relu"
                                                : "Identity",
                             inputs, "T"));
  }
  return graph;
}

std::shared_ptr<const FileBytes> GraphFile(int nodes) {
  return FileBytes::FromString(MakeGraph(nodes), "graph");
}

void CountPerNode(benchmark::State& state) {
  state.counters["ns_per_node"] =
      benchmark::Counter(state.range(0) * 1e-9, benchmark::Counter::kIsIterationInvariantRate |
                                                    benchmark::Counter::kInvert);
}

void Import(benchmark::State& state) {
  auto file = GraphFile(state.range(0));
  for (auto _ : state)
    benchmark::DoNotOptimize(llvm::cantFail(ImportGraphDef(file, file->bytes())));
  CountPerNode(state);
}

void SummarizeGraph(benchmark::State& state) {
  auto file = GraphFile(state.range(0));
  auto module = llvm::cantFail(ImportGraphDef(file, file->bytes()));
  for (auto _ : state) benchmark::DoNotOptimize(Summarize(*module).nodes);
  CountPerNode(state);
}

void Verify(benchmark::State& state) {
  auto file = GraphFile(state.range(0));
  auto module = llvm::cantFail(ImportGraphDef(file, file->bytes()));
  for (auto _ : state) benchmark::DoNotOptimize(VerifyModule(*module).size());
  CountPerNode(state);
}

void Optimize(benchmark::State& state) {
  auto file = GraphFile(state.range(0));
  for (auto _ : state) {
    state.PauseTiming();
    auto module = llvm::cantFail(ImportGraphDef(file, file->bytes()));
    OptimizeOptions options;
    options.config.set_min_graph_nodes(-1);
    state.ResumeTiming();
    PassManager manager;
    benchmark::DoNotOptimize(llvm::cantFail(manager.Run(*module, options)).rewrites);
  }
  CountPerNode(state);
}

BENCHMARK(Import)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(SummarizeGraph)
    ->RangeMultiplier(10)
    ->Range(10000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(Verify)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(Optimize)->RangeMultiplier(10)->Range(10000, 1000000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace grapnel
