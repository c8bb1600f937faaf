// Finds the nodes that must share a device, and the device that each such group requests.
//
// TensorFlow's rules, in its order: each node starts as a group of one with its own request. Then
// groups are joined: the ends of resource and reference edges (the reader's request gives way),
// dataset nodes along variant edges, nodes that the bodies of handle-returning functions tie
// together, and all nodes with one name in _class.
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
  NodeId a, b;     // an edge runs from a to b; kClass: b is the first node with the class
  uint32_t label;  // kClass: the name's StringId, 0 if no node has the name; kFunction: the
                   // NodeId of the call
};

// A request that was overridden, wholly or in part.
struct GRAPNEL_PUBLIC DroppedRequest {
  NodeId node;     // the node at which the groups were joined
  NodeId from;     // the other end
  DeviceSpec was;  // the group's request before
  DeviceSpec now;  // the request that replaced it
  ColocationEdge::Kind kind;
};

// The reason why a graph cannot be placed.
struct GRAPNEL_PUBLIC PlacementFailure {
  std::string message;                // TensorFlow's, where it has one
  std::vector<NodeId> nodes;          // the smallest set that conflicts, as a chain
  std::vector<ColocationEdge> edges;  // between one of them and the next
  std::vector<std::string> advice;    // changes to make, a sentence each
};

// Device types that have a kernel for a node, or for every member of a group.
struct GRAPNEL_PUBLIC KernelTypes {
  uint32_t bits = 0;            // of DeviceSet::types()
  std::vector<int> priorities;  // of kernels, by index in DeviceSet::types(); empty: all are 0

  bool Has(int type) const { return bits & (uint32_t{1} << type); }
  int PriorityOf(int type) const { return priorities.empty() ? 0 : priorities[type]; }
  // Intersects the types. Priorities are kept if only one side has them, or both in the same order.
  void MeetWith(const KernelTypes& other);
};

// The state of one group; kept at its root.
struct GRAPNEL_PUBLIC ColocationGroup {
  NodeId parent = kNoNode;
  uint32_t rank = 0;
  KernelTypes types;     // types that every member has a kernel for
  DeviceSpec requested;  // members' requests, merged; narrower than the next two
  DeviceSpec resource;   // requests of its nodes that make handles and references
  DeviceSpec assigned;   // where the runtime has already placed a member
};

struct GRAPNEL_PUBLIC ColocationInput {
  const Graph& graph;
  const DeviceSet& devices;
  const KernelCatalog& kernels;
  bool soft = true;  // conflicts of type and id are resolved, not errors
  // Nodes in TensorFlow's order.
  llvm::ArrayRef<NodeId> order;
  const PlacerFlagNames& words;  // for advice
};

// Cost: a pass over nodes and data edges, with union-find.
class GRAPNEL_PUBLIC Colocation {
 public:
  // Groups the graph's nodes. On failure, `failure()` has the reason and the groups are incomplete.
  // `depth`: how many calls deep the graph is, for function bodies.
  explicit Colocation(const ColocationInput& input, int depth = 0);

  const std::optional<PlacementFailure>& failure() const { return failure_; }
  NodeId RootOf(NodeId node) const;
  ColocationGroup& GroupOf(NodeId node) { return groups_[RootOf(node)]; }
  const ColocationGroup& GroupOf(NodeId node) const { return groups_[RootOf(node)]; }
  // The node's own request; open if it has none (or is assigned).
  const DeviceSpec& RequestOf(NodeId node) const { return own_[node]; }
  // A spanning forest of the groups.
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
  // The chain from `node` to the nearest member whose own request is incompatible with `name` (with
  // `wanted`: is compatible and not open). Empty without such a member.
  Chain NearestRequest(NodeId node, const DeviceSpec& name, bool wanted) const;

  // True for nodes that the runtime has placed already: arguments and results of a function with a
  // device.
  static bool IsAssigned(const Node& node);

 private:
  friend class ColocationBuilder;
  mutable std::vector<ColocationGroup> groups_;  // looking up a root shortens paths
  std::vector<DeviceSpec> own_;
  std::vector<uint32_t> own_types_;
  std::vector<ColocationEdge> edges_;
  std::vector<DroppedRequest> dropped_;
  std::optional<PlacementFailure> failure_;
};

// Type bits as text: "CPU, GPU".
GRAPNEL_PUBLIC std::string TypesText(const DeviceSet& devices, uint32_t types);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_PLACE_COLOCATION_H_
