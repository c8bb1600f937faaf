// Softmax, LogSoftmax and the two cross entropies.
#include "kernels/gpu/gpu_kernel.h"

namespace grapnel {
namespace {

template <bool kLog>
Expected<KernelFn> MakeSoftmax(const KernelSetup&) {
  return KernelFn([](KernelContext& ctx) -> Error {
    Dims dims(ctx.input(0).dims().begin(), ctx.input(0).dims().end());
    if (dims.empty()) return MakeError("the input must have rank 1 or more");
    int64_t columns = dims.back(), rows = *NumElements(llvm::ArrayRef<int64_t>(dims).drop_back());
    const void* in = ctx.input(0).device_data();
    ASSIGN_OR_RETURN(Tensor * out, ctx.ForwardOrAllocate(0, 0, dims));
    return Queue(ctx, &GrapnelCudaApi::softmax, CudaType(out->dtype()), static_cast<int32_t>(kLog),
                 out->device_data(), in, rows, columns);
  });
}

// Broadcasts an operand with 1 row or 1 column to rows x columns.
Expected<Tensor> Widened(KernelContext& ctx, const Tensor& tensor, int64_t rows, int64_t columns) {
  if (tensor.dim(0) == rows && tensor.dim(1) == columns) return tensor;
  ASSIGN_OR_RETURN(Tensor wide, ctx.Scratch(tensor.dtype(), {rows, columns}));
  Dims strides{tensor.dim(0) == 1 ? 0 : tensor.dim(1), tensor.dim(1) == 1 ? 0 : 1};
  RETURN_IF_ERROR(QueueCopy(ctx, tensor.dtype(), {rows, columns}, tensor.device_data(), strides,
                            wide.device_data(), DenseStrides({rows, columns})));
  return wide;
}

// `sparse`: labels are class indices, else a matrix that broadcasts with the logits.
Expected<KernelFn> MakeCrossEntropyOf(bool sparse) {
  return KernelFn([sparse](KernelContext& ctx) -> Error {
    Tensor logits = ctx.input(0), labels = ctx.input(1);
    bool fits = logits.rank() == 2 && labels.rank() == (sparse ? 1 : 2);
    if (fits && sparse) {
      fits = labels.dim(0) == logits.dim(0);
    } else if (fits) {
      for (int d = 0; d < 2; ++d)
        fits &= logits.dim(d) == labels.dim(d) || logits.dim(d) == 1 || labels.dim(d) == 1;
    }
    if (!fits) {
      return MakeError("logits and labels do not fit together, got shapes {0} and {1}",
                       DimsText(logits.dims()), DimsText(labels.dims()));
    }
    int64_t rows = logits.dim(0), columns = logits.dim(1);
    if (!sparse) {
      if (rows == 1) rows = labels.dim(0);
      if (columns == 1) columns = labels.dim(1);
      ASSIGN_OR_RETURN(logits, Widened(ctx, logits, rows, columns));
      ASSIGN_OR_RETURN(labels, Widened(ctx, labels, rows, columns));
    }
    if (columns == 0 && rows > 0) return MakeError("there must be at least one class");
    ASSIGN_OR_RETURN(Tensor * loss, ctx.Allocate(0, {rows}));
    ASSIGN_OR_RETURN(Tensor * gradient, ctx.Allocate(1, {rows, columns}));
    return Queue(ctx, &GrapnelCudaApi::cross_entropy, CudaType(logits.dtype()), loss->device_data(),
                 gradient->device_data(), static_cast<const void*>(logits.device_data()),
                 CudaType(labels.dtype()), static_cast<const void*>(labels.device_data()), rows,
                 columns);
  });
}
Expected<KernelFn> MakeCrossEntropy(const KernelSetup&) { return MakeCrossEntropyOf(false); }
Expected<KernelFn> MakeSparseCrossEntropy(const KernelSetup&) { return MakeCrossEntropyOf(true); }

GRAPNEL_GPU_KERNEL("Softmax", MakeSoftmax<false>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("LogSoftmax", MakeSoftmax<true>, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("SoftmaxCrossEntropyWithLogits", MakeCrossEntropy, OfTypes("T", GpuFloats()));
GRAPNEL_GPU_KERNEL("SparseSoftmaxCrossEntropyWithLogits", MakeSparseCrossEntropy,
                   OfTypes("T", GpuFloats()));

}  // namespace
}  // namespace grapnel
