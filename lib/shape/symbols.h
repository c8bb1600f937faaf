// What readers demand of the tensors that they read, carried back to where these come from. Private
// to lib/shape; inference.h says when it is asked for.
//
// A dimension that is not known is a symbol (lib/ir/shape.h), and a shape of unknown rank has a
// handle, which goes along where an op hands the shape on. A reader that needs a rank, or two sizes
// to be equal, says so of symbols and handles; all that are said to be the same are one class, of
// which anything that is known holds for each. TensorFlow's SymbolicShapeManager, in
// tensorflow/core/grappler/costs/graph_properties.cc, does the same.
#ifndef GRAPNEL_LIB_SHAPE_SYMBOLS_H_
#define GRAPNEL_LIB_SHAPE_SYMBOLS_H_

#include <cstdint>
#include <vector>

#include "lib/ir/graph.h"
#include "lib/ir/shape.h"
#include "llvm/ADT/DenseMap.h"

namespace grapnel {

// Stands for a shape of unknown rank; 0: for none.
using ShapeHandle = uint32_t;

// Two dimensions, two handles, or a handle and the shape that it stands for are the same.
struct ShapeRequirement {
  int64_t a = kUnknownDim, b = kUnknownDim;
  ShapeHandle x = 0, y = 0;
  Shape shape;
};

class ShapeSymbols {
 public:
  // Where something unknown arose: in output `port` of a node, or in what it reads at input
  // -1 - `port`. The same place gives the same symbol, as long as the node keeps its op.
  struct Place {
    NodeId node;
    StringId op;
    int32_t port;
  };
  int64_t DimAt(const Place& place, int dim, int64_t* next_symbol);
  ShapeHandle HandleAt(const Place& place);

  // False when it contradicts what is known: then nothing changes.
  bool Meet(const ShapeRequirement& demand);
  // Forgets what was demanded, and keeps which place has which symbol.
  void ForgetDemands();

  // What is known of it: a size, or the symbol of its class.
  int64_t Resolve(int64_t dim) const;
  // With its dimensions resolved; of unknown rank where the class of the handle is.
  Shape Resolve(const Shape& shape, ShapeHandle handle) const;

 private:
  bool MergeDims(int64_t a, int64_t b);
  ShapeHandle RootOf(ShapeHandle handle) const;

  // What arose at places of one node: a list, as few things do.
  static constexpr uint32_t kNone = ~uint32_t{0};
  static constexpr int kHandle = -1;  // instead of the dimension
  struct Arisen {
    StringId op;
    int32_t port;
    int dim;
    uint32_t next;  // of the node, in arisen_
    int64_t symbol;
  };
  // The symbol there; `fresh` when it is new.
  int64_t SymbolAt(const Place& place, int dim, int64_t fresh);

  std::vector<uint32_t> first_of_node_;
  std::vector<Arisen> arisen_;
  ShapeHandle last_handle_ = 0;
  llvm::DenseMap<int64_t, int64_t> parent_of_dim_;  // a symbol of the class, or its size
  llvm::DenseMap<ShapeHandle, ShapeHandle> parent_of_handle_;
  llvm::DenseMap<ShapeHandle, Shape> shapes_;  // by root
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_SYMBOLS_H_
