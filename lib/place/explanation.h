// Answers "why is this node there?" and "why can this graph not be placed?".
#ifndef GRAPNEL_LIB_PLACE_EXPLANATION_H_
#define GRAPNEL_LIB_PLACE_EXPLANATION_H_

#include <string>

#include "lib/place/placer.h"

namespace grapnel {

// What an explanation speaks of; all must outlive it.
struct PlacementContext {
  const Graph& graph;
  const DeviceSet& devices;
  const KernelCatalog& kernels;
  const PlacerOptions& options;
  const Placement& placement;
};

// The chain of reasons for one node, as lines of text: what it asks for, which kernels there are,
// which edges put it in its group and which member asked for what, which requests did not count,
// which rule chose. Cost: the graph.
std::string ExplainNode(const PlacementContext& context, const Node& node);

// The failure: TensorFlow's message, the nodes and edges that conflict, what to change.
std::string ExplainFailure(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_EXPLANATION_H_
