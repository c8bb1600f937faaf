// Demands of readers on the tensors that they read, propagated back to the sources of these
// tensors. Private to lib/shape; inference.h says when they are used.
//
// An unknown dimension is a symbol (lib/ir/shape.h), and a shape of unknown rank has a handle,
// which follows the shape through ops that forward it. A reader that needs a rank, or two equal
// sizes, states that about symbols and handles; all that are equal form one class, and a fact about
// one holds for all. This is what TensorFlow's SymbolicShapeManager does, in
// tensorflow/core/grappler/costs/graph_properties.cc.
#ifndef GRAPNEL_LIB_SHAPE_SYMBOLS_H_
#define GRAPNEL_LIB_SHAPE_SYMBOLS_H_

#include <cstdint>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/shape.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Identifies a shape of unknown rank; 0: none.
using ShapeHandle = uint32_t;

// Requires that two dimensions, two handles, or a handle and a shape are the same.
struct ShapeRequirement {
  int64_t a = kUnknownDim, b = kUnknownDim;
  ShapeHandle x = 0, y = 0;
  Shape shape;
};

class ShapeSymbols {
 public:
  // The origin of an unknown: output `port` of a node, or its input -1 - `port`. The same place
  // gives the same symbol, as long as the node keeps its op.
  struct Place {
    NodeId node;
    StringId op;
    int32_t port;
  };
  int64_t DimAt(const Place& place, int dim, int64_t* next_symbol);
  ShapeHandle HandleAt(const Place& place);

  // Applies a demand. Returns false and changes nothing if it contradicts known facts.
  bool Meet(const ShapeRequirement& demand);
  // Forgets the demands, and keeps the symbols of places.
  void ForgetDemands();

  // Returns the known size, or the symbol of its class.
  int64_t Resolve(int64_t dim) const;
  // Returns the shape with its dimensions resolved; of unknown rank if the class of the handle is.
  Shape Resolve(const Shape& shape, ShapeHandle handle) const;

 private:
  bool MergeDims(int64_t a, int64_t b);
  ShapeHandle RootOf(ShapeHandle handle) const;

  // The unknowns that originate at places of one node: a linked list, as they are few.
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr int kHandle = -1;  // a handle instead of a dimension
  struct Arisen {
    StringId op;
    int32_t port;
    int dim;
    uint32_t next;  // of the same node, in arisen_
    int64_t symbol;
  };
  // Returns the symbol at the place; `fresh` if it is new.
  int64_t SymbolAt(const Place& place, int dim, int64_t fresh);

  std::vector<uint32_t> first_of_node_;
  std::vector<Arisen> arisen_;
  ShapeHandle last_handle_ = 0;
  llvm::DenseMap<int64_t, int64_t> parent_of_dim_;  // another symbol of the class, or its size
  llvm::DenseMap<ShapeHandle, ShapeHandle> parent_of_handle_;
  llvm::DenseMap<ShapeHandle, Shape> shapes_;  // by root
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_SYMBOLS_H_
