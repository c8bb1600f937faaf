// Reverse mode over one body: what Gradients, tapes, and gradients of functions share. Private to
// lib/trace.
#ifndef GRAPNEL_LIB_TRACE_BACKPROP_H_
#define GRAPNEL_LIB_TRACE_BACKPROP_H_

#include <vector>

#include "lib/trace/body.h"
#include "lib/trace/gradient_rule.h"

namespace grapnel {

// A tensor that is watched: the nodes that read it count from `since` on.
struct Watched {
  Port port;
  NodeId since = 0;
};

struct BackpropRequest {
  TraceBody* forward = nullptr;     // whose nodes are gone through
  std::vector<Port> targets;        // ys, in `forward`
  std::vector<Gradient> seeds;      // one for each target; that does not exist: ones. Or empty
  std::vector<Port> sources;        // xs, in `forward`
  std::vector<Watched> watched;     // nodes that depend on these are gone through
  std::vector<Port> stops;          // no gradient flows through these
  NodeId begin = 0, end = kNoNode;  // nodes that were seen: the window of a tape
};

// The gradient of each source, made in the current body: `forward`, or one inside of it, which then
// captures what it reads. One that no target depends on does not exist.
std::vector<Gradient> Backprop(TraceState& state, const BackpropRequest& request);

// d y[i] / dx for each element of y; gradients(xs, seed) gives those of y for one seed, in the
// current body.
using SeededGradients = llvm::function_ref<Values(llvm::ArrayRef<Value> xs, const Value& seed)>;
Values MakeJacobian(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs, Unconnected unconnected,
                    SeededGradients gradients);

// Zeros for a tensor that gets no gradient: of its shape, or of what a variable's handle holds.
Gradient ZerosFor(TraceState& state, const Value& value);

// Whether small changes of a tensor of that dtype mean something.
bool IsTrainable(DataType dtype);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_BACKPROP_H_
