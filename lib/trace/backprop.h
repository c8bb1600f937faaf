// Reverse-mode differentiation over one body, shared by Gradients, tapes and gradients of
// functions. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_BACKPROP_H_
#define GRAPNEL_LIB_TRACE_BACKPROP_H_

#include <vector>

#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {

// A watched tensor. Of the nodes that read it, only those with ids from `since` on are
// differentiated.
struct Watched {
  Port port;
  NodeId since = 0;
};

struct BackpropRequest {
  TraceBody* forward = nullptr;     // the body to walk
  std::vector<Port> targets;        // ys, in `forward`
  std::vector<Gradient> seeds;      // incoming gradients, one per target; ones if missing
  std::vector<Port> sources;        // xs, in `forward`
  std::vector<Watched> watched;     // only nodes that depend on these are differentiated
  std::vector<Port> stops;          // no gradient flows through these
  NodeId begin = 0, end = kNoNode;  // the range of nodes that a tape has recorded
};

// Returns the gradient of each source. The gradients' nodes are added to the current body, which is
// `forward` or a body inside it; an inside body captures the forward values that it reads. A source
// that no target depends on has no gradient.
std::vector<Gradient> Backprop(TraceState& state, const BackpropRequest& request);

// Returns, for each x, the derivative of each element of y with respect to x. gradients(xs, seed)
// returns the gradients of y with the incoming gradient `seed`, in the current body.
using SeededGradients = llvm::function_ref<Values(llvm::ArrayRef<Value> xs, const Value& seed)>;
Values MakeJacobian(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs, Unconnected unconnected,
                    SeededGradients gradients);

// Returns zeros of the shape of `value`, as the gradient of a tensor that has none. Returns no
// gradient for strings and resource handles.
Gradient ZerosFor(TraceState& state, const Value& value);

// Returns zeros of the shape and dtype of the variable that `handle` refers to. Returns no gradient
// if `handle` does not come from a VarHandleOp.
Gradient ZerosOfVariable(TraceState& state, const Value& handle);

// True if tensors of the dtype `dtype` can be differentiated.
bool IsTrainable(DataType dtype);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_BACKPROP_H_
