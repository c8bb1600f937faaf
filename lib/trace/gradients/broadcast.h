// Sums gradients over the dimensions that broadcasting added, for rules of several families.
// Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_GRADIENTS_BROADCAST_H_
#define GRAPNEL_LIB_TRACE_GRADIENTS_BROADCAST_H_

#include "lib/trace/gradient_rule.h"

namespace grapnel {

// Sums gx and gy, which have the shape of x op y, to gradients of the shapes of x and y. Either may
// be missing. The axes to sum over are found while tracing if the shapes determine them, else by
// BroadcastGradientArgs.
InputGradients ReduceGradientArgs(GradientContext& g, const Value& x, const Value& y,
                                  const Gradient& gx, const Gradient& gy);

// The outputs of BroadcastGradientArgs for two shapes: the axes over which to sum the gradient of
// each input.
struct BroadcastAxes {
  Value x, y;
};
BroadcastAxes AxesOf(GradientContext& g, const Value& x_shape, const Value& y_shape);

// Sums over `axes` and reshapes to `shape`, the shape of the input.
Value SumTo(GradientContext& g, const Value& gradient, const Value& axes, const Value& shape);

// True if all three shapes are known and equal: nothing was broadcast.
bool SameKnownShapes(const Value& x, const Value& y, const Value& gradient);
bool IsScalar(const Value& x);
// True if input 1 is a scalar and its gradient is not needed: the gradient of input 0 then has the
// right shape without a sum.
inline bool SkipsScalar(GradientContext& g) { return g.Skips(1) && IsScalar(g.x(1)); }

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENTS_BROADCAST_H_
