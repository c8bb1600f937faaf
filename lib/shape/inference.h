// Shape inference: the shape of every tensor, and the values of small integer tensors, without
// running the graph.
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
  // True: fed values have the shapes that their placeholders promise. False, Grappler's default:
  // placeholders and fed nodes have no known shape, not even a rank.
  bool trust_feeds = true;
  // Nodes whose outputs are fed: their values are not used. Copied.
  const llvm::DenseSet<NodeId>* fed = nullptr;
  // True: a tensor's readers also determine its shape, as in Grappler: a placeholder of unknown
  // rank that a MatMul reads has two dimensions, and the other factor may determine one of them.
  // Every unknown dimension is then a symbol.
  bool from_readers = false;
  // If readers require different things, the first one counts. Maps node id to position among
  // readers; nodes without one come last, in order of id. Used only during InferShapes.
  llvm::ArrayRef<uint32_t> ranks;
  // True: infers results of calls, branches and loops through the functions' bodies, elements of a
  // TensorList through the ops that made the list, and sizes through arithmetic. False, Grappler's
  // default: results of a call are unknown, a branch or loop has the shapes of its attribute
  // `output_shapes`, a list element has the shape that its reader requests, and elements of small
  // tensors survive only ops that join, cut or forward them.
  bool sees_inside = true;
  // Shapes of another body of the module, to share data about ops. Must run on the thread that uses
  // `beside`.
  const ShapeMap* beside = nullptr;
};

// One element of a partially known integer tensor. A known element is its value, negative ones
// included; any other is at or near the smallest int64: kUnknownElement, or the symbol of a
// dimension (lib/ir/shape.h) whose size it is. Neither can be confused with the size of a real
// dimension.
constexpr int64_t kUnknownElement = std::numeric_limits<int64_t>::min();
constexpr bool IsKnownElement(int64_t element) { return element >= kUnknownElement / 2; }
constexpr int64_t ElementOfDim(int64_t dim) {
  return dim >= 0 ? dim : kUnknownElement + (kUnknownDim - dim);
}
// The dimension whose size is this element; kUnknownDim for a negative one.
constexpr int64_t DimOfElement(int64_t element) {
  if (!IsKnownElement(element)) return kUnknownDim - (element - kUnknownElement);
  return element < 0 ? kUnknownDim : element;
}

// The result of InferShapes. Update() keeps it in step with changes of the graph, which must
// outlive it. References that it returns are valid until the next Update. Not thread-safe, not even
// for readers (computes dtypes on demand).
class GRAPNEL_PUBLIC ShapeMap {
 public:
  ShapeMap(ShapeMap&&) noexcept;
  ShapeMap& operator=(ShapeMap&&) noexcept;
  ~ShapeMap();

  // Shape::Unknown() for unknown shapes, control ports, and missing ports.
  const Shape& OfPort(Port port) const;
  // DT_INVALID in the same cases as TypeOfPort.
  DataType TypeOf(Port port) const;
  // The elements of an int32, int64 or bool (0 or 1) tensor with at most kMaxElements, row-major,
  // in the shape of the port; each is known, unknown or a symbol (above). nullopt if nothing is
  // known about them, and for fed tensors.
  std::optional<llvm::ArrayRef<int64_t>> ElementsOf(Port port) const;
  // The same if every element is known.
  std::optional<llvm::ArrayRef<int64_t>> IntegersOf(Port port) const;
  // The shape of one tensor in a resource or variant that holds tensors (variable, list, array);
  // otherwise Shape::Unknown().
  const Shape& OfContent(Port port) const;

  // The number of outputs: that of the op's definition, or for an undefined op the number that is
  // known. 0 for a missing node or one on a cycle that is not a loop.
  int NumOutputs(NodeId id) const;

  // Incompatible shapes, by node: `MatMul needs matching inner sizes, got [2,3] and [4,5]`. In the
  // main graph these are errors, as TensorFlow refuses to import it; in a function, which may never
  // run, warnings.
  const std::vector<Problem>& problems() const;

  // Recomputes a new, changed or removed node, and its readers as far as anything changes. Values
  // carried by a v1 loop are only ever widened (become less known).
  void Update(NodeId id);
  // True if an update touched a node that demands something of its inputs
  // (ShapeOptions::from_readers). Applied demands stay; only a new InferShapes finds the current
  // ones.
  bool DemandsChanged() const;

  // Records the results of a call of `function` for the arguments that it has in `body`, a map of
  // its body, so that they are not inferred again. If the body's arguments have more known facts
  // than a call passes, such a call is still inferred.
  void AddCall(const Function& function, const ShapeMap& body);

  static constexpr int64_t kMaxElements = 64;

 private:
  friend class ModuleShapes;
  friend ShapeMap InferShapes(const Graph&, const ShapeOptions&, llvm::ArrayRef<Shape>);
  class Impl;
  explicit ShapeMap(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Infers the shapes of all tensors of a main graph or a function's body. `arg_shapes` are those of
// the function's arguments, in order (for a resource, of its contents); without them an argument
// has the shape that the file gives it. An unknown dimension of a placeholder or argument becomes a
// symbol, numbered in the order of nodes; with `from_readers`, any unknown dimension does.
//
// Follows TensorFlow's shape functions, and knows more in four places: symbols; loops of v1 control
// flow and functional ones; calls, inferred through the function's body; shape tensors with some
// unknown elements. An op without a shape function has the shapes of its `_output_shapes` or
// `shape` attribute.
//
// Linear in nodes and edges, each loop a few times; a function's body once for each distinct set of
// argument shapes, a few dozen at most. Nodes on a cycle that is not a loop stay unknown.
GRAPNEL_PUBLIC ShapeMap InferShapes(const Graph& graph, const ShapeOptions& options = {},
                                    llvm::ArrayRef<Shape> arg_shapes = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_INFERENCE_H_
