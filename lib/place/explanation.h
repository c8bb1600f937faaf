// Answers "why is this node on this device?" and "why can this graph not be placed?".
#ifndef GRAPNEL_LIB_PLACE_EXPLANATION_H_
#define GRAPNEL_LIB_PLACE_EXPLANATION_H_

#include <map>
#include <string>

#include "lib/place/placer.h"

namespace grapnel {

// The input of an explanation. The objects that it refers to must outlive it.
struct PlacementContext {
  const Graph& graph;
  const DeviceSet& devices;
  const KernelCatalog& kernels;
  const PlacerOptions& options;
  const Placement& placement;
  // The bytes of the variables that arguments of the graph refer to, by the argument's node; an
  // argument without an entry does not refer to a variable of known size. Null: none are known.
  const std::map<NodeId, int64_t>* variables = nullptr;
  // By node: whether tables count it. Null: all. In a graph of TensorFlow 1, which is placed as a
  // whole, these are the nodes that the signature needs.
  const std::vector<bool>* counted = nullptr;
  bool Counts(NodeId id) const { return !counted || (*counted)[id]; }
};

// Explains one node's device, as lines of text, as far as they apply: its request, the op's
// kernels, the edges that put the node in its group, its members' requests, overridden requests,
// and the rule that decided. Cost: a pass over the graph.
std::string ExplainNode(const PlacementContext& context, const Node& node);

// Returns why the node, which has a device, is not on a device that `wanted` names, in one clause:
// "TensorFlow 2.21 has no kernel for it: none on GPU, whatever the dtype". Cost: a pass over the
// graph.
std::string WhyNotOn(const PlacementContext& context, const Node& node, const DeviceSpec& wanted);

// Explains the failure: TensorFlow's message, the nodes and edges that conflict, and what to
// change.
std::string ExplainFailure(const PlacementContext& context);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_EXPLANATION_H_
