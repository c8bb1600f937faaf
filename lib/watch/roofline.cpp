#include "lib/watch/roofline.h"

#include <algorithm>
#include <chrono>

#include "lib/exec/executor.h"
#include "lib/ir/attr.h"
#include "lib/ir/find.h"
#include "lib/ir/node_types.h"
#include "lib/shape/flops.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace grapnel {
namespace {

// Runs an op several times on `inputs` tensors of shape `dims`. Returns the seconds of the fastest
// run.
Expected<double> FastestRun(ThreadPool& pool, llvm::StringRef op, int inputs,
                            llvm::ArrayRef<int64_t> dims) {
  constexpr int kRuns = 6;
  Module module;
  Graph& graph = module.main;
  auto set_type = [&](NodeId id, llvm::StringRef key) {
    graph.SetAttr(id, key, module.Keep(attr::Type(proto::DT_FLOAT)));
  };
  ExecutorOptions options;
  options.pool = &pool;
  options.fetches = {"result"};
  std::vector<Tensor> feeds;
  llvm::SmallVector<Port, 2> ports;
  for (int i = 0; i < inputs; ++i) {
    options.feeds.push_back("input" + std::to_string(i));
    NodeId id = graph.AddNode(options.feeds.back(), "Placeholder");
    set_type(id, "dtype");
    ports.push_back({id, 0});
    ASSIGN_OR_RETURN(Tensor tensor, Tensor::Allocate(proto::DT_FLOAT, dims));
    std::fill_n(tensor.data<float>(), tensor.num_elements(), 1.0f);
    feeds.push_back(std::move(tensor));
  }
  NodeId result = graph.AddNode("result", op);
  set_type(result, "T");
  graph.SetInputs(result, ports);
  ASSIGN_OR_RETURN(auto executor, Executor::Compile(graph, options));
  double fastest = 1e9;
  for (int i = 0; i < kRuns; ++i) {
    auto began = std::chrono::steady_clock::now();
    ASSIGN_OR_RETURN(std::vector<Tensor> results, executor->Run(feeds));
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    fastest = std::min(fastest, took.count());
  }
  return fastest;
}

}  // namespace

Expected<MachineRates> MeasureRates(ThreadPool& pool) {
  constexpr int64_t kSide = 1024, kElements = 12 << 20;
  ASSIGN_OR_RETURN(double product, FastestRun(pool, "MatMul", 2, {kSide, kSide}));
  ASSIGN_OR_RETURN(double pass, FastestRun(pool, "Neg", 1, {kElements}));
  MachineRates rates;
  rates.flops = 2.0 * kSide * kSide * kSide / product;
  rates.bytes = 2.0 * sizeof(float) * kElements / pass;
  return rates;
}

Roofline::Roofline(const Module& module, llvm::ArrayRef<std::pair<std::string, Tensor>> feeds,
                   MachineRates rates)
    : original_(module), module_(module.Copy()), rates_(rates) {
  Graph& graph = module_->main;
  for (const auto& [name, value] : feeds) {
    auto port = FindTensor(graph, name);
    if (!port) {  // the graph that ran may have tensors that this module lacks
      llvm::consumeError(port.takeError());
      continue;
    }
    if (graph.node(port->node).op() != "Placeholder" || !value) continue;
    Shape shape(value.dims());
    graph.SetAttr(port->node, "shape", module_->Keep(attr::ShapeOf(shape)));
  }
  shapes_ = std::make_unique<ModuleShapes>(*module_);
}

const Graph* Roofline::CopyOf(const Graph& graph) const {
  if (&graph == &original_.main) return &module_->main;
  for (size_t i = 0; i < original_.functions.size() && i < module_->functions.size(); ++i)
    if (&original_.functions[i]->body == &graph) return &module_->functions[i]->body;
  return nullptr;
}

std::optional<double> Roofline::LeastTime(const Graph& graph, llvm::ArrayRef<NodeId> nodes) const {
  const Graph* copy = CopyOf(graph);
  if (!copy || nodes.empty() || nodes.back() >= copy->end_id()) return std::nullopt;
  const ShapeMap& shapes = shapes_->Of(*copy);
  double flops = 0, bytes = 0;
  auto move = [&](Port port) {
    auto size = BytesOf(shapes.TypeOf(port), shapes.OfPort(port));
    bytes += static_cast<double>(size.value_or(0));
    return size.has_value();
  };
  llvm::DenseSet<std::pair<NodeId, int32_t>> read;
  for (NodeId id : nodes) {
    Node node = copy->node(id);
    if (MovesNothing(node.op()) || !CalledFunctions(node).empty()) return std::nullopt;
    auto work = EstimateFlops(node, shapes);
    if (!work) return std::nullopt;
    flops += static_cast<double>(*work);
    for (int i = 0; i < node.num_inputs(); ++i) {
      Port port = node.input(i);
      if (llvm::is_contained(nodes, port.node) || !read.insert({port.node, port.index}).second)
        continue;
      if (!move(port)) return std::nullopt;
    }
  }
  for (int i = 0; i < shapes.NumOutputs(nodes.back()); ++i)
    if (!move({nodes.back(), i})) return std::nullopt;
  double least = std::max(flops / rates_.flops, bytes / rates_.bytes) * 1e9;
  return least > 0 ? std::optional(least) : std::nullopt;
}

}  // namespace grapnel
