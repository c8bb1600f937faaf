// tf.TensorArray: elements written one by one, also in a loop, stored in a TensorList as in
// TensorFlow 2. Gradients flow through it.
//
//   TensorArray squares(t, proto::DT_FLOAT, n);
//   auto loop = t.While(cond, [&](Value i, Value array) {
//     return Values{i + 1, squares.With(array).Write(i, Square(...))};
//   }, {0, squares});
//   Value all = squares.With(loop[1]).Stack();
#ifndef GRAPNEL_LIB_TRACE_TENSOR_ARRAY_H_
#define GRAPNEL_LIB_TRACE_TENSOR_ARRAY_H_

#include <memory>
#include <optional>

#include "lib/support/public.h"
#include "lib/trace/tracer.h"

namespace grapnel {

struct GRAPNEL_PUBLIC TensorArrayOptions {
  bool dynamic_size = false;  // a write beyond the end extends it
  Shape element_shape = Shape::Unknown();
  bool infer_shape = true;  // all elements have one shape, refined by each write
};

// An immutable array: a write returns a new array, and the old array stays unchanged. Copies share
// the element shape that is known so far. As in TensorFlow 2, an element may be read more than
// once.
class GRAPNEL_PUBLIC TensorArray {
 public:
  TensorArray(Tracer& t, DataType dtype, const Operand& size,
              const TensorArrayOptions& options = {}, SourceLocation where = SourceLocation());

  // Returns this array with other contents: `flow`, a variant, is a loop variable or a loop's
  // result.
  TensorArray With(const Value& flow) const;
  const Value& flow() const { return flow_; }
  operator Value() const { return flow_; }
  operator Operand() const { return Operand(flow_); }
  DataType dtype() const { return dtype_; }
  const Shape& element_shape() const { return *element_shape_; }

  // `index` is an int32 scalar. Errors of Write: another dtype, or a shape that contradicts
  // element_shape().
  Value Read(const Operand& index, SourceLocation where = SourceLocation()) const;
  TensorArray Write(const Operand& index, const Value& value,
                    SourceLocation where = SourceLocation()) const;
  // Stack returns all elements as one tensor, along a new first dimension; Gather, the elements at
  // `indices`; Concat, all elements joined along their first dimension.
  Value Stack(SourceLocation where = SourceLocation()) const;
  Value Gather(const Operand& indices, SourceLocation where = SourceLocation()) const;
  Value Concat(SourceLocation where = SourceLocation()) const;
  // Store the rows of a tensor: Unstack stores each row as an element, Scatter does so at the
  // positions `indices`, Split stores parts of these lengths.
  TensorArray Unstack(const Value& value, SourceLocation where = SourceLocation()) const;
  TensorArray Scatter(const Operand& indices, const Value& value,
                      SourceLocation where = SourceLocation()) const;
  TensorArray Split(const Value& value, const Operand& lengths,
                    SourceLocation where = SourceLocation()) const;
  Value Size(SourceLocation where = SourceLocation()) const;  // int32

 private:
  bool Check(const Value& value, const Shape& shape, const SourceLocation& where) const;

  DataType dtype_;
  bool dynamic_size_, infer_shape_;
  std::optional<Operand> size_;
  std::shared_ptr<Shape> element_shape_;
  Value flow_;
};

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_TENSOR_ARRAY_H_
