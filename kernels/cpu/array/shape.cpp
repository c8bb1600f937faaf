// Ops that query or change shapes: Shape, ShapeN, Size, Rank, Reshape, QuantizedReshape, Squeeze,
// ExpandDims, Bitcast, and the shape arithmetic of broadcasting.
#include <algorithm>

#include "kernels/common/dims.h"
#include "kernels/common/shape_kernels.h"

namespace grapnel {
namespace {

// Reshapes a quantized tensor and passes its range (inputs 2 and 3) through unchanged.
Expected<KernelFn> MakeQuantizedReshape(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    RETURN_IF_ERROR(Reshape(ctx));
    for (int i : {2, 3}) {
      const Tensor& end = ctx.input(i);
      if (end.rank() > 1 || end.num_elements() != 1)
        return MakeError(
            "input {0}, an end of the range, must be a scalar or a vector of one element, got "
            "shape {1}",
            i, DimsText(end.dims()));
      ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(i - 1, {}));
      *out->data<float>() = *end.data<float>();
    }
    return Error::success();
  });
}

// A smaller dtype adds a last dimension of the size ratio; a larger one removes that dimension.
Error Bitcast(KernelContext& ctx) {
  const Tensor& in = ctx.input(0);
  DataType type = ctx.output_type(0);
  size_t from = DataTypeSize(in.dtype()), to = DataTypeSize(type);
  Dims dims(in.dims().begin(), in.dims().end());
  if (from == 0 || to == 0) {
    return MakeError("cannot bitcast from {0} to {1}: at least one has no fixed size in bytes",
                     DataTypeName(in.dtype()), DataTypeName(type));
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

// Aligns two shapes: pads the shorter one with leading ones. Fails if they do not broadcast.
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

// Returns the axes over which the gradient of a broadcast result is summed for each operand. An
// axis of size 1 in both shapes is in both lists, as in TensorFlow, unless the shapes are equal.
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

GRAPNEL_CPU_KERNEL("Shape", MakeShape, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ShapeN", MakeShape, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Size", MakeSize, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Rank", MakeRank, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Reshape", MakeReshape, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("QuantizedReshape", MakeQuantizedReshape,
                   OfTypes("T", std::vector<DataType>{proto::DT_QUINT8, proto::DT_QINT32}),
                   KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Squeeze", MakeSqueeze, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("ExpandDims", MakeExpandDims, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("Bitcast", MakeBitcast, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("BroadcastArgs", MakeBroadcastArgs, KernelCost::kCheap);
GRAPNEL_CPU_KERNEL("BroadcastGradientArgs", MakeBroadcastGradientArgs, KernelCost::kCheap);

}  // namespace
}  // namespace grapnel
