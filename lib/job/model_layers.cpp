#include "lib/job/model_layers.h"

#include "lib/io/layers/layer_names.h"
#include "lib/io/signature.h"
#include "lib/job/model_run.h"
#include "lib/job/signature_graph.h"
#include "lib/support/text.h"

namespace grapnel {
namespace {

Shape WithoutSymbols(Shape shape) {
  for (int i = 0; shape.known_rank() && i < shape.rank(); ++i) {
    if (!shape.IsKnown(i)) shape.set_dim(i, kUnknownDim);
  }
  return shape;
}

void FindShapes(const Module& module, ModelLayers* layers) {
  ModuleShapes shapes(module);
  for (const ModelLayer& layer : layers->table.layers()) {
    std::vector<Shape>& found = layers->shapes.emplace_back();
    for (const LayerOutput& output : layer.outputs) {
      const Function* function =
          output.function.empty() ? nullptr : module.FindFunction(output.function);
      if (!output.function.empty() && !function) continue;
      const Graph& graph = function ? function->body : module.main;
      Node node = graph.Find(output.node);
      if (node) found.push_back(WithoutSymbols(shapes.Of(graph).OfPort({node.id(), output.index})));
    }
  }
}

void Add(const RunCost& more, RunCost* cost) {
  int64_t flops;
  bool is_too_large = __builtin_add_overflow(cost->flops, more.flops, &flops);
  cost->flops = is_too_large ? INT64_MAX : flops;
  cost->bytes += more.bytes;
  cost->open += more.open;
}

void FindCosts(const OpenedGraph& opened, ModelLayers* layers) {
  auto run = ModelRun::Of(opened, "", /*assumed_batch=*/1);
  if (!run) {
    llvm::consumeError(run.takeError());
    return;
  }
  layers->assumed_batch = run->assumed_batch();
  layers->costs.resize(layers->table.layers().size());
  for (NodeId id : run->NodesThatRun()) {
    Node node = run->main().node(id);
    RunCost cost = run->OfNode(node);
    Add(cost, &layers->total);
    for (int layer = layers->table.LayerOf("", node.name()); layer >= 0;
         layer = layers->table.layers()[layer].parent)
      Add(cost, &layers->costs[layer]);
  }
}

}  // namespace

ModelLayers LayersOfModel(const OpenedGraph& opened) {
  ModelLayers layers;
  const GraphInFile& file = opened.file();
  if (!file.module) return layers;
  // A part of a file, such as the network of a signature, is what it is.
  const Signature* signature = file.whole ? nullptr : DefaultSignature(file);
  OpenedGraph network = opened.Copy();
  if (signature) {
    if (Error error = TakeSignature(signature->name, {}, &network).takeError()) {
      llvm::consumeError(std::move(error));
      signature = nullptr;
    }
  }
  layers.table = LayersOf(signature ? network.file() : file);
  if (layers.table.empty()) return layers;
  FindShapes(network.module(), &layers);
  if (signature || file.whole || DistinctSignatures(file).empty()) FindCosts(opened, &layers);
  return layers;
}

std::vector<LayerRow> LayerRowsOf(const OpenedGraph& opened) {
  ModelLayers layers = LayersOfModel(opened);
  const LayerNames names(layers.table);
  std::vector<LayerRow> rows;
  for (size_t i = 0; i < layers.table.layers().size(); ++i) {
    const ModelLayer& layer = layers.table.layers()[i];
    LayerRow& row = rows.emplace_back();
    row.name = names.PathOf(static_cast<int>(i));
    row.class_name = layer.class_name;
    row.parent = names.PathOf(layer.parent);
    if (!layers.shapes[i].empty()) row.shape = layers.shapes[i][0].ToString();
    row.parameters = layers.table.ParametersOf(static_cast<int>(i)).all;
    if (!layers.costs.empty()) row.flops = layers.costs[i].flops;
  }
  return rows;
}

std::string TotalsText(const ModelLayers& layers) {
  ParameterCount count = layers.table.ParametersOf(-1);
  const char* least = count.is_open ? "at least " : "";
  std::string text =
      "total params: " + (least + WithCommas(count.all)) + " (" + HumanBytes(count.bytes) + ")";
  if (count.is_told)
    text += "; trainable params: " + WithCommas(count.trainable) +
            "; non-trainable params: " + WithCommas(count.all - count.trainable);
  if (layers.costs.empty()) return text + "\n";
  text += "\n" + std::string(layers.total.open > 0 ? "at least " : "") +
          WithCommas(layers.total.flops) + " FLOPs";
  if (layers.assumed_batch > 0)
    text +=
        " with a batch of " + std::to_string(layers.assumed_batch) + " (it is unknown: --batch)";
  if (layers.total.open > 0)
    text += "; not counted: " + Plural(layers.total.open, "node") +
            " with an unknown shape or a loop (--shape, --batch)";
  return text + "\n";
}

}  // namespace grapnel
