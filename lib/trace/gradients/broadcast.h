// Sums of gradients over the dimensions that broadcasting added, as rules of several families need
// them. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_GRADIENTS_BROADCAST_H_
#define GRAPNEL_LIB_TRACE_GRADIENTS_BROADCAST_H_

#include "lib/trace/gradient_rule.h"

namespace grapnel {

// gx and gy, which have the shape of x op y, as gradients of x and y. Either may not exist. The
// axes are found while tracing where the shapes tell, else by BroadcastGradientArgs.
InputGradients ReduceGradientArgs(GradientContext& g, const Value& x, const Value& y,
                                  const Gradient& gx, const Gradient& gy);

// The axes of BroadcastGradientArgs for tensors of these shapes.
struct BroadcastAxes {
  Value x, y;
};
BroadcastAxes AxesOf(GradientContext& g, const Value& x_shape, const Value& y_shape);

// Sum over `axes`, in the shape of the input.
Value SumTo(GradientContext& g, const Value& gradient, const Value& axes, const Value& shape);

// All three shapes are known and the same: nothing was broadcast.
bool SameKnownShapes(const Value& x, const Value& y, const Value& gradient);
bool IsScalar(const Value& x);
// Nobody wants the gradient of input 1, a scalar: that of input 0 has its shape already.
inline bool SkipsScalar(GradientContext& g) { return g.Skips(1) && IsScalar(g.x(1)); }

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENTS_BROADCAST_H_
