// Places a graph: chooses a device for every node as TensorFlow's placer does, and records the
// reasons.
#ifndef GRAPNEL_LIB_PLACE_PLACER_H_
#define GRAPNEL_LIB_PLACE_PLACER_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/place/colocation.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC PlacerOptions {
  // Replaces a device that is not available by one that is, within the same task. TensorFlow 2's
  // default; a v1 session's default is hard.
  bool soft = true;
  // The device for nodes that could be here as well as elsewhere: the device of a function's
  // caller. An index in the DeviceSet.
  std::optional<int> default_device;
  PlacerFlagNames words;
};

// The rule that chose a node's device.
enum class PlacementRule : uint8_t {
  kNone,       // not placed
  kAssigned,   // the runtime had already placed it
  kIdentity,   // an Identity stays with its input
  kMetadata,   // Shape, Size and Rank stay with their input
  kGenerator,  // a node without inputs goes to its readers' device
  kGroup,      // another member of its group was placed first
  kDefault,    // the default device is possible
  kFirst,      // the first possible device
};

struct GRAPNEL_PUBLIC NodePlacement {
  int device = -1;  // index in the DeviceSet
  PlacementRule rule = PlacementRule::kNone;
  bool was_softened = false;  // the request's type and id were dropped
  NodeId witness = kNoNode;   // kIdentity, kMetadata: its input; kGenerator: a reader; kGroup: the
                              // member that was placed first
};

struct GRAPNEL_PUBLIC Placement {
  std::vector<NodePlacement> nodes;  // by id; kNone for unused ids
  std::vector<NodeId> order;         // the order in which TensorFlow places and logs them
  std::unique_ptr<Colocation> groups;
  std::vector<ColocationGroup> asked;  // by root: each group before any node was placed
  std::optional<PlacementFailure> failure;

  const NodePlacement& Of(NodeId id) const { return nodes[id]; }
};

// Places every node of `graph`, which is not changed. On failure, `nodes` is incomplete. Cost:
// linear in nodes and edges; 100,000 nodes take some 0.1 s.
GRAPNEL_PUBLIC Placement Place(const Graph& graph, const DeviceSet& devices,
                               const KernelCatalog& kernels, const PlacerOptions& options);

// The order in which TensorFlow visits nodes: the file's. It is the order of the node ids in a
// dump, and in a file where each node comes after its inputs, as TensorFlow writes them. TensorFlow
// sorts other files when it reads them; this does not.
GRAPNEL_PUBLIC std::vector<NodeId> PlacementOrder(const Graph& graph);

// Text of a rule for tables: "first possible device".
GRAPNEL_PUBLIC const char* RuleText(PlacementRule rule);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACER_H_
