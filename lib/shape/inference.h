// What is known of every tensor before anything runs: its shape, and the value of a small integer
// tensor.
#ifndef GRAPNEL_LIB_SHAPE_INFERENCE_H_
#define GRAPNEL_LIB_SHAPE_INFERENCE_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/module.h"
#include "lib/ir/shape.h"
#include "lib/support/public.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseSet.h"

namespace grapnel {

class ShapeMap;

struct GRAPNEL_PUBLIC ShapeOptions {
  // Whether what is fed has the shape that its placeholder promises. When false, as Grappler has it
  // by default, placeholders and fed nodes have no known shape, not even a rank.
  bool trust_feeds = true;
  // Nodes whose outputs are fed: their values are not used. Copied.
  const llvm::DenseSet<NodeId>* fed = nullptr;
  // Whether what readers need of a tensor is known of it: a placeholder without a known rank that a
  // MatMul reads has two dimensions, and one of them may be known from the other factor. Every
  // dimension that is not known is then a symbol. As Grappler has it.
  bool from_readers = false;
  // Where what readers need differs, the first counts. By node id, its place among the readers;
  // nodes without one come last, in order of id. Used during InferShapes only.
  llvm::ArrayRef<uint32_t> ranks;
  // Whether results of calls, branches and loops are inferred through the functions' bodies,
  // elements of a TensorList through what made the list, and sizes through arithmetic. When false,
  // as Grappler has it, a call says nothing of its results, a branch or loop what its attribute
  // `output_shapes` does, an element has the shape that its reader asks for, and of elements of
  // small tensors only what joins, cuts or hands them on says more.
  bool sees_inside = true;
  // Shapes of another body of the module: what is known of ops is kept once for both. For the
  // thread that `beside` is for.
  const ShapeMap* beside = nullptr;
};

// One element of an integer tensor that is known in part. A known element is its value, negative
// ones included; any other is at or near the smallest int64: kUnknownElement, or the symbol of a
// dimension (lib/ir/shape.h) whose size it is. No dimension that a tensor can have is mistaken for
// either.
constexpr int64_t kUnknownElement = std::numeric_limits<int64_t>::min();
constexpr bool IsKnownElement(int64_t element) { return element >= kUnknownElement / 2; }
constexpr int64_t ElementOfDim(int64_t dim) {
  return dim >= 0 ? dim : kUnknownElement + (kUnknownDim - dim);
}
// The dimension that has this element as its size; kUnknownDim for a negative one.
constexpr int64_t DimOfElement(int64_t element) {
  if (!IsKnownElement(element)) return kUnknownDim - (element - kUnknownElement);
  return element < 0 ? kUnknownDim : element;
}

// The result of InferShapes. Follows the graph when told what changed; the graph must outlive it.
// References that it gives hold until the next Update. For one thread at a time, readers too
// (dtypes are worked out when first asked for).
class GRAPNEL_PUBLIC ShapeMap {
 public:
  ShapeMap(ShapeMap&&) noexcept;
  ShapeMap& operator=(ShapeMap&&) noexcept;
  ~ShapeMap();

  // Shape::Unknown() when nothing is known, of control ports, and of ports that are not there.
  const Shape& OfPort(Port port) const;
  // DT_INVALID as TypeOfPort has it.
  DataType TypeOf(Port port) const;
  // The elements of an int32, int64 or bool (0 or 1) tensor of at most kMaxElements of them,
  // row-major, of the shape of the port; each known, unknown or a symbol (above). nullopt when
  // nothing is known of them. Never what is fed.
  std::optional<llvm::ArrayRef<int64_t>> ElementsOf(Port port) const;
  // The same when every element is known.
  std::optional<llvm::ArrayRef<int64_t>> IntegersOf(Port port) const;
  // Of a resource or variant that holds tensors (variable, list, array): the shape of one. Else
  // Shape::Unknown().
  const Shape& OfContent(Port port) const;

  // How many outputs the node has: as many as its op, or as are known of one that nobody defines.
  // 0 of a node that is not there or that lies on a cycle that is no loop.
  int NumOutputs(NodeId id) const;

  // Shapes that cannot fit, by node: `MatMul needs matching inner sizes, got [2,3] and [4,5]`.
  // TensorFlow refuses to import such a main graph, so there they are errors; in a function, which
  // may never run, warnings.
  const std::vector<Problem>& problems() const;

  // Works out the node anew, and what follows it as far as anything changes. For a node that is
  // new, changed, or gone. What a v1 loop carries never gets better known than it was: it is
  // widened.
  void Update(NodeId id);
  // Whether an update touched who demands something of what it reads (ShapeOptions::from_readers).
  // What was met stays met: only inferring all anew tells what is demanded now.
  bool DemandsChanged() const;

  // What a call of `function` gives for arguments of the shapes that they have in `body`, which is
  // of its body, is there already: then that is not inferred again. Where more was known in the
  // body than a call says, it stays to be inferred.
  void AddCall(const Function& function, const ShapeMap& body);

  static constexpr int64_t kMaxElements = 64;

 private:
  friend class ModuleShapes;
  friend ShapeMap InferShapes(const Graph&, const ShapeOptions&, llvm::ArrayRef<Shape>);
  class Impl;
  explicit ShapeMap(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Shapes of all tensors of a main graph or a function's body. `arg_shapes` are those of the
// function's arguments, in order (of one that is a resource, of what it holds); without them an
// argument has the shape that the function's file gives it. A dimension of a placeholder or
// argument that is not known becomes a symbol, numbered in the order of nodes; with `from_readers`
// any such dimension does.
//
// Follows TensorFlow's shape functions, and knows more in four places: symbols; loops of v1 control
// flow and functional ones; calls, which are inferred through the function's body; elements of
// shape tensors with unknown ones among them. An op without a shape function has the shapes of its
// `_output_shapes` or `shape` attribute.
//
// Linear in nodes and edges, each loop a few times; the body of a function once for each distinct
// set of argument shapes, a few dozen at most. Nodes on a cycle that is no loop are left unknown.
GRAPNEL_PUBLIC ShapeMap InferShapes(const Graph& graph, const ShapeOptions& options = {},
                                    llvm::ArrayRef<Shape> arg_shapes = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_INFERENCE_H_
