// The input of a gradient rule, and functions for the ops that a rule makes, each with the names
// and constants that TensorFlow's Python function for the op produces. lib/trace/gradient_rule.h
// says how to register a rule.
#ifndef GRAPNEL_LIB_TRACE_GRADIENT_CONTEXT_H_
#define GRAPNEL_LIB_TRACE_GRADIENT_CONTEXT_H_

#include <string>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/gradient.h"
#include "lib/trace/ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// A rule's result: a gradient for each input of the op, in order. Inputs beyond the end of the list
// have no gradient.
using InputGradients = std::vector<Gradient>;

class GRAPNEL_PUBLIC GradientContext {
 public:
  GradientContext(TraceState& state, TraceBody& forward, const Node& node,
                  std::vector<Gradient> gradients, uint64_t unneeded)
      : state_(state),
        forward_(forward),
        node_(node),
        gradients_(std::move(gradients)),
        unneeded_(unneeded) {}

  // --- The forward op.
  const Node& node() const { return node_; }
  int num_inputs() const { return node_.num_inputs(); }
  int num_outputs() const { return static_cast<int>(gradients_.size()); }
  Value x(int i = 0) const { return ForwardAt(node_.input(i)); }
  Value y(int i = 0) const { return ForwardAt({node_.id(), i}); }
  // The gradient of an output. If the output has no gradient, dy() returns zeros, or a value that
  // is not ok() if the op allows a missing gradient (has_dy). dy() makes slices dense; gradient()
  // returns slices unchanged, unless dy() has made them dense.
  const Value& dy(int i = 0);
  const Gradient& gradient(int i = 0) const { return gradients_[i]; }
  bool has_dy(int i) const { return gradients_[i].exists(); }
  // True if the gradient of input `i` is not needed.
  bool Skips(int i) const { return i < 64 && (unneeded_ >> i & 1) != 0; }
  // Returns the attributes `keys` of the forward op, to copy to another op.
  std::vector<OpAttribute> Attrs(llvm::ArrayRef<const char*> keys) const;

  // --- Ops, each named as TensorFlow's Python function for the op names it. Rules make other ops
  // with the functions of lib/trace/ops.h.
  Operation Op(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               llvm::ArrayRef<OpAttribute> attributes = {}, llvm::StringRef name = {});
  // Like Op, for an op whose Python function opens a name scope with the op's name.
  Value Scoped(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
               llvm::ArrayRef<OpAttribute> attributes = {}, llvm::StringRef name = {});
  // Like Op, but the node gets the name of the open scope.
  Operation Exact(llvm::StringRef op, llvm::ArrayRef<Operand> inputs,
                  llvm::ArrayRef<OpAttribute> attributes = {});
  [[nodiscard]] Tracer::ScopeGuard Scope(llvm::StringRef name);
  // While the returned guard exists, new nodes run after the incoming gradient dy() has been
  // computed.
  [[nodiscard]] Tracer::ScopeGuard AfterGradient() { return After({dy()}); }
  [[nodiscard]] Tracer::ScopeGuard After(const Values& values);
  // While the returned guard exists, new nodes are colocated with x's node (ColocatedWith) or have
  // the device of the forward op (OnDeviceOfOp).
  [[nodiscard]] Tracer::ScopeGuard ColocatedWith(const Value& x);
  [[nodiscard]] Tracer::ScopeGuard OnDeviceOfOp();
  Value Constant(double value, DataType dtype, llvm::StringRef name = "Const");
  // Converts a Python number as math_ops.cast does: to float32 first.
  Value CastNumber(double value, DataType dtype);
  Value ConstantInts(llvm::ArrayRef<int64_t> values, DataType dtype = proto::DT_INT32,
                     llvm::StringRef name = "Const");
  // Returns zeros of the shape `dims`: a Const for a small tensor, a Fill for a large one.
  Value Zeros(llvm::ArrayRef<int64_t> dims, DataType dtype, llvm::StringRef name = "zeros");
  Value Zeros(const Value& shape, DataType dtype) { return Filled(0, shape, dtype, "zeros"); }
  Value Ones(llvm::ArrayRef<int64_t> dims, DataType dtype, llvm::StringRef name = "ones");
  Value Ones(const Value& shape, DataType dtype) { return Filled(1, shape, dtype, "ones"); }
  // `dims` has C++ numbers and scalar tensors; a Pack makes a shape of them.
  Value Zeros(const std::vector<Operand>& dims, DataType dtype);
  Value Ones(const std::vector<Operand>& dims, DataType dtype);
  Value ZerosLike(const Value& x, DataType dtype = proto::DT_INVALID);
  Value OnesLike(const Value& x, DataType dtype = proto::DT_INVALID);
  Value Conj(const Value& x);  // returns x unless it is complex or a variant
  Value ShapeOf(const Value& x, DataType dtype = proto::DT_INT32);
  Values ShapeN(const Values& values);
  Value Size(const Value& x, DataType dtype = proto::DT_INT32);
  Value Reshape(const Value& x, const Operand& shape) { return Op("Reshape", {x, shape}); }
  // `dims` has C++ numbers and scalar tensors; a Pack makes a shape of them.
  Value ReshapeTo(const Value& x, const std::vector<Operand>& dims);
  // Returns the shape that reducing a tensor of shape `shape` over `axes` with keep_dims gives.
  Operand ReducedShape(const Value& shape, const Value& axes);
  Value Range(const Operand& start, const Operand& limit, const Operand& delta = 1);
  Value Gather(const Value& params, const Operand& indices) {
    return Op("GatherV2", {params, indices, 0});
  }
  Value Concat(const std::vector<Operand>& parts, const Operand& axis);
  Value Stack(const std::vector<Operand>& parts, int axis = 0, llvm::StringRef name = "stack");
  Values Unstack(const Value& x, int64_t count, int axis = 0);
  Value ExpandDims(const Value& x, const Operand& axis) { return Op("ExpandDims", {x, axis}); }
  Value Squeeze(const Value& x, const std::vector<int64_t>& axes);
  Value Transpose(const Value& x, const Operand& perm, bool conjugate = false);
  Value MatrixTranspose(const Value& x, bool conjugate = false);
  Value Adjoint(const Value& x);
  struct MatMulFlags {
    bool adjoint_a = false, adjoint_b = false, grad_a = false, grad_b = false;
  };
  Value MatMul(const Value& a, const Value& b, const MatMulFlags& flags);
  Value MatMul(const Value& a, const Value& b) { return MatMul(a, b, MatMulFlags()); }
  Value MatrixDiag(const Value& x);
  Value BandPart(const Value& x, int lower, int upper);
  Value MatrixDiagPart(const Value& x, const Operand& k = 0, llvm::StringRef align = "RIGHT_LEFT");
  Value MatrixSetDiag(const Value& x, const Value& diagonal, const Operand& k = 0,
                      llvm::StringRef align = "RIGHT_LEFT");
  // Identity matrices of `size` rows, with the batch shape `batch` (a vector).
  Value Eye(const Value& size, const Value& batch, DataType dtype);
  // An int32 constant with rows of `columns` elements.
  Value MatrixConstant(llvm::ArrayRef<int64_t> elements, int64_t columns);
  // tf.slice; the elements of `begin` and `size` are C++ numbers and scalar tensors.
  Value SliceOf(const Value& x, const std::vector<Operand>& begin,
                const std::vector<Operand>& size);
  // Python's x[i] for a vector, and x[begin:end] (kEnd: to the end).
  static constexpr int64_t kEnd = INT64_MAX;
  Value At(const Value& x, int64_t i);
  Value At(const Value& x, const Value& i);
  Value Cut(const Value& x, int64_t begin, int64_t end);
  Value CutBetween(const Value& x, int64_t begin, int64_t end);  // x[0:end], not x[:end]
  // One of the indices after the ellipsis, such as a:b in x[..., a:b, c:d].
  struct Index {
    int64_t begin = 0, end = kEnd;
    bool is_one = false;  // x[..., begin]
  };
  Value CutLast(const Value& x, llvm::ArrayRef<Index> indices);
  // The elements of an integer tensor, if they are known while tracing; else nullopt.
  std::optional<std::vector<int64_t>> IntegersOf(const Value& x) const;

  // Reports an error of the forward op, at the line of the user's code that made the op; returns no
  // gradients.
  InputGradients Fail(const std::string& text);

  TraceState& state() { return state_; }
  TraceBody& forward() { return forward_; }

 private:
  Value ForwardAt(Port port) const;
  Value Filled(double value, const Value& shape, DataType dtype, llvm::StringRef name);
  Value FilledDims(double value, llvm::ArrayRef<int64_t> dims, DataType dtype,
                   llvm::StringRef name);
  TraceState& state_;
  TraceBody& forward_;
  Node node_;
  std::vector<Gradient> gradients_;
  uint64_t unneeded_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_GRADIENT_CONTEXT_H_
