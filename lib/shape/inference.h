// Shape inference: finds the shape of every tensor, and the elements of small integer tensors,
// without running the graph.
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
  // If true, fed values have the shapes in the attributes of their placeholders. If false,
  // Grappler's default, placeholders and fed nodes have no known shape, not even a known rank.
  bool trust_feeds = true;
  // The nodes whose outputs are fed: their own values are not used. The set is copied.
  const llvm::DenseSet<NodeId>* fed = nullptr;
  // If true, the readers of a tensor also determine its shape, as in Grappler: a placeholder of
  // unknown rank that a MatMul reads has two dimensions, and the other factor may determine one of
  // them. Every unknown dimension then has a symbol.
  bool from_readers = false;
  // The order in which requirements of readers are applied, which matters if these differ: the
  // first one counts. Maps a node id to the node's position; nodes beyond the end of the list come
  // last, in order of id. Used only during InferShapes.
  llvm::ArrayRef<uint32_t> ranks;
  // If true, infers results of calls, branches and loops from the functions' bodies, elements of a
  // TensorList from the ops that made the list, and sizes with arithmetic. If false, Grappler's
  // default, results of a call or a branch have only the shapes of attributes such as
  // `_output_shapes` and `output_shapes`; a loop without that attribute has the shapes of its
  // inputs; a list element has the shape that its reader requests (TensorListPopBack: unknown); and
  // elements of small tensors are known only from constants, from ops that give a shape, rank or
  // size, and after ops that join, cut or forward them.
  bool sees_inside = true;
  // Shapes of another body of the same module, whose cached data about ops the new ShapeMap shares.
  // Use the new ShapeMap on the same thread as `beside`.
  const ShapeMap* beside = nullptr;
};

// One element of a partially known integer tensor. A known element is its value, which may be
// negative. Other elements are at or near the smallest int64: kUnknownElement, or a number that
// stands for the symbol of a dimension (lib/ir/shape.h) whose size the element is. Neither can be
// the size of a real dimension.
constexpr int64_t kUnknownElement = std::numeric_limits<int64_t>::min();
constexpr bool IsKnownElement(int64_t element) { return element >= kUnknownElement / 2; }
constexpr int64_t ElementOfDim(int64_t dim) {
  return dim >= 0 ? dim : kUnknownElement + (kUnknownDim - dim);
}
// Returns the dimension whose size is this element; kUnknownDim for a negative element.
constexpr int64_t DimOfElement(int64_t element) {
  if (!IsKnownElement(element)) return kUnknownDim - (element - kUnknownElement);
  return element < 0 ? kUnknownDim : element;
}

// The result of InferShapes. Update() adapts it to changes of the graph, which must outlive it.
// References that it returns are valid until the next Update. Not thread-safe; but without
// ShapeOptions::from_readers, several threads may read at the same time, except for problems().
class GRAPNEL_PUBLIC ShapeMap {
 public:
  ShapeMap(ShapeMap&&) noexcept;
  ShapeMap& operator=(ShapeMap&&) noexcept;
  ~ShapeMap();

  // Returns the shape of a tensor; Shape::Unknown() for unknown shapes, control ports, and missing
  // ports.
  const Shape& OfPort(Port port) const;
  // Returns the dtype of a tensor; DT_INVALID if the op is unknown or has no such port.
  DataType TypeOf(Port port) const;
  // Returns the elements of an int32, int64 or bool (0 or 1) tensor with at most kMaxElements
  // elements, row-major, in the shape of the port; each is known, unknown or a symbol (see
  // kUnknownElement). nullopt if the elements are not tracked, as for fed nodes. Without
  // ShapeOptions::sees_inside, all elements may be unknown.
  std::optional<llvm::ArrayRef<int64_t>> ElementsOf(Port port) const;
  // Like ElementsOf, but nullopt unless every element is known.
  std::optional<llvm::ArrayRef<int64_t>> IntegersOf(Port port) const;
  // Returns the shape of one tensor in a resource or variant that holds tensors (variable, list,
  // array); Shape::Unknown() for other tensors.
  const Shape& OfContent(Port port) const;

  // Returns the number of outputs: that of the op's definition, or for an undefined op the number
  // of those that are read or have a shape. 0 for a missing node, and for one on or after a cycle
  // that is not a loop.
  int NumOutputs(NodeId id) const;

  // The nodes with incompatible shapes, as `MatMul needs matching inner sizes, got [2,3] and
  // [4,5]`. In the main graph these are errors, because TensorFlow refuses to import such a graph;
  // in a function, which may never run, they are warnings.
  const std::vector<Problem>& problems() const;

  // Infers a new or changed node again, and its readers as long as facts change; forgets a removed
  // node. Facts about values that a v1 loop carries only ever become less precise.
  void Update(NodeId id);
  // True if an update visited a node that has requirements on its inputs
  // (ShapeOptions::from_readers). The old requirements stay applied; only a new InferShapes applies
  // the current ones.
  bool DemandsChanged() const;

  // Stores the results of a call of `function`, taken from `body`, a ShapeMap of the function's
  // body, so that they are not inferred again. Applies to calls whose arguments have the same facts
  // as in `body`; calls that pass fewer facts are still inferred. Stores nothing if the body calls
  // functions, or if a fact about an argument or result is more than a shape without symbols.
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
// has the shape that the file gives it. An unknown dimension of a placeholder, argument or fed node
// becomes a symbol, numbered in the order of the visits; with `from_readers`, every unknown
// dimension does.
//
// Follows TensorFlow's shape functions, and knows more in four cases: symbols; loops of v1 control
// flow and functional loops; calls, which are inferred through the function's body; shape tensors
// with some unknown elements. An op without a shape function has the shapes of its attribute
// `_output_shapes`, `output_shapes` or `shape`, or makes a scalar dataset or handle.
//
// Linear in nodes and edges; visits each loop a few times, and a function's body once for each
// distinct set of argument shapes, a few dozen at most. Nodes on or after a cycle that is not a
// loop stay unknown.
GRAPNEL_PUBLIC ShapeMap InferShapes(const Graph& graph, const ShapeOptions& options = {},
                                    llvm::ArrayRef<Shape> arg_shapes = {});

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_INFERENCE_H_
