// Estimates the floating-point operations of a node from shapes alone.
#ifndef GRAPNEL_LIB_SHAPE_FLOPS_H_
#define GRAPNEL_LIB_SHAPE_FLOPS_H_

#include <cstdint>
#include <optional>

#include "lib/shape/inference.h"

namespace grapnel {

// Returns the floating-point operations of one run of the node: a multiply-add counts as two.
// Counts matrix products, einsums and convolutions, and most of their gradients and fused forms, by
// their shapes, pooling by its windows, most reductions of n elements to one as n - 1 operations,
// ops that only move or name data as 0, and each other op as one operation per element of its
// largest tensor, or a few (a softmax: five). nullopt if an input is missing, a shape that is
// needed is unknown, or the number does not fit into an int64. Does not count the functions that
// the node calls.
std::optional<int64_t> EstimateFlops(const Node& node, const ShapeMap& shapes);

// Returns the bytes of a tensor in memory; nullopt if the shape is not fully known, elements of the
// dtype have no fixed size (strings, resources), or the number does not fit into an int64.
std::optional<int64_t> BytesOf(DataType type, const Shape& shape);

// True for ops that are known to make no tensor of their own, except for shapes and sizes: they
// only forward an input or an existing value.
bool MovesNothing(llvm::StringRef op);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_FLOPS_H_
