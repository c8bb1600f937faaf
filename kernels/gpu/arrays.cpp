// Ops that move elements, or only change dimensions. Shapes, axes and paddings are read from host
// memory.
#include "kernels/common/dims.h"
#include "kernels/common/shape_kernels.h"
#include "kernels/gpu/gpu_kernel.h"

namespace grapnel {
namespace {

Expected<KernelFn> MakeIdentity(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) {
    ctx.SetOutput(0, ctx.TakeInput(0));
    return Error::success();
  });
}

// --- Fills

template <int kValue>
Expected<KernelFn> MakeLike(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, ctx.input(0).dims()));
    return QueueFill(ctx, *out, kValue);
  });
}

// --- Moves: one strided copy per piece

Expected<KernelFn> MakeTranspose(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &order = ctx.input(1);
    if (order.num_elements() != in.rank()) {
      return MakeError("the permutation must be a vector of {0} elements, got shape {1}", in.rank(),
                       DimsText(order.dims()));
    }
    Dims dims, strides, from = DenseStrides(in.dims());
    llvm::SmallVector<bool, 8> seen(in.rank(), false);
    for (int i = 0; i < in.rank(); ++i) {
      ASSIGN_OR_RETURN(int d, AxisIn(order.IntAt(i), in.rank()));
      if (seen[d])
        return MakeError("{0} occurs twice in the permutation {1}", d, IntsText(IntsOf(order)));
      seen[d] = true;
      dims.push_back(in.dim(d));
      strides.push_back(from[d]);
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return QueueCopy(ctx, in.dtype(), dims, in.device_data(), strides, out->device_data(),
                     DenseStrides(dims));
  });
}

// Concatenates `inputs` along `axis`.
Error Concatenate(KernelContext& ctx, llvm::ArrayRef<const Tensor*> inputs, int axis) {
  Dims dims(inputs[0]->dims().begin(), inputs[0]->dims().end());
  dims[axis] = 0;
  for (const Tensor* in : inputs) {
    bool fits = in->rank() == static_cast<int>(dims.size());
    for (int d = 0; fits && d < in->rank(); ++d) fits = d == axis || in->dim(d) == dims[d];
    if (!fits) {
      return MakeError("shapes {0} and {1} do not fit together along axis {2}",
                       DimsText(inputs[0]->dims()), DimsText(in->dims()), axis);
    }
    dims[axis] += in->dim(axis);
  }
  ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
  Dims strides = DenseStrides(dims);
  int64_t at = 0;
  for (const Tensor* in : inputs) {
    RETURN_IF_ERROR(QueueCopy(ctx, in->dtype(), in->dims(), in->device_data(),
                              DenseStrides(in->dims()), DeviceAt(*out, at * strides[axis]),
                              strides));
    at += in->dim(axis);
  }
  return Error::success();
}

Expected<KernelFn> MakeConcat(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    int count = ctx.num_inputs() - 1;
    llvm::SmallVector<const Tensor*, 8> inputs;
    for (int i = 0; i < count; ++i) inputs.push_back(&ctx.input(i));
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(count).IntAt(0), inputs[0]->rank()));
    return Concatenate(ctx, inputs, axis);
  });
}

Expected<KernelFn> MakePack(const KernelSetup& setup) {
  return KernelFn([axis = setup.node().GetInt("axis")](KernelContext& ctx) -> Error {
    ASSIGN_OR_RETURN(int at, AxisIn(axis, ctx.input(0).rank() + 1));
    std::vector<Tensor> expanded;
    for (int i = 0; i < ctx.num_inputs(); ++i) {
      Dims dims(ctx.input(i).dims().begin(), ctx.input(i).dims().end());
      dims.insert(dims.begin() + std::min<size_t>(at, dims.size()), 1);
      expanded.push_back(ctx.input(i).Reshaped(dims));
    }
    llvm::SmallVector<const Tensor*, 8> inputs;
    for (const Tensor& tensor : expanded) inputs.push_back(&tensor);
    return Concatenate(ctx, inputs, at);
  });
}

Expected<KernelFn> MakeSlice(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &begins = ctx.input(1), &sizes = ctx.input(2);
    if (begins.num_elements() != in.rank() || sizes.num_elements() != in.rank()) {
      return MakeError(
          "expected begin and size to be vectors of {0} elements, got shapes {1} and {2}",
          in.rank(), DimsText(begins.dims()), DimsText(sizes.dims()));
    }
    Dims dims, strides = DenseStrides(in.dims());
    int64_t start = 0;
    for (int d = 0; d < in.rank(); ++d) {
      int64_t begin = begins.IntAt(d), size = sizes.IntAt(d);
      if (begin < 0 || begin > in.dim(d))
        return MakeError("expected begin[{0}] in [0, {1}], got {2}", d, in.dim(d), begin);
      if (size == -1) size = in.dim(d) - begin;
      if (size < 0 || size > in.dim(d) - begin)
        return MakeError("expected size[{0}] in [0, {1}], got {2}", d, in.dim(d) - begin, size);
      dims.push_back(size);
      start += begin * strides[d];
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return QueueCopy(ctx, in.dtype(), dims, DeviceAt(in, start), strides, out->device_data(),
                     DenseStrides(dims));
  });
}

Expected<KernelFn> MakePad(const KernelSetup& setup) {
  // This kernel pads only with zeros; PadV2, which has a value to pad with, is not registered.
  if (setup.num_inputs() > 2) return MakeError("no GPU kernel that pads with a value");
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &paddings = ctx.input(1);
    if (paddings.num_elements() != 2 * in.rank()) {
      return MakeError("paddings must be a matrix of shape [{0},2], got shape {1}", in.rank(),
                       DimsText(paddings.dims()));
    }
    Dims dims;
    for (int d = 0; d < in.rank(); ++d) {
      int64_t before = paddings.IntAt(2 * d), after = paddings.IntAt(2 * d + 1);
      if (before < 0 || after < 0) return MakeError("paddings must not be negative");
      dims.push_back(before + in.dim(d) + after);
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    RETURN_IF_ERROR(QueueFill(ctx, *out, 0));
    Dims strides = DenseStrides(dims);
    int64_t start = 0;
    for (int d = 0; d < in.rank(); ++d) start += paddings.IntAt(2 * d) * strides[d];
    if (in.num_elements() == 0) return Error::success();
    return QueueCopy(ctx, in.dtype(), in.dims(), in.device_data(), DenseStrides(in.dims()),
                     DeviceAt(*out, start), strides);
  });
}

// Treats each dimension as [repeats, size] with stride 0 for the first.
Expected<KernelFn> MakeTile(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &multiples = ctx.input(1);
    if (multiples.num_elements() != in.rank()) {
      return MakeError("multiples must be a vector of {0} elements, got shape {1}", in.rank(),
                       DimsText(multiples.dims()));
    }
    Dims dims, sizes, from, own = DenseStrides(in.dims());
    for (int d = 0; d < in.rank(); ++d) {
      int64_t times = multiples.IntAt(d);
      if (times < 0) return MakeError("multiples must not be negative, got {0}", times);
      dims.push_back(times * in.dim(d));
      sizes.append({times, in.dim(d)});
      from.append({0, own[d]});
    }
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return QueueCopy(ctx, in.dtype(), sizes, in.device_data(), from, out->device_data(),
                     DenseStrides(sizes));
  });
}

Expected<KernelFn> MakeBroadcastTo(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor& in = ctx.input(0);
    ASSIGN_OR_RETURN(Dims dims, ShapeFrom(ctx.input(1)));
    int extra = static_cast<int>(dims.size()) - in.rank();
    Dims own = DenseStrides(in.dims()), from(dims.size(), 0);
    for (int d = 0; d < in.rank(); ++d) {
      bool fits = extra >= 0 && (in.dim(d) == 1 || in.dim(d) == dims[extra + d]);
      if (!fits)
        return MakeError("incompatible shapes: {0} vs. {1}", DimsText(in.dims()), DimsText(dims));
      if (in.dim(d) != 1) from[extra + d] = own[d];
    }
    if (extra < 0)
      return MakeError("incompatible shapes: {0} vs. {1}", DimsText(in.dims()), DimsText(dims));
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return QueueCopy(ctx, in.dtype(), dims, in.device_data(), from, out->device_data(),
                     DenseStrides(dims));
  });
}

// An index out of range gives zeros, as in TensorFlow's GPU kernel: an error would have to wait for
// the device.
Expected<KernelFn> MakeGather(const KernelSetup& setup) {
  if (setup.node().GetInt("batch_dims") != 0)
    return MakeError("no GPU kernel that gathers with batch_dims");
  return KernelFn([](KernelContext& ctx) -> Error {
    const Tensor &in = ctx.input(0), &indices = ctx.input(1);
    ASSIGN_OR_RETURN(int axis, AxisIn(ctx.input(2).IntAt(0), in.rank()));
    Dims dims(in.dims().begin(), in.dims().begin() + axis);
    dims.append(indices.dims().begin(), indices.dims().end());
    dims.append(in.dims().begin() + axis + 1, in.dims().end());
    ASSIGN_OR_RETURN(Tensor * out, ctx.Allocate(0, dims));
    return Queue(ctx, &GrapnelCudaApi::gather, out->device_data(), in.device_data(),
                 static_cast<int32_t>(DataTypeSize(in.dtype())), CudaType(indices.dtype()),
                 indices.device_data(), *NumElements(in.dims().take_front(axis)), in.dim(axis),
                 indices.num_elements(), *NumElements(in.dims().drop_front(axis + 1)));
  });
}

GRAPNEL_GPU_KERNEL("Reshape", MakeReshape, OfTypes("T", GpuMovable()), HostInputs({1}));
GRAPNEL_GPU_KERNEL("ExpandDims", MakeExpandDims, OfTypes("T", GpuMovable()), HostInputs({1}));
GRAPNEL_GPU_KERNEL("Squeeze", MakeSqueeze, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("Identity", MakeIdentity, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("StopGradient", MakeIdentity, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("PreventGradient", MakeIdentity, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("Shape", MakeShape, OfTypes("T", GpuMovable()), HostOutputs({0}));
GRAPNEL_GPU_KERNEL("Size", MakeSize, OfTypes("T", GpuMovable()), HostOutputs({0}));
GRAPNEL_GPU_KERNEL("ZerosLike", MakeLike<0>, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("OnesLike", MakeLike<1>, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("Transpose", MakeTranspose, OfTypes("T", GpuMovable()), HostInputs({1}));
GRAPNEL_GPU_KERNEL("ConcatV2", MakeConcat, OfTypes("T", GpuMovable()), HostInputs({-1}));
GRAPNEL_GPU_KERNEL("Pack", MakePack, OfTypes("T", GpuMovable()));
GRAPNEL_GPU_KERNEL("Slice", MakeSlice, OfTypes("T", GpuMovable()), HostInputs({1, 2}));
GRAPNEL_GPU_KERNEL("Pad", MakePad, OfTypes("T", GpuMovable()), HostInputs({1}));
GRAPNEL_GPU_KERNEL("Tile", MakeTile, OfTypes("T", GpuMovable()), HostInputs({1}));
GRAPNEL_GPU_KERNEL("BroadcastTo", MakeBroadcastTo, OfTypes("T", GpuMovable()), HostInputs({1}));
GRAPNEL_GPU_KERNEL("GatherV2", MakeGather, OfTypes("Tparams", GpuMovable()), HostInputs({2}));

}  // namespace
}  // namespace grapnel
