// Gradients of the nodes that a Tracer made: reverse-mode differentiation, which adds nodes to the
// graph.
//
//   Value loss = ReduceMean(Square(prediction - truth));
//   Values g = Gradients(t, {loss}, {w, b});
//
// The added nodes are those that TensorFlow's GradientTape makes inside a tf.function: the same
// ops, names (`gradient_tape/` and the name scope of the forward op), order and attributes. Each
// node has the source line of its forward op, or of the call that requests the gradient if it has
// no forward op. Cost: linear in the nodes that depend on xs; no recursion.
//
// docs/reference/gradients.md lists the differentiable ops; lib/trace/gradient_rule.h shows how to
// add one.
#ifndef GRAPNEL_LIB_TRACE_GRADIENT_H_
#define GRAPNEL_LIB_TRACE_GRADIENT_H_

#include <functional>
#include <memory>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// The gradient of one tensor: dense, or slices (TensorFlow's IndexedSlices): `values[i]` is the
// gradient of row `indices[i]`, rows without an index have 0, and repeated indices add up. A
// default Gradient means that the tensor has no gradient.
struct GRAPNEL_PUBLIC Gradient {
  Gradient() = default;
  Gradient(const Value& values) : values(values) {}
  Gradient(const Operation& op) : values(op.output()) {}
  Gradient(const Value& values, const Value& indices, const Value& dense_shape)
      : values(values), indices(indices), dense_shape(dense_shape) {}
  bool exists() const { return values.body() != nullptr; }
  bool is_slices() const { return indices.body() != nullptr; }
  Value values, indices, dense_shape;
};

enum class Unconnected { kNone, kZeros };

struct GRAPNEL_PUBLIC GradientOptions {
  // The incoming gradients, one per y. An empty list, or a default Value in it, means ones.
  Values grad_ys;
  // Tensors that are treated as constants.
  Values stop_gradients;
  // The gradient of an x that no y depends on: a Value that is not ok(), or zeros.
  Unconnected unconnected = Unconnected::kNone;
};

// Returns d(sum of ys)/dx for each of `xs`, in order; xs may be inner tensors, placeholders and
// handles of variables. Slices become dense. Errors: at the line of the op, an op without a
// gradient, or one that forbids it (PreventGradient); ys, xs or options that are not usable here.
GRAPNEL_PUBLIC Values Gradients(Tracer& t, llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                                const GradientOptions& options = {},
                                SourceLocation where = SourceLocation());
// Like Gradients, but does not make slices dense.
GRAPNEL_PUBLIC std::vector<Gradient> SparseGradients(Tracer& t, llvm::ArrayRef<Value> ys,
                                                     llvm::ArrayRef<Value> xs,
                                                     const GradientOptions& options = {},
                                                     SourceLocation where = SourceLocation());

struct GRAPNEL_PUBLIC TapeOptions {
  bool persistent = false;  // Gradient may be called more than once
  // Watches the variables that recorded ops read, also inside of the functions that they call.
  bool watch_accessed_variables = true;
};

// tf.GradientTape: records the ops made from its construction until Stop() (or its first gradient,
// unless it is persistent). Gradients flow only through ops that depend on a watched tensor and
// were made after Watch(). Must not outlive its Tracer.
class GRAPNEL_PUBLIC Tape {
 public:
  explicit Tape(Tracer& t, const TapeOptions& options = {},
                SourceLocation where = SourceLocation());
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  void Watch(const Value& x);
  void Stop();  // later ops are not recorded
  // Like the function Gradients. The second call on a tape that is not persistent is an error.
  Values Gradient(llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                  const GradientOptions& options = {}, SourceLocation where = SourceLocation());
  Value Gradient(const Value& y, const Value& x, const GradientOptions& options = {},
                 SourceLocation where = SourceLocation()) {
    return Gradient(llvm::ArrayRef<Value>(y), llvm::ArrayRef<Value>(x), options, where)[0];
  }
  // Returns, for each of `xs`, the derivative of each element of y with respect to x; its shape is
  // that of y followed by that of x. Makes a While over the elements of y (TensorFlow's
  // experimental_use_pfor=False), so the graph does not grow with y.
  Values Jacobian(const Value& y, llvm::ArrayRef<Value> xs,
                  Unconnected unconnected = Unconnected::kNone,
                  SourceLocation where = SourceLocation());

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The Jacobian of y with respect to xs without a tape: see Tape::Jacobian.
GRAPNEL_PUBLIC Values Jacobian(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs,
                               Unconnected unconnected = Unconnected::kNone,
                               SourceLocation where = SourceLocation());

// tf.custom_gradient: fn(inputs) returns values and a function that maps the gradients of these
// values to one gradient per input (a default Value: no gradient). Returns the values, with this
// gradient instead of that of their ops. The function lives as long as the Tracer; in eager mode,
// as long as a tape or hook that recorded the ops.
using CustomGradientFn = std::function<Values(llvm::ArrayRef<Value> dys)>;
struct GRAPNEL_PUBLIC WithGradient {
  Values values;
  CustomGradientFn gradient;
};
GRAPNEL_PUBLIC Values CustomGradient(Tracer& t, const Values& inputs,
                                     llvm::function_ref<WithGradient(llvm::ArrayRef<Value>)> fn,
                                     SourceLocation where = SourceLocation());

// StopGradient returns x and passes no gradient; with PreventGradient, requesting a gradient is an
// error.
GRAPNEL_PUBLIC Value StopGradient(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value PreventGradient(const Value& x, llvm::StringRef message,
                                     SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENT_H_
