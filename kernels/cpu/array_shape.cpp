// Shapes asked for and shapes changed: Shape, Size, Rank, Reshape, QuantizedReshape, Squeeze,
// ExpandDims, Bitcast, and the shape arithmetic of broadcasting.
#include <algorithm>
#include <limits>

#include "kernels/cpu/data_move.h"

namespace grapnel {
namespace {

// Puts `value` into element `i` of an int32 or int64 output; sizes past 2^31 do not fit the former.
Error PutInt(Tensor& out, int64_t i, int64_t value) {
  if (out.dtype() == proto::DT_INT64) {
    out.data<int64_t>()[i] = value;
    return Error::success();
  }
  if (value > std::numeric_limits<int32_t>::max()) {
    return MakeError("{0} does not fit an int32: ask for out_type int64", value);
  }
  out.data<int32_t>()[i] = static_cast<int32_t>(value);
  return Error::success();
}

Error PutInts(KernelContext& ctx, int output, llvm::ArrayRef<int64_t> values) {
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(output, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) RETURN_IF_ERROR(PutInt(*out, i, values[i]));
  return Error::success();
}

Expected<KernelFn> MakeShape(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    for (int i = 0; i < ctx.num_outputs(); ++i)
      RETURN_IF_ERROR(PutInts(ctx, i, ctx.input(i).dims()));
    return Error::success();
  });
}

Expected<KernelFn> MakeSize(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
    return PutInt(*out, 0, ctx.input(0).num_elements());
  });
}

Expected<KernelFn> MakeRank(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, {}));
    return PutInt(*out, 0, ctx.input(0).rank());
  });
}

Error Reshape(KernelContext& ctx) {
  const Tensor &in = ctx.input(0), &shape = ctx.input(1);
  if (shape.rank() != 1)
    return MakeError("shape must be a vector, got shape {0}", DimsText(shape.dims()));
  Dims dims = IntsOf(shape);
  int unknown = -1;
  bool has_zero = false;
  int64_t nonzero = 1;  // the product of the sizes that are neither -1 nor 0
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == -1) {
      if (unknown >= 0)
        return MakeError("only one size may be -1, not both {0} and {1}", unknown, i);
      unknown = static_cast<int>(i);
    } else if (dims[i] < 0) {
      return MakeError("size {0} must be non-negative, not {1}", i, dims[i]);
    } else if (dims[i] == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(nonzero, dims[i], &nonzero)) {
      return MakeError("a tensor of shape {0} is larger than memory", IntsText(dims));
    }
  }
  if (unknown >= 0) {
    // With a zero among the sizes the unknown one is what is left of the input's dimensions that
    // are not zero.
    int64_t elements = 1;
    for (int64_t dim : in.dims()) elements *= dim == 0 && has_zero ? 1 : dim;
    dims[unknown] = elements / nonzero;
  }
  int64_t known = NumElements(dims).value_or(-1);
  if (known != in.num_elements()) {
    return MakeError(
        "input to reshape is a tensor with {0} values, but the requested shape {1} has {2}",
        in.num_elements(), IntsText(IntsOf(shape)), known);
  }
  ctx.SetOutput(0, in.Reshaped(dims));
  return Error::success();
}

Expected<KernelFn> MakeReshape(const KernelSetup&) { return KernelFn(Reshape); }

// The range of the numbers stays as it is.
Expected<KernelFn> MakeQuantizedReshape(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(Reshape(ctx));
    for (int i : {2, 3}) {
      if (ctx.input(i).rank() != 0)
        return MakeError("input {0}, an end of the range, must be a scalar, got shape {1}", i,
                         DimsText(ctx.input(i).dims()));
      ctx.SetOutput(i - 1, ctx.input(i));
    }
    return Error::success();
  });
}

Expected<KernelFn> MakeSqueeze(const KernelSetup& setup) {
  std::vector<int64_t> axes = setup.node().GetInts("squeeze_dims");
  if (axes.empty()) axes = setup.node().GetInts("axis");
  return KernelFn([axes](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    llvm::SmallVector<bool, 8> gone(in.rank(), false);
    for (int64_t axis : axes) {
      ASSIGN_OR_RETURN(int d, AxisIn(axis, in.rank()));
      if (in.dim(d) != 1) {
        return MakeError("cannot squeeze dimension {0} of shape {1}: expected 1, got {2}", d,
                         DimsText(in.dims()), in.dim(d));
      }
      gone[d] = true;
    }
    Dims dims;
    for (int d = 0; d < in.rank(); ++d) {
      if (!(axes.empty() ? in.dim(d) == 1 : gone[d])) dims.push_back(in.dim(d));
    }
    ctx.SetOutput(0, in.Reshaped(dims));
    return Error::success();
  });
}

Expected<KernelFn> MakeExpandDims(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    if (ctx.input(1).num_elements() != 1) {
      return MakeError("dim must have one element, got shape {0}", DimsText(ctx.input(1).dims()));
    }
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(1).IntAt(0), in.rank() + 1));
    Dims dims(in.dims().begin(), in.dims().end());
    dims.insert(dims.begin() + axis, 1);
    ctx.SetOutput(0, in.Reshaped(dims));
    return Error::success();
  });
}

// The last dimension takes up the difference in size.
Error Bitcast(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  DataType type = ctx.output_type(0);
  size_t from = DataTypeSize(in.dtype()), to = DataTypeSize(type);
  Dims dims(in.dims().begin(), in.dims().end());
  if (from == 0 || to == 0) {
    return MakeError("cannot bitcast from {0} to {1}", DataTypeName(in.dtype()),
                     DataTypeName(type));
  }
  if (from > to) {
    dims.push_back(from / to);
  } else if (from < to) {
    if (dims.empty() || dims.back() != static_cast<int64_t>(to / from)) {
      return MakeError("cannot bitcast from {0} to {1}: the last dimension of {2} must be {3}",
                       DataTypeName(in.dtype()), DataTypeName(type), DimsText(dims), to / from);
    }
    dims.pop_back();
  }
  ctx.SetOutput(0, Tensor(type, dims, in.buffer(), in.offset()));
  return Error::success();
}

Expected<KernelFn> MakeBitcast(const KernelSetup&) { return KernelFn(Bitcast); }

// Two shapes, the shorter one filled up with ones at the front.
Error AlignShapes(const Tensor& a, const Tensor& b, Dims& left, Dims& right) {
  if (a.rank() != 1 || b.rank() != 1) {
    return MakeError("shapes must be vectors, got shapes {0} and {1}", DimsText(a.dims()),
                     DimsText(b.dims()));
  }
  left = IntsOf(a);
  right = IntsOf(b);
  size_t rank = std::max(left.size(), right.size());
  for (Dims* dims : {&left, &right}) dims->insert(dims->begin(), rank - dims->size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    if (left[i] != right[i] && left[i] != 1 && right[i] != 1) {
      return MakeError("incompatible shapes: {0} vs. {1}", DimsText(IntsOf(a)),
                       DimsText(IntsOf(b)));
    }
  }
  return Error::success();
}

Expected<KernelFn> MakeBroadcastArgs(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    Dims left, right;
    RETURN_IF_ERROR(AlignShapes(ctx.input(0), ctx.input(1), left, right));
    for (size_t i = 0; i < left.size(); ++i) left[i] = left[i] == 1 ? right[i] : left[i];
    return PutInts(ctx, 0, left);
  });
}

// The axes over which a gradient of the broadcast result is summed for each operand. An axis of 1
// on both sides is in both lists, as TensorFlow has it, unless the shapes are the same.
Expected<KernelFn> MakeBroadcastGradientArgs(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    Dims left, right, sum_left, sum_right;
    RETURN_IF_ERROR(AlignShapes(ctx.input(0), ctx.input(1), left, right));
    bool same = IntsOf(ctx.input(0)) == IntsOf(ctx.input(1));
    for (size_t i = 0; i < left.size() && !same; ++i) {
      if (left[i] == 1) sum_left.push_back(i);
      if (right[i] == 1) sum_right.push_back(i);
    }
    RETURN_IF_ERROR(PutInts(ctx, 0, sum_left));
    return PutInts(ctx, 1, sum_right);
  });
}

GRAPNEL_CPU_KERNEL("Shape", nullptr, {}, KernelCost::kCheap, MakeShape);
GRAPNEL_CPU_KERNEL("ShapeN", nullptr, {}, KernelCost::kCheap, MakeShape);
GRAPNEL_CPU_KERNEL("Size", nullptr, {}, KernelCost::kCheap, MakeSize);
GRAPNEL_CPU_KERNEL("Rank", nullptr, {}, KernelCost::kCheap, MakeRank);
GRAPNEL_CPU_KERNEL("Reshape", nullptr, {}, KernelCost::kCheap, MakeReshape);
GRAPNEL_CPU_KERNEL("QuantizedReshape", "T",
                   (std::vector<DataType>{proto::DT_QUINT8, proto::DT_QINT32}), KernelCost::kCheap,
                   MakeQuantizedReshape);
GRAPNEL_CPU_KERNEL("Squeeze", nullptr, {}, KernelCost::kCheap, MakeSqueeze);
GRAPNEL_CPU_KERNEL("ExpandDims", nullptr, {}, KernelCost::kCheap, MakeExpandDims);
GRAPNEL_CPU_KERNEL("Bitcast", nullptr, {}, KernelCost::kCheap, MakeBitcast);
GRAPNEL_CPU_KERNEL("BroadcastArgs", nullptr, {}, KernelCost::kCheap, MakeBroadcastArgs);
GRAPNEL_CPU_KERNEL("BroadcastGradientArgs", nullptr, {}, KernelCost::kCheap,
                   MakeBroadcastGradientArgs);

}  // namespace
}  // namespace grapnel
