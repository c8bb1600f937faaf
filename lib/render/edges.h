// Collects the edges of a graph between the boxes of a picture.
#ifndef GRAPNEL_LIB_RENDER_EDGES_H_
#define GRAPNEL_LIB_RENDER_EDGES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

// Values in place of a node's box index, for nodes without a box.
constexpr uint32_t kBoxOutside = ~uint32_t{0};     // the node is not selected, or hidden
constexpr uint32_t kBoxFolded = ~uint32_t{0} - 1;  // folded into others (lib/render/selection.h)

// If control edges come to a box from more boxes than this, or go from it to more, they are not
// drawn: its notes mention them.
constexpr size_t kControlFan = 8;

// True for dtypes that refer to data elsewhere: resources, variants.
bool IsHandleType(DataType dtype);

// True if a node passes values to the next iteration of a v1 loop: edges from it run back.
bool IsNextIteration(const Node& node);

// All edges of one kind from one box to another.
struct EdgeBundle {
  uint32_t from = 0, to = 0;
  bool control = false;
  uint32_t count = 0;
  // The numbers of nodes at either end of control edges: less than `count` if, for example, one
  // node waits for several. They add up over bundles that have different boxes at that end.
  uint32_t producers = 0, waiters = 0;
  bool back = true;     // all edges are from NextIteration
  bool handles = true;  // all are resources or variants; false for control edges
  // "float[?,28]" if all tensors of the bundle have this dtype and shape; "float" or "[?,28]" if
  // they have only one of these in common; else empty.
  std::string label;
};

// The nodes at the ends of a bundle's control edges.
struct ControlEnds {
  llvm::SmallDenseSet<NodeId, 4> producers, waiters;
  void Add(NodeId producer, NodeId waiter) {
    producers.insert(producer);
    waiters.insert(waiter);
  }
};

// Numbers of inputs of the selected nodes that are not hidden. Each input counts in exactly one of
// these fields.
struct EdgeCounts {
  uint64_t data = 0, control = 0;  // drawn in bundles
  uint64_t inside = 0;             // both ends in one box
  uint64_t folded = 0;             // at least one end folded
  uint64_t outside = 0;            // from a node that is not selected, or hidden
  uint64_t dangling = 0;           // the graph lacks the node or output: a broken graph
  uint64_t Total() const { return data + control + inside + folded + outside + dangling; }
};

// Returns the dtype and shape of a port, "float[?,28]"; empty if unknown. The function may be null.
using PortLabel = std::function<std::string(Port)>;
// Returns the dtype of a port.
using PortType = std::function<DataType(Port)>;

// Returns the common part of two labels: the whole label, the dtype, the shape, or "".
std::string CommonLabel(llvm::StringRef a, llvm::StringRef b);

// Returns the bundles sorted by (from, to, control). `box_of` has an entry for each node id. Calls
// `label` only once for consecutive edges of a bundle from the same port. Linear in edges, except
// for sorting the bundles.
std::vector<EdgeBundle> BundleEdges(const Graph& graph, llvm::ArrayRef<uint32_t> box_of,
                                    const PortLabel& label, const PortType& type,
                                    EdgeCounts* counts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_EDGES_H_
