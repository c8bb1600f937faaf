// Estimates the floating-point operations of a node from shapes alone.
#ifndef GRAPNEL_LIB_SHAPE_FLOPS_H_
#define GRAPNEL_LIB_SHAPE_FLOPS_H_

#include <cstdint>
#include <optional>

#include "lib/shape/inference.h"

namespace grapnel {

// Returns the floating-point operations of one run of the node: a multiply-add counts as two.
// Counts matrix products, einsums and convolutions, and most of their gradients and fused forms, by
// their shapes, ops that only move or name data as 0, and each other op as one operation per
// element of its largest tensor. nullopt if a shape that is needed is unknown, or the number does
// not fit into an int64. Does not count the functions that the node calls.
std::optional<int64_t> EstimateFlops(const Node& node, const ShapeMap& shapes);

// Returns the bytes of a tensor in memory; nullopt if the shape is not fully known, or if elements
// of the dtype have no fixed size (strings, resources).
std::optional<int64_t> BytesOf(DataType type, const Shape& shape);

// True if an op only forwards its input or an existing value without copying it, or only returns a
// shape or size.
bool MovesNothing(llvm::StringRef op);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_SHAPE_FLOPS_H_
