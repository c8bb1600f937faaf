// Finds the nodes that must share a device, and the device that each such group requests.
//
// TensorFlow's rules, in TensorFlow's order: each node starts as a group of one with its own
// request. Then groups are joined: the ends of resource and reference edges (if the two requests
// conflict, the reader's is dropped), dataset nodes along variant edges, inputs and results of a
// function that returns handles if its body colocates them, and all nodes with one name in _class.
#ifndef GRAPNEL_LIB_PLACE_COLOCATION_H_
#define GRAPNEL_LIB_PLACE_COLOCATION_H_

#include <optional>
#include <string>
#include <vector>

#include "lib/ir/module.h"
#include "lib/place/device_set.h"
#include "lib/place/kernel_catalog.h"
#include "lib/place/words.h"
#include "lib/support/public.h"

namespace grapnel {

// The reason why two nodes are in one group.
struct GRAPNEL_PUBLIC ColocationEdge {
  enum Kind : uint8_t { kResource, kReference, kDataset, kFunction, kClass };
  Kind kind;
  NodeId a, b;     // an edge runs from a to b; kClass: b is the first node with the name
  uint32_t label;  // kClass: the name's StringId, 0 if it has none; kFunction: the
                   // NodeId of the call
};

// A request that was overridden, wholly or in part.
struct GRAPNEL_PUBLIC DroppedRequest {
  NodeId node;     // the node at which the groups were joined
  NodeId from;     // the node at the other end
  DeviceSpec was;  // the group's request before
  DeviceSpec now;  // the request that replaced it
  ColocationEdge::Kind kind;
};

// The reason why a graph cannot be placed.
struct GRAPNEL_PUBLIC PlacementFailure {
  std::string message;                // TensorFlow's, if TensorFlow has one
  std::vector<NodeId> nodes;          // a chain of conflicting nodes, or one node
  std::vector<ColocationEdge> edges;  // edges[i] connects nodes[i] and nodes[i + 1]
  std::vector<std::string> advice;    // changes that the user can make, a sentence each
};

// Device types that have a kernel for a node, or for every member of a group.
struct GRAPNEL_PUBLIC KernelTypes {
  uint32_t bits = 0;            // one for each of DeviceSet::types()
  std::vector<int> priorities;  // of kernels, by index in DeviceSet::types(); empty: all are 0

  bool Has(int type) const { return bits & (uint32_t{1} << type); }
  int PriorityOf(int type) const { return priorities.empty() ? 0 : priorities[type]; }
  // Intersects the types. Keeps the priorities if only one side has any, or if both sides order the
  // common types alike.
  void MeetWith(const KernelTypes& other);
};

// The state of one group; stored at the group's root node. Placing a member narrows `requested`,
// `resource` and `assigned` to the member's device.
struct GRAPNEL_PUBLIC ColocationGroup {
  NodeId parent = kNoNode;
  uint32_t rank = 0;
  KernelTypes types;     // types that all members can be on
  DeviceSpec requested;  // members' requests, merged; at least as narrow as the next two
  DeviceSpec resource;   // merged requests of members that make handles and references
  DeviceSpec assigned;   // the device on which a member is already placed
};

struct GRAPNEL_PUBLIC ColocationInput {
  const Graph& graph;
  const DeviceSet& devices;
  const KernelCatalog& kernels;
  bool soft = true;  // conflicting device types and ids are dropped, not errors
  // Nodes in TensorFlow's order.
  llvm::ArrayRef<NodeId> order;
  const PlacerFlagNames& words;  // setting names for advice
};

// Cost: a pass over nodes and data edges, with union-find.
class GRAPNEL_PUBLIC Colocation {
 public:
  // Groups the graph's nodes. On failure, `failure()` has the reason and the groups are incomplete.
  // `depth`: the number of calls that contain the graph; 0 for the main graph.
  explicit Colocation(const ColocationInput& input, int depth = 0);

  const std::optional<PlacementFailure>& failure() const { return failure_; }
  NodeId RootOf(NodeId node) const;
  ColocationGroup& GroupOf(NodeId node) { return groups_[RootOf(node)]; }
  const ColocationGroup& GroupOf(NodeId node) const { return groups_[RootOf(node)]; }
  // The node's own request; open (any device) if the node has none or is assigned.
  const DeviceSpec& RequestOf(NodeId node) const { return own_[node]; }
  // The edges that joined groups: one spanning tree for each group.
  llvm::ArrayRef<ColocationEdge> edges() const { return edges_; }
  llvm::ArrayRef<DroppedRequest> dropped() const { return dropped_; }
  // Device types with a kernel for the node alone.
  uint32_t OwnTypes(NodeId node) const { return own_types_[node]; }

  // Nodes and edges on the path from one node to another of the same group.
  struct Chain {
    std::vector<NodeId> nodes;
    std::vector<ColocationEdge> edges;
  };
  Chain ChainBetween(NodeId from, NodeId to) const;
  // Every member of the node's group, in order of id. Cost: a pass over the graph.
  std::vector<NodeId> MembersOf(NodeId node) const;
  // The chain from `node` to the nearest member of its group that has a request of its own,
  // compatible with `name` if `wanted`, else incompatible. Empty if there is no such member.
  Chain NearestRequest(NodeId node, const DeviceSpec& name, bool wanted) const;

  // True for nodes that the runtime has placed already: arguments and results of a function with a
  // device.
  static bool IsAssigned(const Node& node);

 private:
  friend class ColocationBuilder;
  mutable std::vector<ColocationGroup> groups_;  // mutable: looking up a root shortens paths
  std::vector<DeviceSpec> own_;
  std::vector<uint32_t> own_types_;
  std::vector<ColocationEdge> edges_;
  std::vector<DroppedRequest> dropped_;
  std::optional<PlacementFailure> failure_;
};

// Returns the types whose bits are set as text: "CPU, GPU", or "none".
GRAPNEL_PUBLIC std::string TypesText(const DeviceSet& devices, uint32_t types);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_COLOCATION_H_
