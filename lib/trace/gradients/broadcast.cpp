#include "lib/trace/gradients/broadcast.h"

namespace grapnel {
namespace {

struct StaticAxes {
  std::vector<int> x, y;
};

// Returns the axes over which to sum the gradients of x and y; nullopt if the shapes do not
// determine them.
std::optional<StaticAxes> AxesWhileTracing(const Shape& x, const Shape& y) {
  if (!x.known_rank() || !y.known_rank()) return std::nullopt;
  StaticAxes axes;
  int rank = std::max(x.rank(), y.rank());
  for (int axis = 0; axis < rank; ++axis) {
    int at_x = axis - (rank - x.rank()), at_y = axis - (rank - y.rank());
    int64_t dim_x = at_x < 0 ? 1 : x.dim(at_x), dim_y = at_y < 0 ? 1 : y.dim(at_y);
    if (dim_x == 1 && dim_y != 1) {
      axes.x.push_back(axis);
    } else if (dim_y == 1 && dim_x != 1) {
      axes.y.push_back(axis);
    } else if (dim_x < 0 || dim_y < 0) {
      return std::nullopt;
    }
  }
  return axes;
}

Value ReduceTo(GradientContext& g, const Value& gradient, const Operand& axes, const Value& shape) {
  return g.Reshape(ReduceSum(gradient, axes, /*keep_dims=*/true), shape);
}

}  // namespace

InputGradients ReduceGradientArgs(GradientContext& g, const Value& x, const Value& y,
                                  const Gradient& gx, const Gradient& gy) {
  if (!gx.exists() && !gy.exists()) return {};
  Value x_shape = g.ShapeOf(x);
  Value y_shape = g.ShapeOf(y);
  Shape known_x = x.shape(), known_y = y.shape();
  InputGradients reduced = {gx, gy};
  if (auto axes = AxesWhileTracing(known_x, known_y)) {
    if (gx.exists() && (!axes->x.empty() || known_x.rank() < known_y.rank()))
      reduced[0] = ReduceTo(g, gx.values, axes->x, x_shape);
    if (gy.exists() && (!axes->y.empty() || known_y.rank() < known_x.rank()))
      reduced[1] = ReduceTo(g, gy.values, axes->y, y_shape);
    return reduced;
  }
  BroadcastAxes axes = AxesOf(g, x_shape, y_shape);
  if (gx.exists()) reduced[0] = ReduceTo(g, gx.values, axes.x, x_shape);
  if (gy.exists()) reduced[1] = ReduceTo(g, gy.values, axes.y, y_shape);
  return reduced;
}

BroadcastAxes AxesOf(GradientContext& g, const Value& x_shape, const Value& y_shape) {
  Operation axes = g.Op("BroadcastGradientArgs", {x_shape, y_shape});
  return {axes.output(0), axes.output(1)};
}

Value SumTo(GradientContext& g, const Value& gradient, const Value& axes, const Value& shape) {
  return g.Reshape(ReduceSum(gradient, axes), shape);
}

bool SameKnownShapes(const Value& x, const Value& y, const Value& gradient) {
  Shape shape = x.shape();
  return shape.IsFullyKnown() && shape == y.shape() && shape == gradient.shape();
}

bool IsScalar(const Value& x) {
  Shape shape = x.shape();
  return shape.known_rank() && shape.rank() == 0;
}

}  // namespace grapnel
