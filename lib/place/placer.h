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
  // If the requested device is not available, uses another one of the same task. TensorFlow 2 does
  // so by default; a v1 session does not.
  bool soft = true;
  // The preferred device of every node that can be there; for a function's body, the caller's
  // device. An index in the DeviceSet.
  std::optional<int> default_device;
  PlacerFlagNames words;
};

// The rule that chose a node's device.
enum class PlacementRule : uint8_t {
  kNone,       // the node was not placed
  kAssigned,   // the runtime had already placed the node
  kIdentity,   // an Identity is placed with its input
  kMetadata,   // Shape, Size and Rank are placed with their input
  kGenerator,  // a node without inputs is placed with its readers
  kGroup,      // another member of the node's group was placed first
  kDefault,    // the default device is possible for the node
  kFirst,      // the first possible device
};

struct GRAPNEL_PUBLIC NodePlacement {
  int device = -1;  // index in the DeviceSet
  PlacementRule rule = PlacementRule::kNone;
  bool was_softened = false;  // the request's device type and id were dropped
  // The node whose device this node takes: for kIdentity and kMetadata its input, for kGenerator a
  // reader, for kGroup the member of its group that was placed first.
  NodeId witness = kNoNode;
};

struct GRAPNEL_PUBLIC Placement {
  std::vector<NodePlacement> nodes;  // by node id; kNone for unused ids
  std::vector<NodeId> order;         // the order in which TensorFlow places and logs them
  std::unique_ptr<Colocation> groups;
  std::vector<ColocationGroup> asked;  // by root: each group's state before any node was placed
  std::optional<PlacementFailure> failure;

  const NodePlacement& Of(NodeId id) const { return nodes[id]; }
};

// Places every node of `graph`, which is not changed. On failure, `nodes` is incomplete. Cost:
// linear in nodes and edges; 100,000 nodes take some 0.1 s.
GRAPNEL_PUBLIC Placement Place(const Graph& graph, const DeviceSet& devices,
                               const KernelCatalog& kernels, const PlacerOptions& options);

// The order in which TensorFlow visits nodes, which is the file's order if each node in the file
// comes after its inputs, as in files and dumps that TensorFlow writes. TensorFlow sorts other
// files when it reads them; this function does not.
GRAPNEL_PUBLIC std::vector<NodeId> PlacementOrder(const Graph& graph);

// Text of a rule for tables, such as "first possible device".
GRAPNEL_PUBLIC const char* RuleText(PlacementRule rule);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACER_H_
