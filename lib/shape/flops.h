// How much arithmetic a node does, estimated from shapes alone.
#ifndef GRAPNEL_LIB_SHAPE_FLOPS_H_
#define GRAPNEL_LIB_SHAPE_FLOPS_H_

#include <cstdint>
#include <optional>

#include "lib/shape/inference.h"

namespace grapnel {

// Floating point operations of one run of the node: a product and a sum count as two. Products of
// matrices and convolutions, their gradients and their fused forms are counted by their shapes;
// what only moves or names data is 0; any other op counts one for each element of its largest
// tensor. nullopt when a shape that matters is not known. A call counts nothing of its function.
std::optional<int64_t> EstimateFlops(const Node& node, const ShapeMap& shapes);

// Bytes of a tensor in memory; nullopt when its shape is not known in full, or, as of strings and
// resources, does not say it.
std::optional<int64_t> BytesOf(DataType type, const Shape& shape);

// Whether an op hands on its input as it is, or a value that is there already: no byte is moved.
bool MovesNothing(llvm::StringRef op);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_FLOPS_H_
