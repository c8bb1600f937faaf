// The gradient of a function as a function: what rules of calls, branches and loops are made of.
// Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_FUNCTION_GRADIENT_H_
#define GRAPNEL_LIB_TRACE_FUNCTION_GRADIENT_H_

#include <string>
#include <vector>

#include "lib/trace/backprop.h"

namespace grapnel {

// Another body is the current one while it lasts.
class InBody {
 public:
  InBody(TraceState& state, TraceBody* body) : state_(state), before_(state.current) {
    state.current = body;
  }
  ~InBody() { state_.current = before_; }
  InBody(const InBody&) = delete;

 private:
  TraceState& state_;
  TraceBody* before_;
};

// A function that takes the gradients of some results of `forward` and what it needs of its inner
// tensors, and gives gradients of its arguments.
struct FunctionGradient {
  TraceBody* forward = nullptr;  // a copy of the function, which may be given more results
  std::string name;              // of the gradient function
  bool is_stateful = false;
  std::vector<int> results;     // of `forward`: those whose gradients it takes, first
  std::vector<Port> captures;   // tensors of `forward` that it takes then
  std::vector<int> args;        // arguments of `forward` whose gradients it gives
  std::vector<DataType> types;  // of these
  std::vector<int> places;      // set by TakeDtypes: of each capture, the result of `forward`; -1: an
                                // argument

  // The argument of `forward` that a captured tensor is; -1: an inner one.
  int ArgOf(Port capture) const;
  // Gives `forward` a result for each inner tensor that is captured. Returns their dtypes.
  std::vector<DataType> TakeDtypes();
  // Calls it in the current body: a gradient for each of `args`.
  Values Call(TraceState& state, const Values& dys, const Values& captured) const;
};

// `dys`: a value of the dtype and shape of the gradient for each result; one that was never made
// has none.
FunctionGradient GradientOfFunction(TraceState& state, const Function& function,
                                    llvm::ArrayRef<Value> dys);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_FUNCTION_GRADIENT_H_
