// tf.TensorArray: elements that are written one by one, also in a loop, on a TensorList as
// TensorFlow 2 makes it. Gradients flow through it.
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
  bool dynamic_size = false;  // a write beyond the end makes it longer
  Shape element_shape = Shape::Unknown();
  bool infer_shape = true;  // all elements have one shape, which the first write says
};

// A value: a write gives the new array, and the old one stays as it is. Copies share what is known
// of the elements' shape. As in TensorFlow 2, an element may be read more than once.
class GRAPNEL_PUBLIC TensorArray {
 public:
  TensorArray(Tracer& t, DataType dtype, const Operand& size,
              const TensorArrayOptions& options = {}, SourceLocation where = SourceLocation());

  // The same array as it is elsewhere: a variable of a loop, or its result. `flow` is a variant.
  TensorArray With(const Value& flow) const;
  const Value& flow() const { return flow_; }
  operator Value() const { return flow_; }
  operator Operand() const { return Operand(flow_); }
  DataType dtype() const { return dtype_; }
  const Shape& element_shape() const { return *element_shape_; }

  // `index`: an int32 scalar. Errors: another dtype, or a shape that other elements have not.
  Value Read(const Operand& index, SourceLocation where = SourceLocation()) const;
  TensorArray Write(const Operand& index, const Value& value, SourceLocation where = SourceLocation()) const;
  // All elements as one tensor, along a new first dimension; some of them; all end to end.
  Value Stack(SourceLocation where = SourceLocation()) const;
  Value Gather(const Operand& indices, SourceLocation where = SourceLocation()) const;
  Value Concat(SourceLocation where = SourceLocation()) const;
  // The rows of a tensor as elements: all, in the places of `indices`, or parts of these lengths.
  TensorArray Unstack(const Value& value, SourceLocation where = SourceLocation()) const;
  TensorArray Scatter(const Operand& indices, const Value& value, SourceLocation where = SourceLocation()) const;
  TensorArray Split(const Value& value, const Operand& lengths, SourceLocation where = SourceLocation()) const;
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
