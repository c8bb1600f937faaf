// Gradients of what a Tracer made: reverse mode over the graph, which it goes on with.
//
//   Value loss = ReduceMean(Square(prediction - truth));
//   Values g = Gradients(t, {loss}, {w, b});
//
// The nodes are those that TensorFlow's GradientTape makes inside a tf.function: the same ops,
// names (`gradient_tape/` and the name scope of the forward op), order and attributes. Each has the
// line of its forward op. Cost: linear in the nodes between ys and xs; no recursion.
//
// docs/gradients.md lists the ops that have one; lib/trace/gradient_rule.h is how to add one.
#ifndef GRAPNEL_LIB_TRACE_GRADIENT_H_
#define GRAPNEL_LIB_TRACE_GRADIENT_H_

#include <functional>
#include <memory>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// The gradient of one tensor: dense, or rows of it (TensorFlow's IndexedSlices): slice `indices[i]`
// gets `values[i]`, all others 0; indices that come twice add up. Or none.
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
  // The gradients that come in, one for each y; a Value that was never made, or none at all: ones.
  Values grad_ys;
  // Tensors that count as constants.
  Values stop_gradients;
  // What an x that no y depends on has: a Value that is not ok(), or zeros.
  Unconnected unconnected = Unconnected::kNone;
};

// d(sum of ys)/dx for each of `xs`, in order; xs may be inner tensors, placeholders, and handles of
// variables. Slices are made dense. Errors, at the line of the op: it has no gradient, or refuses
// one (PreventGradient).
GRAPNEL_PUBLIC Values Gradients(Tracer& t, llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                                const GradientOptions& options = {}, SourceLocation where = SourceLocation());
// The same, slices as they are.
GRAPNEL_PUBLIC std::vector<Gradient> SparseGradients(Tracer& t, llvm::ArrayRef<Value> ys,
                                                     llvm::ArrayRef<Value> xs,
                                                     const GradientOptions& options = {},
                                                     SourceLocation where = SourceLocation());

struct GRAPNEL_PUBLIC TapeOptions {
  bool persistent = false;  // Gradient may be called more than once
  bool watch_accessed_variables = true;
};

// tf.GradientTape: sees the ops that are made from its making until Stop() (or its first gradient,
// unless it is persistent), as far as they depend on what is watched by then. Must not outlive its
// Tracer.
class GRAPNEL_PUBLIC Tape {
 public:
  explicit Tape(Tracer& t, const TapeOptions& options = {}, SourceLocation where = SourceLocation());
  ~Tape();
  Tape(const Tape&) = delete;
  Tape& operator=(const Tape&) = delete;

  void Watch(const Value& x);
  void Stop();  // what is made from now on is not seen
  // As Gradients. An error when called twice on a tape that is not persistent.
  Values Gradient(llvm::ArrayRef<Value> ys, llvm::ArrayRef<Value> xs,
                  const GradientOptions& options = {}, SourceLocation where = SourceLocation());
  Value Gradient(const Value& y, const Value& x, const GradientOptions& options = {},
                 SourceLocation where = SourceLocation()) {
    return Gradient(llvm::ArrayRef<Value>(y), llvm::ArrayRef<Value>(x), options, where)[0];
  }
  // d y[i] / dx for each element of y: of the shape of y, then that of x. A While over the elements
  // of y (TensorFlow's experimental_use_pfor=False), so the graph does not grow with y.
  Values Jacobian(const Value& y, llvm::ArrayRef<Value> xs,
                  Unconnected unconnected = Unconnected::kNone, SourceLocation where = SourceLocation());

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The jacobian of a y and xs without a tape: see Tape::Jacobian.
GRAPNEL_PUBLIC Values Jacobian(Tracer& t, const Value& y, llvm::ArrayRef<Value> xs,
                               Unconnected unconnected = Unconnected::kNone, SourceLocation where = SourceLocation());

// tf.custom_gradient: fn(inputs) gives values and a function, which gives from their gradients one
// for each input (a Value that was never made: none). What comes back is the values with that
// gradient in the place of their own. The function is kept as long as the Tracer.
using CustomGradientFn = std::function<Values(llvm::ArrayRef<Value> dys)>;
struct GRAPNEL_PUBLIC WithGradient {
  Values values;
  CustomGradientFn gradient;
};
GRAPNEL_PUBLIC Values CustomGradient(Tracer& t, const Values& inputs,
                                     llvm::function_ref<WithGradient(llvm::ArrayRef<Value>)> fn,
                                     SourceLocation where = SourceLocation());

// x, through which no gradient flows (tf.stop_gradient); and one that is an error to ask for.
GRAPNEL_PUBLIC Value StopGradient(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value PreventGradient(const Value& x, llvm::StringRef message,
                                     SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENT_H_
