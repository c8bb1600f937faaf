// Makes a function that computes the gradient of another function. The gradient rules for calls,
// branches and loops use it. Private to lib/trace.
#ifndef GRAPNEL_LIB_TRACE_FUNCTION_GRADIENT_H_
#define GRAPNEL_LIB_TRACE_FUNCTION_GRADIENT_H_

#include <string>
#include <vector>

#include "lib/trace/backprop.h"

namespace grapnel {

// While an object of this class lives, `body` is the current body.
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

// A function that takes the gradients of some results of `forward` and the tensors of `forward`
// that it needs (arguments and inner tensors), and returns gradients of arguments of `forward`.
struct FunctionGradient {
  TraceBody* forward = nullptr;  // a copy of the function, which may get more results
  std::string name;              // of the gradient function
  bool is_stateful = false;
  std::vector<int> results;     // results of `forward` whose gradients it takes first
  std::vector<Port> captures;   // tensors of `forward` that it takes next
  std::vector<int> args;        // arguments of `forward` whose gradients it returns
  std::vector<DataType> types;  // dtypes of the gradients that it returns
  // Set by TakeDtypes: for each capture, the index of the result of `forward` that returns it; -1
  // if the capture is an argument of `forward`.
  std::vector<int> places;

  // If `capture` is an argument of `forward`, returns its index; -1 if it is an inner tensor.
  int ArgOf(Port capture) const;
  // Adds a result to `forward` for each captured inner tensor. Returns the dtypes of these results.
  std::vector<DataType> TakeDtypes();
  // Calls the gradient function in the current body; returns a gradient for each of `args`.
  Values Call(TraceState& state, const Values& dys, const Values& captured) const;
};

// Makes the gradient function of `function`. `dys` has, for each result, a value of the dtype and
// shape of its gradient; a default Value means that the result has no gradient.
FunctionGradient GradientOfFunction(TraceState& state, const Function& function,
                                    llvm::ArrayRef<Value> dys);

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_FUNCTION_GRADIENT_H_
