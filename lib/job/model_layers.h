// The layers of a model, with the shapes and costs of one run.
#ifndef GRAPNEL_LIB_JOB_MODEL_LAYERS_H_
#define GRAPNEL_LIB_JOB_MODEL_LAYERS_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/io/layers/layer_row.h"
#include "lib/io/layers/layers.h"
#include "lib/job/opened_graph.h"
#include "lib/shape/body_costs.h"

namespace grapnel {

struct ModelLayers {
  LayerTable table;
  // By layer: the shapes of its outputs, in which an unknown size is kUnknownDim.
  std::vector<std::vector<Shape>> shapes;
  // By layer, with those of nested layers: floating-point operations of one run, the bytes of the
  // tensors that it creates, and the nodes of unknown cost. Nodes that no output needs do not
  // count. Empty: unknown, as for several signatures without a default.
  std::vector<RunCost> costs;
  RunCost total;              // with those of nodes between layers
  int64_t assumed_batch = 0;  // the batch size that the costs assume; 0: the graph says it
};

// Finds the layers of the default signature's network or, without signatures, of the graph; of a
// file that has several signatures but no default, the layers of all of them, without costs. Empty
// if there are none. Errors make no difference: what they prevent is left out. Takes time linear in
// the module, except for the order of the layers.
ModelLayers LayersOfModel(const OpenedGraph& opened);

// Returns the layers of LayersOfModel in their order, as rows of a table.
std::vector<LayerRow> LayerRowsOf(const OpenedGraph& opened);

// The parameters and costs of all layers as the lines that model.summary() ends with.
std::string TotalsText(const ModelLayers& layers);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_JOB_MODEL_LAYERS_H_
