// Functions on the shapes and elements of tensors: slicing, gathering, filling, padding, splitting.
// Each makes the nodes that its counterpart in TensorFlow's Python API makes, with the same names.
// lib/trace/ops.h has Reshape, Concat, Stack, Select, ShapeOf.
#ifndef GRAPNEL_LIB_TRACE_ARRAY_OPS_H_
#define GRAPNEL_LIB_TRACE_ARRAY_OPS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/support/public.h"
#include "lib/trace/ops.h"
#include "lib/trace/tracer.h"

namespace grapnel {

// A shape, or another short list of integers. Elements are C++ numbers, or scalars that are known
// only when the graph runs: DimList{n, 2}. One tensor can be the whole list: DimList(ShapeOf(x)).
struct GRAPNEL_PUBLIC DimList {
  DimList(std::initializer_list<Operand> dims) : dims(dims) {}
  DimList(std::vector<Operand> dims) : dims(std::move(dims)) {}
  explicit DimList(const Value& shape) : shape(shape) {}
  std::vector<Operand> dims;
  Value shape;  // unless it is a default Value, the whole list; `dims` is then unused
};

// One item of a slice's index: a number, a span, the ellipsis or a new axis. Python's x[1:, ::2,
// None] is Slice(x, {Span(1), Span({}, {}, 2), kNewAxis}).
struct GRAPNEL_PUBLIC SlicePlace {
  enum Kind { kIndex, kSpan, kEllipsis, kNewAxis };
  SlicePlace(int index) : kind(kIndex), begin(Operand(index)) {}
  SlicePlace(const Value& index) : kind(kIndex), begin(Operand(index)) {}
  explicit SlicePlace(Kind kind) : kind(kind) {}
  Kind kind;
  std::optional<Operand> begin, end, stride;
};
// begin:end:stride, with Python's defaults for omitted parts. Each part is a number (a negative
// bound counts from the end) or a scalar.
GRAPNEL_PUBLIC SlicePlace Span(const std::optional<Operand>& begin = {},
                               const std::optional<Operand>& end = {},
                               const std::optional<Operand>& stride = {});
inline const SlicePlace kAll{SlicePlace::kSpan}, kEllipsis{SlicePlace::kEllipsis},
    kNewAxis{SlicePlace::kNewAxis};

// Python's x[places...]. Each place is for one dimension of x, or is kEllipsis or kNewAxis.
// Dimensions after the last place are taken whole.
GRAPNEL_PUBLIC Value Slice(const Value& x, llvm::ArrayRef<SlicePlace> places,
                           SourceLocation where = SourceLocation());
// tf.slice: `size` elements from `begin`, one number per dimension; a size of -1 means all elements
// from `begin` on.
GRAPNEL_PUBLIC Value SliceOf(const Value& x, const DimList& begin, const DimList& size,
                             SourceLocation where = SourceLocation());

// tf.reshape to a shape whose dimensions may be known only when the graph runs; Reshape
// (lib/trace/ops.h) is the function for other shapes.
GRAPNEL_PUBLIC Value ReshapeTo(const Value& x, const DimList& shape,
                               SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ExpandDims(const Value& x, int axis, SourceLocation where = SourceLocation());
// Removes dimensions of size 1: all of them, or those in `axes`.
GRAPNEL_PUBLIC Value Squeeze(const Value& x, const std::vector<int64_t>& axes = {},
                             SourceLocation where = SourceLocation());
// An empty `permutation` reverses the dimensions.
GRAPNEL_PUBLIC Value Transpose(const Value& x, const std::vector<int>& permutation = {},
                               SourceLocation where = SourceLocation());
enum class PadMode { kConstant, kReflect, kSymmetric };
// `paddings` has two numbers per dimension: how many elements to add before and after.
GRAPNEL_PUBLIC Value Pad(const Value& x, const Operand& paddings, PadMode mode = PadMode::kConstant,
                         const Operand& constant = 0, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Tile(const Value& x, const DimList& multiples,
                          SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value BroadcastTo(const Value& x, const DimList& shape,
                                 SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Reverse(const Value& x, const std::vector<int>& axes,
                             SourceLocation where = SourceLocation());
// Split is tf.split into equal parts, or into parts of the given sizes. Unstack is tf.unstack; the
// size of the dimension must be known.
GRAPNEL_PUBLIC Values Split(const Value& x, int parts, int axis = 0,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Values Split(const Value& x, const std::vector<int>& sizes, int axis = 0,
                            SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Values Unstack(const Value& x, int axis = 0,
                              SourceLocation where = SourceLocation());

GRAPNEL_PUBLIC Value Gather(const Value& params, const Operand& indices, int axis = 0,
                            int batch_dims = 0, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value GatherNd(const Value& params, const Operand& indices,
                              SourceLocation where = SourceLocation());
// ScatterNd returns zeros of `shape` with `updates` at `indices`. TensorScatterNdUpdate and
// TensorScatterNdAdd copy x and replace, or add to, the elements at `indices`.
GRAPNEL_PUBLIC Value ScatterNd(Tracer& t, const Operand& indices, const Operand& updates,
                               const DimList& shape, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value TensorScatterNdUpdate(const Value& x, const Operand& indices,
                                           const Operand& updates,
                                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value TensorScatterNdAdd(const Value& x, const Operand& indices,
                                        const Operand& updates,
                                        SourceLocation where = SourceLocation());

struct GRAPNEL_PUBLIC OneHotOptions {
  double on = 1, off = 0;
  int axis = -1;
  DataType dtype = proto::DT_FLOAT;
};
GRAPNEL_PUBLIC Value OneHot(const Value& indices, const Operand& depth,
                            const OneHotOptions& options = {},
                            SourceLocation where = SourceLocation());
// Returns the rows of x where `mask` (bool, with the leading dimensions of x) is true.
GRAPNEL_PUBLIC Value BooleanMask(const Value& x, const Value& mask,
                                 SourceLocation where = SourceLocation());
// Returns a bool tensor of shape [lengths..., maximum], true at positions before the length.
GRAPNEL_PUBLIC Value SequenceMask(const Value& lengths, const Operand& maximum,
                                  SourceLocation where = SourceLocation());
// tf.where with one argument: returns the indices where x is true or, for numbers, not 0, as int64
// of shape [n, rank].
GRAPNEL_PUBLIC Value IndicesWhere(const Value& x, SourceLocation where = SourceLocation());

GRAPNEL_PUBLIC Value Fill(Tracer& t, const DimList& dims, const Operand& value,
                          SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Zeros(Tracer& t, const DimList& dims, DataType dtype = proto::DT_FLOAT,
                           SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value Ones(Tracer& t, const DimList& dims, DataType dtype = proto::DT_FLOAT,
                          SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value ZerosLike(const Value& x, SourceLocation where = SourceLocation());
GRAPNEL_PUBLIC Value OnesLike(const Value& x, SourceLocation where = SourceLocation());
// Returns start, start + delta, ... up to but excluding limit. C++ numbers take the dtype of the
// Values among the three operands; without Values, the dtype is float32 if a number is a C++ float
// or double, else int32.
GRAPNEL_PUBLIC Value Range(Tracer& t, const Operand& start, const Operand& limit,
                           const Operand& delta = 1, SourceLocation where = SourceLocation());
// Returns x; the run fails if x does not match `shape`, whose unknown dimensions match every size.
GRAPNEL_PUBLIC Value EnsureShape(const Value& x, const grapnel::Shape& shape,
                                 SourceLocation where = SourceLocation());

}  // namespace grapnel

#endif  // GRAPNEL_LIB_TRACE_ARRAY_OPS_H_
