// Builds the message for a graph that cannot be placed: TensorFlow's sentence, which users search
// for, then the nodes and edges that conflict and what to change.
#ifndef GRAPNEL_LIB_PLACE_FAILURE_TEXT_H_
#define GRAPNEL_LIB_PLACE_FAILURE_TEXT_H_

#include "lib/place/colocation.h"

namespace grapnel {

// Failures of a single node.
PlacementFailure NoKernel(const ColocationInput& input, const Node& node);
PlacementFailure MalformedDevice(const Node& node, const std::string& error);
PlacementFailure UnknownAssignedDevice(const ColocationInput& input, const Node& node);
PlacementFailure AssignedWithoutKernel(const Node& node);
// Failure: the edge from `src` to `dst` would join two groups that are bound to different devices,
// by the runtime (`assigned`) or by the nodes that make their handles.
PlacementFailure EdgeConflict(const Colocation& groups, const ColocationInput& input,
                              const Node& src, const Node& dst, ColocationEdge::Kind kind,
                              const DeviceSpec& from, const DeviceSpec& to, bool assigned);
// Failure: the edge would join two groups that cannot share a device. `error` is TensorFlow's
// sentence, `at` the node that the sentence names.
PlacementFailure ColocationConflict(const Colocation& groups, const ColocationInput& input,
                                    const ColocationEdge& edge, std::string error,
                                    llvm::StringRef at);
// TensorFlow's sentence for two groups without a common device type.
Error NoCommonType(const Colocation& groups, const ColocationInput& input,
                   const ColocationEdge& edge);
// Failure: the group of `node` cannot share a device with the group in the body of the function
// that `call` calls.
PlacementFailure CallConflict(const Colocation& groups, const ColocationInput& input, NodeId node,
                              const Node& call, std::string error);
PlacementFailure RecursiveCall(const Node& call, llvm::StringRef function);
PlacementFailure InFunction(const Node& call, llvm::StringRef function,
                            const PlacementFailure& inside);
// Failure: no device both has kernels for the node's group and matches its request.
PlacementFailure NoDevice(const Colocation& groups, const ColocationInput& input, const Node& node);

// Describes the reason for an edge: "a reference to a variable goes from 'v' to 'assign'".
std::string ColocationEdgeText(const Graph& graph, const ColocationEdge& edge);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_FAILURE_TEXT_H_
