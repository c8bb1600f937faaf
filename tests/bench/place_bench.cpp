// Placement of made-up graphs of 10,000 to 400,000 nodes: a fifth request a device, a twentieth
// name another node in _class. `./x bench place` prints the growth: linear.
#include <benchmark/benchmark.h>

#include <random>

#include "lib/ir/module.h"
#include "lib/place/placer.h"
#include "lib/place/tensorflow_kernels.h"

namespace grapnel {
namespace {

void SetTypes(Graph* graph, NodeId node, llvm::StringRef key) {
  graph->SetAttr(node, key, attr::Type(proto::DT_FLOAT));
}

// Layers of additions over a few variables and constants, with `state.range(0)` nodes.
std::unique_ptr<Module> MakeGraph(int64_t nodes) {
  auto module = std::make_unique<Module>();
  Graph& graph = module->main;
  graph.Reserve(nodes);
  std::mt19937 random(1);
  auto pick = [&](int64_t bound) { return static_cast<NodeId>(random() % bound); };
  std::vector<NodeId> values;
  for (int64_t i = 0; i < nodes; ++i) {
    std::string name = "layer" + std::to_string(i / 100) + "/n" + std::to_string(i);
    int64_t kind = i % 10;
    std::string device = pick(5) ? "" : "/device:CPU:" + std::to_string(pick(4));
    NodeId id = graph.AddNode(name, kind == 0 ? "Const" : "AddV2", device);
    if (kind == 0) {
      SetTypes(&graph, id, "dtype");
    } else {
      SetTypes(&graph, id, "T");
      for (int k = 0; k < 2; ++k)
        graph.AddInput(id,
                       {values[values.size() - 1 - pick(std::min<size_t>(values.size(), 50))], 0});
    }
    if (!pick(20)) {
      std::string spec = ("loc:@" + graph.node(pick(i + 1)).name()).str();
      graph.SetAttr(id, "_class", attr::Strings({llvm::StringRef(spec)}));
    }
    values.push_back(id);
  }
  return module;
}

void BM_Place(benchmark::State& state) {
  std::unique_ptr<Module> module = MakeGraph(state.range(0));
  DeviceSet devices = llvm::cantFail(DeviceSet::Parse("cpu:4"));
  std::unique_ptr<KernelCatalog> kernels = MakeTensorFlowKernels();
  for (auto _ : state) {
    Placement placement = Place(module->main, devices, *kernels, {});
    if (placement.failure) state.SkipWithError(placement.failure->message.c_str());
    benchmark::DoNotOptimize(placement.nodes.data());
  }
  state.SetComplexityN(state.range(0));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_Place)
    ->Arg(10'000)
    ->Arg(50'000)
    ->Arg(100'000)
    ->Arg(200'000)
    ->Arg(400'000)
    ->Unit(benchmark::kMillisecond)
    ->Complexity(benchmark::oN);

}  // namespace
}  // namespace grapnel
