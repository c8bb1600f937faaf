// The requirements of ops on the tensors that they read ("demands"), which also say something about
// the sources of these tensors. Private to lib/shape; inference.h says when they are used.
//
// An unknown dimension is a symbol (lib/ir/shape.h), and a shape of unknown rank has a handle,
// which ops that forward the shape pass on. A reader that needs a rank, or two equal sizes,
// requires this of symbols and handles. Symbols that must be equal form a class, and a fact about
// one of them is true of all; the same holds for handles. TensorFlow's SymbolicShapeManager in
// tensorflow/core/grappler/costs/graph_properties.cc does the same.
#ifndef GRAPNEL_LIB_SHAPE_SYMBOLS_H_
#define GRAPNEL_LIB_SHAPE_SYMBOLS_H_

#include <cstdint>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/shape.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Identifies a shape of unknown rank; 0: there is no handle.
using ShapeHandle = uint32_t;

// A demand: requires that two dimensions, two handles, or a handle and a shape are equal.
struct ShapeRequirement {
  int64_t a = kUnknownDim, b = kUnknownDim;
  ShapeHandle x = 0, y = 0;
  Shape shape;
};

class ShapeSymbols {
 public:
  // Where an unknown dimension or shape first occurs: output `port` of a node, or, if `port` is
  // negative, its input -1 - `port`. The same place gives the same symbol, as long as the node
  // keeps its op.
  struct Place {
    NodeId node;
    StringId op;
    int32_t port;
  };
  int64_t DimAt(const Place& place, int dim, int64_t* next_symbol);
  ShapeHandle HandleAt(const Place& place);

  // Applies a demand. Returns false and changes nothing if the demand contradicts known facts.
  bool Meet(const ShapeRequirement& demand);
  // Forgets all demands, but keeps the symbols of places.
  void ForgetDemands();

  // Returns the size of a dimension if it is known, otherwise the symbol that represents its class.
  int64_t Resolve(int64_t dim) const;
  // Returns the shape with its dimensions resolved; if its rank is unknown, the shape of the
  // handle's class, if that is known.
  Shape Resolve(const Shape& shape, ShapeHandle handle) const;

 private:
  bool MergeDims(int64_t a, int64_t b);
  ShapeHandle RootOf(ShapeHandle handle) const;

  // The symbols and handles that belong to places of one node: a linked list, because there are
  // few.
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr int kHandle = -1;  // in Arisen::dim: a handle, not a dimension
  struct Arisen {
    StringId op;
    int32_t port;
    int dim;
    uint32_t next;  // index in arisen_ of the node's next entry
    int64_t symbol;
  };
  // Returns the symbol of a place; if it has none yet, gives it `fresh`.
  int64_t SymbolAt(const Place& place, int dim, int64_t fresh);

  std::vector<uint32_t> first_of_node_;
  std::vector<Arisen> arisen_;
  ShapeHandle last_handle_ = 0;
  llvm::DenseMap<int64_t, int64_t> parent_of_dim_;  // another dimension of the class, or its size
  llvm::DenseMap<ShapeHandle, ShapeHandle> parent_of_handle_;
  llvm::DenseMap<ShapeHandle, Shape> shapes_;  // by root
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_SYMBOLS_H_
