// Places a graph: a device for every node, as TensorFlow's placer chooses it, with the reason kept.
#ifndef GRAPNEL_LIB_PLACE_PLACER_H_
#define GRAPNEL_LIB_PLACE_PLACER_H_

#include <memory>
#include <optional>
#include <vector>

#include "lib/place/colocation.h"
#include "lib/support/public.h"

namespace grapnel {

struct GRAPNEL_PUBLIC PlacerOptions {
  // What cannot be had is replaced by something that can, within the same task. TensorFlow 2's
  // default; a v1 session's is hard.
  bool soft = true;
  // Where nodes go that could be here as well as elsewhere: a function's caller's device. Index in
  // the DeviceSet.
  std::optional<int> default_device;
  PlacerFlagNames words;
};

// Which rule chose a node's device.
enum class PlacementRule : uint8_t {
  kNone,       // not placed
  kAssigned,   // the runtime had placed it already
  kIdentity,   // an Identity stays with what it reads
  kMetadata,   // Shape, Size and Rank stay with what they look at
  kGenerator,  // what has no inputs goes where its only readers are
  kGroup,      // another member of its group was placed before
  kDefault,    // the default device is one of those possible
  kFirst,      // the first of those possible
};

struct GRAPNEL_PUBLIC NodePlacement {
  int device = -1;  // index in the DeviceSet
  PlacementRule rule = PlacementRule::kNone;
  bool was_softened = false;  // type and id of the request were given up
  NodeId witness = kNoNode;   // kIdentity, kMetadata: what it reads; kGenerator: a reader; kGroup:
                              // the member that was placed first
};

struct GRAPNEL_PUBLIC Placement {
  std::vector<NodePlacement> nodes;  // by id; those of holes are kNone
  std::vector<NodeId> order;         // in which TensorFlow places, and logs, them
  std::unique_ptr<Colocation> groups;
  std::vector<ColocationGroup> asked;  // by root: each group before any node was placed
  std::optional<PlacementFailure> failure;

  const NodePlacement& Of(NodeId id) const { return nodes[id]; }
};

// Places every node of `graph`; changes nothing. With a failure, `nodes` is as far as it got.
// Cost: linear in nodes and edges; 100,000 nodes take some 0.1 s.
GRAPNEL_PUBLIC Placement Place(const Graph& graph, const DeviceSet& devices,
                               const KernelCatalog& kernels, const PlacerOptions& options);

// The order in which TensorFlow looks at the nodes: the file's. It is that of the nodes' numbers in
// a dump, and in a file where each node comes after its inputs, as TensorFlow writes them; another
// file it sorts when it reads it, and we do not.
GRAPNEL_PUBLIC std::vector<NodeId> PlacementOrder(const Graph& graph);

// Text of a rule for tables: "first possible device".
GRAPNEL_PUBLIC const char* RuleText(PlacementRule rule);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_PLACER_H_
