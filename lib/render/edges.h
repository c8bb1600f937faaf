// The edges of a graph, gathered between the boxes of a picture.
#ifndef GRAPNEL_LIB_RENDER_EDGES_H_
#define GRAPNEL_LIB_RENDER_EDGES_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/ir/graph.h"
#include "llvm/ADT/ArrayRef.h"

namespace grapnel {

// Where a node is drawn: the index of a box, or one of these.
constexpr uint32_t kBoxOutside = ~uint32_t{0};     // not selected
constexpr uint32_t kBoxFolded = ~uint32_t{0} - 1;  // said beside its readers

// More control edges into or out of one box than this hide everything else.
constexpr size_t kControlFan = 8;

// Whether tensors of this dtype stand for what lies elsewhere: resources, variants.
bool IsHandleType(DataType dtype);

// Whether a node hands values to the next turn of a v1 loop: edges from it run back.
bool IsNextIteration(const Node& node);

// All edges of one kind from one box to another.
struct EdgeBundle {
  uint32_t from = 0, to = 0;
  bool control = false;
  uint32_t count = 0;
  bool back = true;     // nothing but what NextIteration hands to the next turn of a loop
  bool handles = true;  // no tensor in it but resources and variants; false of a control edge
  // "float[?,28]" when all its tensors agree; "float" or "[?,28]" when they agree so far; else
  // empty.
  std::string label;
};

// Every input of every selected node is in exactly one of these.
struct EdgeCounts {
  uint64_t data = 0, control = 0;  // in bundles
  uint64_t inside = 0;             // both ends in one box
  uint64_t folded = 0;             // at least one end folded
  uint64_t outside = 0;            // from a node that is not selected
  uint64_t dangling = 0;           // from nowhere: a broken graph
  uint64_t Total() const { return data + control + inside + folded + outside + dangling; }
};

// What a port holds, "float[?,28]"; empty when nothing is known. May be null.
using PortLabel = std::function<std::string(Port)>;
// The dtype of a port.
using PortType = std::function<DataType(Port)>;

// What two labels agree in: all, the dtype, the shape, or nothing (empty).
std::string CommonLabel(llvm::StringRef a, llvm::StringRef b);

// `box_of` has an entry for each id of the graph. Sorted by (from, to, control). `label` is called
// once for each (port, box) at most. Linear in edges, but for the sorting of bundles.
std::vector<EdgeBundle> BundleEdges(const Graph& graph, llvm::ArrayRef<uint32_t> box_of,
                                    const PortLabel& label, const PortType& type,
                                    EdgeCounts* counts);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_RENDER_EDGES_H_
