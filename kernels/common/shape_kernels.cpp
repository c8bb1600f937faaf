#include "kernels/common/shape_kernels.h"

#include <limits>

#include "kernels/common/dims.h"

namespace grapnel {
namespace {

// Stores `value` at element `i` of an int32 or int64 output; fails for int32 on values of 2^31 or
// more.
Error PutInt(Tensor& out, int64_t i, int64_t value) {
  if (out.dtype() == proto::DT_INT64) {
    out.data<int64_t>()[i] = value;
    return Error::success();
  }
  if (value > std::numeric_limits<int32_t>::max()) {
    return MakeError("{0} does not fit into int32: set out_type to int64", value);
  }
  out.data<int32_t>()[i] = static_cast<int32_t>(value);
  return Error::success();
}

}  // namespace

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
        return MakeError("only one size may be -1, not both size {0} and size {1}", unknown, i);
      unknown = static_cast<int>(i);
    } else if (dims[i] < 0) {
      return MakeError("size {0} must be -1 or non-negative, not {1}", i, dims[i]);
    } else if (dims[i] == 0) {
      has_zero = true;
    } else if (__builtin_mul_overflow(nonzero, dims[i], &nonzero)) {
      return MakeError("a tensor of shape {0} is larger than memory", IntsText(dims));
    }
  }
  if (unknown >= 0) {
    // If one of the given sizes is 0, the unknown size (-1) is the product of the input's nonzero
    // dimensions divided by the product of the other nonzero sizes.
    int64_t elements = 1;
    for (int64_t dim : in.dims()) elements *= dim == 0 && has_zero ? 1 : dim;
    dims[unknown] = elements / nonzero;
  }
  int64_t known = NumElements(dims).value_or(-1);
  if (known != in.num_elements() && unknown >= 0) {
    return MakeError(
        "input to reshape is a tensor with {0} values, but the requested shape {1} requires a "
        "multiple of {2}",
        in.num_elements(), IntsText(IntsOf(shape)), has_zero ? 0 : nonzero);
  }
  if (known != in.num_elements()) {
    return MakeError(
        "input to reshape is a tensor with {0} values, but the requested shape {1} has {2}",
        in.num_elements(), IntsText(IntsOf(shape)), known);
  }
  ctx.SetOutput(0, in.Reshaped(dims));
  return Error::success();
}

Expected<KernelFn> MakeReshape(const KernelSetup&) { return KernelFn(Reshape); }

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

}  // namespace grapnel
